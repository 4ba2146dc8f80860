package io.lightmq.core.simulation;

/**
 * Of each key one message is acknowledged where duplicates are suppressed, and none comes while
 * another is in somebody's hands.
 */
final class OnceByKey implements Oracle {
  static final long WINDOW_MILLIS = 3_600_000;

  private final World world;

  OnceByKey(World world) {
    this.world = world;
  }

  @Override
  public void arrived(Arrival arrival) {
    String text = arrival.message().content.key();
    if (text == null || !arrival.message().isKeyed()) {
      return;
    }
    Followed.Key key = arrival.followed().key(text);
    Long since = key.acknowledgedMillis;
    // What was forgotten at some time of the clock does not come back when the clock steps back.
    if (since != null && world.latestWallMillis(key.askedEra) - since < WINDOW_MILLIS) {
      throw violated(arrival + " comes although its key was acknowledged at " + since);
    }
    if (arrival.alive() && key.held != null && key.held != arrival.copy()) {
      throw violated(arrival + " comes while " + key.held);
    }
  }
}

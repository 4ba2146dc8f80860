package io.lightmq.core.selector;

/**
 * What evaluating selectors costs a loop, in steps; see {@link Selector#steps}. Whoever evaluates
 * says whose work it is, so that nothing is evaluated on the shard without being counted. What else
 * clients can make long, such as acknowledgements of many ranges, is counted with it. For one
 * thread at a time.
 */
public final class Work {
  /**
   * When a turn of the shard has had so many steps it takes no more publishes; some 20 to 90 ms.
   */
  public static final long TURN = 8L << 20;

  /**
   * What takes more steps than this for one message, or one slice of a backlog, is done beside the
   * shard or in another slice; some 2 to 12 ms.
   */
  public static final long SLICE = 1L << 20;

  /** A place that clients name costs so many steps; some 0.3 to 0.6 us. */
  public static final long PLACE = 32;

  private long ofTurn;
  private long mostOfTurn;

  void add(long steps) {
    ofTurn += steps;
  }

  /** Counts so many ranges or other places that clients name, which are looked up and taken. */
  public void addPlaces(long places) {
    ofTurn += places * PLACE;
  }

  /** Steps since the last {@link #endTurn}. */
  public long ofTurn() {
    return ofTurn;
  }

  /** Whether a turn has had its share. */
  public boolean isTired() {
    return ofTurn >= TURN;
  }

  /** Begins to count anew. */
  public void endTurn() {
    mostOfTurn = mostOfTurn();
    ofTurn = 0;
  }

  /** The most steps of one turn so far. */
  public long mostOfTurn() {
    return Math.max(mostOfTurn, ofTurn);
  }
}

package io.lightmq.core.simulation;

/**
 * What was confirmed comes: to a consumer that acknowledges it, or to the letters if it failed too
 * often or expired. Of what pulls have acknowledged, as much may be missing as was on its way to
 * consumers that went.
 */
final class NothingLost implements Oracle {
  private final World world;

  NothingLost(World world) {
    this.world = world;
  }

  @Override
  public void calm(Followed followed) {
    int missing = 0;
    for (Message message : followed.destination.messages) {
      if (isOwed(message, followed)) {
        Copy copy = message.copy(followed);
        boolean settled = isTaken(copy) || copy.mayBeExhausted() || mayBeExpired(message);
        if (!settled && !mayWait(message) && ++missing > followed.mayMiss) {
          throw violated(copy + " does not come although all is taken that is there");
        }
      }
    }
  }

  /** At the end nothing waits any more, and letters were taken too. */
  void end(Followed followed) {
    int missing = 0;
    for (Message message : followed.destination.messages) {
      if (isOwed(message, followed)) {
        Copy copy = message.copy(followed);
        boolean dropped = mayBeExpired(message) && !followed.destination.keepsExpired;
        boolean there = isTaken(copy) || copy.letters > 0 || copy.mayBeLetter || dropped;
        if (!there && ++missing > followed.mayMiss) {
          throw violated(copy + " is nowhere");
        }
      }
    }
  }

  /** Whether a subscription has to get a message at all. */
  private static boolean isOwed(Message message, Followed followed) {
    return message.isConfirmed()
        && !message.refused
        && !message.mayBeLost
        && message.firstSent > followed.open
        && followed.wanted.holds(message.content.n());
  }

  /** Whether somebody has it, or it need not come any more. */
  private static boolean isTaken(Copy copy) {
    String key = copy.message.isKeyed() ? copy.message.content.key() : null;
    return copy.asked
        || copy.consumed
        || copy.mayBeGone
        || (key != null && copy.followed.key(key).asked);
  }

  private boolean mayBeExpired(Message message) {
    return world.latestWallMillis(message.era) >= message.earliestEnd;
  }

  /** Whether it may wait for its time, or behind one for which memory has no room. */
  private boolean mayWait(Message message) {
    long lateMillis = world.has(Feature.UNLOGGED) ? 65_000 : 2_000;
    return message.isDelayed() && world.wallMillis() - lateMillis < message.latestDue;
  }
}

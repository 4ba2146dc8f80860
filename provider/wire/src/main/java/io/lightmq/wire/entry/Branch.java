package io.lightmq.wire.entry;

/**
 * By what name a client speaks of a transaction that the broker keeps for it before it is
 * committed.
 */
public sealed interface Branch {

  /**
   * A local transaction that has become too long for one frame.
   *
   * @param number counted by the link, from 1
   */
  record Local(long number) implements Branch {
    public Local {
      if (number <= 0) {
        throw new IllegalArgumentException(
            "the numbers of a link's transactions begin with 1, not " + number);
      }
    }
  }

  /** A branch of a distributed transaction, which belongs to a user and not to a link. */
  record Xa(Xid xid) implements Branch {}
}

package io.lightmq.wire.entry;

/** What is to become of a prepared branch, with its code on the wire. */
public enum BranchDecision {
  COMMIT(1),
  ROLL_BACK(2),
  /** What was decided without the transaction manager need not be remembered any more. */
  FORGET(3);

  private final int code;

  BranchDecision(int code) {
    this.code = code;
  }

  /** The code on the wire and on the disk. */
  public int code() {
    return code;
  }

  /**
   * The decision of a code.
   *
   * @throws IllegalArgumentException if there is none
   */
  public static BranchDecision of(int code) {
    for (BranchDecision decision : values()) {
      if (decision.code == code) {
        return decision;
      }
    }
    throw new IllegalArgumentException("decision " + code + " is unknown; known are 1 to 3");
  }
}

package io.lightmq.wire.entry;

/** What a broker says of a branch that it remembers, with its code on the wire. */
public enum BranchState {
  /** Nobody has decided yet. */
  PREPARED(1),
  /** An administrator has committed it, and the transaction manager has not said "forget". */
  HEURISTICALLY_COMMITTED(2),
  /** An administrator has rolled it back, and the transaction manager has not said "forget". */
  HEURISTICALLY_ROLLED_BACK(3);

  private final int code;

  BranchState(int code) {
    this.code = code;
  }

  /** The code on the wire and on the disk. */
  public int code() {
    return code;
  }

  /**
   * The state of a code.
   *
   * @throws IllegalArgumentException if there is none
   */
  public static BranchState of(int code) {
    for (BranchState state : values()) {
      if (state.code == code) {
        return state;
      }
    }
    throw new IllegalArgumentException("state " + code + " of a branch is unknown; 1 to 3 are");
  }
}

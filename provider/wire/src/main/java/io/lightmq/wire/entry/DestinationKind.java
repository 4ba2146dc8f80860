package io.lightmq.wire.entry;

/** The kinds of destination, with their code on the wire and on disk. */
public enum DestinationKind {
  QUEUE(1),
  TOPIC(2),
  TEMPORARY_QUEUE(3),
  TEMPORARY_TOPIC(4);

  private final int code;

  DestinationKind(int code) {
    this.code = code;
  }

  /** The code on the wire and on disk. */
  public int code() {
    return code;
  }

  /** Whether it has exactly one subscription. */
  public boolean isQueue() {
    return this == QUEUE || this == TEMPORARY_QUEUE;
  }

  /** Whether it ends with its connection. */
  public boolean isTemporary() {
    return this == TEMPORARY_QUEUE || this == TEMPORARY_TOPIC;
  }

  /**
   * The kind of a code.
   *
   * @throws IllegalArgumentException if there is none
   */
  public static DestinationKind of(int code) {
    for (DestinationKind kind : values()) {
      if (kind.code == code) {
        return kind;
      }
    }
    throw new IllegalArgumentException(
        "destination kind " + code + " is unknown; known are 1 to 4");
  }
}

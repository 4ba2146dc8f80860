package io.lightmq.core.destination;

/** The kinds of subscription, with their code on disk. */
public enum SubscriptionKind {
  /** The one subscription of a queue. */
  QUEUE(0),
  /** A topic subscription of one consumer that ends with it. */
  PLAIN(1),
  /** A named, non-durable topic subscription that ends with its last consumer. */
  SHARED(2),
  /** A durable topic subscription with one consumer at a time. */
  DURABLE(3),
  /** A durable topic subscription that consumers share. */
  SHARED_DURABLE(4);

  private final int code;

  SubscriptionKind(int code) {
    this.code = code;
  }

  /** The code on disk. */
  public int code() {
    return code;
  }

  /** Whether it outlives its consumers and the broker. */
  public boolean isDurable() {
    return this == QUEUE || this == DURABLE || this == SHARED_DURABLE;
  }

  /** Whether more than one consumer may be attached at a time. */
  public boolean isShared() {
    return this != PLAIN && this != DURABLE;
  }

  /**
   * The kind of a code.
   *
   * @throws IllegalArgumentException if there is none
   */
  public static SubscriptionKind of(int code) {
    for (SubscriptionKind kind : values()) {
      if (kind.code == code) {
        return kind;
      }
    }
    throw new IllegalArgumentException(
        "subscription kind " + code + " is unknown; known are 0 to 4");
  }
}

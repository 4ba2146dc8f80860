package io.lightmq.wire.entry;

/**
 * Every error that a broker can report, with its code on the wire. Each maps to one JMS exception
 * in the client; the code is that exception's error code ({@code LMQ-<code>}).
 */
public enum FaultCode {
  /** Not an error. */
  OK(0),
  /** A frame that does not follow the protocol; the connection is closed. */
  PROTOCOL_ERROR(1),
  /** No common protocol version. */
  VERSION_MISMATCH(2),
  /**
   * A frame or message longer than the limit that the text names, or one that is too much for the
   * topic's selectors or the memory: what would be refused again as it is.
   */
  TOO_LARGE(3),
  /**
   * A limit per connection (sessions, consumers, producers, parked pulls) or of all selectors is
   * reached.
   */
  LIMIT_REACHED(4),
  /** The same request may succeed after the delay that comes with it. */
  RETRY_LATER(5),
  /** User unknown or password wrong, or anonymous access is off. */
  AUTHENTICATION_FAILED(10),
  /** The user lacks the right that the text names. */
  NOT_AUTHORIZED(11),
  /** The client id is in use by another connection. */
  CLIENT_ID_IN_USE(12),
  /** The destination does not exist, has the other kind, or may not be created. */
  INVALID_DESTINATION(20),
  /** The destination was deleted after it was resolved. */
  DESTINATION_GONE(21),
  /** A temporary destination may be consumed by its own connection only. */
  NOT_OWNER(22),
  /** The subscription is unknown, has no usable name, or is of another kind. */
  INVALID_SUBSCRIPTION(23),
  /**
   * Active consumers forbid it: to delete the destination, to end or change the subscription, or to
   * join one that is not shared.
   */
  IN_USE(24),
  /** A selector that does not parse. */
  INVALID_SELECTOR(25),
  /** The acknowledged messages are not in flight to this consumer any more; text has the count. */
  NOT_IN_FLIGHT(30),
  /** The transaction was rolled back. */
  TRANSACTION_ROLLED_BACK(31),
  /** A transaction above its size limit. */
  TRANSACTION_TOO_LARGE(32),
  /** Stored or not: the answer is not known any more. */
  OUTCOME_UNKNOWN(33),
  /** The broker knows no transaction of that name, or not any more. */
  UNKNOWN_TRANSACTION(34),
  /** A branch of that name is prepared already. */
  DUPLICATE_TRANSACTION(35),
  /** An administrator has committed the branch. */
  HEURISTIC_COMMIT(36),
  /** An administrator has rolled the branch back. */
  HEURISTIC_ROLLBACK(37),
  /** The disk guard refuses new messages. */
  DISK_FULL(40),
  /** The memory budget for non-persistent messages is used up. */
  MEMORY_FULL(41),
  /** The shard has ended after a failure of its journal. */
  BROKER_FAILED(42),
  /** The broker is shutting down. */
  CLOSING(43),
  /** Stored bytes cannot be read, also when looked up again; the broker's log has the place. */
  DAMAGED(44),
  /** An admin verb or argument that is unknown or wrong. */
  BAD_REQUEST(50),
  /** The peer was silent for too long. */
  HEARTBEAT_LOST(51);

  private final int code;

  FaultCode(int code) {
    this.code = code;
  }

  /** The code on the wire. */
  public int code() {
    return code;
  }

  /**
   * Whether the broker had no room that it may have later, so that nobody's attempt has failed.
   * Broker and clients go by this.
   */
  public boolean isWantOfRoom() {
    return switch (this) {
      case DISK_FULL, MEMORY_FULL, LIMIT_REACHED, RETRY_LATER -> true;
      default -> false;
    };
  }

  /** The fault of a code; {@link #PROTOCOL_ERROR} for codes of later versions. */
  public static FaultCode of(int code) {
    for (FaultCode fault : values()) {
      if (fault.code == code) {
        return fault;
      }
    }
    return PROTOCOL_ERROR;
  }
}

package io.lightmq.wire;

import org.jspecify.annotations.Nullable;

/** The kinds of frame, with their code on the wire, who sends them and when. */
public enum FrameType {
  HELLO(1, Sender.CLIENT, Correlation.NONE, true),
  WELCOME(2, Sender.BROKER, Correlation.NONE, true),
  AUTH_START(3, Sender.CLIENT, Correlation.NONE, true),
  AUTH_CHALLENGE(4, Sender.BROKER, Correlation.NONE, true),
  AUTH_RESPONSE(5, Sender.CLIENT, Correlation.NONE, true),
  AUTH_DONE(6, Sender.BROKER, Correlation.NONE, true),

  ATTACH(10, Sender.CLIENT, Correlation.REQUIRED, false),
  ATTACHED(11, Sender.BROKER, Correlation.REQUIRED, false),
  SET_CLIENT_ID(12, Sender.CLIENT, Correlation.REQUIRED, false),
  OK(13, Sender.BROKER, Correlation.REQUIRED, false),
  FAULT(14, Sender.BROKER, Correlation.OPTIONAL, true),
  GOODBYE(15, Sender.BOTH, Correlation.NONE, true),
  HEARTBEAT(16, Sender.BOTH, Correlation.NONE, true),

  OPEN_SESSION(20, Sender.CLIENT, Correlation.REQUIRED, false),
  CLOSE_SESSION(21, Sender.CLIENT, Correlation.REQUIRED, false),
  ATTACH_PRODUCER(22, Sender.CLIENT, Correlation.REQUIRED, false),
  PRODUCER_ATTACHED(23, Sender.BROKER, Correlation.REQUIRED, false),
  DETACH_PRODUCER(24, Sender.CLIENT, Correlation.NONE, false),
  ATTACH_CONSUMER(25, Sender.CLIENT, Correlation.REQUIRED, false),
  CONSUMER_ATTACHED(26, Sender.BROKER, Correlation.REQUIRED, false),
  DETACH_CONSUMER(27, Sender.CLIENT, Correlation.REQUIRED, false),
  UNSUBSCRIBE(28, Sender.CLIENT, Correlation.REQUIRED, false),
  CREATE_TEMPORARY(29, Sender.CLIENT, Correlation.REQUIRED, false),
  TEMPORARY_CREATED(30, Sender.BROKER, Correlation.REQUIRED, false),
  DELETE_TEMPORARY(31, Sender.CLIENT, Correlation.REQUIRED, false),

  PUBLISH(40, Sender.CLIENT, Correlation.REQUIRED, false),
  RECEIPTS(41, Sender.BROKER, Correlation.NONE, false),
  CREDIT(42, Sender.BROKER, Correlation.NONE, false),
  COMMIT(43, Sender.CLIENT, Correlation.REQUIRED, false),
  STAGE(44, Sender.CLIENT, Correlation.REQUIRED, false),
  STAGED(45, Sender.BROKER, Correlation.REQUIRED, false),
  PREPARE(46, Sender.CLIENT, Correlation.REQUIRED, false),
  DECIDE(47, Sender.CLIENT, Correlation.REQUIRED, false),
  ABANDON(48, Sender.CLIENT, Correlation.REQUIRED, false),
  RECOVER(49, Sender.CLIENT, Correlation.REQUIRED, false),
  RECOVERED(67, Sender.BROKER, Correlation.REQUIRED, false),

  PULL(50, Sender.CLIENT, Correlation.NONE, false),
  PULL_DONE(51, Sender.BROKER, Correlation.NONE, false),
  DELIVER(52, Sender.BROKER, Correlation.NONE, false),
  ACKNOWLEDGE(53, Sender.CLIENT, Correlation.OPTIONAL, false),
  RETURN(54, Sender.CLIENT, Correlation.OPTIONAL, false),
  BEGUN(66, Sender.CLIENT, Correlation.NONE, false),

  ADMIN(60, Sender.CLIENT, Correlation.REQUIRED, false),
  ADMIN_RESULT(61, Sender.BROKER, Correlation.REQUIRED, false);

  /** Who may send a frame. */
  public enum Sender {
    CLIENT,
    BROKER,
    BOTH
  }

  /** Whether a frame carries a correlation id above 0. */
  enum Correlation {
    NONE,
    OPTIONAL,
    REQUIRED;

    boolean permits(int correlation) {
      return switch (this) {
        case NONE -> correlation == 0;
        case OPTIONAL -> correlation >= 0;
        case REQUIRED -> correlation > 0;
      };
    }
  }

  private static final @Nullable FrameType[] BY_CODE = new @Nullable FrameType[128];

  static {
    for (FrameType type : values()) {
      BY_CODE[type.code] = type;
    }
  }

  private final int code;
  private final Sender sender;
  private final Correlation correlation;
  private final boolean beforeAuthentication;

  FrameType(int code, Sender sender, Correlation correlation, boolean beforeAuthentication) {
    this.code = code;
    this.sender = sender;
    this.correlation = correlation;
    this.beforeAuthentication = beforeAuthentication;
  }

  /** The code on the wire. */
  public int code() {
    return code;
  }

  /** Whether it may be sent before authentication. */
  public boolean isBeforeAuthentication() {
    return beforeAuthentication;
  }

  /** Whether that side may send it. */
  public boolean isFrom(Sender side) {
    return sender == Sender.BOTH || sender == side;
  }

  Correlation correlation() {
    return correlation;
  }

  /** The type of a code, null if there is none. */
  static @Nullable FrameType of(int code) {
    return code >= 0 && code < BY_CODE.length ? BY_CODE[code] : null;
  }
}

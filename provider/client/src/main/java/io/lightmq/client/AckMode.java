package io.lightmq.client;

import io.lightmq.client.fault.JmsFaults;
import jakarta.jms.JMSException;
import jakarta.jms.Session;

/** How the messages of a session are acknowledged. */
enum AckMode {
  AUTO(Session.AUTO_ACKNOWLEDGE),
  CLIENT(Session.CLIENT_ACKNOWLEDGE),
  DUPS_OK(Session.DUPS_OK_ACKNOWLEDGE),
  TRANSACTED(Session.SESSION_TRANSACTED),
  NONE(LightmqJms.NO_ACKNOWLEDGE),
  INDIVIDUAL(LightmqJms.INDIVIDUAL_ACKNOWLEDGE),
  /** With the branch that the session works in; outside of any, as in mode AUTO. */
  XA(Session.SESSION_TRANSACTED);

  private final int code;

  AckMode(int code) {
    this.code = code;
  }

  /** The constant of {@link Session} or {@link LightmqJms}. */
  int code() {
    return code;
  }

  /** Whether the application says when, or whoever decides its transactions. */
  boolean isExplicit() {
    return this == CLIENT || this == TRANSACTED || this == INDIVIDUAL || this == XA;
  }

  /** Whether all that the session does is part of transactions. */
  boolean isTransacted() {
    return this == TRANSACTED || this == XA;
  }

  /** Whether {@code Message.acknowledge} does anything. */
  boolean isByMessage() {
    return this == CLIENT || this == INDIVIDUAL;
  }

  /** The mode that a factory with this guarantee really uses where this one is asked for. */
  AckMode under(boolean atMostOnce) {
    return atMostOnce && (this == AUTO || this == DUPS_OK) ? NONE : this;
  }

  static AckMode of(int code) throws JMSException {
    for (AckMode mode : values()) {
      if (mode.code == code) {
        return mode;
      }
    }
    throw JmsFaults.invalidArgument(
        "the session mode is 0 (transacted), 1 (auto), 2 (client), 3 (dups ok), 100 (no"
            + " acknowledge) or 101 (individual), not "
            + code);
  }
}

package io.lightmq.client;

import io.lightmq.client.fault.JmsFaults;
import jakarta.jms.JMSException;
import jakarta.jms.Session;

/** How the messages of a session are acknowledged. */
enum AckMode {
  AUTO(Session.AUTO_ACKNOWLEDGE),
  CLIENT(Session.CLIENT_ACKNOWLEDGE),
  DUPS_OK(Session.DUPS_OK_ACKNOWLEDGE),
  TRANSACTED(Session.SESSION_TRANSACTED);

  private final int code;

  AckMode(int code) {
    this.code = code;
  }

  /** The constant of {@link Session}. */
  int code() {
    return code;
  }

  /** Whether the application says when. */
  boolean isExplicit() {
    return this == CLIENT || this == TRANSACTED;
  }

  static AckMode of(int code) throws JMSException {
    for (AckMode mode : values()) {
      if (mode.code == code) {
        return mode;
      }
    }
    throw JmsFaults.invalidArgument(
        "the session mode is 0 (transacted), 1 (auto), 2 (client) or 3 (dups ok), not " + code);
  }
}

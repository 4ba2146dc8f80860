package io.lightmq.client.message;

import io.lightmq.client.fault.JmsFaults;
import jakarta.jms.DeliveryMode;
import jakarta.jms.JMSException;

/** What a message may be sent with, wherever that is set. */
public final class SendRules {
  private static final int MAX_PRIORITY = 9;

  private SendRules() {}

  /** Persistent or not. */
  public static void checkMode(int mode) throws JMSException {
    if (mode != DeliveryMode.PERSISTENT && mode != DeliveryMode.NON_PERSISTENT) {
      throw JmsFaults.invalidArgument("the delivery mode is 1 or 2, not " + mode);
    }
  }

  /** One of ten. */
  public static void checkPriority(int priority) throws JMSException {
    if (priority < 0 || priority > MAX_PRIORITY) {
      throw JmsFaults.invalidArgument("a priority is 0 to 9, not " + priority);
    }
  }

  /** In milliseconds; 0 is for ever. */
  public static void checkTimeToLive(long millis) throws JMSException {
    if (millis < 0) {
      throw JmsFaults.invalidArgument("the time to live is at least 0 ms, not " + millis);
    }
  }

  /** In milliseconds. */
  public static void checkDelay(long millis) throws JMSException {
    if (millis < 0) {
      throw JmsFaults.invalidArgument("the delivery delay is at least 0 ms, not " + millis);
    }
  }
}

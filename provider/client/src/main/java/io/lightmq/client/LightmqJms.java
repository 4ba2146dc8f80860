package io.lightmq.client;

/**
 * What this provider adds to the constants of {@code jakarta.jms.Session}. Both modes are asked for
 * where the standard ones are: {@code connection.createSession(LightmqJms.INDIVIDUAL_ACKNOWLEDGE)}
 * or {@code factory.createContext(LightmqJms.NO_ACKNOWLEDGE)}.
 */
public final class LightmqJms {
  /**
   * The session mode in which asking for messages acknowledges them: they are given out at most
   * once. What is on its way to the consumer, or waits in it, when either side ends is lost. {@code
   * recover} and a listener's exception bring nothing back, and no message is flagged as
   * redelivered.
   */
  public static final int NO_ACKNOWLEDGE = 100;

  /**
   * The session mode in which {@code Message.acknowledge} acknowledges that message and no other;
   * {@code Session.recover} brings back those that are not acknowledged.
   */
  public static final int INDIVIDUAL_ACKNOWLEDGE = 101;

  private LightmqJms() {}
}

package io.lightmq.spi;

/** Decides who may do what to which destination. Called on network threads; must not block. */
public interface Authorizer {

  /** What a client can ask to do. */
  enum Action {
    SEND,
    CONSUME,
    CREATE,
    MANAGE
  }

  /**
   * Whether it is permitted.
   *
   * @param destination the resolved name; {@code "*"} for actions on the broker as a whole
   */
  boolean permits(Principal principal, Action action, String destination);
}

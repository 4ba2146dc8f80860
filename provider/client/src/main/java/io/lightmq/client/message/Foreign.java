package io.lightmq.client.message;

import io.lightmq.client.fault.JmsFaults;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Calls on messages of other providers. Any of their methods may throw: it is unsupported there,
 * not allowed at this moment, or not in the version of the API that they were compiled for. Headers
 * and properties are then left out; without its body a message is not sent.
 */
public final class Foreign {
  private static final Logger LOG = LoggerFactory.getLogger(Foreign.class);

  private Foreign() {}

  /** A call that gives something. */
  interface Getter<T> {
    @Nullable T get() throws JMSException;
  }

  /** A call that takes something. */
  public interface Setter {
    void set() throws JMSException;
  }

  /** A call that makes our message of the body of another. */
  interface Copy {
    LightmqMessage make() throws JMSException;
  }

  /** What a message has in one of its parts; null if it cannot tell. */
  static <T> @Nullable T part(Message message, String part, Getter<T> getter) {
    try {
      return getter.get();
    } catch (JMSException | RuntimeException | LinkageError e) {
      LOG.debug("{} is sent without its {}", message.getClass().getName(), part, e);
      return null;
    }
  }

  /** Sets one part of a message, if it can take it. */
  public static void give(Message message, String part, Setter setter) {
    try {
      setter.set();
    } catch (JMSException | RuntimeException | LinkageError e) {
      LOG.debug("{} does not take its {}", message.getClass().getName(), part, e);
    }
  }

  /** The copy of a body. */
  static LightmqMessage body(Message message, Copy copy) throws JMSException {
    try {
      return copy.make();
    } catch (RuntimeException | LinkageError e) {
      throw JmsFaults.format(
          "the body of a "
              + message.getClass().getName()
              + ", which is of another provider, cannot be read: "
              + e,
          e);
    }
  }
}

package io.lightmq.client;

import io.lightmq.client.fault.JmsFaults;
import jakarta.jms.JMSException;
import org.jspecify.annotations.Nullable;

/** Runs calls of the classic API for the simplified one, whose exceptions are unchecked. */
final class Unchecked {
  /** A call with a result. */
  interface Call<T> {
    T call() throws JMSException;
  }

  /** A call whose result may be absent. */
  interface Asking<T> {
    @Nullable T call() throws JMSException;
  }

  /** A call without a result. */
  interface Action {
    void run() throws JMSException;
  }

  private Unchecked() {}

  static <T> @Nullable T ask(Asking<T> call) {
    try {
      return call.call();
    } catch (JMSException e) {
      throw JmsFaults.unchecked(e);
    }
  }

  static <T> T get(Call<T> call) {
    try {
      return call.call();
    } catch (JMSException e) {
      throw JmsFaults.unchecked(e);
    }
  }

  static void run(Action action) {
    try {
      action.run();
    } catch (JMSException e) {
      throw JmsFaults.unchecked(e);
    }
  }
}

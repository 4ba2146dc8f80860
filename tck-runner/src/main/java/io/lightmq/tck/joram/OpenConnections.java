package io.lightmq.tck.joram;

import jakarta.jms.Connection;
import jakarta.jms.JMSException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** The connections that the tests of a run made; they end before the broker does. */
final class OpenConnections {

  private static final long CLOSE_LIMIT_MILLIS = 10_000;

  /** Bounded by the tests of a run, each of which makes a few. */
  private final Queue<Connection> connections = new ConcurrentLinkedQueue<>();

  /** The same factory, but each connection that it makes is remembered. */
  Object recording(Object factory) {
    return Proxy.newProxyInstance(
        OpenConnections.class.getClassLoader(),
        factory.getClass().getInterfaces(),
        (proxy, method, arguments) -> {
          try {
            Object made = method.invoke(factory, arguments);
            if (made instanceof Connection connection) {
              connections.add(connection);
            }
            return made;
          } catch (InvocationTargetException e) {
            throw e.getTargetException();
          }
        });
  }

  /** Closes them all, within a limit because a hung test may hold one. */
  void closeAll() throws InterruptedException {
    Thread thread = new Thread(this::close, "close-connections");
    thread.setDaemon(true);
    thread.start();
    thread.join(CLOSE_LIMIT_MILLIS);
  }

  private void close() {
    for (Connection connection : connections) {
      try {
        connection.close();
      } catch (JMSException e) {
        System.err.println("closing a connection of a test failed: " + e);
      }
    }
  }
}

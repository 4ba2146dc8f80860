package io.lightmq.tck.faults;

import jakarta.jms.Connection;
import jakarta.jms.ConnectionFactory;
import jakarta.jms.JMSException;
import org.jspecify.annotations.Nullable;

/**
 * One client of the load, with a connection and a thread of its own that outlive the broker's
 * death.
 *
 * <p>A failed call is an event of the test, not its end: it is written to the log and the worker
 * goes on after a short rest.
 */
abstract class Worker extends Thread {

  private static final long REST_MILLIS = 20;

  private final Gate gate;
  private final EventLog events;
  private final Connection connection;
  private volatile boolean idle = true;
  private volatile @Nullable Throwable death;

  Worker(
      String name, ConnectionFactory factory, @Nullable String clientId, Gate gate, EventLog events)
      throws JMSException {
    super(name);
    this.gate = gate;
    this.events = events;
    this.connection = factory.createConnection();
    if (clientId != null) {
      connection.setClientID(clientId);
    }
    setDaemon(true);
  }

  Connection connection() {
    return connection;
  }

  EventLog events() {
    return events;
  }

  /** One unit of work: a send, a transaction, a receive. */
  abstract void work() throws JMSException, InterruptedException;

  @Override
  public final void run() {
    try {
      while (gate.pass()) {
        idle = false;
        try {
          work();
        } catch (JMSException e) {
          events.note("%s: %s (%s)", getName(), e, e.getErrorCode());
          gate.rest(REST_MILLIS);
        }
        idle = true;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException | Error e) {
      death = e;
      events.note("%s died: %s", getName(), e);
    } finally {
      idle = true;
    }
  }

  /** Whether no unit of work is under way. */
  boolean isIdle() {
    return idle;
  }

  /** Why the thread ended early, or null. */
  @Nullable Throwable death() {
    return death;
  }

  void close() throws JMSException {
    connection.close();
  }
}

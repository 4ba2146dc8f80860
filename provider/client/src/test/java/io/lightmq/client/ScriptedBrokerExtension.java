package io.lightmq.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import jakarta.jms.Connection;
import jakarta.jms.JMSException;
import java.util.ArrayDeque;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A scripted broker for each test, with the connections and threads that the test asks for. After
 * the test, and after what its class does then, it closes connections, broker and threads, in this
 * order, and the test fails if the client has left a thread. Says nothing else.
 */
final class ScriptedBrokerExtension implements BeforeEachCallback, AfterEachCallback {
  private final ArrayDeque<Connection> connections = new ArrayDeque<>();
  private ScriptedBroker broker;
  private ExecutorService threads;
  private boolean interruptsThreads;
  private boolean usesPools;

  /** What still runs on a thread of the test is interrupted at the end. */
  ScriptedBrokerExtension interruptingThreads() {
    interruptsThreads = true;
    return this;
  }

  /** Connection consumers are used: nobody waits for a pool's feeder, but it ends. */
  ScriptedBrokerExtension withPools() {
    usesPools = true;
    return this;
  }

  ScriptedBroker broker() {
    return broker;
  }

  LightmqConnectionFactory factory(String options) {
    return new LightmqConnectionFactory(broker.uri(options));
  }

  /** A connection to the broker, which is closed at the end. */
  Connection connect(String options) throws JMSException {
    return closing(factory(options).createConnection());
  }

  /** Has a connection closed at the end. */
  Connection closing(Connection connection) {
    connections.push(connection);
    return connection;
  }

  /** Threads for the test. */
  ExecutorService threads() {
    return threads;
  }

  @Override
  public void beforeEach(ExtensionContext context) throws Exception {
    broker = new ScriptedBroker();
    threads = Executors.newCachedThreadPool();
  }

  @Override
  public void afterEach(ExtensionContext context) throws Exception {
    try {
      while (!connections.isEmpty()) {
        connections.pop().close();
      }
    } finally {
      broker.close();
    }
    if (interruptsThreads) {
      threads.shutdownNow();
    } else {
      threads.shutdown();
    }
    assertThat(threads.awaitTermination(10, TimeUnit.SECONDS))
        .as("the test's threads end")
        .isTrue();
    if (usesPools) {
      await().until(() -> ClientThreads.alive().isEmpty());
    }
    assertThat(ClientThreads.alive()).as("threads that the client has left").isEmpty();
  }
}

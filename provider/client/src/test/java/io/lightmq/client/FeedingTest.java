package io.lightmq.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lightmq.wire.Frame;
import io.lightmq.wire.entry.FaultCode;
import jakarta.jms.Connection;
import jakarta.jms.ConnectionConsumer;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.ServerSession;
import jakarta.jms.ServerSessionPool;
import jakarta.jms.Session;
import jakarta.jms.TextMessage;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A pool whose parts fail, against the connection consumer that feeds it. */
class FeedingTest {
  /** Application code of the pool. */
  private interface Step {
    void run() throws JMSException;
  }

  private final AtomicInteger taken = new AtomicInteger();
  private final AtomicInteger started = new AtomicInteger();
  private final AtomicReference<Step> inPool = new AtomicReference<>(() -> {});
  private final AtomicReference<Step> inSession = new AtomicReference<>(() -> {});
  private final AtomicReference<Step> inStart = new AtomicReference<>(() -> {});
  private final AtomicReference<Thread> feeder = new AtomicReference<>();
  private final LinkedBlockingQueue<JMSException> told = new LinkedBlockingQueue<>();
  private final List<String> got = new CopyOnWriteArrayList<>();
  @RegisterExtension final ScriptedBrokerExtension rig = new ScriptedBrokerExtension().withPools();

  private ScriptedBroker broker;
  private PlayedQueue queue;
  private Connection connection;
  private volatile Session session;

  @BeforeEach
  void start() throws Exception {
    broker = rig.broker();
    queue = new PlayedQueue(broker);
    connection = rig.connect("");
    connection.setExceptionListener(told::add);
  }

  private ConnectionConsumer open(int mode) throws JMSException {
    session = connection.createSession(mode);
    session.setMessageListener(message -> got.add(text(message)));
    ServerSession pooled =
        new ServerSession() {
          @Override
          public Session getSession() throws JMSException {
            inSession.get().run();
            return session;
          }

          @Override
          public void start() throws JMSException {
            inStart.get().run();
            started.incrementAndGet();
          }
        };
    ServerSessionPool pool =
        () -> {
          feeder.set(Thread.currentThread());
          inPool.get().run();
          taken.incrementAndGet();
          return pooled;
        };
    ConnectionConsumer consumer =
        connection.createConnectionConsumer(session.createQueue("orders"), null, pool, 10);
    connection.start();
    return consumer;
  }

  private static String text(Message message) {
    try {
      return ((TextMessage) message).getText();
    } catch (JMSException e) {
      throw new AssertionError(e);
    }
  }

  private JMSException failure() throws InterruptedException {
    JMSException failure = told.poll(10, TimeUnit.SECONDS);
    assertThat(failure).as("what the exception listener is told").isNotNull();
    return failure;
  }

  private void runs(String... texts) {
    await()
        .until(
            () -> {
              session.run();
              return got.equals(List.of(texts));
            });
  }

  /** Fails once. */
  private static Step once(AtomicReference<Step> at, Step failing) {
    return () -> {
      at.set(() -> {});
      failing.run();
    };
  }

  @Test
  void aFailedAcknowledgementInModeNoneGivesThePoolItsSessionBack() throws Exception {
    broker.on(
        Frame.Acknowledge.class,
        ack -> {
          broker.ok(Frame.Acknowledge.class);
          return List.of(new Frame.Fault(ack.correlation(), FaultCode.DISK_FULL, "full", 0));
        });
    open(LightmqJms.NO_ACKNOWLEDGE);
    queue.give(1, 0, "a");
    assertThat(failure()).hasMessageContaining("full");
    await().until(() -> started.get() == 1);
    await().until(() -> queue.returned(false).equals(List.of(1L)));
    session.run();
    assertThat(got).isEmpty();
    queue.give(1, 0, "a");
    runs("a");
  }

  @Test
  void anErrorInThePoolIsToldAndDoesNotEndTheFeeding() throws Exception {
    inPool.set(
        once(
            inPool,
            () -> {
              throw new NoClassDefFoundError("of the pool");
            }));
    open(Session.AUTO_ACKNOWLEDGE);
    queue.give(1, 0, "a");
    assertThat(failure()).hasRootCauseInstanceOf(NoClassDefFoundError.class);
    runs("a");
  }

  @Test
  void anErrorInAServerSessionIsToldAndThePoolGetsItsSessionBack() throws Exception {
    inSession.set(
        once(
            inSession,
            () -> {
              throw new AssertionError("of the session");
            }));
    open(Session.AUTO_ACKNOWLEDGE);
    queue.give(1, 0, "a");
    assertThat(failure()).hasRootCauseInstanceOf(AssertionError.class);
    runs("a");
    assertThat(started).hasValue(taken.get());
  }

  @Test
  void anErrorOfTheStartLeavesTheMessagesToTheNext() throws Exception {
    inStart.set(
        once(
            inStart,
            () -> {
              throw new StackOverflowError("of the start");
            }));
    open(Session.AUTO_ACKNOWLEDGE);
    queue.give(1, 0, "a", "b");
    assertThat(failure()).hasRootCauseInstanceOf(StackOverflowError.class);
    await().until(() -> started.get() == 1);
    runs("a", "b");
    assertThat(queue.returned(false)).isEmpty();
  }

  @Test
  void aPoolThatLeavesTheThreadInterruptedIsFedOn() throws Exception {
    inPool.set(() -> Thread.currentThread().interrupt());
    inSession.set(() -> Thread.currentThread().interrupt());
    inStart.set(() -> Thread.currentThread().interrupt());
    open(LightmqJms.NO_ACKNOWLEDGE);
    queue.give(1, 0, "a");
    runs("a");
    queue.give(2, 0, "b");
    runs("a", "b");
    assertThat(told).isEmpty();
  }

  @Test
  void anInterruptWhileItWaitsIsToldAndDoesNotEndTheFeeding() throws Exception {
    open(Session.AUTO_ACKNOWLEDGE);
    queue.give(1, 0, "a");
    runs("a");
    await().until(() -> feeder.get().getState() == Thread.State.WAITING);
    feeder.get().interrupt();
    assertThat(failure()).hasMessageContaining("interrupted");
    queue.give(2, 0, "b");
    runs("a", "b");
  }

  @Test
  void aSessionOfAnotherConnectionIsGivenBackToo() throws Exception {
    try (ScriptedBroker second = new ScriptedBroker();
        Connection other = new LightmqConnectionFactory(second.uri("")).createConnection()) {
      open(Session.AUTO_ACKNOWLEDGE);
      Session own = session;
      session = other.createSession();
      queue.give(1, 0, "a");
      assertThat(failure()).hasMessageContaining("another connection");
      session = own;
      await().until(() -> started.get() >= 1 && started.get() == taken.get());
    }
  }

  @Test
  void aFeederWhosePoolFailsForEverEndsWithItsConsumer() throws Exception {
    inPool.set(
        () -> {
          throw new OutOfMemoryError("thrown by a test");
        });
    ConnectionConsumer consumer = open(Session.AUTO_ACKNOWLEDGE);
    queue.give(1, 0, "a");
    assertThat(failure()).hasRootCauseInstanceOf(OutOfMemoryError.class);
    consumer.close();
    feeder.get().join(10_000);
    assertThat(feeder.get().isAlive()).isFalse();
  }
}

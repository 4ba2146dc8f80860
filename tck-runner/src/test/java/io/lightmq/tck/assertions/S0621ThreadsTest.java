package io.lightmq.tck.assertions;

import static org.assertj.core.api.Assertions.assertThat;

import jakarta.jms.Connection;
import jakarta.jms.JMSException;
import jakarta.jms.MessageListener;
import jakarta.jms.MessageProducer;
import jakarta.jms.Session;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Jakarta Messaging 3.1 sections 6.2.13 and 6.2.14: serial execution of client code within a
 * session, concurrent delivery by several.
 */
class S0621ThreadsTest {

  private static final int MESSAGES = 300;

  @TempDir Path folder;
  private BrokerFolder broker;

  @BeforeEach
  void open() {
    broker = new BrokerFolder(folder);
  }

  @AfterEach
  void close() {
    broker.close();
  }

  private void send(String queue, int count) throws JMSException {
    try (Connection connection = broker.connect()) {
      Session session = connection.createSession();
      MessageProducer producer = session.createProducer(session.createQueue(queue));
      for (int number = 0; number < count; number++) {
        producer.send(session.createMessage());
      }
    }
  }

  @Test
  void aSessionRunsAllItsListenersOnOneThreadOneAtATime() throws Exception {
    Set<Thread> threads = ConcurrentHashMap.newKeySet();
    AtomicInteger running = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    CountDownLatch done = new CountDownLatch(3 * MESSAGES);
    MessageListener listener =
        message -> {
          most.accumulateAndGet(running.incrementAndGet(), Math::max);
          threads.add(Thread.currentThread());
          Thread.yield();
          running.decrementAndGet();
          done.countDown();
        };
    try (Connection connection = broker.connect()) {
      Session session = connection.createSession();
      for (String queue : new String[] {"a", "b", "c"}) {
        session.createConsumer(session.createQueue(queue)).setMessageListener(listener);
        send(queue, MESSAGES);
      }
      assertThat(done.await(BrokerFolder.COMES_MILLIS, TimeUnit.MILLISECONDS)).isTrue();
    }
    assertThat(most).hasValue(1);
    assertThat(threads).hasSize(1);
  }

  @Test
  void listenersOfSeveralSessionsRunAtTheSameTime() throws Exception {
    int sessions = 3;
    CyclicBarrier meeting = new CyclicBarrier(sessions);
    CountDownLatch met = new CountDownLatch(sessions);
    try (Connection connection = broker.connect()) {
      for (int each = 0; each < sessions; each++) {
        Session session = connection.createSession();
        session
            .createConsumer(session.createQueue("queue-" + each))
            .setMessageListener(message -> meet(meeting, met));
      }
      for (int each = 0; each < sessions; each++) {
        send("queue-" + each, 1);
      }
      assertThat(met.await(BrokerFolder.COMES_MILLIS, TimeUnit.MILLISECONDS))
          .as("all listeners met while they ran")
          .isTrue();
    }
  }

  private static void meet(CyclicBarrier meeting, CountDownLatch met) {
    try {
      meeting.await(BrokerFolder.COMES_MILLIS, TimeUnit.MILLISECONDS);
      met.countDown();
    } catch (InterruptedException | BrokenBarrierException | TimeoutException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void competingSessionsGetEachMessageOnce() throws Exception {
    send("orders", MESSAGES);
    Set<String> ids = ConcurrentHashMap.newKeySet();
    AtomicInteger deliveries = new AtomicInteger();
    CountDownLatch done = new CountDownLatch(MESSAGES);
    try (Connection connection = broker.connect()) {
      for (int each = 0; each < 4; each++) {
        Session session = connection.createSession();
        session
            .createConsumer(session.createQueue("orders"))
            .setMessageListener(
                message -> {
                  try {
                    ids.add(message.getJMSMessageID());
                  } catch (JMSException e) {
                    throw new AssertionError(e);
                  }
                  deliveries.incrementAndGet();
                  done.countDown();
                });
      }
      assertThat(done.await(BrokerFolder.COMES_MILLIS, TimeUnit.MILLISECONDS)).isTrue();
    }
    assertThat(ids).hasSize(MESSAGES);
    assertThat(deliveries).hasValue(MESSAGES);
  }
}

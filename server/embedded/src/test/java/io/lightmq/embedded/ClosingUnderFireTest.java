package io.lightmq.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.client.LightmqConnectionFactory;
import io.lightmq.client.LightmqJms;
import jakarta.jms.Connection;
import jakarta.jms.IllegalStateException;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageProducer;
import jakarta.jms.Queue;
import jakarta.jms.Session;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Consumers whose sessions are closed, now and then by interrupted threads, in the midst of
 * receiving: at the end each message has been settled by exactly one of them, and none is stuck.
 */
class ClosingUnderFireTest {
  private static final int MESSAGES = 400;

  private final ExecutorService threads = Executors.newFixedThreadPool(3);
  private final Map<Integer, Integer> settled = new ConcurrentHashMap<>();

  @AfterEach
  void stop() throws Exception {
    threads.shutdown();
    assertThat(threads.awaitTermination(10, TimeUnit.SECONDS)).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      ints = {
        Session.SESSION_TRANSACTED,
        Session.CLIENT_ACKNOWLEDGE,
        LightmqJms.INDIVIDUAL_ACKNOWLEDGE
      })
  void eachMessageIsSettledOnceAndNoneIsStuck(int mode) throws Exception {
    LightmqConnectionFactory factory =
        new LightmqConnectionFactory("lightmq:mem:closing-" + mode + "?prefetchMessages=20");
    try (Connection connection = factory.createConnection()) {
      Session own = connection.createSession();
      Queue queue = own.createQueue("orders");
      MessageProducer producer = own.createProducer(queue);
      for (int i = 0; i < MESSAGES; i++) {
        Message message = own.createMessage();
        message.setIntProperty("number", i);
        producer.send(message);
      }
      connection.start();
      for (int round = 0; round < 12; round++) {
        List<CompletableFuture<Void>> receivers = new ArrayList<>();
        List<Session> sessions = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
          Session session = connection.createSession(mode);
          sessions.add(session);
          MessageConsumer consumer = session.createConsumer(queue);
          receivers.add(CompletableFuture.runAsync(() -> receive(session, consumer, 5), threads));
        }
        // Somewhere in the midst of it, which the next round tells apart.
        for (int spin = 0; spin < round * 20_000; spin++) {
          Thread.onSpinWait();
        }
        for (Session session : sessions) {
          close(session, round % 2 == 1);
        }
        for (CompletableFuture<Void> receiver : receivers) {
          receiver.get(30, TimeUnit.SECONDS);
        }
      }
      Session last = connection.createSession(mode);
      receive(last, last.createConsumer(queue), MESSAGES);
      assertThat(settled).as("messages that were settled").hasSize(MESSAGES);
      assertThat(settled.values()).as("how often").containsOnly(1);
    }
  }

  private static void close(Session session, boolean interrupted) throws JMSException {
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    session.close();
    assertThat(Thread.interrupted()).isEqualTo(interrupted);
  }

  /** Receives and settles until so many are settled, nothing comes or the session is closed. */
  private void receive(Session session, MessageConsumer consumer, int most) {
    try {
      for (int i = 0; i < most; i++) {
        Message message = consumer.receive(2_000);
        if (message == null) {
          return;
        }
        if (session.getTransacted()) {
          session.commit();
        } else {
          message.acknowledge();
        }
        settled.merge(message.getIntProperty("number"), 1, Integer::sum);
      }
    } catch (IllegalStateException e) {
      assertThat(e.getErrorCode()).as("closed").isEqualTo("LMQ-101");
    } catch (JMSException e) {
      // It is not settled, or was on its way when the session was closed.
      assertThat(e.getErrorCode()).isIn("LMQ-30", "LMQ-31");
    }
  }
}

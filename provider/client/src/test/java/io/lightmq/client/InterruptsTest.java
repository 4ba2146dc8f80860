package io.lightmq.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lightmq.wire.Frame;
import jakarta.jms.CompletionListener;
import jakarta.jms.Connection;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageProducer;
import jakarta.jms.Session;
import jakarta.jms.TextMessage;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Application code that leaves the client's threads interrupted, which is nobody else's affair. */
class InterruptsTest {
  @RegisterExtension final ScriptedBrokerExtension rig = new ScriptedBrokerExtension().withPools();

  private ScriptedBroker broker;
  private PlayedQueue queue;
  private Connection connection;
  private Session session;

  @BeforeEach
  void start() throws Exception {
    broker = rig.broker();
    queue = new PlayedQueue(broker);
    connection = rig.connect("&lingerMillis=0");
    session = connection.createSession();
  }

  @AfterEach
  void stop() {
    broker.ok(Frame.Return.class);
  }

  @Test
  void aCompletionListenerDoesNotSpoilTheNextSend() throws Exception {
    MessageProducer producer = session.createProducer(session.createQueue("orders"));
    LinkedBlockingQueue<String> told = new LinkedBlockingQueue<>();
    CompletionListener listener =
        new CompletionListener() {
          @Override
          public void onCompletion(Message message) {
            told.add("done");
            Thread.currentThread().interrupt();
          }

          @Override
          public void onException(Message message, Exception exception) {
            told.add(exception.toString());
            Thread.currentThread().interrupt();
          }
        };
    producer.send(session.createTextMessage("a"), listener);
    broker.receipt(broker.expect(Frame.Publish.class));
    assertThat(told.poll(10, TimeUnit.SECONDS)).isEqualTo("done");
    producer.send(session.createTextMessage("b"), listener);
    Frame.Publish second = broker.expect(Frame.Publish.class);
    assertThat(told.poll(100, TimeUnit.MILLISECONDS)).as("told before the receipt").isNull();
    broker.receipt(second);
    assertThat(told.poll(10, TimeUnit.SECONDS)).isEqualTo("done");
  }

  @Test
  void aMessageListenerDoesNotSpoilTheReturnOfItsMessage() throws Exception {
    LinkedBlockingQueue<String> got = new LinkedBlockingQueue<>();
    AtomicInteger calls = new AtomicInteger();
    broker.expectToo(Frame.Return.class);
    session
        .createConsumer(session.createQueue("orders"))
        .setMessageListener(
            message -> {
              got.add(text(message));
              Thread.currentThread().interrupt();
              if (calls.incrementAndGet() == 1) {
                throw new java.lang.IllegalStateException("the first time it fails");
              }
            });
    connection.start();
    queue.give(1, 0, "a");
    Frame.Return back = broker.expect(Frame.Return.class);
    queue.give(2, 0, "b");
    assertThat(got.poll(10, TimeUnit.SECONDS)).isEqualTo("a");
    assertThat(got.poll(200, TimeUnit.MILLISECONDS))
        .as("handed over before the broker has taken back the first")
        .isNull();
    broker.send(new Frame.Ok(back.correlation()));
    assertThat(got.poll(10, TimeUnit.SECONDS)).isEqualTo("b");
  }

  @Test
  void anExceptionListenerDoesNotSpoilTheNextCall() throws Exception {
    LinkedBlockingQueue<Boolean> told = new LinkedBlockingQueue<>();
    ExceptionTeller teller = new ExceptionTeller();
    teller.listener(
        exception -> {
          told.add(Thread.currentThread().isInterrupted());
          Thread.currentThread().interrupt();
        });
    teller.tell(new JMSException("a"));
    teller.tell(new JMSException("b"));
    assertThat(told.poll(10, TimeUnit.SECONDS)).isFalse();
    assertThat(told.poll(10, TimeUnit.SECONDS)).isFalse();
    teller.close();
  }

  @Test
  void theThreadThatRunsASessionKeepsItsInterruptAndTheMessageIsSettled() throws Exception {
    session.setMessageListener(
        message -> {
          Thread.currentThread().interrupt();
          throw new java.lang.IllegalStateException("it fails");
        });
    LinkedBlockingQueue<String> started = new LinkedBlockingQueue<>();
    jakarta.jms.ServerSession pooled =
        new jakarta.jms.ServerSession() {
          @Override
          public Session getSession() {
            return session;
          }

          @Override
          public void start() {
            started.add("started");
          }
        };
    connection.createConnectionConsumer(session.createQueue("orders"), null, () -> pooled, 10);
    connection.start();
    queue.give(1, 0, "a");
    assertThat(started.poll(10, TimeUnit.SECONDS)).isNotNull();
    session.run();
    assertThat(Thread.interrupted()).isTrue();
    await().until(() -> queue.returned(true).equals(List.of(1L)));
  }

  private static String text(Message message) {
    try {
      return ((TextMessage) message).getText();
    } catch (JMSException e) {
      throw new AssertionError(e);
    }
  }
}

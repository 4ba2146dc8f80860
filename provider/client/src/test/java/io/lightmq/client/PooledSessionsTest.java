package io.lightmq.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lightmq.wire.Frame;
import io.lightmq.wire.entry.SequenceRange;
import jakarta.jms.Connection;
import jakarta.jms.ConnectionConsumer;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.ServerSession;
import jakarta.jms.Session;
import jakarta.jms.TextMessage;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A connection consumer whose sessions the test runs, against a broker that the test plays. */
class PooledSessionsTest {
  private final AtomicInteger starts = new AtomicInteger();
  private final List<String> got = new CopyOnWriteArrayList<>();
  @RegisterExtension final ScriptedBrokerExtension rig = new ScriptedBrokerExtension().withPools();

  private ScriptedBroker broker;
  private Connection connection;
  private Session session;
  private ConnectionConsumer consumer;

  @BeforeEach
  void start() throws Exception {
    broker = rig.broker();
    connection = rig.connect("");
  }

  private void open(int mode) throws JMSException {
    session = connection.createSession(mode);
    session.setMessageListener(message -> got.add(text(message)));
    consume();
  }

  private void consume() throws JMSException {
    ServerSession pooled =
        new ServerSession() {
          @Override
          public Session getSession() {
            return session;
          }

          @Override
          public void start() {
            starts.incrementAndGet();
          }
        };
    consumer =
        connection.createConnectionConsumer(session.createQueue("orders"), null, () -> pooled, 10);
    connection.start();
  }

  private static String text(Message message) {
    try {
      return ((TextMessage) message).getText();
    } catch (JMSException e) {
      return e.toString();
    }
  }

  @AfterEach
  void stop() {
    broker.ok(Frame.Return.class);
  }

  @Test
  void aSessionWithoutAListenerGetsNothingUntilItHasOne() throws Exception {
    List<JMSException> told = new CopyOnWriteArrayList<>();
    connection.setExceptionListener(told::add);
    session = connection.createSession();
    consume();
    deliver(1, "a");
    await().until(() -> told.size() >= 3);
    session.run();
    assertThat(told)
        .allSatisfy(e -> assertThat(e).hasMessageContaining("Session.setMessageListener"));
    assertThat(broker.seen(Frame.Return.class)).as("it waits here, with pauses").isEmpty();
    int before = starts.get();
    session.setMessageListener(message -> got.add(text(message)));
    await()
        .until(
            () -> {
              session.run();
              return !got.isEmpty();
            });
    assertThat(starts.get()).isGreaterThan(before);
    assertThat(got).containsExactly("a");
  }

  private Frame.PullOne pull() throws InterruptedException {
    return broker.expect(Frame.Pull.class).pulls().get(0);
  }

  private void deliver(long sequence, String... texts) throws InterruptedException {
    int before = starts.get();
    broker.send(broker.deliver(pull(), "orders", sequence, 0, texts));
    await().until(() -> starts.get() > before);
  }

  @Test
  void whatWasLoadedIsAcknowledgedToTheConsumerThatPulledIt() throws Exception {
    open(Session.AUTO_ACKNOWLEDGE);
    deliver(5, "a");
    int consumerId = broker.seen(Frame.AttachConsumer.class).get(0).consumerId();
    broker.expect(Frame.Pull.class);
    session.run();
    assertThat(got).containsExactly("a");
    Frame.Acked acked = broker.expect(Frame.Acknowledge.class).acked().get(0);
    assertThat(acked.consumerId()).isEqualTo(consumerId);
    assertThat(acked.ranges()).containsExactly(new SequenceRange(4, 5, 1));
  }

  @Test
  void whatWasLoadedBeforeTheConnectionWasLostIsNotRun() throws Exception {
    open(Session.AUTO_ACKNOWLEDGE);
    deliver(1, "a", "b");
    broker.expect(Frame.Pull.class);
    broker.cut();
    await().until(() -> broker.seen(Frame.AttachConsumer.class).size() == 2);
    Frame.PullOne again = pull();
    session.run();
    assertThat(got).isEmpty();
    broker.send(broker.deliver(again, "orders", 1, 1, "a", "b"));
    await().until(() -> starts.get() == 2);
    session.run();
    assertThat(got).containsExactly("a", "b");
  }

  @Test
  void aClosedOneStaysInTheBrokerUntilItsSessionHasSettled() throws Exception {
    open(Session.CLIENT_ACKNOWLEDGE);
    deliver(1, "a");
    broker.expect(Frame.Pull.class);
    session.run();
    broker.ok(Frame.Return.class);
    consumer.close();
    assertThat(broker.seen(Frame.DetachConsumer.class)).isEmpty();
    session.close();
    await().until(() -> broker.seen(Frame.DetachConsumer.class).size() == 1);
    List<Frame.Return> returns = broker.seen(Frame.Return.class);
    assertThat(returns).hasSize(1);
    assertThat(returns.get(0).attempted()).isTrue();
  }
}

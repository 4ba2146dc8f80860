package io.lightmq.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.lightmq.client.LightmqConnectionFactory;
import jakarta.jms.CompletionListener;
import jakarta.jms.Connection;
import jakarta.jms.IllegalStateException;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageProducer;
import jakarta.jms.Queue;
import jakarta.jms.Session;
import jakarta.jms.TextMessage;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Sections 6.1.5 to 6.2.16 and 8: start, stop, close, recover, and who may call what where. */
class LifeRulesTest {
  private static final long WAIT_MILLIS = 20_000;
  private static final long SHORT_MILLIS = 200;

  private final String name = "lightmq:mem:" + UUID.randomUUID();
  private Connection connection;
  private Connection other;
  private Session sending;
  private Queue queue;

  @BeforeEach
  void connect() throws JMSException {
    connection = new LightmqConnectionFactory(name).createConnection();
    connection.start();
    other = new LightmqConnectionFactory(name).createConnection();
    other.start();
    sending = other.createSession();
    queue = sending.createQueue("q");
  }

  @AfterEach
  void close() throws JMSException {
    connection.close();
    other.close();
  }

  private void send(String... texts) throws JMSException {
    try (MessageProducer producer = sending.createProducer(queue)) {
      for (String text : texts) {
        producer.send(sending.createTextMessage(text));
      }
    }
  }

  private static String shown(Message message) throws JMSException {
    return message == null
        ? "nothing"
        : ((TextMessage) message).getText()
            + "/"
            + message.getIntProperty("JMSXDeliveryCount")
            + (message.getJMSRedelivered() ? "!" : "");
  }

  private static List<String> receive(MessageConsumer consumer, int count) throws JMSException {
    List<String> got = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      got.add(shown(consumer.receive(WAIT_MILLIS)));
    }
    return got;
  }

  /** Something that throws JMS exceptions. */
  interface Call<T> {
    T call() throws Exception;
  }

  private static <T> CompletableFuture<T> begin(Call<T> call) {
    CompletableFuture<T> done = new CompletableFuture<>();
    Thread thread =
        new Thread(
            () -> {
              try {
                done.complete(call.call());
              } catch (Exception e) {
                done.completeExceptionally(e);
              }
            });
    thread.start();
    Awaitility.await().until(() -> done.isDone() || thread.getState() == Thread.State.WAITING);
    return done;
  }

  // ---- 6.1.5 stop ----

  @Test
  void aReceiveInAStoppedConnectionEndsWithItsTimeAndGetsNothing() throws Exception {
    MessageConsumer consumer = connection.createSession().createConsumer(queue);
    connection.stop();
    send("a");
    assertThat(consumer.receive(SHORT_MILLIS)).isNull();
    assertThat(consumer.receiveNoWait()).isNull();
    connection.start();
    assertThat(shown(consumer.receive(WAIT_MILLIS))).isEqualTo("a/1");
  }

  @Test
  void aReceiveThatWaitsWhileTheConnectionIsStoppedGoesOnAfterStart() throws Exception {
    MessageConsumer consumer = connection.createSession().createConsumer(queue);
    CompletableFuture<Message> receiving = begin(consumer::receive);
    connection.stop();
    send("a");
    assertThat(receiving).isNotDone();
    connection.start();
    assertThat(shown(receiving.get(WAIT_MILLIS, TimeUnit.MILLISECONDS))).isEqualTo("a/1");
  }

  @Test
  void stopWaitsForAListenerAndNoOtherBegins() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    List<String> got = new CopyOnWriteArrayList<>();
    connection
        .createSession()
        .createConsumer(queue)
        .setMessageListener(
            message -> {
              begun.countDown();
              try {
                goOn.await(WAIT_MILLIS, TimeUnit.MILLISECONDS);
                got.add(shown(message));
              } catch (Exception e) {
                got.add(e.toString());
              }
            });
    send("a", "b");
    assertThat(begun.await(WAIT_MILLIS, TimeUnit.MILLISECONDS)).isTrue();
    CompletableFuture<Void> stopping =
        begin(
            () -> {
              connection.stop();
              return null;
            });
    assertThat(stopping).isNotDone();
    goOn.countDown();
    stopping.get(WAIT_MILLIS, TimeUnit.MILLISECONDS);
    assertThat(got).containsExactly("a/1");
    connection.start();
    Awaitility.await().until(() -> got.size() == 2);
  }

  @Test
  void aStoppedConnectionStillSends() throws Exception {
    Session session = connection.createSession();
    connection.stop();
    session.createProducer(queue).send(session.createTextMessage("a"));
    assertThat(shown(sending.createConsumer(queue).receive(WAIT_MILLIS))).isEqualTo("a/1");
  }

  // ---- 6.1.8, 6.2.15 close ----

  @ParameterizedTest
  @ValueSource(strings = {"consumer", "session", "connection"})
  void aBlockedReceiveReturnsNullWhenItsOwnerIsClosed(String what) throws Exception {
    Session session = connection.createSession();
    MessageConsumer consumer = session.createConsumer(queue);
    CompletableFuture<Message> receiving = begin(consumer::receive);
    switch (what) {
      case "consumer" -> consumer.close();
      case "session" -> session.close();
      default -> connection.close();
    }
    assertThat(receiving.get(WAIT_MILLIS, TimeUnit.MILLISECONDS)).isNull();
  }

  @Test
  void closingTwiceDoesNothing() throws Exception {
    Session session = connection.createSession();
    MessageConsumer consumer = session.createConsumer(queue);
    MessageProducer producer = session.createProducer(queue);
    for (int i = 0; i < 2; i++) {
      consumer.close();
      producer.close();
      session.close();
      connection.close();
    }
    assertThatCode(connection::close).doesNotThrowAnyException();
  }

  @Test
  void closingATransactedSessionRollsBack() throws Exception {
    send("in");
    Session session = connection.createSession(true, 0);
    assertThat(receive(session.createConsumer(queue), 1)).containsExactly("in/1");
    session.createProducer(queue).send(session.createTextMessage("out"));
    session.close();
    MessageConsumer consumer = sending.createConsumer(queue);
    assertThat(receive(consumer, 1)).containsExactly("in/2!");
    assertThat(consumer.receive(SHORT_MILLIS)).isNull();
  }

  @Test
  void whatAConsumerThatIsClosedHasGotIsPartOfTheTransaction() throws Exception {
    send("a", "b");
    Session session = connection.createSession(true, 0);
    MessageConsumer first = session.createConsumer(queue);
    receive(first, 1);
    first.close();
    session.commit();
    assertThat(receive(sending.createConsumer(queue), 1)).containsExactly("b/1");
  }

  @Test
  void aListenerMayCloseItsConsumerButNothingAroundIt() throws Exception {
    List<String> said = new CopyOnWriteArrayList<>();
    Session session = connection.createSession();
    MessageConsumer consumer = session.createConsumer(queue);
    consumer.setMessageListener(
        message -> {
          said.add(trying(session::close));
          said.add(trying(connection::stop));
          said.add(trying(connection::close));
          said.add(trying(consumer::close));
        });
    send("a", "b");
    Awaitility.await().until(() -> said.size() == 4);
    assertThat(said).containsExactly("refused", "refused", "refused", "allowed");
    session.close();
    assertThat(receive(sending.createConsumer(queue), 1)).containsExactly("b/1");
  }

  /** Section 7.3.4. */
  @Test
  void aCompletionListenerMayCloseAConsumerButNothingElse() throws Exception {
    List<String> said = new CopyOnWriteArrayList<>();
    Session session = connection.createSession();
    MessageConsumer consumer = session.createConsumer(queue);
    MessageProducer producer = session.createProducer(queue);
    producer.send(
        session.createTextMessage("a"),
        completing(
            () -> {
              said.add(trying(producer::close));
              said.add(trying(session::close));
              said.add(trying(connection::close));
              said.add(trying(consumer::close));
              said.add(trying(consumer::close));
            }));
    Awaitility.await().until(() -> said.size() == 5);
    assertThat(said).containsExactly("refused", "refused", "refused", "allowed", "allowed");
  }

  @Test
  void aCompletionListenerThatClosesAConsumerDoesNotWaitForOneThatWaitsForIt() throws Exception {
    List<String> said = new CopyOnWriteArrayList<>();
    Session session = connection.createSession(Session.SESSION_TRANSACTED);
    MessageConsumer consumer = session.createConsumer(queue);
    MessageProducer producer = session.createProducer(session.createQueue("elsewhere"));
    consumer.setMessageListener(
        message ->
            said.add(
                trying(
                    () -> {
                      producer.send(message, completing(() -> said.add(trying(consumer::close))));
                      session.commit();
                    })));
    send("a");
    Awaitility.await().until(() -> said.size() == 2);
    assertThat(said).containsExactly("allowed", "allowed");
  }

  private static CompletionListener completing(Action action) {
    return new CompletionListener() {
      @Override
      public void onCompletion(Message message) {
        try {
          action.run();
        } catch (JMSException e) {
          throw new AssertionError(e);
        }
      }

      @Override
      public void onException(Message message, Exception failure) {
        throw new AssertionError(failure);
      }
    };
  }

  /** A call of an application. */
  interface Action {
    void run() throws JMSException;
  }

  private static String trying(Action action) {
    try {
      action.run();
      return "allowed";
    } catch (IllegalStateException e) {
      return "refused";
    } catch (JMSException e) {
      return e.toString();
    }
  }

  @Test
  void aListenerOfAnotherSessionMayCloseThisOne() throws Exception {
    List<String> said = new CopyOnWriteArrayList<>();
    Session closing = connection.createSession();
    connection
        .createSession()
        .createConsumer(queue)
        .setMessageListener(message -> said.add(trying(closing::close)));
    send("a");
    Awaitility.await().until(() -> !said.isEmpty());
    assertThat(said).containsExactly("allowed");
  }

  // ---- 6.2.10 recover, 6.2.7 rollback ----

  @Test
  void recoverBringsAllBackInOrderCountedAndFlagged() throws Exception {
    send("a", "b", "c", "d");
    Session session = connection.createSession(Session.CLIENT_ACKNOWLEDGE);
    MessageConsumer consumer = session.createConsumer(queue);
    assertThat(receive(consumer, 3)).containsExactly("a/1", "b/1", "c/1");
    session.recover();
    assertThat(receive(consumer, 4)).containsExactly("a/2!", "b/2!", "c/2!", "d/1");
    session.recover();
    assertThat(receive(consumer, 4)).containsExactly("a/3!", "b/3!", "c/3!", "d/2!");
  }

  @Test
  void acknowledgingOneAcknowledgesAllOfTheSession() throws Exception {
    send("a", "b", "c");
    Session session = connection.createSession(Session.CLIENT_ACKNOWLEDGE);
    MessageConsumer consumer = session.createConsumer(queue);
    Message first = consumer.receive(WAIT_MILLIS);
    consumer.receive(WAIT_MILLIS);
    first.acknowledge();
    consumer.receive(WAIT_MILLIS);
    session.close();
    assertThat(receive(sending.createConsumer(queue), 1)).containsExactly("c/2!");
  }

  @Test
  void rollbackBringsAllBackInOrder() throws Exception {
    send("a", "b", "c");
    Session session = connection.createSession(true, 0);
    MessageConsumer consumer = session.createConsumer(queue);
    assertThat(receive(consumer, 2)).containsExactly("a/1", "b/1");
    session.rollback();
    assertThat(receive(consumer, 3)).containsExactly("a/2!", "b/2!", "c/1");
  }

  @Test
  void recoverInAListenerOfAnAutoSessionBringsItsMessageAgain() throws Exception {
    List<String> got = new CopyOnWriteArrayList<>();
    Session session = connection.createSession();
    session
        .createConsumer(queue)
        .setMessageListener(
            message -> {
              try {
                got.add(shown(message));
                if (!message.getJMSRedelivered()) {
                  session.recover();
                }
              } catch (JMSException e) {
                got.add(e.toString());
              }
            });
    send("a", "b");
    Awaitility.await().until(() -> got.size() == 4);
    assertThat(got).containsExactly("a/1", "a/2!", "b/1", "b/2!");
  }

  // ---- 8.7 listeners that throw ----

  @ParameterizedTest
  @ValueSource(ints = {Session.AUTO_ACKNOWLEDGE, Session.DUPS_OK_ACKNOWLEDGE})
  void whatAListenerThrowsOnComesAgainAtOnce(int mode) throws Exception {
    assertThat(failingOnce(connection.createSession(mode)))
        .containsExactly("a/1", "a/2!", "b/1", "c/1");
  }

  @Test
  void inModeClientTheNextMessageComesAfterAFailure() throws Exception {
    Session session = connection.createSession(Session.CLIENT_ACKNOWLEDGE);
    assertThat(failingOnce(session)).containsExactly("a/1", "b/1", "c/1");
  }

  @Test
  void inATransactionTheNextMessageComesAfterAFailure() throws Exception {
    Session session = connection.createSession(true, 0);
    assertThat(failingOnce(session)).containsExactly("a/1", "b/1", "c/1");
  }

  private List<String> failingOnce(Session session) throws JMSException {
    List<String> got = new CopyOnWriteArrayList<>();
    CountDownLatch last = new CountDownLatch(1);
    session
        .createConsumer(queue)
        .setMessageListener(
            message -> {
              try {
                got.add(shown(message));
              } catch (JMSException e) {
                got.add(e.toString());
              }
              if (got.size() == 1) {
                throw new java.lang.IllegalStateException("planted");
              }
              if (got.get(got.size() - 1).startsWith("c")) {
                last.countDown();
              }
            });
    send("a", "b", "c");
    Awaitility.await().until(() -> last.getCount() == 0);
    return List.copyOf(got);
  }

  // ---- 6.2.16 serial execution ----

  @Test
  void theListenersOfASessionRunOneAtATime() throws Exception {
    List<String> overlaps = new CopyOnWriteArrayList<>();
    List<String> got = new CopyOnWriteArrayList<>();
    Session session = connection.createSession();
    Thread[] running = new Thread[1];
    for (String each : List.of("one", "two", "three")) {
      session
          .createConsumer(session.createQueue(each))
          .setMessageListener(
              message -> {
                if (running[0] != null) {
                  overlaps.add(each);
                }
                running[0] = Thread.currentThread();
                Thread.onSpinWait();
                running[0] = null;
                got.add(each);
              });
    }
    for (int i = 0; i < 50; i++) {
      for (String each : List.of("one", "two", "three")) {
        MessageProducer producer = sending.createProducer(sending.createQueue(each));
        producer.send(sending.createMessage());
        producer.close();
      }
    }
    Awaitility.await().until(() -> got.size() == 150);
    assertThat(overlaps).isEmpty();
  }
}

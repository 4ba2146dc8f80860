package io.lightmq.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.client.LightmqConnectionFactory;
import io.lightmq.client.LightmqJms;
import jakarta.jms.Connection;
import jakarta.jms.ConnectionConsumer;
import jakarta.jms.IllegalStateException;
import jakarta.jms.InvalidDestinationException;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageProducer;
import jakarta.jms.Queue;
import jakarta.jms.Session;
import jakarta.jms.TextMessage;
import jakarta.jms.Topic;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Section 9 of the specification: connection consumers and server sessions. */
class ConnectionConsumerTest {
  private static final long WAIT_MILLIS = 20_000;
  private static final long SHORT_MILLIS = 200;

  private final String name = "lightmq:mem:" + UUID.randomUUID();
  private final List<JMSException> told = new CopyOnWriteArrayList<>();
  private final List<String> got = Collections.synchronizedList(new ArrayList<>());
  private Connection connection;
  private Connection other;
  private Session session;
  private Queue queue;

  @BeforeEach
  void connect() throws JMSException {
    connection = new LightmqConnectionFactory(name + "?clientId=pooled").createConnection();
    connection.setExceptionListener(told::add);
    other = new LightmqConnectionFactory(name).createConnection();
    other.start();
    session = other.createSession();
    queue = session.createQueue("work");
  }

  @AfterEach
  void close() throws JMSException {
    connection.close();
    other.close();
  }

  private void send(int from, int to) throws JMSException {
    try (MessageProducer producer = session.createProducer(queue)) {
      for (int i = from; i < to; i++) {
        producer.send(session.createTextMessage("m" + i));
      }
    }
  }

  private TestPool pool(int size, int mode) throws JMSException {
    return new TestPool(connection, size, mode, (with, message) -> got.add(text(message)));
  }

  private static String text(Message message) throws JMSException {
    return ((TextMessage) message).getText();
  }

  private void awaitGot(int count) {
    Awaitility.await().untilAsserted(() -> assertThat(got).hasSize(count));
  }

  private List<String> rest() throws JMSException {
    List<String> rest = new ArrayList<>();
    try (MessageConsumer consumer = session.createConsumer(queue)) {
      for (Message next = consumer.receive(SHORT_MILLIS);
          next != null;
          next = consumer.receive(SHORT_MILLIS)) {
        rest.add(text(next) + (next.getJMSRedelivered() ? "!" : ""));
      }
    }
    return rest;
  }

  @ParameterizedTest
  @ValueSource(
      ints = {
        Session.AUTO_ACKNOWLEDGE,
        Session.DUPS_OK_ACKNOWLEDGE,
        Session.CLIENT_ACKNOWLEDGE,
        Session.SESSION_TRANSACTED,
        LightmqJms.NO_ACKNOWLEDGE,
        LightmqJms.INDIVIDUAL_ACKNOWLEDGE
      })
  void sessionsRunMessagesInOrderAndSettleThemInTheirMode(int mode) throws Exception {
    try (TestPool pool =
        new TestPool(
            connection,
            1,
            mode,
            (with, message) -> {
              got.add(text(message));
              if (mode == Session.SESSION_TRANSACTED) {
                with.commit();
              } else {
                message.acknowledge();
              }
            })) {
      connection.start();
      ConnectionConsumer consumer = connection.createConnectionConsumer(queue, null, pool, 3);
      send(0, 20);
      awaitGot(20);
      consumer.close();
      Awaitility.await().until(() -> pool.free() == 1);
      assertThat(got).isEqualTo(texts(0, 20));
      connection.close();
      assertThat(rest()).isEmpty();
      assertThat(told).isEmpty();
    }
  }

  private static List<String> texts(int from, int to) {
    List<String> texts = new ArrayList<>();
    for (int i = from; i < to; i++) {
      texts.add("m" + i);
    }
    return texts;
  }

  @Test
  void aSessionGetsAtMostTheMaximumAtATime() throws Exception {
    List<Integer> batches = new CopyOnWriteArrayList<>();
    send(0, 10);
    try (TestPool pool = pool(1, Session.AUTO_ACKNOWLEDGE)) {
      connection.createConnectionConsumer(queue, null, () -> counting(pool, batches), 4);
      connection.start();
      awaitGot(10);
    }
    assertThat(batches).isNotEmpty().allSatisfy(size -> assertThat(size).isBetween(0, 4));
    assertThat(got).isEqualTo(texts(0, 10));
  }

  /** Wraps the pool's next session so that what each run delivered is counted. */
  private jakarta.jms.ServerSession counting(TestPool pool, List<Integer> batches)
      throws JMSException {
    jakarta.jms.ServerSession real = pool.getServerSession();
    return new jakarta.jms.ServerSession() {
      @Override
      public Session getSession() throws JMSException {
        return real.getSession();
      }

      @Override
      public void start() throws JMSException {
        int before = got.size();
        real.getSession().run();
        batches.add(got.size() - before);
        real.start(); // nothing is left to run: gives the session back to the pool
      }
    };
  }

  @Test
  void nothingIsGivenBeforeStartAndNothingAfterStop() throws Exception {
    send(0, 3);
    try (TestPool pool = pool(2, Session.AUTO_ACKNOWLEDGE)) {
      connection.createConnectionConsumer(queue, null, pool, 1);
      assertThat(pool.asked).hasValue(0);
      connection.start();
      awaitGot(3);
      connection.stop();
      send(3, 5);
      assertThat(got).hasSize(3);
      connection.start();
      awaitGot(5);
    }
  }

  @Test
  void whatAListenerFailsOnComesAgainFirstAndCounted() throws Exception {
    try (TestPool pool =
        new TestPool(
            connection,
            1,
            Session.AUTO_ACKNOWLEDGE,
            (with, message) -> {
              int deliveries = message.getIntProperty("JMSXDeliveryCount");
              got.add(text(message) + "/" + deliveries + message.getJMSRedelivered());
              if (text(message).equals("m1") && deliveries < 3) {
                throw new java.lang.IllegalStateException("planted");
              }
            })) {
      connection.createConnectionConsumer(queue, null, pool, 5);
      send(0, 4);
      connection.start();
      awaitGot(6);
      assertThat(got)
          .containsExactly(
              "m0/1false", "m1/1false", "m1/2true", "m1/3true", "m2/1false", "m3/1false");
    }
    assertThat(rest()).isEmpty();
  }

  @Test
  void aRollbackInTheListenerBringsTheMessageAgain() throws Exception {
    try (TestPool pool =
        new TestPool(
            connection,
            1,
            Session.SESSION_TRANSACTED,
            (with, message) -> {
              got.add(text(message));
              if (message.getJMSRedelivered()) {
                with.commit();
              } else {
                with.rollback();
              }
            })) {
      connection.createConnectionConsumer(queue, null, pool, 5);
      send(0, 2);
      connection.start();
      awaitGot(4);
      assertThat(got).containsExactly("m0", "m0", "m1", "m1");
    }
    connection.close();
    assertThat(rest()).isEmpty();
  }

  @Test
  void whatASessionHasNotAcknowledgedComesAgainFlaggedWhenItIsClosed() throws Exception {
    try (TestPool pool = pool(1, Session.CLIENT_ACKNOWLEDGE)) {
      ConnectionConsumer consumer = connection.createConnectionConsumer(queue, null, pool, 5);
      send(0, 2);
      connection.start();
      awaitGot(2);
      consumer.close();
      assertThat(rest()).isEmpty();
      Awaitility.await().until(() -> pool.free() == 1);
      pool.sessions().get(0).close();
      assertThat(rest()).containsExactly("m0!", "m1!");
    }
  }

  @Test
  void whileThePoolBlocksMessagesWaitAndCloseReturnsThemUncounted() throws Exception {
    send(0, 3);
    try (TestPool pool = pool(0, Session.AUTO_ACKNOWLEDGE)) {
      ConnectionConsumer consumer = connection.createConnectionConsumer(queue, null, pool, 1);
      connection.start();
      Awaitility.await().until(() -> pool.asked.get() == 1);
      assertThat(consumer.getServerSessionPool()).isSameAs(pool);
      consumer.close();
      assertThat(rest()).containsExactly("m0", "m1", "m2");
      assertThatThrownBy(consumer::getServerSessionPool).isInstanceOf(IllegalStateException.class);
    }
  }

  @Test
  void whatASessionHasNotBegunGoesBackUncountedWhenTheConnectionCloses() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    send(0, 4);
    try (TestPool pool =
        new TestPool(
            connection,
            1,
            Session.AUTO_ACKNOWLEDGE,
            (with, message) -> {
              begun.countDown();
              await(goOn);
            })) {
      connection.createConnectionConsumer(queue, null, pool, 10);
      connection.start();
      assertThat(begun.await(WAIT_MILLIS, TimeUnit.MILLISECONDS)).isTrue();
      Thread closing = new Thread(this::closeQuietly);
      closing.start();
      Awaitility.await().until(() -> waits(closing));
      goOn.countDown();
      closing.join(WAIT_MILLIS);
      assertThat(closing.isAlive()).isFalse();
    }
    assertThat(rest()).containsExactly("m1", "m2", "m3");
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await(WAIT_MILLIS, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static boolean waits(Thread thread) {
    return thread.getState() == Thread.State.WAITING;
  }

  private void closeQuietly() {
    try {
      connection.close();
    } catch (JMSException e) {
      told.add(e);
    }
  }

  @Test
  void stopWaitsForARunningListenerAndRunGoesOnAfterStart() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    send(0, 2);
    try (TestPool pool =
        new TestPool(
            connection,
            1,
            Session.AUTO_ACKNOWLEDGE,
            (with, message) -> {
              begun.countDown();
              await(goOn);
              got.add(text(message));
            })) {
      connection.createConnectionConsumer(queue, null, pool, 10);
      connection.start();
      assertThat(begun.await(WAIT_MILLIS, TimeUnit.MILLISECONDS)).isTrue();
      Thread stopping = Thread.currentThread();
      Thread release =
          new Thread(
              () -> {
                Awaitility.await().until(() -> waits(stopping));
                goOn.countDown();
              });
      release.start();
      connection.stop();
      assertThat(got).containsExactly("m0");
      connection.start();
      awaitGot(2);
      release.join();
    }
  }

  @Test
  void aPoolThatFailsIsAskedAgainAndTheExceptionListenerIsTold() throws Exception {
    try (TestPool pool = pool(1, Session.AUTO_ACKNOWLEDGE)) {
      pool.asksThatFail.set(2);
      pool.startsThatFail.set(1);
      connection.createConnectionConsumer(queue, null, pool, 1);
      connection.start();
      send(0, 2);
      awaitGot(2);
      assertThat(got).isEqualTo(texts(0, 2));
      Awaitility.await().until(() -> told.size() == 3);
      assertThat(told)
          .extracting(Throwable::getMessage)
          .containsExactly(
              "the pool is being changed", "the pool is being changed", "no thread is free");
    }
  }

  @Test
  void aSessionOfAnotherConnectionIsRefusedAndTheMessagesStay() throws Exception {
    send(0, 1);
    try (TestPool pool = pool(0, Session.AUTO_ACKNOWLEDGE)) {
      Session foreign = other.createSession();
      foreign.setMessageListener(message -> got.add("foreign"));
      pool.add(foreign);
      connection.createConnectionConsumer(queue, null, pool, 1);
      connection.start();
      Awaitility.await().until(() -> !told.isEmpty());
      assertThat(told.get(0))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("another connection");
      connection.close();
    }
    assertThat(got).isEmpty();
    assertThat(rest()).containsExactly("m0");
  }

  @Test
  void messagesOfASessionWithoutAListenerGoBackUncounted() throws Exception {
    send(0, 1);
    try (TestPool pool = pool(0, Session.AUTO_ACKNOWLEDGE)) {
      Session deaf = connection.createSession();
      pool.add(deaf);
      connection.createConnectionConsumer(queue, null, pool, 1);
      connection.start();
      Awaitility.await().until(() -> !told.isEmpty());
      assertThat(told.get(0)).hasMessageContaining("setMessageListener");
      connection.close();
    }
    assertThat(rest()).containsExactly("m0");
  }

  @Test
  void manySessionsShareTheWorkAndEachMessageIsDoneOnce() throws Exception {
    try (TestPool pool = pool(4, Session.AUTO_ACKNOWLEDGE)) {
      connection.createConnectionConsumer(queue, null, pool, 7);
      connection.start();
      send(0, 500);
      awaitGot(500);
      assertThat(got).containsExactlyInAnyOrderElementsOf(texts(0, 500));
    }
    connection.close();
    assertThat(rest()).isEmpty();
  }

  @Test
  void topicsHaveAllKindsOfConnectionConsumers() throws Exception {
    Topic topic = session.createTopic("news");
    try (TestPool pool = pool(2, Session.AUTO_ACKNOWLEDGE)) {
      connection.start();
      List<ConnectionConsumer> all =
          List.of(
              connection.createConnectionConsumer(topic, null, pool, 1),
              connection.createSharedConnectionConsumer(topic, "shared", null, pool, 1),
              connection.createDurableConnectionConsumer(topic, "durable", null, pool, 1),
              connection.createSharedDurableConnectionConsumer(topic, "both", null, pool, 1));
      MessageProducer producer = session.createProducer(topic);
      producer.send(session.createTextMessage("t1"));
      awaitGot(4);
      for (ConnectionConsumer each : all) {
        each.close();
      }
      producer.send(session.createTextMessage("t2"));
      assertThat(got).hasSize(4);
      connection.createDurableConnectionConsumer(topic, "durable", null, pool, 1);
      connection.createSharedDurableConnectionConsumer(topic, "both", null, pool, 1);
      awaitGot(6);
      assertThat(got).containsExactly("t1", "t1", "t1", "t1", "t2", "t2");
    }
  }

  @Test
  void aSelectorChoosesWhatTheSessionsGet() throws Exception {
    Topic topic = session.createTopic("news");
    try (TestPool pool = pool(1, Session.AUTO_ACKNOWLEDGE)) {
      connection.start();
      connection.createConnectionConsumer(topic, "colour = 'red'", pool, 5);
      MessageProducer producer = session.createProducer(topic);
      for (String colour : List.of("red", "blue", "red")) {
        TextMessage message = session.createTextMessage(colour);
        message.setStringProperty("colour", colour);
        producer.send(message);
      }
      awaitGot(2);
      assertThat(got).containsExactly("red", "red");
    }
  }

  @Test
  void theDomainsHaveThemToo() throws Exception {
    Topic topic = session.createTopic("news");
    LightmqConnectionFactory factory = new LightmqConnectionFactory(name + "?clientId=domains");
    try (jakarta.jms.QueueConnection queues =
            new LightmqConnectionFactory(name).createQueueConnection();
        jakarta.jms.TopicConnection topics = factory.createTopicConnection();
        TestPool queuePool =
            new TestPool(queues, 1, Session.AUTO_ACKNOWLEDGE, (with, m) -> got.add(text(m)));
        TestPool topicPool =
            new TestPool(topics, 1, Session.AUTO_ACKNOWLEDGE, (with, m) -> got.add(text(m)))) {
      queues.start();
      topics.start();
      assertThat(queues.createConnectionConsumer(queue, "", queuePool, 1)).isNotNull();
      assertThat(topics.createConnectionConsumer(topic, "", topicPool, 1)).isNotNull();
      assertThat(topics.createDurableConnectionConsumer(topic, "d", "", topicPool, 1)).isNotNull();
      send(0, 1);
      session.createProducer(topic).send(session.createTextMessage("t"));
      awaitGot(3);
      assertThat(got).containsExactlyInAnyOrder("m0", "t", "t");
      assertThatThrownBy(
              () -> queues.createSharedConnectionConsumer(topic, "s", null, queuePool, 1))
          .isInstanceOf(IllegalStateException.class);
    }
  }

  @Test
  void wrongArgumentsAreRefused() throws Exception {
    try (TestPool pool = pool(1, Session.AUTO_ACKNOWLEDGE)) {
      assertThatThrownBy(() -> connection.createConnectionConsumer((Queue) null, null, pool, 1))
          .isInstanceOf(InvalidDestinationException.class);
      assertThatThrownBy(() -> connection.createSharedConnectionConsumer(null, "s", null, pool, 1))
          .isInstanceOf(InvalidDestinationException.class);
      assertThatThrownBy(() -> connection.createConnectionConsumer(queue, null, null, 1))
          .isInstanceOf(JMSException.class)
          .hasMessageContaining("pool is null");
      assertThatThrownBy(() -> connection.createConnectionConsumer(queue, null, pool, 0))
          .isInstanceOf(JMSException.class)
          .hasMessageContaining("at least 1");
      Topic topic = session.createTopic("news");
      assertThatThrownBy(() -> other.createDurableConnectionConsumer(topic, "d", null, pool, 1))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("client id");
      connection.close();
      assertThatThrownBy(() -> connection.createConnectionConsumer(queue, null, pool, 1))
          .isInstanceOf(IllegalStateException.class);
    }
  }

  @Test
  void aSessionWithItsOwnListenerHasNoConsumersAndTheOtherWayRound() throws Exception {
    Session own = connection.createSession();
    own.setMessageListener(message -> got.add("own"));
    assertThat(own.getMessageListener()).isNotNull();
    assertThatThrownBy(() -> own.createConsumer(queue)).isInstanceOf(IllegalStateException.class);
    own.setMessageListener(null);
    assertThat(own.getMessageListener()).isNull();
    own.createConsumer(queue);
    assertThatThrownBy(() -> own.setMessageListener(message -> got.add("own")))
        .isInstanceOf(IllegalStateException.class);
    own.run();
    assertThat(got).isEmpty();
  }

  @Test
  void aListenerOfTheSessionMayNotCloseIt() throws Exception {
    try (TestPool pool =
        new TestPool(
            connection,
            1,
            Session.AUTO_ACKNOWLEDGE,
            (with, message) -> {
              try {
                with.close();
                got.add("closed");
              } catch (IllegalStateException e) {
                got.add("refused");
              }
              try {
                connection.stop();
                got.add("stopped");
              } catch (IllegalStateException e) {
                got.add("refused");
              }
            })) {
      connection.createConnectionConsumer(queue, null, pool, 1);
      connection.start();
      send(0, 1);
      awaitGot(2);
      assertThat(got).containsExactly("refused", "refused");
    }
  }
}

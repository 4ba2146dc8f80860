package io.lightmq.embedded;

import static io.lightmq.embedded.XaCalls.code;
import static io.lightmq.embedded.XaCalls.drain;
import static io.lightmq.embedded.XaCalls.receive;
import static io.lightmq.embedded.XaCalls.recovered;
import static io.lightmq.embedded.XaCalls.send;
import static javax.transaction.xa.XAResource.TMNOFLAGS;
import static javax.transaction.xa.XAResource.TMSUCCESS;
import static javax.transaction.xa.XAResource.XA_OK;
import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.client.LightmqConnectionFactory;
import jakarta.jms.Connection;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageProducer;
import jakarta.jms.Queue;
import jakarta.jms.ServerSession;
import jakarta.jms.ServerSessionPool;
import jakarta.jms.Session;
import jakarta.jms.TextMessage;
import jakarta.jms.Topic;
import jakarta.jms.XAConnection;
import jakarta.jms.XAConnectionFactory;
import jakarta.jms.XAJMSContext;
import jakarta.jms.XAQueueConnectionFactory;
import jakarta.jms.XASession;
import jakarta.jms.XATopicConnectionFactory;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Hashtable;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import javax.naming.InitialContext;
import javax.transaction.xa.XAException;
import javax.transaction.xa.XAResource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What else the API has, inside of branches of distributed transactions. */
class XaFacilitiesTest {
  private static final int DELAY_MILLIS = 1_500;

  private final String uri = "lightmq:mem:" + UUID.randomUUID();
  private final XaName xid = XaName.fresh();
  private LightmqConnectionFactory factory;
  private Connection plain;
  private XAConnection connection;
  private XASession session;
  private XAResource resource;
  private Queue orders;
  private Queue bills;
  private Topic news;

  @BeforeEach
  void start() throws Exception {
    factory = new LightmqConnectionFactory(uri);
    plain = factory.createConnection();
    plain.start();
    connection = factory.createXAConnection();
    connection.setClientID("facilities");
    connection.start();
    session = connection.createXASession();
    resource = session.getXAResource();
    orders = session.createQueue("orders");
    bills = session.createQueue("bills");
    news = session.createTopic("news");
  }

  @AfterEach
  void close() throws JMSException {
    connection.close();
    plain.close();
  }

  private void commit(XaName branch) throws XAException {
    assertThat(resource.prepare(branch)).isEqualTo(XA_OK);
    resource.commit(branch, false);
  }

  // ---- consumers ----

  @Test
  void aListenersMessagesBelongToTheBranchThatItsSessionWorksIn() throws Exception {
    List<String> got = Collections.synchronizedList(new ArrayList<>());
    MessageConsumer consumer = session.createConsumer(orders);
    resource.start(xid, TMNOFLAGS);
    consumer.setMessageListener(message -> got.add(text(message)));
    try (Session other = plain.createSession()) {
      send(other, orders, "a", "b");
    }
    Awaitility.await().until(() -> got.size() == 2);
    consumer.setMessageListener(null);
    resource.end(xid, TMSUCCESS);
    resource.prepare(xid);
    consumer.close();
    assertThat(drain(plain, orders)).isEmpty();
    resource.rollback(xid);
    assertThat(drain(plain, orders)).containsExactly("a", "b");
  }

  private static String text(Message message) {
    try {
      return ((TextMessage) message).getText();
    } catch (JMSException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void selectorsChooseWhatABranchReceives() throws Exception {
    try (MessageProducer producer = session.createProducer(orders)) {
      for (int i = 0; i < 4; i++) {
        Message message = session.createTextMessage("m" + i);
        message.setIntProperty("odd", i % 2);
        producer.send(message);
      }
    }
    MessageConsumer consumer = session.createConsumer(orders, "odd = 1");
    resource.start(xid, TMNOFLAGS);
    assertThat(receive(consumer)).isEqualTo("m1");
    assertThat(receive(consumer)).isEqualTo("m3");
    resource.end(xid, TMSUCCESS);
    commit(xid);
    consumer.close();
    assertThat(drain(plain, orders)).containsExactly("m0", "m2");
  }

  @Test
  void durableAndSharedSubscriptionsGetWhatWasCommittedAndHoldWhatWasReceived() throws Exception {
    MessageConsumer durable = session.createDurableConsumer(news, "durable", "n > 1", false);
    MessageConsumer shared = session.createSharedDurableConsumer(news, "shared");
    resource.start(xid, TMNOFLAGS);
    try (MessageProducer producer = session.createProducer(news)) {
      for (int i = 0; i < 3; i++) {
        Message message = session.createTextMessage("n" + i);
        message.setIntProperty("n", i);
        producer.send(message);
      }
    }
    resource.end(xid, TMSUCCESS);
    resource.prepare(xid);
    assertThat(shared.receive(XaCalls.SHORT_MILLIS)).isNull();
    resource.commit(xid, false);
    XaName second = XaName.fresh();
    resource.start(second, TMNOFLAGS);
    assertThat(receive(durable)).isEqualTo("n2");
    assertThat(receive(shared)).isEqualTo("n0");
    assertThat(receive(shared)).isEqualTo("n1");
    resource.end(second, TMSUCCESS);
    resource.prepare(second);
    durable.close();
    shared.close();
    resource.rollback(second);
    assertThat(receive(session.createDurableConsumer(news, "durable", "n > 1", false)))
        .isEqualTo("n2");
    MessageConsumer again = session.createSharedDurableConsumer(news, "shared");
    assertThat(receive(again)).isEqualTo("n0");
    assertThat(receive(again)).isEqualTo("n1");
    assertThat(receive(again)).isEqualTo("n2");
  }

  @Test
  void noLocalLeavesOutWhatABranchOfTheConnectionSent() throws Exception {
    MessageConsumer foreign = session.createConsumer(news, null, true);
    resource.start(xid, TMNOFLAGS);
    send(session, news, "own");
    resource.end(xid, TMSUCCESS);
    commit(xid);
    try (Session other = plain.createSession()) {
      send(other, news, "foreign");
    }
    assertThat(receive(foreign)).isEqualTo("foreign");
  }

  // ---- producers ----

  @Test
  void prioritiesCountAfterTheCommit() throws Exception {
    resource.start(xid, TMNOFLAGS);
    MessageProducer producer = session.createProducer(bills);
    for (int priority : new int[] {1, 9, 4}) {
      producer.setPriority(priority);
      producer.send(session.createTextMessage("p" + priority));
    }
    resource.end(xid, TMSUCCESS);
    commit(xid);
    assertThat(drain(plain, bills)).containsExactly("p9", "p4", "p1");
  }

  @Test
  void aDelayCountsFromTheSendAndNothingComesBeforeTheCommit() throws Exception {
    resource.start(xid, TMNOFLAGS);
    MessageProducer producer = session.createProducer(bills);
    producer.setDeliveryDelay(DELAY_MILLIS);
    Message message = session.createTextMessage("late");
    producer.send(message);
    resource.end(xid, TMSUCCESS);
    resource.prepare(xid);
    resource.commit(xid, false);
    try (Session other = plain.createSession()) {
      assertThat(receive(other.createConsumer(bills))).isEqualTo("late");
    }
    assertThat(System.currentTimeMillis()).isGreaterThanOrEqualTo(message.getJMSDeliveryTime());
  }

  @Test
  void aReplyToATemporaryQueueComesWithAOnePhaseCommit() throws Exception {
    try (Session other = plain.createSession()) {
      Queue replies = other.createTemporaryQueue();
      MessageConsumer consumer = other.createConsumer(replies);
      resource.start(xid, TMNOFLAGS);
      send(session, replies, "reply");
      resource.end(xid, TMSUCCESS);
      assertThat(consumer.receive(XaCalls.SHORT_MILLIS)).isNull();
      resource.commit(xid, true);
      assertThat(receive(consumer)).isEqualTo("reply");
    }
  }

  // ---- contexts, queue and topic variants ----

  @Test
  void aContextWorksInABranch() throws Exception {
    try (XAJMSContext context = factory.createXAContext()) {
      XAResource of = context.getXAResource();
      assertThat(of.isSameRM(resource)).isTrue();
      of.start(xid, TMNOFLAGS);
      context.createProducer().send(bills, "in");
      of.end(xid, TMSUCCESS);
      of.prepare(xid);
      assertThat(drain(plain, bills)).isEmpty();
      of.commit(xid, false);
      XaName second = XaName.fresh();
      of.start(second, TMNOFLAGS);
      assertThat(context.createConsumer(bills).receiveBody(String.class, XaCalls.WAIT_MILLIS))
          .isEqualTo("in");
      of.end(second, TMSUCCESS);
      of.rollback(second);
    }
    assertThat(drain(plain, bills)).containsExactly("in");
  }

  @Test
  void queuesAndTopicsHaveConnectionsOfTheirOwn() throws Exception {
    try (var queues = factory.createXAQueueConnection();
        var topics = factory.createXATopicConnection()) {
      topics.start();
      var ofQueue = queues.createXAQueueSession();
      var ofTopic = topics.createXATopicSession();
      var subscriber = ofTopic.getTopicSession().createSubscriber(news);
      XAResource one = ofQueue.getXAResource();
      XAResource two = ofTopic.getXAResource();
      assertThat(one.isSameRM(two)).isTrue();
      one.start(xid, TMNOFLAGS);
      ofQueue.getQueueSession().createSender(bills).send(ofQueue.createTextMessage("q"));
      one.end(xid, TMSUCCESS);
      two.start(xid, XAResource.TMJOIN);
      ofTopic.getTopicSession().createPublisher(news).publish(ofTopic.createTextMessage("t"));
      two.end(xid, TMSUCCESS);
      two.prepare(xid);
      one.commit(xid, false);
      assertThat(receive(subscriber)).isEqualTo("t");
      assertThat(drain(plain, bills)).containsExactly("q");
    }
  }

  @Test
  @SuppressWarnings("BanJNDI") // naming is what is tested
  void oneNameInNamingHasAllKindsOfFactories() throws Exception {
    Hashtable<String, String> environment = new Hashtable<>();
    environment.put("java.naming.factory.initial", "io.lightmq.jndi.LightmqInitialContextFactory");
    environment.put("java.naming.provider.url", uri);
    environment.put("connectionFactoryNames", "jms/CF");
    Object found = new InitialContext(environment).lookup("jms/CF");
    assertThat(found)
        .isInstanceOf(XAConnectionFactory.class)
        .isInstanceOf(XAQueueConnectionFactory.class)
        .isInstanceOf(XATopicConnectionFactory.class);
    try (XAConnection other = ((XAConnectionFactory) found).createXAConnection()) {
      assertThat(other.createXASession().getXAResource().isSameRM(resource)).isTrue();
    }
  }

  // ---- application servers ----

  /** A server's pool: each run of a session is one branch, as a server does for message beans. */
  private final class BranchPool implements ServerSessionPool, AutoCloseable {
    private final BlockingQueue<ServerSession> free = new LinkedBlockingQueue<>();
    private final ExecutorService threads = Executors.newCachedThreadPool();
    final AtomicInteger rollBacks = new AtomicInteger();
    final List<Integer> codes = Collections.synchronizedList(new ArrayList<>());

    BranchPool(int size) throws JMSException {
      for (int i = 0; i < size; i++) {
        XASession one = connection.createXASession();
        AtomicInteger failed = new AtomicInteger();
        one.setMessageListener(
            message -> {
              try {
                send(one, bills, "bill of " + text(message));
              } catch (JMSException e) {
                throw new IllegalStateException(e);
              }
              if (text(message).endsWith("7") && !redelivered(message)) {
                failed.incrementAndGet();
              }
            });
        free.add(serving(one, failed));
      }
    }

    private ServerSession serving(XASession one, AtomicInteger failed) {
      return new ServerSession() {
        @Override
        public Session getSession() {
          return one;
        }

        @Override
        public void start() {
          ServerSession own = this;
          threads.execute(
              () -> {
                XaName branch = XaName.fresh();
                XAResource of = one.getXAResource();
                codes.add(
                    code(
                        () -> {
                          of.start(branch, TMNOFLAGS);
                          one.run();
                          of.end(branch, TMSUCCESS);
                          if (failed.getAndSet(0) > 0) {
                            rollBacks.incrementAndGet();
                            of.rollback(branch);
                          } else if (of.prepare(branch) == XA_OK) {
                            of.commit(branch, false);
                          }
                        }));
                free.add(own);
              });
        }
      };
    }

    @Override
    public ServerSession getServerSession() throws JMSException {
      try {
        return free.take();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new JMSException("interrupted");
      }
    }

    @Override
    public void close() {
      threads.shutdownNow();
    }
  }

  private static boolean redelivered(Message message) {
    try {
      return message.getJMSRedelivered();
    } catch (JMSException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void aConnectionConsumersMessagesAreEachInTheBranchOfTheirServerSession() throws Exception {
    int count = 30;
    String[] texts = new String[count];
    String[] expected = new String[count];
    for (int i = 0; i < count; i++) {
      texts[i] = "m" + i;
      expected[i] = "bill of m" + i;
    }
    try (BranchPool pool = new BranchPool(3)) {
      var consumer = connection.createConnectionConsumer(orders, null, pool, 1);
      send(session, orders, texts);
      List<String> got = new ArrayList<>();
      Awaitility.await()
          .until(
              () -> {
                got.addAll(drain(plain, bills));
                return got.size() >= count;
              });
      consumer.close();
      assertThat(got).containsExactlyInAnyOrder(expected);
      assertThat(pool.rollBacks).as("m7, m17, m27").hasValue(3);
      assertThat(pool.codes).containsOnly(XA_OK);
      assertThat(recovered(resource)).isEmpty();
      assertThat(drain(plain, orders)).isEmpty();
    }
  }
}

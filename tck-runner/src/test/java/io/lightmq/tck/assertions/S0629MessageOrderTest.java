package io.lightmq.tck.assertions;

import static org.assertj.core.api.Assertions.assertThat;

import jakarta.jms.Connection;
import jakarta.jms.DeliveryMode;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageProducer;
import jakarta.jms.Queue;
import jakarta.jms.Session;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Jakarta Messaging 3.1 section 6.2.9: message order. */
class S0629MessageOrderTest {

  private static final int SENDERS = 4;
  private static final int EACH = 200;

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

  private static Message numbered(Session session, int sender, int number) throws JMSException {
    Message message = session.createMessage();
    message.setIntProperty("sender", sender);
    message.setIntProperty("number", number);
    return message;
  }

  /** Takes what waits in a queue, until nothing does. */
  private static List<Message> drain(MessageConsumer consumer, int count) throws JMSException {
    List<Message> all = new ArrayList<>();
    while (all.size() < count) {
      Message message = consumer.receive(BrokerFolder.COMES_MILLIS);
      assertThat(message).as("message %d of %d", all.size() + 1, count).isNotNull();
      all.add(message);
    }
    assertThat(consumer.receiveNoWait()).as("one more than was sent").isNull();
    return all;
  }

  private static List<Integer> numbers(List<Message> messages) throws JMSException {
    List<Integer> numbers = new ArrayList<>();
    for (Message message : messages) {
      numbers.add(message.getIntProperty("number"));
    }
    return numbers;
  }

  @Test
  void messagesOfEachSessionArriveInTheOrderInWhichItSentThem() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(SENDERS);
    try (Connection connection = broker.connect();
        Connection receiving = broker.connect()) {
      List<Future<Void>> sending = new ArrayList<>();
      for (int sender = 0; sender < SENDERS; sender++) {
        int id = sender;
        Callable<Void> task =
            () -> {
              try (Session session = connection.createSession()) {
                MessageProducer producer = session.createProducer(session.createQueue("orders"));
                for (int number = 0; number < EACH; number++) {
                  producer.send(numbered(session, id, number));
                }
              }
              return null;
            };
        sending.add(threads.submit(task));
      }
      Session session = receiving.createSession();
      MessageConsumer consumer = session.createConsumer(session.createQueue("orders"));
      Map<Integer, List<Integer>> bySender = new TreeMap<>();
      for (Message message : drain(consumer, SENDERS * EACH)) {
        bySender
            .computeIfAbsent(message.getIntProperty("sender"), sender -> new ArrayList<>())
            .add(message.getIntProperty("number"));
      }
      for (Future<Void> each : sending) {
        each.get();
      }
      List<Integer> inOrder = IntStream.range(0, EACH).boxed().toList();
      assertThat(bySender).hasSize(SENDERS);
      assertThat(bySender.values()).allMatch(inOrder::equals);
    } finally {
      threads.shutdownNow();
    }
  }

  @Test
  void aHigherPriorityJumpsAheadAndWithinOneTheOrderHoldsAlsoAfterARestart() throws Exception {
    try (Connection connection = broker.connect()) {
      Session session = connection.createSession();
      MessageProducer producer = session.createProducer(session.createQueue("orders"));
      for (int number = 0; number < 100; number++) {
        producer.setPriority(number % 10);
        producer.send(numbered(session, 0, number));
      }
    }
    broker.restart();
    try (Connection connection = broker.connect()) {
      Session session = connection.createSession();
      MessageConsumer consumer = session.createConsumer(session.createQueue("orders"));
      List<Integer> expected = new ArrayList<>();
      for (int priority = 9; priority >= 0; priority--) {
        for (int turn = 0; turn < 10; turn++) {
          expected.add(turn * 10 + priority);
        }
      }
      assertThat(numbers(drain(consumer, 100))).isEqualTo(expected);
    }
  }

  @Test
  void eachDeliveryModeKeepsItsOrder() throws Exception {
    try (Connection connection = broker.connect()) {
      Session session = connection.createSession();
      Queue queue = session.createQueue("orders");
      MessageProducer producer = session.createProducer(queue);
      for (int number = 0; number < 100; number++) {
        producer.setDeliveryMode(
            number % 3 == 0 ? DeliveryMode.NON_PERSISTENT : DeliveryMode.PERSISTENT);
        producer.send(numbered(session, 0, number));
      }
      Map<Integer, List<Integer>> byMode = new TreeMap<>();
      for (Message message : drain(session.createConsumer(queue), 100)) {
        byMode
            .computeIfAbsent(message.getJMSDeliveryMode(), mode -> new ArrayList<>())
            .add(message.getIntProperty("number"));
      }
      assertThat(byMode).hasSize(2);
      assertThat(byMode.values()).allSatisfy(numbers -> assertThat(numbers).isSorted());
    }
  }

  @Test
  void aTransactionIsOneUnitInTheOrderOfItsSends() throws Exception {
    try (Connection connection = broker.connect()) {
      Session session = connection.createSession(Session.SESSION_TRANSACTED);
      Session plain = connection.createSession();
      Queue queue = session.createQueue("orders");
      MessageProducer producer = session.createProducer(queue);
      producer.send(numbered(session, 0, 1));
      producer.send(numbered(session, 0, 2));
      plain.createProducer(queue).send(numbered(plain, 1, 0));
      MessageConsumer consumer = plain.createConsumer(queue);
      assertThat(numbers(drain(consumer, 1))).as("before the commit").containsExactly(0);
      producer.send(numbered(session, 0, 3));
      session.commit();
      assertThat(numbers(drain(consumer, 3))).containsExactly(1, 2, 3);
      producer.send(numbered(session, 0, 4));
      session.rollback();
      assertThat(consumer.receiveNoWait()).as("what was rolled back").isNull();
    }
  }
}

package io.lightmq.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.client.LightmqConnectionFactory;
import jakarta.jms.DeliveryMode;
import jakarta.jms.JMSConsumer;
import jakarta.jms.JMSContext;
import jakarta.jms.JMSException;
import jakarta.jms.JMSProducer;
import jakarta.jms.Message;
import jakarta.jms.Queue;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Jakarta Messaging 3.1, section 3.4.10: what waits comes highest priority first. */
class PrioritiesTest {
  private static final long WAIT_MILLIS = 20_000;
  private static final int COUNT = 300;

  @TempDir Path directory;

  /** A message as it was sent; its number is its place. */
  private record Sent(int priority, int number) {}

  private static List<Sent> send(JMSContext context, Queue queue, int mode) {
    Random random = new Random(11);
    List<Sent> sent = new ArrayList<>();
    JMSProducer producer = context.createProducer().setDeliveryMode(mode);
    for (int i = 0; i < COUNT; i++) {
      int priority = random.nextInt(10);
      producer.setPriority(priority).setProperty("number", i).send(queue, "body " + i);
      sent.add(new Sent(priority, i));
    }
    return sent;
  }

  private static List<Sent> receive(JMSContext context, Queue queue) throws JMSException {
    List<Sent> got = new ArrayList<>();
    try (JMSConsumer consumer = context.createConsumer(queue)) {
      for (int i = 0; i < COUNT; i++) {
        Message message = consumer.receive(WAIT_MILLIS);
        assertThat(message).as("message %d of %d", i, COUNT).isNotNull();
        got.add(new Sent(message.getJMSPriority(), message.getIntProperty("number")));
      }
      assertThat(consumer.receiveNoWait()).isNull();
    }
    return got;
  }

  private static List<Sent> highestFirst(List<Sent> sent) {
    return sent.stream()
        .sorted(Comparator.comparingInt(Sent::priority).reversed().thenComparing(Sent::number))
        .toList();
  }

  @Test
  void whatWaitsInMemoryComesHighestPriorityFirst() throws JMSException {
    for (int mode : new int[] {DeliveryMode.PERSISTENT, DeliveryMode.NON_PERSISTENT}) {
      try (JMSContext context =
          new LightmqConnectionFactory("lightmq:mem:priorities").createContext()) {
        Queue queue = context.createQueue("q");
        List<Sent> sent = send(context, queue, mode);
        assertThat(receive(context, queue)).isEqualTo(highestFirst(sent));
      }
    }
  }

  @Test
  void whatWaitsInFilesOverARestartComesHighestPriorityFirst() throws JMSException {
    String uri = "lightmq:file:" + directory.resolve("data");
    List<Sent> sent;
    try (JMSContext context = new LightmqConnectionFactory(uri).createContext()) {
      sent = send(context, context.createQueue("q"), DeliveryMode.PERSISTENT);
    }
    try (JMSContext context = new LightmqConnectionFactory(uri).createContext()) {
      assertThat(receive(context, context.createQueue("q"))).isEqualTo(highestFirst(sent));
    }
  }

  @Test
  void aTransactionMayMixPriorities() throws JMSException {
    try (JMSContext context =
        new LightmqConnectionFactory("lightmq:mem:transacted")
            .createContext(JMSContext.SESSION_TRANSACTED)) {
      Queue queue = context.createQueue("q");
      List<Sent> sent = send(context, queue, DeliveryMode.PERSISTENT);
      context.commit();
      assertThat(receive(context, queue)).isEqualTo(highestFirst(sent));
      context.rollback();
      assertThat(receive(context, queue)).isEqualTo(highestFirst(sent));
      context.commit();
      try (JMSConsumer consumer = context.createConsumer(queue)) {
        assertThat(consumer.receiveNoWait()).isNull();
      }
    }
  }
}

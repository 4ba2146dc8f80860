package io.lightmq.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.client.LightmqConnectionFactory;
import jakarta.jms.JMSConsumer;
import jakarta.jms.JMSContext;
import jakarta.jms.JMSException;
import jakarta.jms.JMSProducer;
import jakarta.jms.Message;
import jakarta.jms.Queue;
import jakarta.jms.Topic;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** JMSXGroupID and JMSXGroupSeq, section 3.5.9 of the specification, as applications use them. */
class GroupsTest {
  private static final long WAIT_MILLIS = 20_000;

  private final LightmqConnectionFactory factory =
      new LightmqConnectionFactory("lightmq:mem:" + UUID.randomUUID() + "?keep=false");

  private static JMSProducer group(JMSContext context, String group, int sequence) {
    return context
        .createProducer()
        .setProperty("JMSXGroupID", group)
        .setProperty("JMSXGroupSeq", sequence);
  }

  @Test
  void eachGroupIsListenedToByOneConsumerInOrder() throws Exception {
    int groups = 40;
    int each = 25;
    Map<String, List<String>> seen = new ConcurrentHashMap<>();
    CountDownLatch all = new CountDownLatch(groups * each);
    List<JMSContext> contexts = new ArrayList<>();
    try (JMSContext sender = factory.createContext()) {
      Queue queue = sender.createQueue("q");
      for (int i = 0; i < 4; i++) {
        String name = "consumer" + i;
        JMSContext context = factory.createContext();
        contexts.add(context);
        context
            .createConsumer(queue)
            .setMessageListener(
                message -> {
                  try {
                    seen.computeIfAbsent(
                            message.getStringProperty("JMSXGroupID"), key -> new ArrayList<>())
                        .add(name + " " + message.getIntProperty("JMSXGroupSeq"));
                  } catch (JMSException e) {
                    throw new IllegalStateException(e);
                  }
                  all.countDown();
                });
      }
      for (int n = 1; n <= each; n++) {
        for (int g = 0; g < groups; g++) {
          group(sender, "group" + g, n).send(queue, "x");
        }
      }
      assertThat(all.await(WAIT_MILLIS, TimeUnit.MILLISECONDS)).isTrue();
    } finally {
      contexts.forEach(JMSContext::close);
    }
    assertThat(seen).hasSize(groups);
    Map<String, Integer> shares = new HashMap<>();
    seen.forEach(
        (group, messages) -> {
          String consumer = messages.get(0).split(" ")[0];
          shares.merge(consumer, 1, Integer::sum);
          List<String> expected = new ArrayList<>();
          for (int n = 1; n <= each; n++) {
            expected.add(consumer + " " + n);
          }
          assertThat(messages).as(group).isEqualTo(expected);
        });
    assertThat(shares).hasSize(4);
  }

  @Test
  void aSharedSubscriptionSpreadsGroupsAndAnUnsharedOneGetsAll() throws JMSException {
    try (JMSContext context = factory.createContext();
        JMSContext other = factory.createContext()) {
      Topic topic = context.createTopic("t");
      JMSConsumer one = context.createSharedConsumer(topic, "shared");
      JMSConsumer two = other.createSharedConsumer(topic, "shared");
      JMSConsumer plain = context.createConsumer(topic);
      for (int n = 1; n <= 10; n++) {
        group(context, "a", n).send(topic, "x");
        group(context, "b", n).send(topic, "x");
      }
      for (int n = 1; n <= 10; n++) {
        assertThat(plain.receive(WAIT_MILLIS).getStringProperty("JMSXGroupID")).isEqualTo("a");
        assertThat(plain.receive(WAIT_MILLIS).getStringProperty("JMSXGroupID")).isEqualTo("b");
      }
      Map<String, Integer> next = new HashMap<>();
      Map<String, JMSConsumer> owners = new HashMap<>();
      for (int left = 20; left > 0; ) {
        for (JMSConsumer consumer : List.of(one, two)) {
          Message got = consumer.receive(50);
          if (got != null) {
            left--;
            String group = got.getStringProperty("JMSXGroupID");
            assertThat(got.getIntProperty("JMSXGroupSeq"))
                .isEqualTo(next.merge(group, 1, Integer::sum));
            assertThat(owners.putIfAbsent(group, consumer)).isIn(null, consumer);
          }
        }
      }
    }
  }

  @Test
  void selectorsSeeGroupAndSequence() throws JMSException {
    try (JMSContext context = factory.createContext()) {
      Queue queue = context.createQueue("q");
      for (int n = 1; n <= 4; n++) {
        group(context, n % 2 == 0 ? "even" : "odd", n).send(queue, "m" + n);
      }
      JMSConsumer consumer =
          context.createConsumer(queue, "JMSXGroupID = 'even' AND JMSXGroupSeq > 2");
      assertThat(consumer.receiveBody(String.class, WAIT_MILLIS)).isEqualTo("m4");
      assertThat(consumer.receiveNoWait()).isNull();
    }
  }
}

package io.lightmq.tck.golden;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.client.LightmqConnectionFactory;
import jakarta.jms.JMSConsumer;
import jakarta.jms.JMSContext;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A client of the first version with today's broker: it asks for no feature, so it gets the frames
 * of then, byte for byte, and everything that it could do it still can.
 */
class OldClientTest {
  private static final UUID LINK = new UUID(7, 8);
  private static final String QUEUE = "old.queue";
  private static final int PARK_MILLIS = 20_000;

  @TempDir Path folder;
  private GoldenNode node;

  @BeforeEach
  void start() throws Exception {
    Path data = Files.createDirectory(folder.resolve("data"));
    node = GoldenNode.open(data, System.currentTimeMillis());
  }

  @AfterEach
  void stop() throws Exception {
    node.close();
  }

  private static RawClient.Outgoing message(long number, String text) {
    return new RawClient.Outgoing(LINK, number, text);
  }

  @Test
  void noFeatureIsChosenAndNoFieldStandsBehindThoseOfTheFirstVersion() throws Exception {
    try (RawClient client = new RawClient(node.port())) {
      assertThat(client.features).isZero();
      assertThat(client.attach(LINK, 1, 1)).isEqualTo(new RawClient.Link(0, List.of(), 0));
    }
  }

  @Test
  void itSendsPullsAndAcknowledges() throws Exception {
    try (RawClient client = new RawClient(node.port())) {
      client.attach(LINK, 1, 1);
      long queue = client.producer(RawClient.QUEUE, QUEUE);
      assertThat(client.publish(queue, 1, message(1, "one"), message(2, "two"))).isEmpty();
      assertThat(client.commit(queue, 2, message(3, "three"))).isEmpty();
      int consumer = client.consumer(RawClient.QUEUE, QUEUE);
      List<RawClient.Delivered> came = client.pull(consumer, 10, PARK_MILLIS);
      assertThat(came).extracting(RawClient.Delivered::text).containsExactly("one", "two", "three");
      for (RawClient.Delivered each : came) {
        client.acknowledge(consumer, each);
      }
      assertThat(client.pull(consumer, 10, 0)).isEmpty();
    }
  }

  @Test
  void itsLinkKeepsNumbersAndRefusalsOverALostConnection() throws Exception {
    RawClient lost = new RawClient(node.port());
    lost.attach(LINK, 1, 1);
    long queue = lost.producer(RawClient.QUEUE, QUEUE);
    assertThat(lost.publish(queue, 1, message(1, "one"))).isEmpty();
    RawClient.Refusal refusal =
        lost.publish(queue + 1_000_000, 2, message(2, "nowhere")).orElseThrow();
    lost.abandon();

    try (RawClient client = new RawClient(node.port())) {
      RawClient.Link link = client.attach(LINK, 2, 1);
      assertThat(link.last()).isEqualTo(2);
      assertThat(link.outcomes()).containsExactly(new RawClient.Outcome(2, refusal));
      assertThat(link.unread()).isZero();
      long again = client.producer(RawClient.QUEUE, QUEUE);
      assertThat(client.publish(again, 1, message(1, "one"))).as("sent again").isEmpty();
      assertThat(client.publish(again, 3, message(3, "three"))).isEmpty();
      assertThat(client.pull(client.consumer(RawClient.QUEUE, QUEUE), 10, PARK_MILLIS))
          .extracting(RawClient.Delivered::text)
          .containsExactly("one", "three");
    }
  }

  @Test
  void itsTemporaryQueueWorksAndTodaysClientGetsWhatItSends() throws Exception {
    try (RawClient client = new RawClient(node.port());
        JMSContext today = new LightmqConnectionFactory(node.uri()).createContext()) {
      client.attach(LINK, 1, 1);
      String name = client.temporaryQueue();
      assertThat(client.temporaryQueue()).as("each is another one").isNotEqualTo(name);
      int consumer = client.consumer(RawClient.TEMPORARY_QUEUE, name);
      long own = client.producer(RawClient.TEMPORARY_QUEUE, name);
      assertThat(client.publish(own, 1, message(1, "reply"))).isEmpty();
      List<RawClient.Delivered> came = client.pull(consumer, 1, PARK_MILLIS);
      assertThat(came).extracting(RawClient.Delivered::text).containsExactly("reply");
      client.acknowledge(consumer, came.get(0));
      client.detach(consumer);
      client.deleteTemporary(name);

      long queue = client.producer(RawClient.QUEUE, QUEUE);
      assertThat(client.publish(queue, 2, message(2, "to today"))).isEmpty();
      try (JMSConsumer receiver = today.createConsumer(today.createQueue(QUEUE))) {
        assertThat(receiver.receiveBody(String.class, PARK_MILLIS)).isEqualTo("to today");
      }
    }
  }
}

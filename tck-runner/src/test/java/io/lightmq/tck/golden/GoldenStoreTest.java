package io.lightmq.tck.golden;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.client.LightmqConnectionFactory;
import io.lightmq.core.storage.snapshot.StoreIdentity;
import io.lightmq.tck.golden.GoldenContent.Subscription;
import jakarta.jms.JMSConsumer;
import jakarta.jms.JMSContext;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.QueueBrowser;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Stores that older builds have written, opened by this one: everything in them comes, through the
 * client. A new version of a format gets a store of its own here (docs/testing.md), and the older
 * ones stay.
 */
class GoldenStoreTest {
  private static final long HOUR_MILLIS = 3_600_000;
  private static final long WAIT_MILLIS = 20_000;

  @TempDir Path folder;

  @ParameterizedTest
  @ValueSource(strings = "store-1-state-3.zip")
  void everythingInAnOlderStoreComes(String name) throws Exception {
    GoldenStore store = GoldenStore.unpack(name, folder.resolve("data"));
    try (GoldenNode node = open(store)) {
      look(node, store.manifest());
      take(node, store.manifest());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = "store-1-state-3.zip")
  void anOlderStoreIsWrittenInTheNewestFormatAndHasEverythingStill(String name) throws Exception {
    GoldenStore store = GoldenStore.unpack(name, folder.resolve("data"));
    int stateBefore = stateVersion(store.folder());
    open(store).close();
    assertThat(storeVersion(store.folder())).isEqualTo(StoreIdentity.VERSION);
    assertThat(stateVersion(store.folder())).isGreaterThan(stateBefore);
    try (GoldenNode node = open(store)) {
      look(node, store.manifest());
    }
    try (GoldenNode node = open(store)) {
      take(node, store.manifest());
    }
    try (GoldenNode node = open(store);
        JMSContext context = context(node, null)) {
      for (String queue : GoldenContent.QUEUES) {
        assertThat(browse(context, queue)).as("what is left in %s", queue).isEmpty();
      }
    }
  }

  private static GoldenNode open(GoldenStore store) throws Exception {
    return GoldenNode.open(store.folder(), store.createdMillis() + HOUR_MILLIS);
  }

  private static int storeVersion(Path data) throws IOException {
    return ByteBuffer.wrap(Files.readAllBytes(data.resolve("store"))).getInt(8);
  }

  /** The first byte of the state's first slice, behind three headers. */
  private static int stateVersion(Path data) throws IOException {
    try (Stream<Path> files = Files.list(data.resolve("snapshots"))) {
      Path newest = files.max(Path::compareTo).orElseThrow();
      return Files.readAllBytes(newest)[64 + 16 + 4];
    }
  }

  private static JMSContext context(GoldenNode node, String clientId) {
    JMSContext context =
        new LightmqConnectionFactory(node.uri()).createContext(JMSContext.SESSION_TRANSACTED);
    if (clientId != null) {
      context.setClientID(clientId);
    }
    return context;
  }

  // ---- looking, which changes nothing ----

  private static void look(GoldenNode node, Manifest manifest) throws Exception {
    links(node, manifest);
    try (JMSContext context = context(node, null)) {
      for (String queue : GoldenContent.QUEUES) {
        if (!queue.equals(GoldenContent.ONCE) && !queue.equals(GoldenContent.LINKED)) {
          assertThat(browse(context, queue)).as(queue).isEqualTo(manifest.of(queue));
        }
      }
      assertThat(browse(context, GoldenContent.DEAD)).isEqualTo(manifest.of(GoldenContent.DEAD));
      assertThat(browse(context, GoldenContent.EXPIRED))
          .isEqualTo(manifest.of(GoldenContent.EXPIRED));
      assertThat(browse(context, GoldenContent.LATER)).isEmpty();
      assertThat(browse(context, GoldenContent.OVERFLOW)).isEmpty();
    }
    try (RawClient client = new RawClient(node.port())) {
      client.attach(UUID.randomUUID(), 1, 1);
      String delayed =
          client.admin("delayed.list", Map.of("destination", GoldenContent.LATER, "limit", "100"));
      for (String line : manifest.of(GoldenContent.LATER)) {
        assertThat(delayed).contains(id(line));
      }
      String dead = client.admin("dead-letters.list", Map.of("queue", GoldenContent.DEAD));
      assertThat(dead)
          .contains(id(manifest.only(GoldenContent.DEAD)))
          .contains(GoldenContent.FAILING)
          .contains("max-attempts");
      String topic =
          client.admin("destination.show", Map.of("kind", "topic", "name", GoldenContent.TOPIC));
      for (Subscription each : Subscription.values()) {
        assertThat(topic).contains(each.label());
      }
    }
  }

  private static String id(String line) {
    return line.substring(0, line.indexOf(' '));
  }

  private static List<String> browse(JMSContext context, String queue) throws JMSException {
    List<String> lines = new ArrayList<>();
    try (QueueBrowser browser = context.createBrowser(context.createQueue(queue))) {
      for (Object message : Collections.list(browser.getEnumeration())) {
        lines.add(MessageLine.of((Message) message));
      }
    }
    return lines;
  }

  /** The link that never said goodbye is known, with its numbers and what was refused. */
  private static void links(GoldenNode node, Manifest manifest) throws IOException {
    String[] known = manifest.only("link").split(" ");
    long epoch = Long.parseLong(known[0]) + 1;
    RawClient client = new RawClient(node.port());
    RawClient.Link link = client.attach(GoldenContent.LINK, epoch, 1);
    assertThat(link.last()).isEqualTo(Long.parseLong(known[1]));
    assertThat(link.unread()).as("fields of features that were not agreed").isZero();
    List<String> refused =
        link.outcomes().stream()
            .filter(outcome -> outcome.refusal().code() != 0)
            .map(
                outcome ->
                    outcome.number()
                        + " "
                        + outcome.refusal().code()
                        + " "
                        + outcome.refusal().text())
            .toList();
    assertThat(refused).isEqualTo(manifest.of("refused"));
    long queue = client.producer(RawClient.QUEUE, GoldenContent.LINKED);
    RawClient.Outgoing again = new RawClient.Outgoing(new UUID(1, 2), 1, "linked 1");
    assertThat(client.publish(queue, 1, again)).as("sent again").isEmpty();
    client.abandon();
  }

  // ---- taking, after which nothing is left ----

  private static void take(GoldenNode node, Manifest manifest) throws JMSException {
    try (JMSContext own = context(node, GoldenContent.CLIENT_ID);
        JMSContext other = context(node, null)) {
      for (Subscription each : Subscription.values()) {
        JMSContext context = each.hasClientId() ? own : other;
        try (JMSConsumer consumer = each.open(context)) {
          assertThat(lines(received(consumer, manifest.of(each.label()).size())))
              .as(each.label())
              .isEqualTo(manifest.of(each.label()));
        }
        context.commit();
      }
      for (String queue : GoldenContent.QUEUES) {
        boolean linked = queue.equals(GoldenContent.LINKED);
        List<String> expected = manifest.of(linked ? "linked" : queue);
        List<Message> all = received(other, queue, expected.size());
        assertThat(linked ? numbers(all) : lines(all)).as(queue).isEqualTo(expected);
        if (queue.equals(GoldenContent.ATTEMPTS)) {
          assertThat(all.get(0).getIntProperty("JMSXDeliveryCount")).isEqualTo(3);
          assertThat(all.get(0).getJMSRedelivered()).isTrue();
        }
        if (queue.equals(GoldenContent.WAITING)) {
          assertThat(all.get(0).getIntProperty("JMSXDeliveryCount")).isEqualTo(2);
        }
        other.commit();
      }
      letter(other, manifest, GoldenContent.DEAD, GoldenContent.FAILING, "max-attempts", 2);
      letter(other, manifest, GoldenContent.EXPIRED, GoldenContent.SHORT, "expired", 0);
      assertThat(received(other, GoldenContent.LATER, 0)).as("not due").isEmpty();
      other.commit();
    }
  }

  /** Of the messages of the raw client: the number in the id, and the text. */
  private static List<String> numbers(List<Message> messages) throws JMSException {
    List<String> lines = new ArrayList<>();
    for (Message message : messages) {
      String id = message.getJMSMessageID();
      lines.add(id.substring(id.lastIndexOf(':') + 1) + " " + message.getBody(String.class));
    }
    return lines;
  }

  private static void letter(
      JMSContext context, Manifest manifest, String queue, String origin, String why, int attempts)
      throws JMSException {
    Message letter = received(context, queue, 1).get(0);
    assertThat(MessageLine.of(letter)).isEqualTo(manifest.only(queue));
    assertThat(letter.getStringProperty("JMS_LightMQ_Origin")).isEqualTo(origin);
    assertThat(letter.getStringProperty("JMS_LightMQ_Reason")).isEqualTo(why);
    assertThat(letter.getIntProperty("JMS_LightMQ_Attempts")).isEqualTo(attempts);
  }

  private static List<Message> received(JMSContext context, String queue, int expected) {
    try (JMSConsumer consumer = context.createConsumer(context.createQueue(queue))) {
      return received(consumer, expected);
    }
  }

  /** As many as are expected, and whatever comes at once behind them. */
  private static List<Message> received(JMSConsumer consumer, int expected) {
    List<Message> all = new ArrayList<>();
    Message next = consumer.receive(expected > 0 ? WAIT_MILLIS : 1);
    while (next != null) {
      all.add(next);
      next = all.size() < expected ? consumer.receive(WAIT_MILLIS) : consumer.receiveNoWait();
    }
    return all;
  }

  private static List<String> lines(List<Message> messages) throws JMSException {
    List<String> lines = new ArrayList<>();
    for (Message message : messages) {
      lines.add(MessageLine.of(message));
    }
    return lines;
  }
}

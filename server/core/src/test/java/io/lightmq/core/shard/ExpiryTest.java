package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.door.Command;
import io.lightmq.core.door.Command.Subscribe;
import io.lightmq.core.shard.FakePeer.Received;
import io.lightmq.core.sim.FaultyDisk;
import io.lightmq.core.storage.DiskFile;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import org.assertj.core.groups.Tuple;
import org.junit.jupiter.api.Test;

/** Messages whose time to live is over leave without a consumer. */
class ExpiryTest {
  private static final DestinationName QUEUE = new DestinationName(DestinationKind.QUEUE, "short");
  private static final DestinationName TOPIC = new DestinationName(DestinationKind.TOPIC, "news");
  private static final long SECOND = 1_000_000_000L;

  private static void send(
      BrokerHarness h, FakePeer peer, long id, long number, long liveMillis, String... texts) {
    int c = h.nextCorrelation();
    h.broker.submit(
        new Command.Publish(
            peer, c, id, number, texts.length, h.bytes(number > 0, liveMillis, texts)));
    h.receipt(peer, c);
  }

  private static String show(BrokerHarness h, String name) {
    return h.admin("destination.show", Map.of("name", name));
  }

  @Test
  void aQueueWithoutConsumersLosesWhatHasExpiredAndKeepsTheRest() throws Exception {
    BrokerHarness h = new BrokerHarness(1).open();
    FakePeer peer = h.attach();
    long id = h.producer(peer, QUEUE);
    send(h, peer, id, 1, 10_000, "a", "b");
    send(h, peer, id, 2, 0, "stays");
    send(h, peer, id, 3, 60_000, "later");
    send(h, peer, id, 0, 10_000, "not persistent");
    h.loops.advance(9 * SECOND);
    assertThat(show(h, "short")).contains("\"backlog\":5");
    h.loops.advance(8 * SECOND);
    assertThat(show(h, "short")).contains("\"backlog\":2").contains("\"expired\":3");
    h.loops.advance(60 * SECOND);
    assertThat(show(h, "short")).contains("\"backlog\":1").contains("\"expired\":4");
    h.close();
  }

  @Test
  void whatExpiresIsKnownAfterACheckpointAndAPowerCut() throws Exception {
    BrokerHarness h = new BrokerHarness(2);
    h.keepTime = true;
    h.open();
    FakePeer peer = h.attach();
    long id = h.producer(peer, QUEUE);
    send(h, peer, id, 1, 30_000, "in the snapshot");
    h.close();
    h.open();
    FakePeer again = h.attach();
    h.producer(again, QUEUE);
    send(h, again, id, 1, 30_000, "in the journal");
    h.crash(true);
    h.open();
    h.loops.advance(40 * SECOND);
    assertThat(show(h, "short")).contains("\"backlog\":0");
    h.close();
  }

  @Test
  void eachDurableSubscriptionLosesItAndAnExpiryQueueGetsItWithTheReason() throws Exception {
    BrokerHarness h = new BrokerHarness(3).open();
    FakePeer peer = h.attach(new java.util.UUID(9, 9), 1, 1, "client");
    long id = h.producer(peer, TOPIC);
    h.consumer(peer, 1, TOPIC, Subscribe.DURABLE, "one");
    h.admin("destination.set", Map.of("name", "news", "kind", "topic", "expiry", "expired"));
    h.broker.submit(new Command.DetachConsumer(peer, h.nextCorrelation(), 1));
    send(h, peer, id, 1, 5_000, "old");
    h.loops.advance(20 * SECOND);
    assertThat(show(h, "news")).contains("\"backlog\":0");
    FakePeer reader = h.attach();
    DestinationName expired = new DestinationName(DestinationKind.QUEUE, "expired");
    h.consumer(reader, 1, expired, Subscribe.QUEUE, null);
    assertThat(h.pull(reader, 1, 10)).extracting(Received::text).containsExactly("old");
    assertThat(reader.properties.get(0))
        .containsEntry("JMS_LightMQ_Reason", "expired")
        .containsEntry("JMS_LightMQ_Origin", "news")
        .containsEntry("JMS_LightMQ_OriginKind", "topic")
        .containsEntry("JMS_LightMQ_Subscription", "one");
    h.close();
  }

  /** What the janitor reads while the broker stops; the answer comes behind the last record. */
  @Test
  void nothingIsRecordedBehindAnOrderlyStop() throws Exception {
    BrokerHarness h = new BrokerHarness(13);
    h.keepTime = true;
    h.open();
    FakePeer peer = h.attach();
    long id = h.producer(peer, QUEUE);
    send(h, peer, id, 1, 30_000, "expires");
    DestinationName flags = new DestinationName(DestinationKind.QUEUE, "flags");
    long other = h.producer(peer, flags);
    send(h, peer, other, 2, 0, "first", "second");
    h.close();
    AtomicInteger reads = new AtomicInteger(-1);
    AtomicReference<CompletableFuture<Void>> stopping = new AtomicReference<>();
    h.wrap =
        disk ->
            new FaultyDisk(disk) {
              @Override
              protected int read(DiskFile file, long at, ByteBuffer into) throws IOException {
                if (reads.get() >= 0 && reads.incrementAndGet() == 1) {
                  stopping.set(h.broker.stop());
                }
                return super.read(file, at, into);
              }
            };
    h.open();
    FakePeer reader = h.attach();
    h.consumer(reader, 1, flags, Subscribe.QUEUE, null);
    Received first = h.pull(reader, 1, 1).get(0);
    h.acknowledge(reader, 1, other, first.range());
    reads.set(0);
    h.loops.advance(31 * SECOND);
    assertThat(reads.get()).isPositive();
    h.loops.runUntil(() -> stopping.get().isDone());
    h.wrap = UnaryOperator.identity();
    h.close();
    h.open();
    FakePeer again = h.attach();
    h.consumer(again, 1, flags, Subscribe.QUEUE, null);
    assertThat(h.pull(again, 1, 1))
        .extracting(Received::text, Received::deliveries)
        .containsExactly(Tuple.tuple("second", 0));
    h.close();
  }

  @Test
  void manyQueuesWithOneExpiredMessageEachLoseItWithinSeconds() throws Exception {
    BrokerHarness h = new BrokerHarness(14).open();
    FakePeer peer = h.attach();
    DestinationName name = new DestinationName(DestinationKind.QUEUE, "q");
    long id = h.producer(peer, QUEUE);
    send(h, peer, id, 0, 3_600_000, "stays");
    for (int i = 0; i < 500; i++) {
      long each = h.producer(peer, new DestinationName(DestinationKind.QUEUE, name.name() + i));
      send(h, peer, each, 0, 5_000, "expires");
    }
    h.loops.advance(8 * SECOND);
    for (int i = 0; i < 500; i++) {
      assertThat(show(h, "q" + i)).contains("\"backlog\":0");
    }
    assertThat(show(h, "short")).contains("\"backlog\":1");
    h.close();
  }

  /** A queue of many blocks that expired before does not keep another waiting for all of them. */
  @Test
  void queuesTakeTurnsByBlocks() throws Exception {
    BrokerHarness h = new BrokerHarness(15);
    h.lookNanos = 1_000_000;
    h.open();
    FakePeer peer = h.attach();
    long id = h.producer(peer, QUEUE);
    for (int i = 0; i < 1_500; i++) {
      send(h, peer, id, 0, 1_000, texts(40));
    }
    long other = h.producer(peer, new DestinationName(DestinationKind.QUEUE, "other"));
    send(h, peer, other, 0, 1_001, "expires");
    for (int i = 0; i < 100 && !show(h, "other").contains("\"backlog\":0"); i++) {
      h.loops.advance(SECOND / 10);
    }
    assertThat(show(h, "other")).contains("\"backlog\":0");
    assertThat(show(h, "short")).doesNotContain("\"backlog\":0");
    h.loops.advance(60 * SECOND);
    assertThat(show(h, "short")).contains("\"backlog\":0");
    h.close();
  }

  private static String[] texts(int count) {
    String[] texts = new String[count];
    java.util.Arrays.fill(texts, "x");
    return texts;
  }

  @Test
  void nonPersistentMessagesLeaveAsFastAsOthersAlsoBehindSomeThatLiveOn() throws Exception {
    BrokerHarness h = new BrokerHarness(4).open();
    FakePeer peer = h.attach();
    long id = h.producer(peer, QUEUE);
    for (int i = 0; i < 5; i++) {
      send(h, peer, id, 0, 3_600_000, texts(40));
    }
    for (int i = 0; i < 50; i++) {
      send(h, peer, id, 0, 1_000, texts(40));
    }
    h.loops.advance(3 * SECOND);
    assertThat(show(h, "short")).contains("\"backlog\":200").contains("\"expired\":2000");
    h.close();
  }

  @Test
  void whatHasExpiredInTheHandsOfAConsumerKeepsNoOtherQueueFromLosingIts() throws Exception {
    BrokerHarness h = new BrokerHarness(5).open();
    FakePeer peer = h.attach();
    long id = h.producer(peer, QUEUE);
    DestinationName second = new DestinationName(DestinationKind.QUEUE, "second");
    long other = h.producer(peer, second);
    for (int i = 0; i < 20; i++) {
      send(h, peer, id, 0, 1_000, texts(40));
    }
    FakePeer slow = h.attach();
    h.consumer(slow, 1, QUEUE, Subscribe.QUEUE, null);
    assertThat(h.pull(slow, 1, 800)).hasSize(800);
    for (int i = 0; i < 20; i++) {
      send(h, peer, id, 0, 1_000, texts(40));
    }
    send(h, peer, other, 0, 1_000, texts(40));
    h.loops.advance(4 * SECOND);
    assertThat(show(h, "second")).contains("\"backlog\":0");
    assertThat(show(h, "short")).contains("\"backlog\":800").contains("\"expired\":800");
    h.close();
  }
}

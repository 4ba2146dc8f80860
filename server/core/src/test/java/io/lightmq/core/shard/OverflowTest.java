package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.door.Command;
import io.lightmq.core.door.Command.Subscribe;
import io.lightmq.core.door.Figure;
import io.lightmq.core.door.Peer;
import io.lightmq.core.sim.FaultyDisk;
import io.lightmq.core.storage.DiskFile;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.SequenceRange;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Unlogged messages beyond memory: 16 KiB of it, against messages of 1 KiB. */
class OverflowTest {
  private static final int MEMORY_BYTES = 16 << 10;
  private static final int LIMIT_BYTES = 1 << 20;
  private static final String PAD = "-" + "x".repeat(1_000);
  private static final DestinationName QUEUE = new DestinationName(DestinationKind.QUEUE, "q");
  private static final DestinationName TOPIC = new DestinationName(DestinationKind.TOPIC, "t");

  private final BrokerHarness h = new BrokerHarness(11);
  private FakePeer peer;
  private boolean closed;

  private void open(long overflowBytes) throws IOException {
    h.settings = BrokerHarness.settings(64 << 10, 1 << 17, MEMORY_BYTES, overflowBytes);
    h.open();
    peer = h.attach();
  }

  @AfterEach
  void close() throws IOException {
    if (!closed) {
      h.close();
    }
  }

  private List<Integer> publish(long destination, long firstNumber, int from, int to) {
    List<Integer> sent = new ArrayList<>();
    for (int i = from; i < to; i++) {
      sent.add(
          h.publish(peer, destination, firstNumber == 0 ? 0 : firstNumber + i - from, i + PAD));
    }
    return sent;
  }

  private void taken(List<Integer> sent) {
    assertThat(sent).allSatisfy(c -> assertThat(h.receipt(peer, c)).isEqualTo(FaultCode.OK));
  }

  /** The numbers of all that a consumer gets, each pull acknowledged. */
  private List<Integer> drain(int consumer, long destination) {
    List<Integer> numbers = new ArrayList<>();
    for (List<FakePeer.Received> got = h.pull(peer, consumer, 7);
        !got.isEmpty();
        got = h.pull(peer, consumer, 7)) {
      got.forEach(each -> numbers.add(number(each)));
      h.acknowledge(
          peer,
          consumer,
          destination,
          got.stream().map(FakePeer.Received::range).toArray(SequenceRange[]::new));
    }
    return numbers;
  }

  private static int number(FakePeer.Received received) {
    return Integer.parseInt(received.text().substring(0, received.text().indexOf('-')));
  }

  private static List<Integer> numbers(int from, int to) {
    List<Integer> numbers = new ArrayList<>();
    for (int i = from; i < to; i++) {
      numbers.add(i);
    }
    return numbers;
  }

  private BrokerMetrics.OverflowUse use() {
    h.loops.advance(1_100_000_000L);
    return h.broker.metrics().overflow();
  }

  @Test
  void whatMemoryHasNoRoomForComesBackInOrder() throws IOException {
    open(LIMIT_BYTES);
    long queue = h.producer(peer, QUEUE);
    taken(publish(queue, 0, 0, 300));
    BrokerMetrics.OverflowUse use = use();
    assertThat(use.bytes()).isGreaterThan(250 << 10);
    assertThat(use.movedMessages()).isBetween(275L, 299L);
    assertThat(use.files()).isGreaterThan(3);
    assertThat(h.broker.metrics().direct().byPurpose().get("unlogged messages"))
        .isLessThanOrEqualTo(3 * (48 << 10));
    h.consumer(peer, 1, QUEUE, Subscribe.QUEUE, null);
    assertThat(drain(1, queue)).isEqualTo(numbers(0, 300));
    assertThat(use().bytes()).isZero();
    assertThat(h.disk.list("overflow")).isEmpty();
    assertThat(h.broker.metrics().direct().byPurpose().get("unlogged messages")).isZero();
  }

  @Test
  void aSubscriberThatNeverReadsStopsNobody() throws IOException {
    open(LIMIT_BYTES);
    long topic = h.producer(peer, TOPIC);
    h.consumer(peer, 1, TOPIC, Subscribe.PLAIN, null);
    h.consumer(peer, 2, TOPIC, Subscribe.PLAIN, null);
    List<Integer> read = new ArrayList<>();
    for (int i = 0; i < 300; i += 10) {
      taken(publish(topic, i % 20 == 0 ? 0 : i / 20 * 10 + 1, i, i + 10));
      read.addAll(drain(2, topic));
    }
    assertThat(read).isEqualTo(numbers(0, 300));
    assertThat(drain(1, topic)).isEqualTo(numbers(0, 300));
  }

  @Test
  void temporaryDestinationsOverflowToo() throws IOException {
    open(LIMIT_BYTES);
    int c = h.nextCorrelation();
    h.broker.submit(new Command.CreateTemporary(peer, c, DestinationKind.TEMPORARY_QUEUE));
    DestinationName temporary = ((Peer.Reply.TemporaryCreated) h.reply(peer, c)).destination();
    long id = h.producer(peer, temporary);
    taken(publish(id, 1, 0, 100));
    h.consumer(peer, 1, temporary, Subscribe.QUEUE, null);
    assertThat(drain(1, id)).isEqualTo(numbers(0, 100));
  }

  @Test
  void persistentAndOtherMessagesOfOneProducerKeepTheirOrder() throws IOException {
    open(LIMIT_BYTES);
    long queue = h.producer(peer, QUEUE);
    List<Integer> sent = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      sent.add(h.publish(peer, queue, i % 5 == 0 ? i / 5 + 1 : 0, i + PAD));
      h.loops.runUntilIdle();
    }
    taken(sent);
    assertThat(use().movedMessages()).isGreaterThan(100);
    h.consumer(peer, 1, QUEUE, Subscribe.QUEUE, null);
    assertThat(drain(1, queue)).isEqualTo(numbers(0, 200));
  }

  @Test
  void beyondTheLimitRunsAreRefusedWithItInTheText() throws IOException {
    open(128 << 10);
    long queue = h.producer(peer, QUEUE);
    List<Integer> sent = publish(queue, 0, 0, 200);
    h.loops.advance(12_000_000_000L);
    List<Integer> refused = sent.stream().filter(c -> h.receipt(peer, c) != FaultCode.OK).toList();
    assertThat(sent.size() - refused.size()).isBetween(110, 150);
    FakePeer.Receipt last = BrokerHarness.find(peer, refused.get(refused.size() - 1));
    assertThat(last.code()).isEqualTo(FaultCode.MEMORY_FULL);
    assertThat(last.text()).contains("of 131072 bytes of its files are used");
    h.consumer(peer, 1, QUEUE, Subscribe.QUEUE, null);
    assertThat(drain(1, queue)).hasSize(sent.size() - refused.size());
    taken(publish(queue, 0, 0, 50));
  }

  @Test
  void aWriteThatFailsLosesNothingAndIsTriedAgain() throws IOException {
    int[] failures = {4};
    h.wrap =
        disk ->
            new FaultyDisk(disk) {
              @Override
              protected void write(DiskFile file, long at, ByteBuffer... from) throws IOException {
                if (file.name().startsWith("overflow/") && failures[0]-- > 0) {
                  super.write(file, at, from[0].slice().limit(100));
                  throw new IOException("No space left on device");
                }
                super.write(file, at, from);
              }
            };
    open(LIMIT_BYTES);
    long queue = h.producer(peer, QUEUE);
    List<Integer> sent = publish(queue, 0, 0, 100);
    h.loops.advance(9_000_000_000L);
    taken(sent);
    assertThat(h.broker.failure()).isNotDone();
    assertThat(use().failures()).isEqualTo(4);
    h.consumer(peer, 1, QUEUE, Subscribe.QUEUE, null);
    assertThat(drain(1, queue)).isEqualTo(numbers(0, 100));
  }

  @ParameterizedTest
  @CsvSource({"60, the disk is full", "70, the overflow leaves 67108864"})
  void nothingIsWrittenIntoTheRoomThatTheDiskGuardKeeps(int roomMib, String text)
      throws IOException {
    h.settings = BrokerHarness.settings(64 << 10, 1 << 17, MEMORY_BYTES, LIMIT_BYTES, 64 << 20);
    h.disk.capacity((long) roomMib << 20);
    h.open();
    h.loops.advance(2_000_000_000L);
    peer = h.attach();
    long queue = h.producer(peer, QUEUE);
    List<Integer> sent = publish(queue, 0, 0, 100);
    h.loops.advance(12_000_000_000L);
    assertThat(h.receipt(peer, sent.get(0))).isEqualTo(FaultCode.OK);
    assertThat(h.receipt(peer, sent.get(99))).isEqualTo(FaultCode.MEMORY_FULL);
    assertThat(BrokerHarness.find(peer, sent.get(99)).text()).contains(text);
    assertThat(h.disk.creations("overflow/.*")).isZero();
  }

  @Test
  void startWipesWhatAnEarlierOneLeft() throws IOException {
    open(LIMIT_BYTES);
    taken(publish(h.producer(peer, QUEUE), 0, 0, 100));
    h.loops.runUntilIdle();
    assertThat(h.disk.list("overflow")).isNotEmpty();
    h.crash(false);
    h.open();
    assertThat(h.disk.list("overflow")).isEmpty();
    peer = h.attach();
    h.consumer(peer, 1, QUEUE, Subscribe.QUEUE, null);
    assertThat(h.pull(peer, 1, 10)).isEmpty();
  }

  @Test
  void aCloseLeavesNoFile() throws IOException {
    open(LIMIT_BYTES);
    taken(publish(h.producer(peer, QUEUE), 0, 0, 100));
    h.close();
    closed = true;
    assertThat(h.disk.list("overflow")).isEmpty();
  }

  @Test
  void aPurgeGivesTheFilesBack() throws IOException {
    open(LIMIT_BYTES);
    taken(publish(h.producer(peer, QUEUE), 0, 0, 100));
    assertThat(use().files()).isPositive();
    h.admin("destination.purge", Map.of("name", "q"));
    assertThat(use().bytes()).isZero();
    assertThat(h.disk.list("overflow")).isEmpty();
  }

  @Test
  void aDeletionWhileABatchIsWrittenLeavesNothing() throws IOException {
    open(LIMIT_BYTES);
    h.loops.delay("overflow", 50_000_000);
    taken(publish(h.producer(peer, QUEUE), 0, 0, 10));
    h.admin("destination.delete", Map.of("name", "q", "force", "true"));
    h.loops.advance(100_000_000);
    assertThat(h.disk.creations("overflow/.*")).isEqualTo(1);
    assertThat(use().bytes()).isZero();
    assertThat(use().movedMessages()).isZero();
    assertThat(h.disk.list("overflow")).isEmpty();
  }

  @Test
  void aFileStaysWhileItIsReadThoughNobodyNeedsItAnyMore() throws IOException {
    open(LIMIT_BYTES);
    long queue = h.producer(peer, QUEUE);
    taken(publish(queue, 0, 0, 40));
    h.loops.runUntilIdle();
    h.consumer(peer, 1, QUEUE, Subscribe.QUEUE, null);
    h.loops.delay("read", 50_000_000);
    h.broker.submit(new Command.Pull(peer, 1, h.nextCorrelation(), 5, 1 << 20, 0));
    h.loops.runUntilIdle();
    h.admin("destination.delete", Map.of("name", "q", "force", "true"));
    assertThat(h.disk.list("overflow")).isNotEmpty();
    h.loops.advance(100_000_000);
    assertThat(h.disk.list("overflow")).isEmpty();
    assertThat(peer.openBuffers).isZero();
  }

  @Test
  void aCommitWaitsForTheRoomThatTheOverflowMakes() throws IOException {
    open(LIMIT_BYTES);
    long queue = h.producer(peer, QUEUE);
    h.loops.delay("overflow", 20_000_000);
    List<Integer> sent = publish(queue, 0, 0, 12);
    h.loops.runUntilIdle();
    for (int i = 0; i < 6; i++) {
      int c = h.nextCorrelation();
      String text = (12 + i) + PAD;
      h.broker.submit(
          new Command.Commit(
              peer,
              c,
              1,
              i + 1,
              List.of(new Command.StagedRun(queue, false, 1, h.bytes(false, 0, text))),
              List.of()));
      sent.add(c);
    }
    h.loops.advance(1_000_000_000L);
    taken(sent);
    h.consumer(peer, 1, QUEUE, Subscribe.QUEUE, null);
    assertThat(drain(1, queue)).isEqualTo(numbers(0, 18));
  }

  @Test
  void damageIsToldAndAllTheRestIsDelivered() throws IOException {
    open(LIMIT_BYTES);
    long queue = h.producer(peer, QUEUE);
    taken(publish(queue, 0, 0, 40));
    h.loops.runUntilIdle();
    String first = h.disk.list("overflow").get(0);
    h.disk.flip("overflow/" + first, 2_500, 3);
    h.consumer(peer, 1, QUEUE, Subscribe.QUEUE, null);
    List<Integer> rest = numbers(0, 40);
    rest.remove(2);
    assertThat(drain(1, queue)).isEqualTo(rest);
    assertThat(use()).isNotNull();
    assertThat(h.admin("damaged.list", Map.of())).contains("\"messages\":1}");
    assertThat(h.admin("damaged.drop", Map.of())).contains("\"dropped\":1");
    h.loops.advance(2_000_000_000L);
    assertThat(h.broker.metrics().overflow().bytes()).as("nothing keeps a file").isZero();
    assertThat(h.broker.metrics().of(Figure.DAMAGED_READS)).isPositive();
  }

  @Test
  void aBrowserSeesWhatLiesInFilesAndChangesNothing() throws IOException {
    open(LIMIT_BYTES);
    long queue = h.producer(peer, QUEUE);
    taken(publish(queue, 0, 0, 60));
    h.consumer(peer, 9, QUEUE, Subscribe.BROWSE, null);
    List<Integer> seen = new ArrayList<>();
    for (List<FakePeer.Received> got = h.pull(peer, 9, 7);
        !got.isEmpty();
        got = h.pull(peer, 9, 7)) {
      got.forEach(each -> seen.add(number(each)));
    }
    assertThat(seen).isEqualTo(numbers(0, 60));
    h.consumer(peer, 1, QUEUE, Subscribe.QUEUE, null);
    assertThat(drain(1, queue)).isEqualTo(numbers(0, 60));
    assertThat(use().bytes()).isZero();
  }

  @Test
  void aRunThatNeverFitsIsRefusedAtOnce() throws IOException {
    open(LIMIT_BYTES);
    long queue = h.producer(peer, QUEUE);
    String[] many = new String[50];
    Arrays.fill(many, "x");
    int refused = h.publish(peer, queue, 0, many);
    assertThat(h.receipt(peer, refused)).isEqualTo(FaultCode.TOO_LARGE);
    assertThat(BrokerHarness.find(peer, refused).text()).contains("never fits into the 16384");
    taken(publish(queue, 0, 0, 20));
  }

  @Test
  void aRepeatedRunIsStoredOnce() throws IOException {
    open(LIMIT_BYTES);
    UUID link = new UUID(1, 2);
    peer = h.attach(link, 1, 1, null);
    long topic = h.producer(peer, TOPIC);
    h.consumer(peer, 1, TOPIC, Subscribe.PLAIN, null);
    taken(publish(topic, 1, 0, 50));
    int again = h.publish(peer, topic, 7, 6 + PAD);
    assertThat(h.receipt(peer, again)).isEqualTo(FaultCode.OK);
    assertThat(drain(1, topic)).isEqualTo(numbers(0, 50));
  }
}

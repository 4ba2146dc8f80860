package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.door.Command;
import io.lightmq.core.door.Command.Subscribe;
import io.lightmq.core.door.Peer;
import io.lightmq.core.shard.BrokerHarness.Sample;
import io.lightmq.core.shard.FakePeer.Received;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Priorities from the run to the consumer, over restarts and checkpoints. */
class PriorityTest {
  private static final DestinationName QUEUE = new DestinationName(DestinationKind.QUEUE, "q");
  private static final DestinationName TOPIC = new DestinationName(DestinationKind.TOPIC, "t");
  private static final UUID LINK = new UUID(3, 4);

  private long number;

  private int submit(BrokerHarness h, FakePeer peer, long id, boolean kept, List<Sample> run) {
    int c = h.nextCorrelation();
    h.broker.submit(
        new Command.Publish(peer, c, id, kept ? ++number : 0, run.size(), h.bytes(kept, 0, run)));
    return c;
  }

  private void publish(BrokerHarness h, FakePeer peer, long id, boolean kept, List<Sample> run) {
    assertThat(h.receipt(peer, submit(h, peer, id, kept, run))).isEqualTo(FaultCode.OK);
  }

  private static List<String> drain(BrokerHarness h, FakePeer peer, int consumer) {
    List<String> texts = new ArrayList<>();
    List<Received> got = h.pull(peer, consumer, 7);
    while (!got.isEmpty()) {
      got.forEach(each -> texts.add(each.text()));
      got = h.pull(peer, consumer, 7);
    }
    return texts;
  }

  private static List<String> sorted(List<Sample> samples) {
    return samples.stream()
        .sorted(Comparator.comparingInt(each -> -each.priority()))
        .map(Sample::text)
        .toList();
  }

  /** Runs of 1 to 8 messages with random priorities, numbered by their place. */
  private static List<List<Sample>> runs(long seed, int count) {
    Random random = new Random(seed);
    List<List<Sample>> runs = new ArrayList<>();
    int place = 0;
    for (int i = 0; i < count; i++) {
      List<Sample> run = new ArrayList<>();
      for (int n = 1 + random.nextInt(8); n > 0; n--) {
        run.add(new Sample(random.nextInt(10), "m" + place++));
      }
      runs.add(run);
    }
    return runs;
  }

  private static List<Sample> together(List<List<Sample>> runs) {
    return runs.stream().flatMap(List::stream).toList();
  }

  private static FakePeer reader(BrokerHarness h) {
    FakePeer reader = h.attach();
    h.consumer(reader, 1, QUEUE, Subscribe.QUEUE, null);
    return reader;
  }

  @Test
  void theHighestPriorityThatWaitsComesFirstAndEachIsInOrder() throws Exception {
    for (boolean kept : List.of(true, false)) {
      BrokerHarness h = new BrokerHarness(41).open();
      FakePeer peer = h.attach(LINK, 1, 1, null);
      long id = h.producer(peer, QUEUE);
      number = 0;
      List<List<Sample>> runs = runs(5, 30);
      for (List<Sample> run : runs) {
        publish(h, peer, id, kept, run);
      }
      assertThat(drain(h, reader(h), 1)).isEqualTo(sorted(together(runs)));
      h.close();
    }
  }

  @Test
  void aRunWithSeveralPrioritiesIsThereOnceAfterACrashAndARepetition() throws Exception {
    BrokerHarness h = new BrokerHarness(42).open();
    FakePeer peer = h.attach(LINK, 1, 1, null);
    long id = h.producer(peer, QUEUE);
    List<Sample> run =
        List.of(new Sample(1, "low"), new Sample(8, "high"), new Sample(1, "low too"));
    publish(h, peer, id, true, run);
    h.crash(true);
    h.open();
    FakePeer again = h.attach(LINK, 2, 1, null);
    int c = h.nextCorrelation();
    h.broker.submit(new Command.Publish(again, c, id, 1, 3, h.bytes(true, 0, run)));
    assertThat(h.receipt(again, c)).isEqualTo(FaultCode.OK);
    assertThat(drain(h, reader(h), 1)).containsExactly("high", "low", "low too");
    h.close();
  }

  @Test
  void tenLanesSurviveCheckpointsAndRestarts() throws Exception {
    BrokerHarness h = new BrokerHarness(43).open();
    FakePeer peer = h.attach(LINK, 1, 1, null);
    long id = h.producer(peer, QUEUE);
    List<List<Sample>> runs = runs(6, 40);
    for (int i = 0; i < runs.size(); i++) {
      if (i % 10 == 5) {
        long done = h.broker.metrics().checkpoints().done();
        h.broker.wantCheckpoint();
        h.loops.advance(3_000_000_000L);
        assertThat(h.broker.metrics().checkpoints().done()).isGreaterThan(done);
      }
      publish(h, peer, id, true, runs.get(i));
    }
    h.crash(true);
    h.open();
    FakePeer reader = reader(h);
    List<Received> first = h.pull(reader, 1, 3);
    assertThat(first).allMatch(each -> each.lane() == 9);
    for (Received each : first) {
      h.acknowledge(reader, 1, id, each.range());
    }
    h.close();
    h.open();
    List<String> expected = new ArrayList<>(sorted(together(runs)));
    first.forEach(each -> expected.remove(each.text()));
    assertThat(drain(h, reader(h), 1)).isEqualTo(expected);
    h.close();
  }

  @Test
  void aDurableSubscriptionGetsOfEachPriorityWhatCameAfterIt() throws Exception {
    BrokerHarness h = new BrokerHarness(44).open();
    FakePeer peer = h.attach(LINK, 1, 1, "ada");
    long id = h.producer(peer, TOPIC);
    h.consumer(peer, 1, TOPIC, Subscribe.DURABLE, "first");
    publish(h, peer, id, true, List.of(new Sample(2, "a"), new Sample(5, "b")));
    h.consumer(peer, 2, TOPIC, Subscribe.DURABLE, "second");
    publish(h, peer, id, true, List.of(new Sample(2, "c"), new Sample(7, "d")));
    h.crash(true);
    h.open();
    FakePeer reader = h.attach(new UUID(5, 5), 1, 1, "ada");
    h.consumer(reader, 1, TOPIC, Subscribe.DURABLE, "first");
    h.consumer(reader, 2, TOPIC, Subscribe.DURABLE, "second");
    assertThat(drain(h, reader, 1)).containsExactly("d", "b", "a", "c");
    assertThat(drain(h, reader, 2)).containsExactly("d", "c");
    h.close();
  }

  @Test
  void aTransactionWithSeveralPrioritiesIsWhole() throws Exception {
    BrokerHarness h = new BrokerHarness(45).open();
    FakePeer peer = h.attach(LINK, 1, 1, null);
    long id = h.producer(peer, QUEUE);
    List<Sample> one = List.of(new Sample(0, "a"), new Sample(9, "b"));
    List<Sample> two = List.of(new Sample(9, "c"), new Sample(0, "d"));
    List<Sample> light = List.of(new Sample(0, "e"), new Sample(9, "f"));
    int c = h.nextCorrelation();
    h.broker.submit(
        new Command.Commit(
            peer,
            c,
            1,
            1,
            List.of(
                new Command.StagedRun(id, true, 2, h.bytes(true, 0, one)),
                new Command.StagedRun(id, false, 2, h.bytes(false, 0, light)),
                new Command.StagedRun(id, true, 2, h.bytes(true, 0, two))),
            List.of()));
    assertThat(h.receipt(peer, c)).isEqualTo(FaultCode.OK);
    assertThat(drain(h, reader(h), 1)).containsExactly("b", "c", "f", "a", "d", "e");
    h.crash(true);
    h.open();
    assertThat(drain(h, reader(h), 1)).containsExactly("b", "c", "a", "d");
    h.close();
  }

  @Test
  void aPurgeTakesWhatIsFreeOfEveryPriority() throws Exception {
    BrokerHarness h = new BrokerHarness(46).open();
    FakePeer peer = h.attach(LINK, 1, 1, null);
    long id = h.producer(peer, QUEUE);
    List<Sample> run = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      run.add(new Sample(i, "p" + i));
    }
    Collections.shuffle(run, new Random(1));
    publish(h, peer, id, true, run);
    publish(h, peer, id, false, run);
    FakePeer reader = reader(h);
    List<Received> held = new ArrayList<>();
    while (held.size() < 4) {
      held.addAll(h.pull(reader, 1, 4 - held.size()));
    }
    assertThat(h.admin("destination.purge", Map.of("name", "q"))).contains("\"messages\":16");
    assertThat(held).extracting(Received::text).containsExactly("p9", "p9", "p8", "p8");
    assertThat(drain(h, reader, 1)).isEmpty();
    for (Received each : held) {
      assertThat(h.acknowledge(reader, 1, id, each.range())).isInstanceOf(Peer.Reply.Ok.class);
    }
    h.close();
  }

  @Test
  void aPriorityAboveNineIsRefused() throws Exception {
    BrokerHarness h = new BrokerHarness(47).open();
    FakePeer peer = h.attach(LINK, 1, 1, null);
    long id = h.producer(peer, QUEUE);
    Command.Bytes bytes = h.bytes(true, 0, "a");
    bytes.buffer().put(4 + 6, (byte) 10);
    int c = h.nextCorrelation();
    h.broker.submit(new Command.Publish(peer, c, id, 1, 1, bytes));
    h.loops.runUntil(() -> !peer.disconnects.isEmpty());
    assertThat(peer.disconnects.get(0)).contains("message 0 of 1 has priority 10, not 0 to 9");
    h.close();
  }
}

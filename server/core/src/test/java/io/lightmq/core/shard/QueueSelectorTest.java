package io.lightmq.core.shard;

import static io.lightmq.core.door.Command.Subscribe.QUEUE;
import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.door.Command;
import io.lightmq.core.door.Peer;
import io.lightmq.wire.entry.BodyType;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.MessageWriter;
import io.lightmq.wire.entry.SequenceRange;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Consumers of a queue with selectors: each gets what matches, wherever it lies. */
class QueueSelectorTest {
  private static final DestinationName QUEUE_NAME =
      new DestinationName(DestinationKind.QUEUE, "orders");

  @RegisterExtension final BrokerHarness bench = new BrokerHarness(11);
  private final UUID link = new UUID(1, 1);
  private long number;
  private long queue;

  private FakePeer start() throws Exception {
    bench.open();
    FakePeer peer = bench.attach(new UUID(1, bench.nextCorrelation()), 1, 1, null);
    number = 0;
    queue = bench.producer(peer, QUEUE_NAME);
    return peer;
  }

  private void consume(FakePeer peer, int id, @Nullable String selector) {
    assertThat(bench.tryConsumer(peer, id, QUEUE_NAME, QUEUE, null, selector, false))
        .isInstanceOf(Peer.Reply.ConsumerAttached.class);
  }

  /** A message with number n, JMSCorrelationID "c" + n and some priority. */
  private record Sample(int n, int priority) {}

  private static Command.Bytes run(boolean persistent, List<Sample> samples) {
    MessageWriter writer = new MessageWriter(1 << 12);
    ByteBuffer all = ByteBuffer.allocate(samples.size() * 400);
    for (Sample sample : samples) {
      writer
          .start(BodyType.TEXT, sample.priority(), persistent, 0, 0)
          .correlationId("c" + sample.n())
          .properties(Map.of("n", sample.n()))
          .textBody("m" + sample.n() + ":" + "x".repeat(100))
          .finish();
      all.putInt(writer.length()).put(writer.array(), 0, writer.length());
    }
    all.flip();
    return new Command.Bytes() {
      @Override
      public ByteBuffer buffer() {
        return all;
      }

      @Override
      public void release() {}
    };
  }

  private void publish(FakePeer peer, boolean persistent, List<Sample> samples) {
    int c = bench.nextCorrelation();
    long run = persistent ? ++number : 0;
    bench.broker.submit(
        new Command.Publish(peer, c, queue, run, samples.size(), run(persistent, samples)));
    assertThat(bench.receipt(peer, c)).isEqualTo(FaultCode.OK);
  }

  @Test
  void aConsumerWhoseOutletWasFullLooksAtTheBacklogOnceItIsWritable() throws Exception {
    FakePeer sender = start();
    publish(sender, true, 1, 2, 3);
    FakePeer reader = bench.attach(new UUID(9, 9), 1, 2, null);
    consume(reader, 1, "n = 2");
    reader.writable = false;
    bench.broker.submit(new Command.Pull(reader, 1, 1, 10, 1 << 20, 0));
    bench.loops.runUntilIdle();
    assertThat(reader.received).isEmpty();
    reader.writable = true;
    bench.broker.submit(new Command.Writable(reader));
    bench.loops.runUntilIdle();
    assertThat(reader.received).hasSize(1);
  }

  private void publish(FakePeer peer, boolean persistent, int... numbers) {
    List<Sample> samples = new ArrayList<>();
    for (int n : numbers) {
      samples.add(new Sample(n, 4));
    }
    publish(peer, persistent, samples);
  }

  private void publishMany(FakePeer peer, boolean persistent, int from, int to) {
    for (int n = from; n < to; n += 20) {
      List<Sample> samples = new ArrayList<>();
      for (int i = n; i < Math.min(to, n + 20); i++) {
        samples.add(new Sample(i, 4));
      }
      publish(peer, persistent, samples);
    }
  }

  private static int n(FakePeer.Received received) {
    return Integer.parseInt(received.text().substring(1, received.text().indexOf(':')));
  }

  private List<Integer> take(FakePeer peer, int consumer) {
    List<Integer> numbers = new ArrayList<>();
    List<FakePeer.Received> some = bench.pull(peer, consumer, 100);
    while (!some.isEmpty()) {
      for (FakePeer.Received each : some) {
        numbers.add(n(each));
        bench.acknowledge(
            peer, consumer, queue, new SequenceRange(each.lane(), each.sequence(), 1));
      }
      some = bench.pull(peer, consumer, 100);
    }
    return numbers;
  }

  private void detach(FakePeer peer, int id) {
    int c = bench.nextCorrelation();
    bench.broker.submit(new Command.DetachConsumer(peer, c, id));
    bench.reply(peer, c);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void eachConsumerGetsWhatMatchesAndTheOthersTheRest(boolean persistent) throws Exception {
    FakePeer peer = start();
    publish(peer, persistent, 1, 2, 3, 4, 5, 6);
    consume(peer, 1, "n > 4");
    consume(peer, 2, "n = 2");
    consume(peer, 3, "n>4");
    consume(peer, 4, "n > 100");
    assertThat(bench.pull(peer, 1, 1)).extracting(QueueSelectorTest::n).containsExactly(5);
    assertThat(take(peer, 3)).containsExactly(6);
    assertThat(take(peer, 2)).containsExactly(2);
    assertThat(take(peer, 4)).isEmpty();
    publish(peer, persistent, 7, 2, 101);
    assertThat(take(peer, 4)).containsExactly(101);
    assertThat(take(peer, 1)).containsExactly(7);
    assertThat(take(peer, 2)).containsExactly(2);
    consume(peer, 5, null);
    assertThat(take(peer, 5)).containsExactly(1, 3, 4);
  }

  @ParameterizedTest
  @ValueSource(strings = {"memory", "files", "restart", "segments"})
  void aLateConsumerReachesTheWholeBacklog(String where) throws Exception {
    bench.settings = BrokerHarness.settings(64 << 10, where.equals("memory") ? 1 << 19 : 1 << 15);
    FakePeer peer = start();
    publishMany(peer, true, 0, 800);
    if (where.equals("segments")) {
      bench.broker.wantCheckpoint();
      bench.loops.runUntilIdle();
    }
    if (where.equals("restart")) {
      bench.crash(true);
      peer = start();
    }
    consume(peer, 1, "n = 3 OR n = 777");
    consume(peer, 2, "n BETWEEN 300 AND 302");
    consume(peer, 3, "JMSCorrelationID = 'c500'");
    consume(peer, 4, "n < 0");
    assertThat(take(peer, 1)).containsExactly(3, 777);
    assertThat(take(peer, 2)).containsExactly(300, 301, 302);
    assertThat(take(peer, 3)).containsExactly(500);
    assertThat(take(peer, 4)).isEmpty();
    publish(peer, true, 302, 500, -1);
    assertThat(take(peer, 4)).containsExactly(-1);
    assertThat(take(peer, 3)).containsExactly(500);
    assertThat(take(peer, 2)).containsExactly(302);
  }

  @Test
  void whatIsGivenBackGoesToEverybodyWhoWantsIt() throws Exception {
    FakePeer peer = start();
    consume(peer, 1, "n > 1");
    consume(peer, 2, "n > 2");
    publish(peer, true, 1, 2, 3);
    assertThat(bench.pull(peer, 1, 10)).extracting(QueueSelectorTest::n).containsExactly(2, 3);
    assertThat(take(peer, 2)).isEmpty();
    detach(peer, 1);
    assertThat(take(peer, 2)).containsExactly(3);
    consume(peer, 3, "n > 1");
    assertThat(take(peer, 3)).containsExactly(2);
  }

  @Test
  void prioritiesAndOrderHoldAmongWhatMatches() throws Exception {
    FakePeer peer = start();
    publish(
        peer,
        true,
        List.of(new Sample(1, 4), new Sample(2, 9), new Sample(3, 0), new Sample(4, 4)));
    publish(peer, false, List.of(new Sample(5, 4), new Sample(6, 9)));
    publish(peer, true, List.of(new Sample(7, 4), new Sample(8, 9)));
    consume(peer, 1, "n <> 4 AND n <> 2");
    publish(peer, false, List.of(new Sample(9, 4), new Sample(10, 0)));
    publish(peer, true, List.of(new Sample(11, 4), new Sample(12, 9)));
    assertThat(take(peer, 1)).containsExactly(6, 8, 12, 1, 5, 7, 9, 11, 3, 10);
  }

  @Test
  void aWaitingPullIsAnsweredByAMatchOnly() throws Exception {
    FakePeer peer = start();
    consume(peer, 1, "n = 5");
    bench.broker.submit(new Command.Pull(peer, 1, 77, 10, 1 << 20, 10_000));
    publish(peer, true, 1, 2, 3);
    publish(peer, false, 4);
    bench.loops.runUntilIdle();
    assertThat(peer.received).isEmpty();
    assertThat(peer.pullsDone).isEmpty();
    publish(peer, true, 6, 5);
    bench.loops.runUntilIdle();
    assertThat(peer.received).extracting(QueueSelectorTest::n).containsExactly(5);
  }

  @Test
  void whatOthersTakeMeanwhileIsNotGivenTwice() throws Exception {
    bench.settings = BrokerHarness.settings(64 << 10, 1 << 15);
    FakePeer peer = start();
    publishMany(peer, true, 0, 400);
    consume(peer, 1, null);
    consume(peer, 2, "n >= 100");
    List<Integer> first = new ArrayList<>();
    bench.pull(peer, 1, 150).forEach(each -> first.add(n(each)));
    List<Integer> second = take(peer, 2);
    assertThat(second).isSorted().doesNotHaveDuplicates().doesNotContainAnyElementsOf(first);
    assertThat(second.get(second.size() - 1)).isEqualTo(399);
    detach(peer, 1);
    consume(peer, 3, "n < 100");
    assertThat(take(peer, 3)).hasSize(100);
    second.addAll(take(peer, 2));
    assertThat(second).hasSize(300).doesNotHaveDuplicates();
  }

  @ParameterizedTest
  @ValueSource(strings = {"memory", "files", "segments"})
  void aConsumerPerRequestLooksOnlyAtItsOwnReply(String where) throws Exception {
    bench.settings = BrokerHarness.settings(64 << 10, where.equals("memory") ? 1 << 19 : 1 << 15);
    FakePeer peer = start();
    publishMany(peer, true, 0, 700);
    if (where.equals("segments")) {
      bench.broker.wantCheckpoint();
      bench.loops.runUntilIdle();
    }
    consume(peer, 1, "JMSCorrelationID = 'c5'");
    assertThat(take(peer, 1)).containsExactly(5);
    long first = evaluations();
    assertThat(first).isBetween(700L, 800L);
    for (int i = 0; i < 20; i++) {
      consume(peer, 2, "JMSCorrelationID = 'c" + (600 + i) + "'");
      consume(peer, 3, "'c" + (800 + i) + "' = JMSCorrelationID AND n >= 0");
      assertThat(take(peer, 2)).containsExactly(600 + i);
      assertThat(take(peer, 3)).isEmpty();
      publish(peer, i % 2 == 0, 900 + i, 800 + i, 1000 + i);
      assertThat(take(peer, 3)).containsExactly(800 + i);
      assertThat(evaluations()).isEqualTo(first + 2 * (i + 1));
      detach(peer, 2);
      detach(peer, 3);
    }
    consume(peer, 4, "JMSCorrelationID LIKE 'c10%'");
    assertThat(take(peer, 4)).hasSize(10 + 1 + 20);
  }

  private long evaluations() {
    BrokerMetrics before = bench.broker.metrics();
    bench.loops.runUntil(() -> bench.broker.metrics() != before);
    return bench
        .broker
        .metrics()
        .destinations()
        .get(0)
        .subscriptions()
        .get(0)
        .selector()
        .evaluations();
  }

  @Test
  void aPullThatIsHeldForAMatchIsAnsweredWhenTheMatchGoes() throws Exception {
    FakePeer peer = start();
    publish(peer, true, List.of(new Sample(1, 4)));
    consume(peer, 1, "n = 1");
    bench.loops.delay("journal", 1_000_000_000L);
    bench.broker.submit(new Command.Pull(peer, 1, 77, 10, 1 << 20, 0));
    bench.loops.runUntilIdle();
    assertThat(peer.pullsDone).isEmpty(); // the match waits for its Touched record
    assertThat(peer.received).isEmpty();
    bench.broker.submit(
        new Command.Admin(peer, 500, "destination.purge", Map.of("name", QUEUE_NAME.name())));
    bench.loops.advance(10_000_000_000L);
    assertThat(peer.pullsDone).containsExactly("1/77/OK");
  }
}

package io.lightmq.core.shard;

import static io.lightmq.core.door.Command.Subscribe.BROWSE;
import static io.lightmq.core.door.Command.Subscribe.DURABLE;
import static io.lightmq.core.door.Command.Subscribe.PLAIN;
import static io.lightmq.core.door.Command.Subscribe.QUEUE;
import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.door.BrokerSettings;
import io.lightmq.core.door.Command;
import io.lightmq.core.door.Peer;
import io.lightmq.core.intake.Matchings;
import io.lightmq.core.selector.Work;
import io.lightmq.core.storage.segment.SegmentSettings;
import io.lightmq.wire.entry.BodyType;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.MessageWriter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Many selectors that search texts as often as they may, and messages with long ones: whatever
 * meets them, no turn of the shard takes long, and everybody gets what he wants in its order. What
 * a turn has done is counted in steps, not timed.
 */
class LongTextTest {
  private static final DestinationName TOPIC = new DestinationName(DestinationKind.TOPIC, "prices");
  private static final DestinationName ORDERS =
      new DestinationName(DestinationKind.QUEUE, "orders");

  /** What one turn may take: its share, and what was begun within it. */
  private static final long BOUND = Work.TURN + Matchings.INLINE_STEPS;

  private static final int LONG = 32 << 10;
  private static final int MANY = 24;

  private final BrokerHarness bench = new BrokerHarness(17);
  private int released;
  private FakePeer reader;
  private FakePeer sender;
  private long destination;

  @BeforeEach
  void open() throws IOException {
    BrokerSettings small = BrokerHarness.settings(4 << 20, 1 << 23, 8 << 20, 1 << 30);
    bench.settings =
        small
            .with(
                new SegmentSettings(
                    4 << 20, 16 << 10, 4 << 10, 4 << 10, 1 << 20, 8, 64 << 10, 2 << 20))
            .with(small.limits().withMaxMessageBytes(1 << 20).withMaxTransactionBytes(1 << 20));
    bench.open();
    reader = bench.attach(new UUID(2, 2), 1, 1, "desk");
    sender = bench.attach(new UUID(1, 1), 1, 1, null);
  }

  @AfterEach
  void noTurnTookLong() {
    assertThat(bench.broker.mostSelectorSteps()).isLessThanOrEqualTo(BOUND);
  }

  /** Searches the text of a message as often as a selector may, in a way of its own. */
  private static String searching(int own) {
    StringBuilder text = new StringBuilder("n = " + own);
    for (int i = 0; i < 32; i++) {
      text.append(" OR p LIKE '%a_b").append(own).append('x').append(i).append("_0%'");
    }
    return text.toString();
  }

  private void attach(
      FakePeer peer,
      int id,
      DestinationName name,
      Command.Subscribe kind,
      @Nullable String named,
      @Nullable String selector) {
    assertThat(bench.tryConsumer(peer, id, name, kind, named, selector, false))
        .isInstanceOf(Peer.Reply.ConsumerAttached.class);
  }

  /** Consumers 1 to so many, each wants the messages with its number. */
  private void searchers(DestinationName name, Command.Subscribe kind, int count) {
    for (int i = 1; i <= count; i++) {
      attach(reader, i, name, kind, kind == DURABLE ? "s" + i : null, searching(i));
    }
  }

  private Command.Bytes run(boolean persistent, long delayMillis, int textChars, int... numbers) {
    MessageWriter writer = new MessageWriter(1 << 20);
    ByteBuffer all = ByteBuffer.allocate((textChars + 400) * numbers.length);
    for (int n : numbers) {
      writer
          .start(BodyType.TEXT, 4, persistent, 0, delayMillis)
          .properties(Map.of("n", n, "p", "a".repeat(textChars)))
          .textBody("m" + n)
          .finish();
      all.putInt(writer.length()).put(writer.array(), 0, writer.length());
    }
    all.flip();
    return new Command.Bytes() {
      private boolean gone;

      @Override
      public ByteBuffer buffer() {
        assertThat(gone).as("released bytes are used").isFalse();
        return all;
      }

      @Override
      public void release() {
        assertThat(gone).as("bytes are released twice").isFalse();
        gone = true;
        released++;
      }
    };
  }

  private int submit(FakePeer peer, long run, int textChars, int... numbers) {
    int c = bench.nextCorrelation();
    bench.broker.submit(
        new Command.Publish(
            peer, c, destination, run, numbers.length, run(run > 0, 0, textChars, numbers)));
    return c;
  }

  private List<String> take(FakePeer peer, int consumer) {
    List<String> texts = new ArrayList<>();
    int answers = peer.received.size() + peer.pullsDone.size();
    bench.broker.submit(new Command.Pull(peer, consumer, bench.nextCorrelation(), 100, 1 << 20, 0));
    bench.loops.runUntil(() -> peer.received.size() + peer.pullsDone.size() > answers);
    for (FakePeer.Received each : peer.received.subList(0, peer.received.size())) {
      if (each.consumerId() == consumer) {
        texts.add(each.text());
      }
    }
    return texts;
  }

  private List<String> browse(int browser) {
    return bench.browse(reader, browser, 10, 1 << 20).stream()
        .map(FakePeer.Received::text)
        .toList();
  }

  // ---- topics ----

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aLongTextIsLookedAtBesideTheShard(boolean persistent) {
    destination = bench.producer(sender, TOPIC);
    searchers(TOPIC, persistent ? DURABLE : PLAIN, MANY);
    attach(reader, 100, TOPIC, PLAIN, null, null);
    int c = submit(sender, persistent ? 1 : 0, LONG, 3);
    assertThat(bench.receipt(sender, c)).isEqualTo(FaultCode.OK);
    assertThat(take(reader, 3)).containsExactly("m3");
    assertThat(take(reader, 100)).containsExactly("m3");
    assertThat(take(reader, 4)).isEmpty();
    assertThat(released).isEqualTo(1);
  }

  @Test
  void aCommitThatTakesTheNumberOfARunBesideTheShardEndsItsConnectionAndNothingElse() {
    destination = bench.producer(sender, TOPIC);
    searchers(TOPIC, PLAIN, MANY);
    submit(sender, 1, LONG, 3);
    bench.producer(sender, ORDERS); // a turn later the run is beside the shard
    bench.broker.submit(
        new Command.Commit(sender, bench.nextCorrelation(), 1, 1, List.of(), List.of()));
    bench.loops.runUntil(() -> !sender.disconnects.isEmpty());
    assertThat(sender.disconnects.toString()).contains("which a run that waits has");
    bench.loops.runUntil(() -> released == 1);
    sender = bench.attach(new UUID(1, 1), 2, 1, null);
    destination = bench.producer(sender, TOPIC);
    assertThat(bench.receipt(sender, submit(sender, 1, LONG, 4))).isEqualTo(FaultCode.OK);
    assertThat(take(reader, 4)).containsExactly("m4");
    assertThat(take(reader, 3)).as("its run went with its connection").isEmpty();
    assertThat(released).isEqualTo(2);
  }

  @Test
  void manyShortMessagesOfOneRunAreNoFasterWay() {
    destination = bench.producer(sender, TOPIC);
    searchers(TOPIC, PLAIN, MANY);
    int[] numbers = new int[1_000];
    numbers[17] = 2;
    int c = submit(sender, 0, 400, numbers);
    assertThat(bench.receipt(sender, c)).isEqualTo(FaultCode.OK);
    assertThat(take(reader, 2)).containsExactly("m2");
  }

  @Test
  void manyRunsOfSeveralProducersShareATurn() {
    destination = bench.producer(sender, TOPIC);
    searchers(TOPIC, PLAIN, MANY);
    List<FakePeer> all = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      all.add(bench.attach());
      bench.producer(all.get(i), TOPIC);
    }
    List<Integer> runs = all.stream().map(peer -> submit(peer, 0, 3_000, 5)).toList();
    for (int i = 0; i < all.size(); i++) {
      assertThat(bench.receipt(all.get(i), runs.get(i))).isEqualTo(FaultCode.OK);
    }
    assertThat(take(reader, 5)).hasSize(40);
  }

  @Test
  void aProducersLaterMessagesWaitAndOthersGoOn() {
    destination = bench.producer(sender, TOPIC);
    searchers(TOPIC, PLAIN, MANY);
    attach(reader, 100, TOPIC, PLAIN, null, null);
    FakePeer other = bench.attach();
    bench.producer(other, TOPIC);
    List<Integer> receipts = new ArrayList<>();
    sender.onReceipt = receipt -> receipts.add(receipt.correlation());
    other.onReceipt = sender.onReceipt;
    bench.loops.delay("match", 1_000_000_000L);
    int first = submit(sender, 1, LONG, 1);
    int second = submit(sender, 2, 10, 2);
    int third = submit(sender, 0, 10, 3);
    int alien = submit(other, 0, 10, 4);
    bench.receipt(sender, third);
    bench.receipt(sender, second);
    assertThat(receipts.get(0)).isEqualTo(alien);
    assertThat(receipts).containsExactlyInAnyOrder(alien, first, second, third);
    assertThat(take(reader, 100)).containsExactly("m4", "m1", "m2", "m3");
  }

  @Test
  void aSelectorThatComesMeanwhileIsAskedToo() {
    destination = bench.producer(sender, TOPIC);
    searchers(TOPIC, PLAIN, MANY);
    bench.loops.delay("match", 1_000_000_000L);
    int c = submit(sender, 0, LONG, 50);
    bench.loops.runUntilIdle();
    attach(reader, 50, TOPIC, PLAIN, null, "n = 50");
    attach(reader, 51, TOPIC, PLAIN, null, "n = 51");
    for (int i = 60; i < 60 + MANY; i++) {
      attach(reader, i, TOPIC, PLAIN, null, searching(i) + " OR n = 50");
    }
    int detach = bench.nextCorrelation();
    bench.broker.submit(new Command.DetachConsumer(reader, detach, 7));
    bench.reply(reader, detach);
    assertThat(bench.receipt(sender, c)).isEqualTo(FaultCode.OK);
    assertThat(take(reader, 50)).containsExactly("m50");
    assertThat(take(reader, 51)).isEmpty();
    assertThat(take(reader, 60)).containsExactly("m50");
    assertThat(take(reader, 6)).isEmpty();
  }

  @Test
  void whoEndsMeanwhileLeavesNothingBehind() {
    destination = bench.producer(sender, TOPIC);
    searchers(TOPIC, PLAIN, MANY);
    bench.loops.delay("match", 1_000_000L);
    submit(sender, 0, LONG, 3);
    submit(sender, 0, 10, 3);
    bench.loops.runUntilIdle();
    bench.broker.submit(new Command.Detach(sender, false));
    bench.loops.advance(1_000_000_000L);
    assertThat(released).isEqualTo(2);
    assertThat(take(reader, 3)).isEmpty();
  }

  @Test
  void aTransactionWithLongTextsIsOneAsBefore() {
    destination = bench.producer(sender, TOPIC);
    searchers(TOPIC, DURABLE, MANY);
    attach(reader, 100, TOPIC, DURABLE, "all", null);
    int c = bench.nextCorrelation();
    bench.broker.submit(
        new Command.Commit(
            sender,
            c,
            1,
            1,
            List.of(
                new Command.StagedRun(destination, true, 2, run(true, 0, LONG, 1, 2)),
                new Command.StagedRun(destination, false, 1, run(false, 0, LONG, 3)),
                new Command.StagedRun(destination, true, 1, run(true, 0, 10, 4))),
            List.of()));
    int later = submit(sender, 2, 10, 5);
    assertThat(bench.receipt(sender, later)).isEqualTo(FaultCode.OK);
    assertThat(bench.receipt(sender, c)).isEqualTo(FaultCode.OK);
    assertThat(take(reader, 100)).containsExactly("m1", "m2", "m4", "m3", "m5");
    for (int i = 1; i <= 5; i++) {
      assertThat(take(reader, i)).containsExactly("m" + i);
    }
    assertThat(take(reader, 6)).isEmpty();
    assertThat(released).isEqualTo(4);
  }

  @Test
  void whatFallsDueIsLookedAtBesideTheShardToo() {
    destination = bench.producer(sender, TOPIC);
    searchers(TOPIC, DURABLE, MANY);
    attach(reader, 100, TOPIC, DURABLE, "all", null);
    int c = bench.nextCorrelation();
    bench.broker.submit(
        new Command.Publish(sender, c, destination, 1, 2, run(true, 60_000, LONG, 3, 4)));
    assertThat(bench.receipt(sender, c)).isEqualTo(FaultCode.OK);
    assertThat(take(reader, 100)).isEmpty();
    bench.loops.advance(70_000_000_000L);
    assertThat(take(reader, 100)).containsExactly("m3", "m4");
    assertThat(take(reader, 3)).containsExactly("m3");
    assertThat(take(reader, 5)).isEmpty();
  }

  @Test
  void aRunThatIsDelayedInPartIsLookedAtBesideTheShard() {
    destination = bench.producer(sender, TOPIC);
    searchers(TOPIC, DURABLE, MANY);
    ByteBuffer mixed = ByteBuffer.allocate(1 << 18);
    mixed.put(run(true, 60_000, LONG, 3).buffer());
    mixed.put(run(true, 0, LONG, 4).buffer());
    mixed.flip();
    int c = bench.nextCorrelation();
    bench.broker.submit(new Command.Publish(sender, c, destination, 1, 2, bench.bytes(mixed)));
    assertThat(bench.receipt(sender, c)).isEqualTo(FaultCode.OK);
    assertThat(take(reader, 4)).containsExactly("m4");
    assertThat(take(reader, 3)).isEmpty();
    bench.loops.advance(70_000_000_000L);
    assertThat(take(reader, 3)).containsExactly("m3");
  }

  @Test
  void aMessageForWhichThereAreTooManySelectorsIsRefusedWithFigures() {
    destination = bench.producer(sender, TOPIC);
    searchers(TOPIC, PLAIN, 60);
    int c = submit(sender, 1, 600 << 10, 1);
    int next = submit(sender, 2, 10, 2);
    assertThat(bench.receipt(sender, c)).isEqualTo(FaultCode.TOO_LARGE);
    assertThat(BrokerHarness.find(sender, c).text())
        .contains(
            "60 selectors", "prices", "1073741824", Integer.toString(600 << 10).substring(0, 3));
    assertThat(bench.receipt(sender, next)).isEqualTo(FaultCode.OK);
    assertThat(take(reader, 1)).isEmpty();
    assertThat(take(reader, 2)).containsExactly("m2");
  }

  // ---- queues ----

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void whatArrivesForManyWaitingViewsIsLookedAtBesideTheShard(boolean persistent) {
    destination = bench.producer(sender, ORDERS);
    searchers(ORDERS, QUEUE, MANY);
    for (int i = 1; i <= MANY; i++) {
      bench.broker.submit(new Command.Pull(reader, i, 1_000 + i, 10, 1 << 20, 30_000));
    }
    bench.loops.runUntilIdle();
    int c = submit(sender, persistent ? 1 : 0, 4 * LONG, 3, 4);
    assertThat(bench.receipt(sender, c)).isEqualTo(FaultCode.OK);
    bench.loops.runUntil(() -> reader.received.size() == 2);
    assertThat(reader.received).extracting(FakePeer.Received::consumerId).contains(3, 4);
    int small = submit(sender, persistent ? 2 : 0, 10, 5);
    assertThat(bench.receipt(sender, small)).isEqualTo(FaultCode.OK);
    bench.loops.runUntil(() -> reader.received.size() == 3);
    assertThat(reader.received.get(2).consumerId()).isEqualTo(5);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aBacklogOfLongTextsIsLookedAtBesideTheShard(boolean persistent) {
    destination = bench.producer(sender, ORDERS);
    for (int i = 0; i < 12; i++) {
      submit(sender, persistent ? i + 1 : 0, 2 * LONG, 0, 3, i);
    }
    bench.loops.runUntilIdle();
    searchers(ORDERS, QUEUE, 12);
    List<Integer> pulls = new ArrayList<>();
    for (int i = 1; i <= 12; i++) {
      pulls.add(bench.nextCorrelation());
      bench.broker.submit(new Command.Pull(reader, i, pulls.get(i - 1), 3, 1 << 22, 5_000));
    }
    bench.loops.runUntil(() -> reader.received.size() + reader.pullsDone.size() >= 11);
    assertThat(reader.received.stream().filter(each -> each.text().equals("m11")).toList())
        .singleElement()
        .satisfies(each -> assertThat(each.consumerId()).isEqualTo(11));
    List<String> wanted = take(reader, 3);
    for (int more = 0; more < 13 && wanted.size() < 13; more++) {
      wanted = take(reader, 3);
    }
    assertThat(wanted).hasSize(13).containsOnly("m3");
  }

  @Test
  void aBacklogInFilesIsLookedAtBesideTheShard() {
    destination = bench.producer(sender, ORDERS);
    for (int i = 0; i < 12; i++) {
      bench.receipt(sender, submit(sender, i + 1, 4 * LONG, 0, i));
    }
    for (int i = 0; i < 12; i++) {
      bench.receipt(sender, submit(sender, 13 + i, 20 * LONG, 0)); // leaves the window
    }
    bench.loops.runUntilIdle();
    bench.broker.wantCheckpoint();
    bench.loops.runUntilIdle();
    attach(reader, 11, ORDERS, QUEUE, null, searching(11));
    assertThat(take(reader, 11)).containsExactly("m11");
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void browsersLookBesideTheShard(boolean persistent) {
    destination = bench.producer(sender, ORDERS);
    for (int i = 0; i < 12; i++) {
      bench.receipt(sender, submit(sender, persistent ? i + 1 : 0, 4 * LONG, 0, 3, i));
    }
    attach(reader, 1, ORDERS, BROWSE, null, searching(3));
    attach(reader, 2, ORDERS, BROWSE, null, searching(11));
    assertThat(browse(1)).hasSize(13).containsOnly("m3");
    assertThat(browse(2)).containsExactly("m11");
  }

  @Test
  void browsersOfFilesLookBesideTheShard() {
    destination = bench.producer(sender, ORDERS);
    for (int i = 0; i < 24; i++) {
      bench.receipt(sender, submit(sender, i + 1, 20 * LONG, i));
    }
    bench.broker.wantCheckpoint();
    bench.loops.runUntilIdle();
    attach(reader, 2, ORDERS, BROWSE, null, searching(2));
    assertThat(browse(2)).containsExactly("m2");
  }
}

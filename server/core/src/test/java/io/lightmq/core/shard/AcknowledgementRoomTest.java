package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.door.Command;
import io.lightmq.core.door.Command.Subscribe;
import io.lightmq.core.door.Figure;
import io.lightmq.core.door.Peer;
import io.lightmq.core.shard.FakePeer.Received;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.SequenceRange;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What is recorded of acknowledgements, not what clients name, has room before it is recorded: a
 * record too much would overrun a small window and end the shard. What is named twice counts once.
 */
class AcknowledgementRoomTest {
  private static final DestinationName QUEUE = new DestinationName(DestinationKind.QUEUE, "q");
  private static final long MILLI = 1_000_000;
  private static final int WINDOW = 64 << 10;

  @RegisterExtension final BrokerHarness h = new BrokerHarness(17);
  private FakePeer peer;
  private long queue;
  private int number;

  private void open(int windowBytes, String suppress) throws IOException {
    h.settings = DecisionRoomTest.withWindow(windowBytes);
    h.open();
    h.admin(
        "destination.create",
        Map.of("kind", "queue", "name", "q", "suppress-duplicates", suppress));
    peer = h.attach();
    queue = h.producer(peer, QUEUE);
  }

  private void publish(int runs, int count) {
    for (int run = 0; run < runs; run++) {
      String[] texts = new String[count];
      for (int i = 0; i < count; i++) {
        texts[i] = number + "-" + i + "#";
      }
      assertThat(h.receipt(peer, h.publish(peer, queue, ++number, texts))).isEqualTo(FaultCode.OK);
    }
  }

  private BrokerMetrics.SubscriptionUse use() {
    h.loops.advance(1_100 * MILLI);
    return h.broker.metrics().destinations().stream()
        .filter(each -> each.name().equals(QUEUE))
        .findFirst()
        .orElseThrow()
        .subscriptions()
        .get(0);
  }

  @ParameterizedTest
  @ValueSource(ints = {3, 5, 7})
  void theKeysOfPullsThatAcknowledgeHaveRoom(int consumers) throws IOException {
    open(WINDOW, "property:key");
    publish(400, 20);
    for (int id = 1; id <= consumers; id++) {
      h.tryConsumer(peer, id, QUEUE, Subscribe.QUEUE, null, null, true);
    }
    h.loops.delay("journal", 200 * MILLI);
    for (int round = 0; peer.received.size() < 8_000 && round < 3_000; round++) {
      for (int id = 1; id <= consumers; id++) {
        h.broker.submit(new Command.Pull(peer, id, h.nextCorrelation(), 8_000, 1 << 20, 0));
      }
      h.loops.advance(50 * MILLI);
      assertThat(h.broker.failure()).isNotDone();
    }
    Set<String> texts = new HashSet<>();
    peer.received.forEach(each -> assertThat(texts.add(each.text())).isTrue());
    assertThat(texts).hasSize(8_000);
    h.loops.advance(5_000 * MILLI);
    assertThat(use().backlog().messages()).isZero();
  }

  /** Two consumers that have every other message each. */
  private List<SequenceRange> shareOut(int messages) {
    h.consumer(peer, 1, QUEUE, Subscribe.QUEUE, null);
    h.consumer(peer, 2, QUEUE, Subscribe.QUEUE, null);
    for (int i = 0; i < messages; i++) {
      assertThat(h.pull(peer, 1 + i % 2, 1)).hasSize(1);
    }
    List<SequenceRange> all = new ArrayList<>();
    SequenceRange first = peer.received.get(0).range();
    for (int i = 0; i < messages; i += 1_400) {
      all.add(new SequenceRange(first.lane(), first.from() + i, 1_400));
    }
    return all;
  }

  @ParameterizedTest
  @ValueSource(strings = {"acknowledge", "return", "commit"})
  void rangesThatAreCutIntoManyHaveRoom(String how) throws IOException {
    open(WINDOW, "none");
    publish(280, 20);
    List<SequenceRange> ranges = shareOut(5_600);
    h.loops.delay("journal", 300 * MILLI);
    for (SequenceRange range : ranges) {
      List<Command.Acked> acked = List.of(new Command.Acked(1, queue, List.of(range)));
      h.broker.submit(
          switch (how) {
            case "acknowledge" -> new Command.Acknowledge(peer, 0, acked);
            case "return" -> new Command.Return(peer, 0, acked, true);
            default -> new Command.Commit(peer, h.nextCorrelation(), 1, ++number, List.of(), acked);
          });
    }
    for (int i = 0; i < 200; i++) {
      h.loops.advance(50 * MILLI);
      assertThat(h.broker.failure()).isNotDone();
    }
    assertThat(peer.disconnects).isEmpty();
    BrokerMetrics.SubscriptionUse use = use();
    assertThat(use.backlog().inFlight()).isEqualTo(2_800);
    assertThat(use.backlog().messages()).isEqualTo(how.equals("acknowledge") ? 2_800 : 5_600);
  }

  @Test
  void aRangeThatIsCutIntoMoreThanOneBatchTakesIsRefused() throws IOException {
    open(WINDOW, "none");
    publish(280, 20);
    List<SequenceRange> ranges = shareOut(5_600);
    SequenceRange all = new SequenceRange(ranges.get(0).lane(), ranges.get(0).from(), 5_600);
    h.broker.submit(
        new Command.Acknowledge(peer, 0, List.of(new Command.Acked(1, queue, List.of(all)))));
    h.loops.advance(5_000 * MILLI);
    assertThat(h.broker.failure()).isNotDone();
    assertThat(peer.disconnects).hasSize(1);
    assertThat(peer.disconnects.get(0)).contains("TOO_LARGE");
    assertThat(peer.letGo).as("ranges that are counted no more").hasSize(1);
  }

  private List<Received> got(int messages) throws IOException {
    open(1 << 20, "none");
    publish(1, messages);
    h.consumer(peer, 1, QUEUE, Subscribe.QUEUE, null);
    return h.pull(peer, 1, messages);
  }

  @Test
  void whatACommitNamesTwiceCountsOnce() throws IOException {
    List<Received> got = got(4);
    SequenceRange first = got.get(0).range();
    List<SequenceRange> twice =
        List.of(
            new SequenceRange(first.lane(), first.from() + 1, 2),
            new SequenceRange(first.lane(), first.from(), 2),
            first);
    int c = h.nextCorrelation();
    h.broker.submit(
        new Command.Commit(
            peer,
            c,
            1,
            ++number,
            List.of(),
            List.of(
                new Command.Acked(1, queue, twice),
                new Command.Acked(
                    1, queue, List.of(new SequenceRange(first.lane(), first.from(), 4))))));
    assertThat(h.receipt(peer, c)).isEqualTo(FaultCode.OK);
    assertThat(use().settled().acknowledged()).isEqualTo(4);
    assertThat(use().backlog().messages()).isZero();
    assertThat(h.broker.metrics().of(Figure.ACKNOWLEDGED)).isEqualTo(4);
  }

  @Test
  void whatAnAcknowledgementNamesTwiceCountsOnce() throws IOException {
    List<Received> got = got(3);
    SequenceRange first = got.get(0).range();
    Peer.Reply reply =
        h.acknowledge(
            peer, 1, queue, first, new SequenceRange(first.lane(), first.from(), 3), first);
    assertThat(reply).isInstanceOf(Peer.Reply.Ok.class);
    assertThat(use().settled().acknowledged()).isEqualTo(3);
  }

  @Test
  void whatFailsOnceAndIsNamedTwiceIsOneAttempt() throws IOException {
    h.settings = DecisionRoomTest.withWindow(1 << 20);
    List<Received> got = got(1);
    h.admin("destination.set", Map.of("name", "q", "max-attempts", "2"));
    SequenceRange range = got.get(0).range();
    h.broker.submit(
        new Command.Return(
            peer, 0, List.of(new Command.Acked(1, queue, List.of(range, range))), true));
    h.loops.runUntilIdle();
    assertThat(h.pull(peer, 1, 1)).hasSize(1);
    assertThat(h.broker.metrics().of(Figure.REDELIVERED)).isLessThanOrEqualTo(1);
  }
}

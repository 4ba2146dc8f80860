package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.door.Command;
import io.lightmq.core.intake.Intake;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.SequenceRange;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Commits whose lower numbers have not come: they may have overtaken runs, and else are refused.
 */
class EarlyCommitTest {
  private static final DestinationName QUEUE = new DestinationName(DestinationKind.QUEUE, "q");
  private static final long MILLI = 1_000_000;
  private static final String TEXT = "x".repeat(7_000);

  @RegisterExtension final BrokerHarness h = new BrokerHarness(3);

  private int commit(FakePeer peer, long destination, long number, boolean persistent) {
    int c = h.nextCorrelation();
    h.broker.submit(
        new Command.Commit(
            peer,
            c,
            1,
            number,
            List.of(new Command.StagedRun(destination, persistent, 1, h.bytes(persistent, 0, "c"))),
            List.of(new Command.Acked(1, 1, List.of(new SequenceRange(0, 1, 1))))));
    return c;
  }

  @Test
  void aCommitWhoseNumberHasAGapBeforeItEndsItsConnectionAtOnce() throws IOException {
    h.open();
    FakePeer peer = h.attach();
    long queue = h.producer(peer, QUEUE);
    commit(peer, queue, 10, true);
    h.loops.runUntilIdle();
    assertThat(peer.disconnects)
        .singleElement()
        .asString()
        .contains("PROTOCOL_ERROR", "commit 10", "follow 0", "1 was not sent");
  }

  @Test
  void aRunBehindTheGapDoesNotFillIt() throws IOException {
    h.open();
    FakePeer peer = h.attach();
    long queue = h.producer(peer, QUEUE);
    h.publish(peer, queue, 0, "not numbered");
    commit(peer, queue, 3, true);
    h.publish(peer, queue, 1, "numbered");
    h.loops.runUntilIdle();
    assertThat(peer.disconnects).hasSize(1);
  }

  @Test
  void commitsMayOvertakeAllRunsThatWereSentBeforeThem() throws IOException {
    h.open();
    FakePeer peer = h.attach();
    long queue = h.producer(peer, QUEUE);
    List<Integer> sent = new ArrayList<>();
    // More runs than many turns take, with a commit behind each.
    for (int number = 1; number < 1_800; number += 2) {
      sent.add(h.publish(peer, queue, number, "m"));
      sent.add(
          commitOf(peer, number + 1, new Command.StagedRun(queue, true, 1, h.bytes(true, 0, "c"))));
    }
    sent.forEach(c -> assertThat(h.receipt(peer, c)).isEqualTo(FaultCode.OK));
    assertThat(peer.disconnects).isEmpty();
  }

  private int commitOf(FakePeer peer, long number, Command.StagedRun run) {
    int c = h.nextCorrelation();
    h.broker.submit(new Command.Commit(peer, c, 1, number, List.of(run), List.of()));
    return c;
  }

  /** Fills the memory for non-persistent messages, so that such a run waits. */
  private FakePeer full() throws IOException {
    h.settings = BrokerHarness.settings(64 << 10, 1 << 17, 1 << 20, 0);
    h.open();
    FakePeer other = h.attach();
    long queue = h.producer(other, QUEUE);
    for (int i = 0; i < 200; i++) {
      h.publish(other, queue, 0, TEXT);
    }
    h.loops.runUntilIdle();
    assertThat(other.disconnects).isEmpty();
    return other;
  }

  @Test
  void commitsBehindARunThatWaitsForMemoryWaitWithIt() throws IOException {
    FakePeer peer = full();
    long queue = h.producer(peer, QUEUE);
    int held = h.publish(peer, queue, 0, TEXT);
    int first = h.publish(peer, queue, 1, "durable");
    int second = commitOf(peer, 2, new Command.StagedRun(queue, true, 1, h.bytes(true, 0, "c")));
    h.loops.advance((Intake.MAX_HELD_MILLIS - 2_000) * MILLI);
    assertThat(peer.disconnects).isEmpty();
    assertThat(BrokerHarness.find(peer, second)).isNull();
    h.loops.advance(4_000 * MILLI);
    assertThat(h.receipt(peer, held)).isEqualTo(FaultCode.MEMORY_FULL);
    assertThat(h.receipt(peer, first)).isEqualTo(FaultCode.OK);
    assertThat(h.receipt(peer, second)).isEqualTo(FaultCode.OK);
  }

  @Test
  void aRunThatWaitsIsNoReasonForAGapBehindIt() throws IOException {
    FakePeer peer = full();
    long queue = h.producer(peer, QUEUE);
    h.publish(peer, queue, 0, TEXT);
    commitOf(peer, 2, new Command.StagedRun(queue, true, 1, h.bytes(true, 0, "c")));
    h.loops.advance(1_000 * MILLI);
    assertThat(peer.disconnects).hasSize(1);
  }

  @Test
  void allCommitsThatWaitForMemoryAreAnsweredInTheSameTime() throws IOException {
    FakePeer other = full();
    FakePeer peer = h.attach();
    long queue = h.producer(peer, QUEUE);
    List<Integer> sent = new ArrayList<>();
    for (int number = 1; number <= 5; number++) {
      sent.add(
          commitOf(peer, number, new Command.StagedRun(queue, false, 1, h.bytes(false, 0, TEXT))));
    }
    h.loops.advance((Intake.MAX_HELD_MILLIS + 2_000) * MILLI);
    assertThat(sent)
        .allSatisfy(
            c ->
                assertThat(BrokerHarness.find(peer, c))
                    .extracting(FakePeer.Receipt::code)
                    .isEqualTo(FaultCode.MEMORY_FULL));
    assertThat(other.disconnects).isEmpty();
  }

  @Test
  void whoIsExpelledComesBackAndNothingIsLostOrThereTwice() throws IOException {
    h.open();
    UUID link = new UUID(8, 8);
    FakePeer peer = h.attach(link, 1, 1, null);
    long queue = h.producer(peer, QUEUE);
    assertThat(h.receipt(peer, h.publish(peer, queue, 1, "one"))).isEqualTo(FaultCode.OK);
    commitOf(peer, 3, new Command.StagedRun(queue, true, 1, h.bytes(true, 0, "three")));
    h.loops.runUntilIdle();
    assertThat(peer.disconnects).hasSize(1);
    FakePeer again = h.attach(link, 2, 1, null);
    h.producer(again, QUEUE);
    List<Integer> sent = new ArrayList<>();
    sent.add(h.publish(again, queue, 1, "one"));
    sent.add(h.publish(again, queue, 2, "two"));
    sent.add(commitOf(again, 3, new Command.StagedRun(queue, true, 1, h.bytes(true, 0, "three"))));
    sent.forEach(c -> assertThat(h.receipt(again, c)).isEqualTo(FaultCode.OK));
    h.consumer(again, 1, QUEUE, Command.Subscribe.QUEUE, null);
    assertThat(h.pull(again, 1, 10))
        .extracting(FakePeer.Received::text)
        .containsExactly("one", "two", "three");
  }
}

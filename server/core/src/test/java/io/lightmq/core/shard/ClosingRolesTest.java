package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.door.Command;
import io.lightmq.core.sim.PairedLog;
import io.lightmq.core.sim.SimulatedLoops;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Two brokers on a log, one of which closes while the other one leads, or nobody does. */
class ClosingRolesTest {
  private static final long MILLI = 1_000_000;
  private static final long SECOND = 1_000 * MILLI;
  private static final DestinationName QUEUE = new DestinationName(DestinationKind.QUEUE, "q");

  private final SimulatedLoops loops = new SimulatedLoops(5);
  private final PairedLog log = new PairedLog(5);
  private PairedNode one;
  private PairedNode two;
  private int numbers;

  @BeforeEach
  void start() throws IOException {
    one = new PairedNode(5, loops, log);
    two = new PairedNode(6, loops, log);
    one.lead();
  }

  private void sends(PairedNode node, int messages) {
    FakePeer peer = node.words.attach();
    long queue = node.words.producer(peer, QUEUE);
    for (int i = 1; i <= messages; i++) {
      assertThat(node.words.receipt(peer, node.words.publish(peer, queue, i, "m" + ++numbers)))
          .isEqualTo(FaultCode.OK);
    }
  }

  /** It is appended, and nobody knows whether it stays. */
  private void sendsWhatIsNotCommitted(PairedNode node, int batches) {
    FakePeer peer = node.words.attach();
    long queue = node.words.producer(peer, QUEUE);
    node.member.held = true;
    for (int i = 1; i <= batches; i++) {
      node.words.publish(peer, queue, i, "a phantom");
      loops.advance(20 * MILLI);
    }
    assertThat(node.member.pending()).isEqualTo(batches);
  }

  /** What is on its disk is part of the log and of nothing else. */
  private void startsAgainWithWhatIsCommitted(PairedNode node, PairedNode other)
      throws IOException {
    assertThat(node.life()).isEqualTo(Life.ENDED);
    node.words.broker.finish();
    node.start();
    loops.advance(100 * MILLI);
    assertThat(node.words.broker.applied()).isEqualTo(log.committed());
    if (other.member.leads()) {
      other.member.resign();
      loops.advance(100 * MILLI);
    }
    long from = node.words.broker.newestCheckpoint();
    assertThat(
            StatePicture.of(other.words.broker.state(), from)
                .firstDifference(StatePicture.of(node.words.broker.state(), from)))
        .isNull();
  }

  @Test
  void aFollowerThatClosesHearsCommits() throws IOException {
    loops.delay("destage", 100 * MILLI);
    sends(one, 1);
    two.words.broker.stop();
    sends(one, 20);
    loops.advance(500 * MILLI);
    assertThat(two.words.broker.failure()).isNotDone();
    assertThat(two.words.broker.newestCheckpoint()).isPositive().isLessThan(log.committed());
    sends(one, 1);
    startsAgainWithWhatIsCommitted(two, one);
  }

  @Test
  void aLeaderThatClosesResignsAndHearsCommits() throws IOException {
    sends(one, 1);
    loops.delay("destage", 100 * MILLI);
    one.words.broker.stop();
    loops.advance(20 * MILLI);
    assertThat(one.life()).isEqualTo(Life.CLOSING);
    one.member.resign();
    long end = log.committed();
    two.lead();
    sends(two, 20);
    loops.advance(500 * MILLI);
    assertThat(one.words.broker.failure()).isNotDone();
    assertThat(one.words.broker.newestCheckpoint()).as("all of it is committed").isEqualTo(end);
    startsAgainWithWhatIsCommitted(one, two);
  }

  @Test
  void aLeaderThatClosesAndLosesTakesNoPictureOfWhatIsNotCommitted() throws IOException {
    sends(one, 1);
    sendsWhatIsNotCommitted(one, 1);
    one.words.broker.stop();
    loops.advance(20 * MILLI);
    assertThat(one.life()).isEqualTo(Life.CLOSING);
    one.member.lose(0, true);
    two.lead();
    sends(two, 40);
    loops.advance(SECOND);
    assertThat(one.words.broker.failure()).isNotDone();
    startsAgainWithWhatIsCommitted(one, two);
  }

  @Test
  void aLeaderThatClosesAndLosesWhileItWritesItsLastCheckpointKeepsIt() throws IOException {
    sends(one, 10);
    loops.delay("destage", 100 * MILLI);
    one.words.broker.stop();
    loops.advance(20 * MILLI);
    one.member.lose(0, true);
    loops.advance(SECOND);
    two.lead();
    sends(two, 1);
    startsAgainWithWhatIsCommitted(one, two);
  }

  @Test
  void aLeaderWithoutTheOthersCloses() throws IOException {
    sends(one, 1);
    sendsWhatIsNotCommitted(one, 1);
    CompletableFuture<Void> stopped = one.words.broker.stop();
    loops.advance(StandstillWatch.MOST_NANOS - SECOND);
    assertThat(stopped).as("it may come yet").isNotDone();
    loops.advance(4 * SECOND);
    assertThat(stopped).isCompleted();
    one.member.lose(0, true);
    two.lead();
    sends(two, 40);
    startsAgainWithWhatIsCommitted(one, two);
  }

  /** What was delivered is in no record, so a snapshot of who has seen records only lacks it. */
  @Test
  void whoFollowedALeaderThatClosedDoesNotTakeWhatWasDeliveredForNew() throws IOException {
    sends(one, 1);
    FakePeer peer = one.words.attach();
    one.words.consumer(peer, 1, QUEUE, Command.Subscribe.QUEUE, null);
    assertThat(one.words.pull(peer, 1, 1))
        .extracting(FakePeer.Received::deliveries)
        .containsExactly(0);
    CompletableFuture<Void> stopped = one.words.broker.stop();
    loops.runUntil(stopped::isDone);
    one.words.broker.finish();
    two.words.broker.wantCheckpoint();
    loops.advance(SECOND);
    assertThat(two.words.broker.newestCheckpoint()).isEqualTo(log.committed());
    log.leave(two.member);
    two.start();
    two.lead();
    FakePeer other = two.words.attach();
    two.words.consumer(other, 1, QUEUE, Command.Subscribe.QUEUE, null);
    assertThat(two.words.pull(other, 1, 1))
        .extracting(FakePeer.Received::deliveries)
        .singleElement()
        .asInstanceOf(InstanceOfAssertFactories.INTEGER)
        .isPositive();
  }

  @Test
  void closingDoesNotWaitForTheOthersEither() throws IOException {
    sends(one, 1);
    sendsWhatIsNotCommitted(one, 1);
    CompletableFuture<Void> stopped = one.words.broker.stop();
    loops.runUntil(stopped::isDone);
    one.words.broker.finish();
    assertThat(one.member.pending()).isZero();
    assertThat(one.words.broker.memory().getOrDefault("window", 0L)).isZero();
  }

  @Test
  void aJournalThatGetsOnSlowlyIsWaitedFor() throws IOException {
    sends(one, 1);
    sendsWhatIsNotCommitted(one, 5);
    CompletableFuture<Void> stopped = one.words.broker.stop();
    while (one.member.pending() > 0) {
      loops.advance(StandstillWatch.MOST_NANOS - 2 * SECOND);
      assertThat(stopped).isNotDone();
      one.member.commitOne();
    }
    loops.advance(3 * SECOND);
    assertThat(stopped).isCompleted();
    assertThat(one.words.broker.newestCheckpoint()).isEqualTo(log.committed());
    startsAgainWithWhatIsCommitted(one, two);
  }
}

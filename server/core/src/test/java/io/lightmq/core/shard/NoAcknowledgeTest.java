package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.door.Command;
import io.lightmq.core.door.Command.Subscribe;
import io.lightmq.core.door.Peer;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Consumers that acknowledge by pulling: what they get is never given out again. */
class NoAcknowledgeTest {
  private static final DestinationName QUEUE =
      new DestinationName(DestinationKind.QUEUE, "high.orders");

  private final BrokerHarness harness = new BrokerHarness(1);
  private FakePeer peer;

  @BeforeEach
  void open() throws IOException {
    harness.open();
    peer = harness.attach();
    long id = harness.producer(peer, QUEUE);
    harness.receipt(peer, harness.publish(peer, id, 1, "a", "b", "c"));
    consumer(peer);
  }

  private void consumer(FakePeer of) {
    assertThat(harness.tryConsumer(of, 1, QUEUE, Subscribe.QUEUE, null, null, true))
        .isInstanceOf(Peer.Reply.ConsumerAttached.class);
  }

  private static List<String> texts(List<FakePeer.Received> received) {
    return received.stream().map(FakePeer.Received::text).toList();
  }

  /** What another consumer, which acknowledges, finds. */
  private List<String> rest() {
    FakePeer other = harness.attach();
    harness.consumer(other, 1, QUEUE, Subscribe.QUEUE, null);
    return texts(harness.pull(other, 1, 100));
  }

  @Test
  void whatWasSentDoesNotComeAgainAfterAPowerCut() throws IOException {
    assertThat(texts(harness.pull(peer, 1, 2))).containsExactly("a", "b");
    harness.crash(true);
    harness.open();
    assertThat(rest()).containsExactly("c");
  }

  @Test
  void whatWasSentDoesNotComeAgainWhenTheConnectionEnds() {
    assertThat(texts(harness.pull(peer, 1, 2))).containsExactly("a", "b");
    harness.broker.submit(new Command.Detach(peer, false));
    harness.loops.runUntilIdle();
    assertThat(rest()).containsExactly("c");
  }

  @Test
  void nothingIsFlagged() throws IOException {
    harness.pull(peer, 1, 1);
    harness.crash(false);
    harness.open();
    peer = harness.attach();
    consumer(peer);
    List<FakePeer.Received> got = harness.pull(peer, 1, 10);
    assertThat(texts(got)).containsExactly("b", "c");
    assertThat(got).allSatisfy(each -> assertThat(each.deliveries()).isZero());
  }

  @Test
  void oneAfterTheOtherGetsWhatTheOneBeforeDidNotPull() {
    for (String each : List.of("a", "b", "c")) {
      assertThat(texts(harness.pull(peer, 1, 1))).containsExactly(each);
    }
    assertThat(harness.pull(peer, 1, 1)).isEmpty();
  }
}

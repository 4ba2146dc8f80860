package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.door.Command;
import io.lightmq.core.door.Command.Subscribe;
import io.lightmq.core.door.Peer;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import java.io.IOException;
import java.util.Arrays;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Long work is done in slices: who asks something short meanwhile does not wait for it. */
class SlicesTest {
  private static final DestinationName LONG = new DestinationName(DestinationKind.QUEUE, "long");
  private static final DestinationName EXPIRED =
      new DestinationName(DestinationKind.QUEUE, "expired");
  private static final long SECOND = 1_000_000_000L;

  @RegisterExtension final BrokerHarness h = new BrokerHarness(1);
  private FakePeer other;

  private void open(long liveMillis, int count) throws IOException {
    h.settings = BrokerHarness.settings(64 << 10, 1 << 17, 256 << 20, 1 << 30);
    h.open();
    FakePeer peer = h.attach();
    long id = h.producer(peer, LONG);
    h.producer(peer, EXPIRED);
    String[] texts = new String[64];
    Arrays.fill(texts, "x");
    for (int sent = 0; sent < count; sent += texts.length) {
      int c = h.nextCorrelation();
      h.broker.submit(
          new Command.Publish(peer, c, id, 0, texts.length, h.bytes(false, liveMillis, texts)));
      assertThat(h.receipt(peer, c)).isEqualTo(FaultCode.OK);
    }
    other = h.attach();
  }

  private FakePeer consuming() {
    FakePeer peer = h.attach();
    h.consumer(peer, 1, LONG, Subscribe.QUEUE, null);
    return peer;
  }

  /** Asks something short. */
  private int ask() {
    int c = h.nextCorrelation();
    h.broker.submit(new Command.AttachProducer(other, c, EXPIRED, true));
    return c;
  }

  private void askUntilAnswered(FakePeer longAsker, int answers, int atLeast) {
    int between = 0;
    while (longAsker.replies.size() + longAsker.pullsDone.size() == answers) {
      int c = ask();
      h.loops.runUntil(() -> other.replies.containsKey(c));
      between++;
    }
    assertThat(between).as("short answers before the long one").isGreaterThanOrEqualTo(atLeast);
  }

  @Test
  void aListOfALongQueueHoldsUpNobody() throws Exception {
    open(0, 10_000);
    for (String verb : new String[] {"list", "retry", "show"}) {
      FakePeer peer = h.newPeer();
      h.broker.submit(
          new Command.Admin(
              peer,
              h.nextCorrelation(),
              "dead-letters." + verb,
              Map.of("queue", "long", verb.equals("show") ? "id" : "destination", "none")));
      askUntilAnswered(peer, 0, 10);
    }
  }

  @Test
  void aPullThatMeetsThousandsOfExpiredMessagesHoldsUpNobody() throws Exception {
    for (String expiry : new String[] {"none", "expired"}) {
      open(500, 20_000);
      h.admin("destination.set", Map.of("name", "long", "expiry", expiry));
      FakePeer peer = consuming();
      h.loops.simulatedClock().advance(SECOND * 6 / 10);
      int answers = peer.replies.size();
      h.broker.submit(new Command.Pull(peer, 1, h.nextCorrelation(), 10, 1 << 20, 0));
      askUntilAnswered(peer, answers, 10);
      assertThat(peer.received).isEmpty();
      h.loops.runUntilIdle();
      assertThat(h.admin("destination.show", Map.of("name", "long"))).contains("\"backlog\":0");
      h.admin("destination.delete", Map.of("name", "long", "force", "true"));
      h.close();
    }
  }

  @Test
  void theMessageBehindThousandsOfExpiredOnesIsDeliveredToThePullThatMetThem() throws Exception {
    open(500, 20_000);
    FakePeer sender = h.attach();
    h.receipt(sender, h.publish(sender, h.producer(sender, LONG), 0, "behind"));
    FakePeer peer = consuming();
    h.loops.simulatedClock().advance(SECOND * 6 / 10);
    assertThat(h.pull(peer, 1, 10)).extracting(FakePeer.Received::text).containsExactly("behind");
  }

  @Test
  void aPullThatWantsAnAnswerNowGetsOneAlsoWhereAllThatMatchedHasExpired() throws Exception {
    open(500, 20_000);
    FakePeer peer = h.attach();
    assertThat(h.tryConsumer(peer, 1, LONG, Subscribe.QUEUE, null, "n = 1", false))
        .isInstanceOf(Peer.Reply.ConsumerAttached.class);
    h.loops.runUntilIdle();
    h.loops.simulatedClock().advance(SECOND * 6 / 10);
    assertThat(h.pull(peer, 1, 10)).isEmpty();
    assertThat(peer.pullsDone).hasSize(1);
  }
}

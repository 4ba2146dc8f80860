package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.door.Command.Subscribe;
import io.lightmq.core.shard.BrokerMetrics.SubscriptionUse;
import io.lightmq.core.shard.FakePeer.Received;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import java.io.IOException;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class BacklogMetricsTest {
  private static final long SECOND = 1_000_000_000L;
  private static final DestinationName TOPIC = new DestinationName(DestinationKind.TOPIC, "t");
  private static final String BODY = "x".repeat(4_000);

  private final BrokerHarness h = new BrokerHarness(41);
  private long topic;
  private int number;

  private void publish(FakePeer peer, int count) {
    for (int i = 0; i < count; i++) {
      assertThat(h.receipt(peer, h.publish(peer, topic, ++number, BODY))).isEqualTo(FaultCode.OK);
    }
  }

  private SubscriptionUse use(String name) {
    h.loops.advance(1_100_000_000L);
    return h.broker.metrics().destinations().get(0).subscriptions().stream()
        .filter(each -> each.name().equals(name))
        .findFirst()
        .orElseThrow();
  }

  /** A message that waits for "slow" for 60 s, while "fast" is done with all but the newest. */
  private FakePeer oneIsFastAndOneIsSlow() throws IOException {
    h.open();
    FakePeer peer = h.attach(new UUID(7, 7), 1, 1, "c");
    topic = h.consumer(peer, 1, TOPIC, Subscribe.DURABLE, "fast");
    h.consumer(peer, 2, TOPIC, Subscribe.DURABLE, "slow");
    for (int i = 0; i < 30; i++) {
      publish(peer, 1);
      h.loops.advance(2 * SECOND);
      for (Received each : h.pull(peer, 1, 10)) {
        h.acknowledge(peer, 1, topic, each.range());
      }
      use("fast");
    }
    // The first message leaves the window, so that its age is known from samples only.
    publish(peer, 40);
    return peer;
  }

  @Test
  void aFastSubscriptionDoesNotMakeTheBacklogOfASlowOneYounger() throws IOException {
    oneIsFastAndOneIsSlow();
    assertThat(use("slow").backlog().messages()).isEqualTo(70);
    assertThat(use("slow").backlog().oldestAgeMillis()).isBetween(60_000L, 110_000L);
    assertThat(use("slow").backlog().lagMillis()).isBetween(60_000L, 110_000L);
    assertThat(use("fast").backlog().oldestAgeMillis()).isLessThan(20_000);
  }

  @Test
  void afterARestartTheLagIsKnownFromTheJournal() throws IOException {
    h.settings = BrokerHarness.settings(1 << 20);
    oneIsFastAndOneIsSlow();
    h.crash(true);
    h.open();
    assertThat(use("slow").backlog().lagMillis()).isBetween(30_000L, 110_000L);
    h.close();
  }

  @Test
  void whatIsPublishedInMemoryDoesNotMakeTheDurableBacklogYounger() throws IOException {
    h.open();
    FakePeer peer = h.attach(new UUID(7, 7), 1, 1, "c");
    topic = h.consumer(peer, 2, TOPIC, Subscribe.DURABLE, "slow");
    long other = h.producer(peer, new DestinationName(DestinationKind.QUEUE, "q"));
    publish(peer, 1);
    for (int i = 0; i < 40; i++) {
      h.receipt(peer, h.publish(peer, other, ++number, BODY));
    }
    for (int i = 0; i < 30; i++) {
      assertThat(h.receipt(peer, h.publish(peer, topic, 0, "unlogged"))).isEqualTo(FaultCode.OK);
      h.loops.advance(2 * SECOND);
    }
    assertThat(use("slow").backlog().oldestAgeMillis()).isGreaterThan(60_000);
  }
}

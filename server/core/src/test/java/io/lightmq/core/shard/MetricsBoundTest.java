package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.door.Command;
import io.lightmq.core.shard.BrokerMetrics.DestinationUse;
import io.lightmq.core.shard.BrokerMetrics.OtherUse;
import io.lightmq.core.shard.BrokerMetrics.SubscriptionUse;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** However many destinations there are, a picture shows as many as it was told, the rest in sum. */
class MetricsBoundTest {
  @RegisterExtension final BrokerHarness h = new BrokerHarness(5);
  private FakePeer peer;

  @BeforeEach
  void open() throws IOException {
    h.open();
    peer = h.attach();
  }

  private BrokerMetrics picture() {
    for (int i = 0; i < 2; i++) { // one that was begun before may not have seen everything
      BrokerMetrics before = h.broker.metrics();
      h.loops.runUntil(() -> h.broker.metrics() != before);
    }
    return h.broker.metrics();
  }

  private void queue(String name, int messages) {
    long queue = h.producer(peer, new DestinationName(DestinationKind.QUEUE, name));
    for (int i = 0; i < messages; i++) {
      h.receipt(peer, h.publish(peer, queue, 0, "text"));
    }
  }

  private static List<String> names(BrokerMetrics metrics) {
    return metrics.destinations().stream()
        .map(DestinationUse::name)
        .map(DestinationName::name)
        .toList();
  }

  @Test
  void thoseWithTheLargestBacklogsAreShownTheRestIsAddedUp() {
    h.broker.showDestinations(3);
    int[] backlogs = {2, 5, 0, 1, 7, 3, 1};
    for (int i = 0; i < backlogs.length; i++) {
      queue("q" + i, backlogs[i]);
    }
    BrokerMetrics picture = picture();
    assertThat(names(picture)).containsExactly("q1", "q4", "q5");
    assertThat(picture.others()).isEqualTo(new OtherUse(4, 4, 4, 0, 0));
  }

  @Test
  void amongEqualsTheOlderOnesStay() {
    h.broker.showDestinations(3);
    for (int i = 0; i < 6; i++) {
      queue("q" + i, 0);
    }
    assertThat(names(picture())).containsExactly("q0", "q1", "q2");
  }

  @Test
  void aTopicShowsItsSubscriptionsWithTheLargestBacklogs() {
    h.broker.showDestinations(20);
    DestinationName topic = new DestinationName(DestinationKind.TOPIC, "prices");
    long id = h.producer(peer, topic);
    for (int i = 1; i <= 5; i++) {
      h.consumer(peer, i, topic, Command.Subscribe.SHARED, "s" + i);
      h.receipt(peer, h.publish(peer, id, 0, "text"));
    }
    BrokerMetrics picture = picture();
    assertThat(picture.destinations().get(0).subscriptions())
        .extracting(SubscriptionUse::name)
        .containsExactly("s1", "s2");
    assertThat(picture.others()).isEqualTo(new OtherUse(0, 3, 6, 0, 3));
  }

  @Test
  void nothingIsShownThatHasMoreThanIsToBeShown() {
    h.broker.showDestinations(1);
    queue("small", 1);
    queue("large", 2);
    assertThat(names(picture())).containsExactly("large");
    h.broker.showDestinations(1_000);
    assertThat(names(picture())).containsExactly("small", "large");
    assertThat(picture().others()).isEqualTo(OtherUse.NONE);
  }
}

package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.DestinationSettings;
import io.lightmq.core.destination.Destinations;
import io.lightmq.core.destination.OffHeap;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.destination.SubscriptionKind;
import io.lightmq.core.destination.UnloggedStore;
import io.lightmq.core.sessions.PeerSession;
import io.lightmq.core.storage.DirectMemory;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import java.lang.ref.WeakReference;
import org.junit.jupiter.api.Test;

class PeerSessionTest {
  private final DirectMemory direct = new DirectMemory();
  private final Destinations destinations =
      new Destinations(new OffHeap(direct), new UnloggedStore(direct, 1 << 20));

  private Subscription open(long id) {
    Destination queue =
        destinations.create(
            id,
            new DestinationName(DestinationKind.TEMPORARY_QUEUE, "temp." + id),
            DestinationSettings.DEFAULT);
    return queue.open(id, SubscriptionKind.QUEUE, null, null, false);
  }

  @Test
  void aClosedConsumerIsUnderstoodAsLongAsWhatItConsumedIsThere() {
    PeerSession session = new PeerSession(new FakePeer(1), null);
    Subscription subscription = open(5);
    session.consumerClosed(1, subscription);
    assertThat(session.closedConsumer(1, destinations)).isSameAs(subscription);
    assertThat(session.closedConsumer(2, destinations)).isNull();
    destinations.delete(subscription.destination());
    assertThat(session.closedConsumer(1, destinations)).isNull();
  }

  @Test
  void whatAClosedConsumerConsumedIsNotKeptForIt() {
    PeerSession session = new PeerSession(new FakePeer(1), null);
    WeakReference<Destination> gone = closedAndDeleted(session);
    for (int i = 0; i < 20 && gone.get() != null; i++) {
      System.gc();
    }
    assertThat(gone.get()).isNull();
    assertThat(session.closedConsumers()).isEqualTo(1);
  }

  private WeakReference<Destination> closedAndDeleted(PeerSession session) {
    Subscription subscription = open(6);
    session.consumerClosed(1, subscription);
    Destination destination = subscription.destination();
    destinations.delete(destination);
    return new WeakReference<>(destination);
  }
}

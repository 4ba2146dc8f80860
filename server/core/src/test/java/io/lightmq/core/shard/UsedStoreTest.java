package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/** A store that was used never starts empty: what is missing is told, not taken for new. */
final class UsedStoreTest {
  private static final DestinationName ORDERS =
      new DestinationName(DestinationKind.QUEUE, "orders");

  private final BrokerHarness harness = new BrokerHarness(1);

  private void publish(int count) {
    FakePeer peer = harness.attach();
    long orders = harness.producer(peer, ORDERS);
    for (int i = 1; i <= count; i++) {
      harness.receipt(peer, harness.publish(peer, orders, i, "m" + i));
    }
  }

  private void deleteAll(String folder) throws IOException {
    for (String name : harness.disk.list(folder)) {
      harness.disk.delete(folder + "/" + name);
    }
  }

  @Test
  void withoutItsJournalAStoreThatWasKilledBeforeItsFirstCheckpointIsRefused() throws IOException {
    harness.open();
    publish(5);
    harness.crash(false);
    deleteAll("journal");
    assertThatThrownBy(harness::open)
        .isInstanceOf(IOException.class)
        .hasMessageContaining("this store was used and is empty now");
    assertThatThrownBy(harness::open)
        .as("what the refused start left behind is not taken for a store either")
        .hasMessageContaining("this store was used and is empty now");
  }

  @Test
  void withoutJournalAndSnapshotsAStoreThatWasStoppedIsRefused() throws IOException {
    harness.open();
    publish(5);
    harness.close();
    deleteAll("journal");
    deleteAll("snapshots");
    assertThatThrownBy(harness::open).hasMessageContaining("this store was used and is empty now");
  }

  @Test
  void aPowerCutAnywhereInTheFirstStartLeavesAStoreThatStarts() throws IOException {
    int cuts = 0;
    for (long at = 1; at < 60; at++) {
      BrokerHarness first = new BrokerHarness(at);
      first.disk.cutPowerAt(at);
      try {
        first.open();
        first.crash(true);
      } catch (Throwable cut) {
        cuts++;
        first.crash(true);
      }
      first.open();
      first.close();
    }
    assertThat(cuts).isPositive();
  }
}

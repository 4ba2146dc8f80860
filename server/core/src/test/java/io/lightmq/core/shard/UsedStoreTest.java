package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.core.storage.DiskFile;
import io.lightmq.wire.entry.Crc;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

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

  /** What the file {@code store} of an older release lacks. */
  enum Older {
    MEMBER,
    FLAGS_AND_KEY
  }

  /** The file as an older release wrote it. */
  private void makeOlder(Older which) throws IOException {
    ByteBuffer file = ByteBuffer.allocate(which == Older.MEMBER ? 80 : 64);
    try (DiskFile store = harness.disk.open("store")) {
      store.read(0, file.duplicate());
    }
    int crcAt = file.capacity() - 4;
    if (which == Older.MEMBER) {
      file.put(64, new byte[12]);
    } else {
      file.putInt(8, 1).putInt(12, 0).put(32, new byte[28]);
    }
    file.putInt(crcAt, Crc.of(file, 0, crcAt));
    harness.disk.delete("store");
    try (DiskFile store = harness.disk.create("store")) {
      store.write(0, file.clear());
      store.force();
    }
    harness.disk.forceDirectory("");
  }

  private byte[] store() throws IOException {
    try (DiskFile store = harness.disk.open("store")) {
      byte[] bytes = new byte[(int) store.size()];
      store.read(0, ByteBuffer.wrap(bytes));
      return bytes;
    }
  }

  @ParameterizedTest
  @EnumSource
  void anOlderStoreStartsOnAFullDiskAndIsTakenOverWhenThereIsRoom(Older which) throws IOException {
    harness.open();
    publish(5);
    harness.close();
    makeOlder(which);
    byte[] older = store();
    harness.disk.capacity(harness.disk.totalBytes() - harness.disk.usableBytes());
    harness.open();
    assertThat(harness.admin("destination.show", Map.of("name", "orders")))
        .contains("\"backlog\":5");
    assertThat(store()).isEqualTo(older);
    harness.crash(false);
    harness.disk.capacity(Long.MAX_VALUE);
    harness.open();
    harness.close();
    byte[] newer = store();
    assertThat(newer).hasSize(80);
    assertThat(newer[15]).as("it was used").isEqualTo((byte) 1);
    assertThat(Arrays.copyOfRange(newer, 64, 76)).as("member id").isNotEqualTo(new byte[12]);
    harness.open();
    assertThat(store()).isEqualTo(newer);
  }
}

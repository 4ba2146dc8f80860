package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.door.Command;
import io.lightmq.core.storage.NioDisk;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What delayed messages cost in heap, measured; {@code -Dlightmq.show=true} prints the figures.
 *
 * <p>Files lie on a real disk, so that only what the broker itself holds is counted.
 */
class DelayFootprintTest {
  /** Of a tier that waits for no force. */
  private static final DestinationName QUEUE =
      new DestinationName(DestinationKind.QUEUE, "fast.later");

  private static final long SECOND = 1_000_000_000L;
  private static final long HOUR_MILLIS = 3_600_000;

  @TempDir private Path folder;

  private BrokerHarness open() throws IOException {
    BrokerHarness h = new BrokerHarness(1);
    h.settings = BrokerHarness.settings(32 << 20, 1 << 22);
    NioDisk disk = NioDisk.open(folder);
    h.wrap = simulated -> disk;
    return h.open();
  }

  private static void send(BrokerHarness h, FakePeer peer, long id, long number, long delayMillis) {
    int c = h.nextCorrelation();
    h.broker.submit(
        new Command.Publish(peer, c, id, number, 1, h.bytes(true, 0, delayMillis, "x")));
    assertThat(h.receipt(peer, c)).isEqualTo(FaultCode.OK);
    peer.receipts.clear();
  }

  private static long usedHeap() {
    for (int i = 0; i < 3; i++) {
      System.gc();
    }
    Runtime runtime = Runtime.getRuntime();
    return runtime.totalMemory() - runtime.freeMemory();
  }

  /** All is forced and in segments, so that nothing of the journal's own is counted. */
  private static void settle(BrokerHarness h) {
    h.broker.wantCheckpoint();
    h.loops.advance(2 * SECOND);
  }

  private static void show(String text, Object... figures) {
    if (Boolean.getBoolean("lightmq.show")) {
      System.out.println(text.formatted(figures));
    }
  }

  @Test
  void aMessageOfAnOpenHourCostsFewBytesAndOneOfALaterHourNone() throws Exception {
    int count = Integer.getInteger("lightmq.delayed", 50_000);
    BrokerHarness h = open();
    FakePeer peer = h.attach();
    long id = h.producer(peer, QUEUE);
    long later = HOUR_MILLIS * 3 - h.loops.clock().wallMillis() % HOUR_MILLIS;
    for (int i = 0; i < 1_000; i++) {
      send(h, peer, id, i + 1, later + i);
    }
    settle(h);
    long before = usedHeap();
    for (int i = 0; i < count; i++) {
      send(h, peer, id, i + 1_001, later + i % (HOUR_MILLIS - 60_000));
    }
    settle(h);
    long closed = usedHeap();
    h.loops.advance((later - 240_000) * 1_000_000L);
    long opened = usedHeap();
    show(
        "%d delayed messages: %d bytes of heap while their hour is far, %d once it is near;"
            + " %d bytes outside the heap",
        count, closed - before, opened - before, h.broker.metrics().direct().bytes());
    assertThat(closed - before).as("of a far hour").isLessThan(count * 4L);
    assertThat(opened - before).as("of a near hour").isLessThan(count * 36L);
    h.close();
  }

  @Test
  void aHolderCostsSomeKilobytes() throws Exception {
    int count = 2_000;
    BrokerHarness h = open();
    FakePeer peer = h.attach();
    long id = h.producer(peer, QUEUE);
    send(h, peer, id, 1, HOUR_MILLIS);
    long before = usedHeap();
    for (int i = 0; i < count; i++) {
      send(h, peer, id, i + 2, HOUR_MILLIS * (i + 3));
    }
    h.loops.advance(2 * SECOND);
    long each = (usedHeap() - before) / count;
    show("%d holders: %d bytes of heap each", count, each);
    assertThat(each).isLessThan(4_096);
    h.close();
  }
}

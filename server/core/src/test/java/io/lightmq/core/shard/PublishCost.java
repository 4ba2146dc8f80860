package io.lightmq.core.shard;

import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.DestinationSettings;
import io.lightmq.core.destination.Destinations;
import io.lightmq.core.destination.DurableLane;
import io.lightmq.core.destination.OffHeap;
import io.lightmq.core.destination.UnloggedStore;
import io.lightmq.core.record.ShardRecord.DestinationCreated;
import io.lightmq.core.record.ShardRecord.Purged;
import io.lightmq.core.record.ShardRecord.Started;
import io.lightmq.core.sim.SimulatedClock;
import io.lightmq.core.state.BatchBuilder;
import io.lightmq.core.state.LaneRun;
import io.lightmq.core.state.Recorder;
import io.lightmq.core.state.ShardState;
import io.lightmq.core.state.TurnTime;
import io.lightmq.core.storage.DirectMemory;
import io.lightmq.core.storage.journal.Window;
import io.lightmq.spi.Journal;
import io.lightmq.wire.entry.BodyType;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.Entry;
import io.lightmq.wire.entry.EntryStamp;
import io.lightmq.wire.entry.MessageWriter;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.UUID;

/**
 * Prints what it costs to record and apply a run of 1, 16 and 500 messages of 200 bytes, in time of
 * the processor and heap per run, and with an e where they expire; run by hand.
 */
final class PublishCost {
  private static final UUID LINK = new UUID(1, 2);
  private static final byte[] USER = {'a', 'd', 'a'};

  private final DirectMemory memory = new DirectMemory();
  private final ShardState state =
      new ShardState(new Destinations(new OffHeap(memory), new UnloggedStore(memory, 1 << 20)));
  private final Window window = new Window(memory, 8 << 20, 0);
  private final BatchBuilder batch = new BatchBuilder(window);
  private final TurnTime time = new TurnTime(new SimulatedClock());
  private final Recorder recorder = new Recorder(state, batch, noJournal());
  private final Destination queue;
  private long number;

  private PublishCost() {
    recorder.record(new Started(1, true));
    DestinationName name = new DestinationName(DestinationKind.QUEUE, "orders");
    recorder.record(new DestinationCreated(1, name, DestinationSettings.DEFAULT));
    queue = state.destinations().find(1);
  }

  private static Journal noJournal() {
    return (Journal)
        Proxy.newProxyInstance(
            PublishCost.class.getClassLoader(),
            new Class<?>[] {Journal.class},
            (proxy, method, arguments) -> {
              throw new IllegalStateException(method + " is not there");
            });
  }

  private static LaneRun run(int count, long timeToLive) {
    ByteBuffer all = ByteBuffer.allocate(count * 300);
    for (int i = 0; i < count; i++) {
      MessageWriter writer = new MessageWriter(1 << 10);
      writer.start(BodyType.TEXT, 4, true, timeToLive, 0).textBody("x".repeat(160)).finish();
      byte[] bytes = writer.toByteArray();
      all.putInt(bytes.length).put(bytes);
    }
    return new LaneRun(4, count, all.flip(), List.of());
  }

  private void publish(LaneRun run) {
    DurableLane lane = queue.durable(4);
    long arrived = 1_000_000 + number;
    EntryStamp stamp = new EntryStamp(lane.code(), Entry.PERSISTENT, 1, arrived, 7, USER);
    recorder.publish(
        LINK, ++number, lane, stamp, (messages, at) -> time.expiry(arrived, messages, at), run);
    if (batch.isFull()) {
      batch.end(null);
      recorder.record(new Purged(1, 1, lane.code(), lane.last(), List.of()));
      queue.trim();
      lane.install(List.of(), window.position());
    }
  }

  public static void main(String[] args) {
    int rounds = args.length == 0 ? 7 : Integer.parseInt(args[0]);
    var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
    for (int round = 0; round < rounds; round++) {
      StringBuilder text = new StringBuilder();
      for (int count : new int[] {1, 16, 500}) {
        for (long timeToLive : new long[] {0, 60_000}) {
          PublishCost cost = new PublishCost();
          LaneRun run = run(count, timeToLive);
          int runs = 400_000 / (count + 3);
          for (int i = 0; i < runs / 4; i++) {
            cost.publish(run);
          }
          long bytes = threads.getCurrentThreadAllocatedBytes();
          long start = threads.getCurrentThreadCpuTime();
          for (int i = 0; i < runs; i++) {
            cost.publish(run);
          }
          long nanos = threads.getCurrentThreadCpuTime() - start;
          bytes = threads.getCurrentThreadAllocatedBytes() - bytes;
          text.append(
              "%d%s: %d ns %d bytes  "
                  .formatted(count, timeToLive > 0 ? "e" : "", nanos / runs, bytes / runs));
          cost.window.close();
        }
      }
      System.out.println(text);
    }
  }
}

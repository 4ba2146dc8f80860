package io.lightmq.core.delivery;

import io.lightmq.core.destination.DamagedMessages;
import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.DestinationSettings;
import io.lightmq.core.destination.Destinations;
import io.lightmq.core.destination.DurableLane;
import io.lightmq.core.destination.Lane;
import io.lightmq.core.destination.LaneCheckpoint;
import io.lightmq.core.destination.LaneCode;
import io.lightmq.core.destination.OffHeap;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.destination.SubscriptionKind;
import io.lightmq.core.destination.UnloggedStore;
import io.lightmq.core.runtime.Loop;
import io.lightmq.core.sim.SimulatedDisk;
import io.lightmq.core.sim.SimulatedLoops;
import io.lightmq.core.storage.DirectMemory;
import io.lightmq.core.storage.journal.Window;
import io.lightmq.core.storage.segment.DestagePlan;
import io.lightmq.core.storage.segment.Destaged;
import io.lightmq.core.storage.segment.SegmentSettings;
import io.lightmq.core.storage.segment.SegmentStore;
import io.lightmq.spi.Journal;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.Entry;
import io.lightmq.wire.entry.EntryStamp;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.SequenceRange;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Executor;

/**
 * A shard's worth of delivery with real memory and segments, a journal in an array, and no time.
 */
final class DeliveryBench implements Decisions {
  static final int WINDOW = 1 << 16;

  final DirectMemory direct = new DirectMemory();
  final SimulatedDisk disk = new SimulatedDisk(1);
  final OffHeap memory = new OffHeap(direct);
  final UnloggedStore store = new UnloggedStore(direct, 4 << 20);
  final Destinations destinations = new Destinations(memory, store);
  final SimulatedLoops loops = new SimulatedLoops(7);
  final Loop shard = loops.open("shard-0");
  final Window window = new Window(direct, WINDOW, 0);
  final ArrayJournal journal = new ArrayJournal();
  final SegmentStore segments;
  final Fetcher fetcher;
  final Dispatcher dispatcher;
  final List<String> givenUp = new ArrayList<>();
  final List<Consumer> consumed = new ArrayList<>();
  final List<IOException> damages = new ArrayList<>();
  boolean touchAtOnce = true;
  final List<Long> touches = new ArrayList<>();
  int goOnLater;
  private long now;

  DeliveryBench() {
    try {
      segments =
          SegmentStore.open(disk, direct, new UUID(1, 2), 0, List.of(), SegmentSettings.DEFAULT);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
    fetcher = new Fetcher(shard, loops.open("read-0"), journal, segments, direct);
    dispatcher =
        new Dispatcher(
            window, fetcher, new Beside(shard, loops.open("match-0")), this, destinations.guard());
    time(0);
  }

  void time(long millis) {
    now = millis;
    dispatcher.time(millis * 1_000_000, 1_000_000 + millis);
  }

  long wallMillis() {
    return 1_000_000 + now;
  }

  Subscription queue() {
    long id = destinations.nextId();
    Destination queue =
        destinations.create(
            id, new DestinationName(DestinationKind.QUEUE, "q" + id), DestinationSettings.DEFAULT);
    return queue.open(id, SubscriptionKind.QUEUE, null, null, false);
  }

  Destination topic() {
    long id = destinations.nextId();
    return destinations.create(
        id, new DestinationName(DestinationKind.TOPIC, "t" + id), DestinationSettings.DEFAULT);
  }

  /** Publishes visible, durable messages of so many bytes each. */
  long publish(Destination to, int count, int bytes) {
    return publish(to, count, bytes, 0, 9);
  }

  long publish(Destination to, int count, int bytes, long expiryMillis, long connectionId) {
    DurableLane lane = to.durable(4);
    long first = lane.tail(1);
    lane.append(first, count);
    for (int i = 0; i < count; i++) {
      ByteBuffer entry =
          entry(to, LaneCode.durable(4), first + i, bytes, expiryMillis, connectionId);
      lane.entry(first + i, window.position(), entry.remaining(), 0);
      journal.append(entry);
      window.put(entry);
    }
    lane.show();
    return first;
  }

  long publishUnlogged(Destination to, int bytes) {
    long sequence = to.unlogged(4).tail(1);
    to.unlogged(4).append(sequence, entry(to, LaneCode.unlogged(4), sequence, bytes, 0, 9));
    to.unlogged(4).show();
    return sequence;
  }

  /** Fills the window with other bytes, so that everything before must be read from files. */
  void leaveWindow() {
    byte[] other = new byte[WINDOW / 2];
    for (int i = 0; i < 2; i++) {
      journal.append(ByteBuffer.wrap(other));
      window.put(other, 0, other.length);
    }
  }

  /** Runs a checkpoint of one destination and switches to the segments. */
  void checkpoint(Destination destination) {
    LaneCheckpoint checkpoint = destination.checkpoint(destination.durable(4), false);
    if (checkpoint == null) {
      return;
    }
    long offset = window.position();
    try {
      Destaged destaged =
          segments.destage(
              new DestagePlan(offset, List.of(checkpoint.plan()), Set.of()),
              journal::read,
              () -> false);
      destination.durable(4).install(destaged.replaced(), destaged.pieces(), offset);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
    checkpoint.release();
  }

  private ByteBuffer entry(
      Destination to, int lane, long sequence, int bytes, long expiryMillis, long connectionId) {
    ByteBuffer message = ByteBuffer.allocate(bytes);
    message.putLong(0, sequence);
    EntryStamp stamp =
        new EntryStamp(lane, 0, to.id(), 5, 0, connectionId, 0, 0, 0, new byte[] {'u'});
    ByteBuffer entry = ByteBuffer.allocate(Entry.entryBytes(stamp, bytes));
    Entry.write(entry, 0, stamp, sequence, expiryMillis, message, 0, bytes);
    return entry;
  }

  // ---- decisions, applied at once ----

  @Override
  public void touch(Subscription subscription, int lane, long from, int count) {
    touches.add(from);
    if (touchAtOnce) {
      subscription.seen().touch(lane, from, count);
      subscription.seen().touchDurable(lane, from, count);
    }
  }

  @Override
  public void giveUp(Subscription subscription, int lane, long from, int count, Reason reason) {
    givenUp.add(reason + " " + (from & 0xFFFFFFFFL) + (count > 1 ? "+" + count : ""));
    subscription.acknowledge(lane, from, count);
  }

  @Override
  public void consume(Consumer consumer, List<SequenceRange> ranges) {
    consumer.subscription().acknowledge(ranges);
    consumed.add(consumer);
  }

  @Override
  public void goOnLater(Subscription subscription) {
    goOnLater++;
  }

  @Override
  public boolean setAside(Subscription subscription, Lane lane, Damage damage) {
    damages.add(damage.cause());
    DamagedMessages damaged = subscription.destination().damaged();
    damaged.setAside(damaged.notAside(lane, damage.from(), damage.through(), 100).ranges());
    return true;
  }

  @Override
  public void unreadable(Subscription subscription, IOException cause) {
    damages.add(cause);
  }

  // ---- fakes ----

  /** A connection that remembers what it got. */
  final class FakeOutlet implements Outlet {
    final long connectionId;
    boolean writable = true;
    int mostBuffers = Integer.MAX_VALUE;
    int buffers;
    int highestBuffers;
    final List<Batch> batches = new ArrayList<>();
    final List<String> done = new ArrayList<>();

    FakeOutlet(long connectionId) {
      this.connectionId = connectionId;
    }

    @Override
    public long connectionId() {
      return connectionId;
    }

    @Override
    public boolean writable() {
      return writable && buffers < mostBuffers;
    }

    @Override
    public Buffer allocate(int bytes) {
      highestBuffers = Math.max(highestBuffers, ++buffers);
      ByteBuffer memory = ByteBuffer.allocateDirect(bytes);
      return new Buffer() {
        @Override
        public ByteBuffer bytes() {
          return memory;
        }

        @Override
        public void release() {
          buffers--;
        }
      };
    }

    @Override
    public void deliver(Batch batch) {
      buffers--;
      batches.add(batch);
    }

    @Override
    public void pullDone(int consumerId, int pullId, FaultCode code, int retryAfterMillis) {
      done.add(pullId + " " + code);
    }

    /** The sequences of all batches, each entry checked, and forgets the batches. */
    List<Long> sequences() {
      List<Long> all = new ArrayList<>();
      for (Batch batch : batches) {
        all.addAll(DeliveryBench.sequences(batch));
      }
      batches.clear();
      return all;
    }
  }

  static List<Long> sequences(Outlet.Batch batch) {
    List<Long> all = new ArrayList<>();
    int at = 0;
    while (at < batch.length()) {
      at += Entry.check(batch.entries().bytes(), at, batch.length());
      all.add(0L);
    }
    if (all.size() != batch.count()) {
      throw new AssertionError("batch says " + batch.count() + ", has " + all.size());
    }
    all.clear();
    for (at = 0; at < batch.length(); at += Entry.length(batch.entries().bytes(), at)) {
      all.add(Entry.sequence(batch.entries().bytes(), at) & 0xFFFFFFFFL);
    }
    return all;
  }

  /** All bytes of a journal in memory; everything is written and durable at once. */
  static final class ArrayJournal implements Journal {
    /** A byte that the device does not give; -1 for none. */
    long unreadable = -1;

    private ByteBuffer bytes = ByteBuffer.allocate(1 << 16);
    int reads;
    long trimmed;

    void append(ByteBuffer more) {
      while (bytes.remaining() < more.remaining()) {
        bytes = ByteBuffer.allocate(bytes.capacity() * 2).put(bytes.flip());
      }
      bytes.put(more.duplicate());
    }

    void flip(long offset) {
      bytes.put((int) offset, (byte) ~bytes.get((int) offset));
    }

    @Override
    public void read(long offset, ByteBuffer into) throws IOException {
      reads++;
      if (offset < trimmed) {
        throw new NoSuchFileException(
            "offset " + offset + " is trimmed; the journal starts at " + trimmed);
      }
      if (offset <= unreadable && unreadable < offset + into.remaining()) {
        throw new IOException("Input/output error");
      }
      int length = into.remaining();
      into.put(into.position(), bytes, (int) offset, length);
      into.position(into.position() + length);
    }

    @Override
    public long start(long fromOffset, Executor shard, Listener listener) {
      return bytes.position();
    }

    @Override
    public long replay(long fromOffset, Replay taker) {
      throw new AssertionError("the bench builds nothing again");
    }

    @Override
    public int maxBatchBytes() {
      return Integer.MAX_VALUE;
    }

    @Override
    public long mayGiveUntil() {
      return Long.MAX_VALUE;
    }

    @Override
    public long readable() {
      return bytes.position();
    }

    @Override
    public long taken() {
      return bytes.position();
    }

    @Override
    public void append(long epoch, long number, Batch batch) {
      throw new AssertionError("the bench appends bytes");
    }

    @Override
    public void forceBeside() {}

    @Override
    public void force() {
      throw new AssertionError("nothing waits for a force");
    }

    @Override
    public long durable() {
      return bytes.position();
    }

    @Override
    public long written() {
      return bytes.position();
    }

    @Override
    public long appended() {
      return bytes.position();
    }

    @Override
    public long usedBytes() {
      return bytes.position() - trimmed;
    }

    @Override
    public long usedBytesAfter(int batchBytes) {
      return usedBytes() + batchBytes;
    }

    @Override
    public long capacityBytes() {
      return Integer.MAX_VALUE;
    }

    @Override
    public Times times() {
      return new Times(new Calls(0, 0), new Calls(0, 0));
    }

    @Override
    public void trim(long belowOffset) {
      trimmed = belowOffset;
    }

    @Override
    public void close() {
      bytes.clear();
    }
  }
}

package io.lightmq.core.storage.journal;

import io.lightmq.core.runtime.Clock;
import io.lightmq.core.runtime.Loop;
import io.lightmq.spi.Journal.Batch;
import io.lightmq.spi.Journal.Outcome;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The journal loop's state: the active file, what waits to be written and what waits to be forced.
 * All methods but {@link #live} run on that loop.
 *
 * <p>What waits is bounded by the window that holds the bytes. At most one force is under way;
 * while it is, nothing is written that would lie more than {@code maxUnforcedBytes} past the
 * durable mark, so a start never finds a longer tail.
 */
final class Writer {
  private static final int MAX_PIECES = 512;
  private static final long QUICK_FORCE_NANOS = 1_000_000;

  private final LocalJournal journal;
  private final long storeHash;
  private final UUID store;
  private final JournalSettings settings;
  private final Clock clock;
  private final Loop loop;
  private final Loop forceLoop;
  private final Marks marks;
  private final Linger linger;

  private final ArrayDeque<Batch> arrived = new ArrayDeque<>();
  private final ArrayDeque<Batch> afterFailure = new ArrayDeque<>();
  private List<Batch> unforced = new ArrayList<>();
  private int unforcedWanted;
  private int unforcedWaiters;
  private List<JournalFile> dirty = new ArrayList<>();
  private volatile List<JournalFile> live = List.of();
  private @Nullable JournalFile active;
  private long end;
  private int previous;
  private long recordedDurable;
  private long forceBelow;
  private long lastWriteNanos;
  private boolean beside;
  private long lastForceNanos = Long.MAX_VALUE;
  private boolean forceUnderWay;
  private boolean waitsForFile;
  private boolean idleTimer;
  private boolean lingerTimer;
  private boolean closing;
  private volatile int filesBegun;
  private boolean ended;

  Writer(
      LocalJournal journal,
      UUID store,
      JournalSettings settings,
      Clock clock,
      Loop loop,
      Loop forceLoop) {
    this.journal = journal;
    this.store = store;
    this.storeHash = BatchHeader.storeHash(store);
    this.settings = settings;
    this.clock = clock;
    this.loop = loop;
    this.forceLoop = forceLoop;
    this.marks = journal.marks();
    this.linger = new Linger(settings.lingerNanos());
  }

  /** The files that hold the journal, in order; an immutable list. Any thread. */
  List<JournalFile> live() {
    return live;
  }

  /** Files begun since the start. Any thread. */
  int filesBegun() {
    return filesBegun;
  }

  void begin(List<JournalFile> files, long at, int previousCrc) {
    live = List.copyOf(files);
    active = files.get(files.size() - 1);
    end = at;
    previous = previousCrc;
    recordedDurable = at;
  }

  void arrived(Batch batch) {
    if (ended) {
      batch.completed(Outcome.REFUSED);
    } else if (journal.hasFailed()) {
      afterFailure.add(batch);
    } else {
      arrived.add(batch);
    }
  }

  void refuse(Batch batch) {
    batch.completed(Outcome.REFUSED);
  }

  void forceBelow(long offset) {
    forceBelow = Math.max(forceBelow, offset);
  }

  void fileIsSpare() {
    waitsForFile = false;
  }

  /**
   * Gives up files that lie wholly below an offset, but only if the file behind is forced beyond
   * its header: else a power cut could take that header, and no file would tell where the journal
   * is.
   */
  void trim(long belowOffset) {
    List<JournalFile> files = live;
    int dropped = 0;
    while (dropped + 1 < files.size()
        && files.get(dropped + 1).base() <= belowOffset
        && files.get(dropped + 1).base() < marks.durable()) {
      dropped++;
    }
    if (dropped == 0) {
      return;
    }
    live = List.copyOf(files.subList(dropped, files.size()));
    marks.start(live.get(0).base());
    for (JournalFile file : files.subList(0, dropped)) {
      file.release();
    }
  }

  /** After each turn of the loop: writes what has arrived and sees to the forces. */
  void turnEnd() {
    if (active == null || ended || journal.hasFailed()) {
      return;
    }
    try {
      boolean more = true;
      while (more && !journal.hasFailed()) {
        more = write();
        more |= force();
      }
      watchIdle();
    } catch (IOException e) {
      journal.fail(e);
    }
  }

  /** Writes one gathering of batches; false if there is none, or it must wait. */
  private boolean write() throws IOException {
    if (arrived.isEmpty() || waitsForFile || lingers()) {
      return false;
    }
    JournalFile file = active();
    if (room(file) < arrived.getFirst().length()) {
      JournalFile next = roll();
      if (next == null) {
        return false;
      }
      file = next;
    }
    List<Batch> gathered = new ArrayList<>();
    List<ByteBuffer> pieces = new ArrayList<>();
    long at = end;
    long durable = marks.durable();
    int crc = previous;
    while (!arrived.isEmpty() && pieces.size() < MAX_PIECES) {
      Batch batch = arrived.getFirst();
      long batchEnd = at + batch.length();
      if (file.place(batchEnd) > settings.fileBytes()
          || batchEnd - durable > settings.maxUnforcedBytes()) {
        break;
      }
      arrived.removeFirst();
      gathered.add(batch);
      crc = stamp(batch, file, at, durable, crc, pieces);
      at = batchEnd;
    }
    if (gathered.isEmpty()) {
      forceBelow = Math.max(forceBelow, end);
      return false;
    }
    long begin = clock.nanos();
    for (Batch batch : gathered) {
      unforced.add(batch);
      unforcedWanted += batch.wantsForce() ? 1 : 0;
      unforcedWaiters += batch.waiters();
    }
    file.file().write(file.place(end), pieces.toArray(new ByteBuffer[0]));
    lastWriteNanos = clock.nanos();
    journal.writes().add(lastWriteNanos - begin);
    previous = crc;
    end = at;
    recordedDurable = durable;
    if (dirty.isEmpty() || dirty.get(dirty.size() - 1) != file) {
      dirty.add(file);
    }
    marks.written(end);
    for (Batch batch : gathered) {
      batch.written();
    }
    return true;
  }

  private int stamp(
      Batch batch,
      JournalFile file,
      long offset,
      long durable,
      int previousCrc,
      List<ByteBuffer> pieces) {
    ByteBuffer[] bytes = batch.bytes();
    ByteBuffer[] own = new ByteBuffer[bytes.length];
    for (int i = 0; i < bytes.length; i++) {
      own[i] = bytes[i].duplicate();
      pieces.add(own[i]);
    }
    return new BatchHeader(
            batch.startsEpoch() ? BatchHeader.STARTS_EPOCH : 0,
            storeHash,
            file.header().number(),
            offset,
            batch.length(),
            0,
            durable,
            journal.epoch(),
            previousCrc)
        .write(own);
  }

  /**
   * Begins the next file. Its header needs no force of its own: the next force covers it before
   * anything in the file is confirmed, and its name is durable already.
   */
  @SuppressWarnings("NonAtomicVolatileUpdate") // only the thread of the journal writes it
  private @Nullable JournalFile roll() throws IOException {
    FilePool.Spare spare = journal.pool().take();
    if (spare == null) {
      waitsForFile = true;
      journal.pool().replenish();
      return null;
    }
    FileHeader header =
        new FileHeader(store, spare.number(), end, previous, false, end, journal.epoch());
    spare.file().write(0, header.page());
    JournalFile next = journal.file(header, spare.file());
    List<JournalFile> files = new ArrayList<>(live);
    files.add(next);
    live = List.copyOf(files);
    active = next;
    filesBegun++;
    dirty.add(next);
    journal.pool().replenish();
    return next;
  }

  /** Starts a force if one is due; true if it was done here and now. */
  private boolean force() {
    if (forceUnderWay || unforced.isEmpty() || !forceIsDue()) {
      return false;
    }
    boolean here = closing || forcesHere();
    ForceGroup group = new ForceGroup(unforced, dirty, end, unforcedWaiters);
    unforced = new ArrayList<>();
    unforcedWanted = 0;
    unforcedWaiters = 0;
    dirty = new ArrayList<>();
    long begin = clock.nanos();
    if (here) {
      boolean done = group.run(journal, clock);
      forced(group, begin);
      return done;
    }
    forceUnderWay = true;
    forceLoop.execute(
        () -> {
          group.run(journal, clock);
          loop.execute(
              () -> {
                forceUnderWay = false;
                forced(group, begin);
              });
        });
    return false;
  }

  /**
   * Whether to force on this loop: it saves a hand-off for the lone sender, but nothing is written
   * meanwhile, so only when all wait for the force anyway, nobody may come who does not, and the
   * one before was quick.
   */
  private boolean forcesHere() {
    return !beside && lastForceNanos <= QUICK_FORCE_NANOS && unforcedWanted == unforced.size();
  }

  /** Forces run beside writes from now on. */
  void forceBeside() {
    beside = true;
  }

  private boolean forceIsDue() {
    return closing
        || unforcedWanted > 0
        || forceBelow > marks.durable()
        || end - marks.durable() > settings.maxUnforcedBytes() / 2;
  }

  private void forced(ForceGroup group, long begin) {
    long now = clock.nanos();
    lastForceNanos = now - begin;
    linger.forced(group.waiters(), now);
    if (journal.hasFailed()) {
      endFailed();
    }
  }

  private boolean lingers() {
    if (closing || forceUnderWay || !unforced.isEmpty()) {
      return false;
    }
    int waiters = 0;
    for (Batch batch : arrived) {
      if (!batch.wantsForce()) {
        return false;
      }
      waiters += batch.waiters();
    }
    long left = linger.nanosLeft(waiters, clock.nanos());
    if (left > 0 && !lingerTimer) {
      lingerTimer = true;
      loop.schedule(left, () -> lingerTimer = false);
    }
    return left > 0;
  }

  private void watchIdle() {
    if (!idleTimer && !closing && marks.durable() > recordedDurable) {
      idleTimer = true;
      loop.schedule(settings.idleNanos(), this::idle);
    }
  }

  private void idle() {
    idleTimer = false;
    if (ended || closing || journal.hasFailed() || !arrived.isEmpty()) {
      return;
    }
    if (clock.nanos() - lastWriteNanos >= settings.idleNanos()) {
      try {
        recordForce();
      } catch (IOException e) {
        journal.fail(e);
      }
    }
  }

  /**
   * Writes an empty batch where the next one goes, if there is room: it says how far the journal is
   * forced, so that the next start need not write the end of it again.
   */
  private void recordForce() throws IOException {
    JournalFile file = active();
    long durable = marks.durable();
    if (durable <= recordedDurable || room(file) < BatchHeader.BYTES) {
      return;
    }
    ByteBuffer[] empty = {ByteBuffer.allocate(BatchHeader.BYTES)};
    new BatchHeader(
            BatchHeader.EMPTY,
            storeHash,
            file.header().number(),
            end,
            BatchHeader.BYTES,
            0,
            durable,
            journal.epoch(),
            previous)
        .write(empty);
    file.file().write(file.place(end), empty);
    recordedDurable = durable;
  }

  /** Answers what is pending once no force is under way; what came later is refused. */
  void endFailed() {
    if (ended || forceUnderWay) {
      return;
    }
    ended = true;
    finish(unforced, Outcome.UNKNOWN);
    finish(arrived, Outcome.UNKNOWN);
    finish(afterFailure, Outcome.REFUSED);
  }

  private static void finish(Iterable<Batch> batches, Outcome outcome) {
    for (Batch batch : batches) {
      batch.completed(outcome);
    }
  }

  void beginClose() {
    closing = true;
  }

  /** The last writes, force and record; no force is under way on another loop any more. */
  void finishClose() {
    turnEnd();
    JournalFile last = active;
    if (last != null && !ended && !journal.hasFailed()) {
      try {
        recordForce();
        last.file().force();
      } catch (IOException e) {
        journal.fail(e);
      }
    }
    if (journal.hasFailed()) {
      endFailed();
    }
    if (!ended) {
      ended = true;
      finish(arrived, Outcome.REFUSED);
    }
    closeFiles();
  }

  private void closeFiles() {
    for (JournalFile file : live) {
      try {
        file.file().close();
      } catch (IOException e) {
        journal.fail(e);
      }
    }
  }

  private long room(JournalFile file) {
    return settings.fileBytes() - file.place(end);
  }

  private JournalFile active() {
    JournalFile file = active;
    if (file == null) {
      throw new IllegalStateException("the journal has not been started");
    }
    return file;
  }
}

package io.lightmq.core.storage.journal;

import io.lightmq.core.runtime.Loop;
import io.lightmq.core.runtime.Loops;
import io.lightmq.core.storage.Disk;
import io.lightmq.core.storage.DiskFile;
import io.lightmq.spi.Journal;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A journal in files of one size, preallocated and recycled, in the folder {@code journal}.
 *
 * <p>Batches lie back to back; one that does not fit into the rest of a file begins the next. The
 * loop {@code journal} gathers what waits into one write and forces it itself when all of it waits
 * for that; else the loop {@code force} does, while the next batch is written. The loop {@code
 * journal-files} makes and recycles files.
 *
 * <p>At the bound of files, with none free, appends wait until {@link #trim} frees one; {@link
 * #usedBytes} tells when that is near. Records may be followed by up to 63 zero bytes, since the
 * length of a batch is a multiple of 64.
 */
public final class LocalJournal implements Journal {
  private static final Logger log = LoggerFactory.getLogger(LocalJournal.class);

  /** Reads what is there and decides where the journal ends. */
  interface Recoverer {
    Recovery.Result run(long fromOffset, Recovery.Replay replay) throws IOException;
  }

  private final Disk disk;
  private final Loops loops;
  private final JournalSettings settings;
  private final UUID store;
  private final Recoverer recoverer;
  private final Marks marks = new Marks();
  private final IoTimes writes = new IoTimes();
  private final IoTimes forces = new IoTimes();
  private final Loop journalLoop;
  private final Loop forceLoop;
  private final Loop filesLoop;
  private final FilePool pool;
  private final Writer writer;
  private final AtomicBoolean failed = new AtomicBoolean();
  private volatile @Nullable IOException failure;
  private volatile @Nullable Listener listener;
  private volatile Executor shard = Runnable::run;
  private volatile long epoch;
  private volatile boolean started;

  /** Where the next batch goes: files that what was appended begins, and bytes in the last. */
  private volatile int filesAppended;

  private volatile int bytesInLast;

  /**
   * A journal on a disk; {@link #start} reads it.
   *
   * @param store the identity that every file and batch must bear
   */
  public LocalJournal(Disk disk, Loops loops, JournalSettings settings, UUID store) {
    this(disk, loops, settings, store, new Recovery(disk, store, settings)::run);
  }

  LocalJournal(Disk disk, Loops loops, JournalSettings settings, UUID store, Recoverer recoverer) {
    this.disk = disk;
    this.loops = loops;
    this.settings = settings;
    this.store = store;
    this.recoverer = recoverer;
    this.journalLoop = loops.open("journal");
    this.forceLoop = loops.open("force");
    this.filesLoop = loops.open("journal-files");
    this.pool = new FilePool(disk, filesLoop, settings, this::fileIsSpare, this::fail);
    this.writer = new Writer(this, store, settings, loops.clock(), journalLoop, forceLoop);
    journalLoop.onTurnEnd(writer::turnEnd);
  }

  /**
   * {@inheritDoc}
   *
   * <p>Reads and writes files on the calling thread, which must never be interrupted. What {@code
   * fromOffset} lies behind must be durable, as it is below a published snapshot. The node leads
   * from then on and for good.
   */
  @Override
  public long start(long fromOffset, Executor shard, Listener listener) throws IOException {
    this.listener = listener;
    this.shard = shard;
    disk.createFolder(FilePool.FOLDER);
    disk.forceDirectory(FilePool.FOLDER);
    Recovery.Result found = recoverer.run(fromOffset, listener::replay);
    pool.adopt(found.highestNumber(), found.live().size() + found.replaced().size(), found.spare());
    epoch = found.epoch() + 1;
    List<JournalFile> live = new ArrayList<>();
    List<JournalFile> replaced = new ArrayList<>();
    for (Recovery.Found each : found.live()) {
      live.add(file(each.header(), each.file()));
    }
    for (Recovery.Found each : found.replaced()) {
      replaced.add(file(each.header(), each.file()));
    }
    int previous = found.previous();
    if (live.isEmpty()) {
      FilePool.Spare first = pool.takeAtStart();
      FileHeader header = new FileHeader(store, first.number(), 0, 0, false, 0, epoch);
      first.file().write(0, header.page());
      first.file().force();
      live.add(file(header, first.file()));
    } else if (!found.clean()) {
      FilePool.Spare fresh = pool.takeAtStart();
      TailRewrite.Written written = new TailRewrite(store, settings).write(fresh, store, found);
      previous = written.previous();
      while (!live.isEmpty() && live.get(live.size() - 1).base() >= found.durable()) {
        replaced.add(live.remove(live.size() - 1));
      }
      live.add(file(written.header(), fresh.file()));
      log.info(
          "Journal recovered: read to offset {}, of which {} bytes past the last recorded force"
              + " were written again into {}",
          found.end(),
          found.end() - found.durable(),
          fresh.file().name());
    }
    marks.begin(live.get(0).base(), found.end());
    writer.begin(live, found.end(), previous);
    bytesInLast = Math.toIntExact(found.end() - live.get(live.size() - 1).base());
    replaced.forEach(JournalFile::release);
    started = true;
    pool.replenish();
    shard.execute(() -> listener.leader(epoch, found.end()));
    return found.end();
  }

  @Override
  public long replay(long fromOffset, Replay taker) throws IOException {
    long end = marks.durable();
    ByteBuffer header = ByteBuffer.allocate(BatchHeader.BYTES);
    long at = fromOffset;
    while (at < end) {
      read(at, header.clear());
      BatchHeader found = BatchHeader.read(header, 0);
      if (found == null || found.offset() != at || found.length() > settings.maxUnforcedBytes()) {
        throw new IOException(
            "the journal is damaged at offset "
                + at
                + ": no batch begins there, and everything below "
                + end
                + " had been forced; restore the data directory from a copy or a replica");
      }
      int length = found.length();
      ByteBuffer records = ByteBuffer.allocate(length - BatchHeader.BYTES);
      read(at + BatchHeader.BYTES, records);
      records.flip();
      if (!found.matches(header, records)) {
        throw new IOException(
            "the journal is damaged: the batch at offset "
                + at
                + " has not the crc "
                + Integer.toHexString(found.crc())
                + " that its header says; restore the data directory from a copy or a replica");
      }
      taker.replay(at, records);
      at += length;
    }
    return end;
  }

  @Override
  public int maxBatchBytes() {
    return settings.maxUnforcedBytes();
  }

  /** {@inheritDoc} Nobody else can lead. */
  @Override
  public long mayGiveUntil() {
    return Long.MAX_VALUE;
  }

  @Override
  public void append(long batchEpoch, long number, Batch batch) {
    long offset = marks.appended();
    int length = batch.length();
    if (batch.offset() != offset
        || length < Batch.HEADER_BYTES
        || length % Batch.HEADER_BYTES != 0
        || length > settings.maxUnforcedBytes()) {
      throw new IllegalArgumentException(
          "batch "
              + number
              + " at "
              + batch.offset()
              + " with "
              + length
              + " bytes: it must begin at "
              + offset
              + " and have a multiple of 64 bytes, at most "
              + settings.maxUnforcedBytes());
    }
    if (!started || batchEpoch != epoch) {
      journalLoop.execute(() -> writer.refuse(batch));
      return;
    }
    place(length);
    marks.appended(offset + length);
    journalLoop.execute(() -> writer.arrived(batch));
  }

  /** Knows, before the writer does, in which file a batch will lie. */
  @SuppressWarnings("NonAtomicVolatileUpdate") // only the shard writes it
  private void place(int length) {
    int inLast = bytesInLast + length;
    if (inLast > settings.usableBytes()) {
      filesAppended++;
      inLast = length;
    }
    bytesInLast = inLast;
  }

  @Override
  public void force() {
    long below = marks.appended();
    if (marks.durable() < below && failure == null) {
      journalLoop.execute(() -> writer.forceBelow(below));
    }
  }

  @Override
  public void forceBeside() {
    journalLoop.execute(writer::forceBeside);
  }

  @Override
  public long durable() {
    return marks.durable();
  }

  @Override
  public long written() {
    return marks.written();
  }

  /** {@inheritDoc} That is when it is written. */
  @Override
  public long readable() {
    return marks.written();
  }

  /** {@inheritDoc} That is when it is written: the bytes are never copied. */
  @Override
  public long taken() {
    return marks.written();
  }

  @Override
  public long appended() {
    return marks.appended();
  }

  @Override
  public void read(long offset, ByteBuffer into) throws IOException {
    if (offset + into.remaining() > marks.written()) {
      throw new IOException(
          "journal bytes "
              + offset
              + " to "
              + (offset + into.remaining())
              + " are not written; the journal ends at "
              + marks.written());
    }
    long at = offset;
    int limit = into.limit();
    while (into.position() < limit) {
      List<JournalFile> files = writer.live();
      int index = holding(files, at);
      JournalFile file = index < 0 ? null : files.get(index);
      if (file == null) {
        // Not the device's failure: whoever reads looks the place up again.
        throw new NoSuchFileException(
            "journal offset " + at + " is trimmed; the journal begins at " + marks.start());
      }
      if (!file.retain()) {
        continue;
      }
      try {
        long end = index + 1 < files.size() ? files.get(index + 1).base() : marks.written();
        into.limit((int) Math.min(limit, into.position() + (end - at)));
        int wanted = into.remaining();
        int count = file.file().read(file.place(at), into);
        if (count < wanted) {
          throw new IOException(
              "journal file " + file.name() + " ends before offset " + (at + wanted));
        }
        at += count;
      } finally {
        into.limit(limit);
        file.release();
      }
    }
  }

  @Override
  public void trim(long belowOffset) {
    journalLoop.execute(() -> writer.trim(belowOffset));
  }

  /** Bytes of batches that all files take that exist or can still be made. */
  @Override
  public long capacityBytes() {
    return (long) pool.possibleFiles() * settings.usableBytes();
  }

  /** File space that is not free; grows with every unclean start too, so checkpoints go by it. */
  @Override
  public long usedBytes() {
    return usedBytesAfter(0);
  }

  /** Exact on the appending thread; on others it may be off by what is appended meanwhile. */
  @Override
  public long usedBytesAfter(int batchBytes) {
    if (writer.live().isEmpty()) {
      return 0;
    }
    // In this order, a file that is begun meanwhile counts twice rather than not at all.
    long notBegun = (long) filesAppended - writer.filesBegun();
    long freeFiles = pool.freeFiles() - notBegun;
    long inLast = (long) bytesInLast + batchBytes;
    if (inLast > settings.usableBytes()) {
      freeFiles--;
      inLast = batchBytes;
    }
    return capacityBytes() - (freeFiles + 1) * settings.usableBytes() + inLast;
  }

  /** Why the journal ended, or null while it works. */
  public @Nullable IOException failure() {
    return failure;
  }

  @Override
  public Times times() {
    return new Times(writes.read(), forces.read());
  }

  @Override
  public void close() throws IOException {
    try {
      loops.run(journalLoop, writer::beginClose);
      loops.run(forceLoop, () -> {});
      loops.run(journalLoop, writer::finishClose);
    } finally {
      loops.run(filesLoop, pool::close);
    }
    IOException cause = failure;
    if (cause != null) {
      throw new IOException("the journal had failed before it was closed", cause);
    }
  }

  Marks marks() {
    return marks;
  }

  FilePool pool() {
    return pool;
  }

  IoTimes writes() {
    return writes;
  }

  IoTimes forces() {
    return forces;
  }

  long epoch() {
    return epoch;
  }

  boolean hasFailed() {
    return failure != null;
  }

  JournalFile file(FileHeader header, DiskFile file) {
    return new JournalFile(header, FilePool.name(header.number()), file, pool::recycle);
  }

  /** Ends the journal, once. On any of the journal's loops. */
  void fail(IOException cause) {
    if (!failed.compareAndSet(false, true)) {
      return;
    }
    failure = cause;
    log.error(
        "The journal has failed at written {}, durable {}; nothing is written or forced any more",
        marks.written(),
        marks.durable(),
        cause);
    Listener told = listener;
    if (told != null) {
      shard.execute(() -> told.failed(cause));
    }
    journalLoop.execute(writer::endFailed);
  }

  private void fileIsSpare() {
    journalLoop.execute(writer::fileIsSpare);
  }

  private static int holding(List<JournalFile> files, long offset) {
    int index = files.size() - 1;
    while (index >= 0 && files.get(index).base() > offset) {
      index--;
    }
    return index;
  }
}

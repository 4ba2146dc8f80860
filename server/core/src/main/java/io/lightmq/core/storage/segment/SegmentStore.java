package io.lightmq.core.storage.segment;

import io.lightmq.core.storage.DirectMemory;
import io.lightmq.core.storage.Disk;
import java.io.Closeable;
import java.io.IOException;
import java.util.Collection;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;

/**
 * All segments of a shard: the door to what outlived the journal. Any thread that may block can
 * call it; {@link #destage} is for one thread at a time.
 */
public final class SegmentStore implements Closeable {
  /** A counted reference: the segment's file stays while it is open. */
  public interface Hold extends Closeable {
    /** Address of the held segment. */
    long address();

    @Override
    void close();
  }

  /** What the store's off-heap memory is counted under. */
  public static final String MEMORY = "segments";

  private final Disk disk;
  private final DirectMemory memory;
  private final UUID storeId;
  private final SegmentSettings settings;
  private final SegmentFiles files;
  private final SegmentIndex index;
  private final AtomicLong nextAddress;

  private SegmentStore(
      Disk disk, DirectMemory memory, UUID storeId, long nextAddress, SegmentSettings settings) {
    this.disk = disk;
    this.memory = memory;
    this.storeId = storeId;
    this.settings = settings;
    this.files = new SegmentFiles(disk, storeId, settings.maxOpenFiles());
    this.index = new SegmentIndex(settings.indexCacheBytes());
    this.nextAddress = new AtomicLong(nextAddress);
  }

  /**
   * Opens the store with the segments that the kept snapshots name.
   *
   * @param nextAddress an address that no segment has ever used nor reaches, as {@code
   *     SnapshotStore.nextAddress()} gives
   */
  public static SegmentStore open(
      Disk disk,
      DirectMemory memory,
      UUID storeId,
      long nextAddress,
      Collection<SegmentInfo> segments,
      SegmentSettings settings)
      throws IOException {
    disk.createFolder(SegmentFormat.FOLDER);
    SegmentStore store = new SegmentStore(disk, memory, storeId, nextAddress, settings);
    for (SegmentInfo segment : segments) {
      if (segment.end() > nextAddress) {
        throw new IllegalArgumentException(
            "segment %d ends at %d, above the next address %d"
                .formatted(segment.address(), segment.end(), nextAddress));
      }
      store.files.add(segment);
    }
    return store;
  }

  /**
   * A reader for one thread; until it is closed it has {@link SegmentSettings#readAheadBytes} off
   * heap.
   */
  public SegmentReader newReader() {
    return new SegmentReader(files, index, settings, memory);
  }

  /**
   * Writes what a plan keeps into new segments: each is forced once, then their folder once. The
   * new segments can be read at once. What is damaged of the journal is so in them too, and told.
   * Destage thread; memory is bounded by the settings.
   *
   * @param cancelled asked between entries; true gives the destage up
   * @throws SegmentException.Unread if something cannot be read now, with all its files deleted
   * @throws SegmentException.NotRewritable if something that is needed of a rewritten segment is
   *     damaged, with all its files deleted
   * @throws SegmentException.Cancelled if it was given up, with all its files deleted
   * @throws io.lightmq.core.storage.DiskFullException if room is missing, with all its files
   *     deleted
   */
  public Destaged destage(
      DestagePlan plan, DestagePlan.JournalBytes journal, BooleanSupplier cancelled)
      throws IOException {
    try (SegmentReader reader = newReader();
        JournalEntries entries =
            new JournalEntries(memory, settings, journal, plan.takeWhatComes());
        Destager destager =
            new Destager(
                disk,
                memory,
                storeId,
                nextAddress.get(),
                settings,
                files,
                reader,
                entries,
                cancelled)) {
      try {
        Destaged destaged = destager.run(plan);
        destaged.segments().forEach(files::add);
        return destaged;
      } finally {
        nextAddress.set(destager.nextAddress());
      }
    }
  }

  /**
   * Keeps a segment's file until the hold is closed.
   *
   * @throws SegmentException.Gone if the segment was deleted
   */
  public Hold hold(long segmentAddress) throws IOException {
    return files.acquire(segmentAddress);
  }

  /**
   * Deletes segments that no kept snapshot and no lane refers to. Later reads of them fail as gone;
   * the files go when the last reference is closed. Unknown addresses are passed over.
   */
  public void delete(Collection<Long> segmentAddresses) throws IOException {
    IOException failure = null;
    for (long address : segmentAddresses) {
      try {
        files.delete(address);
      } catch (IOException e) {
        if (failure == null) {
          failure = e;
        } else {
          failure.addSuppressed(e);
        }
      }
    }
    if (failure != null) {
      throw failure;
    }
  }

  /**
   * Gives up what {@link #destage} wrote when no snapshot names it: none was published, or publish
   * said that the disk is full. After any other failure of a publish the files must stay.
   */
  public void abandon(Destaged destaged) throws IOException {
    delete(destaged.segments().stream().map(SegmentInfo::address).toList());
  }

  /** All segments in the store, rising by address. */
  public List<SegmentInfo> segments() {
    return files.all();
  }

  /**
   * Reads a whole segment and checks every byte of it; for verification tools and tests.
   *
   * @return the pieces of its directory
   * @throws SegmentException.Damaged with file, address, found and expected
   */
  public List<Piece> verify(long segmentAddress) throws IOException {
    try (SegmentFiles.Reference segment = files.acquire(segmentAddress);
        SegmentCheck check = new SegmentCheck(segment, settings, memory)) {
      return check.run();
    }
  }

  /** Where the next segment begins. */
  public long nextAddress() {
    return nextAddress.get();
  }

  /** Segment files that are open now. */
  public int openFiles() {
    return files.openCount();
  }

  /** Heap bytes of cached index blocks. */
  public long cachedIndexBytes() {
    return index.cachedBytes();
  }

  /** Closes all files; those in use close with their last reference. */
  @Override
  public void close() throws IOException {
    files.close();
  }
}

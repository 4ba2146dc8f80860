package io.lightmq.core.storage.segment;

import io.lightmq.core.storage.Disk;
import java.io.Closeable;
import java.io.IOException;
import java.util.Collection;
import java.util.List;
import java.util.UUID;
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

  private SegmentStore() {}

  /**
   * Opens the store with the segments that the kept snapshots name.
   *
   * @param nextAddress an address that no segment has ever used nor reaches, as {@code
   *     SnapshotStore.nextAddress()} gives
   */
  public static SegmentStore open(
      Disk disk,
      UUID storeId,
      long nextAddress,
      Collection<SegmentInfo> segments,
      SegmentSettings settings)
      throws IOException {
    throw new IOException("being written");
  }

  /** A reader for one thread. */
  public SegmentReader newReader() {
    return new SegmentReader();
  }

  /**
   * Writes what a plan keeps into new segments: each is forced once, then their folder once. The
   * new segments can be read at once. Destage thread; memory is bounded by the settings.
   *
   * @param cancelled asked between entries; true gives the destage up
   * @throws SegmentException.Cancelled if it was given up, with all its files deleted
   * @throws io.lightmq.core.storage.DiskFullException if room is missing, with all its files
   *     deleted
   */
  public Destaged destage(
      DestagePlan plan, DestagePlan.JournalBytes journal, BooleanSupplier cancelled)
      throws IOException {
    throw new IOException("being written");
  }

  /** Keeps a segment's file until the hold is closed. */
  public Hold hold(long segmentAddress) throws SegmentException.Gone {
    throw new SegmentException.Gone("being written");
  }

  /**
   * Deletes segments that no kept snapshot and no lane refers to. Later reads of them fail as gone;
   * the files go when the last reference is closed. Unknown addresses are passed over.
   */
  public void delete(Collection<Long> segmentAddresses) throws IOException {}

  /** Gives up what {@link #destage} wrote when its snapshot is not published after all. */
  public void abandon(Destaged destaged) throws IOException {}

  /** All segments in the store, rising by address. */
  public List<SegmentInfo> segments() {
    return List.of();
  }

  /** Reads a whole segment and checks every byte of it; for verification tools and tests. */
  public void verify(long segmentAddress) throws IOException {}

  /** Where the next segment begins. */
  public long nextAddress() {
    return 0;
  }

  @Override
  public void close() throws IOException {}
}

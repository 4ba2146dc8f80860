package io.lightmq.core.storage.snapshot;

import io.lightmq.core.storage.Disk;
import io.lightmq.core.storage.segment.SegmentInfo;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * The shard's snapshots, of which two are kept. {@link #open} and {@link #load} at start, {@link
 * #publish} on the destage thread.
 */
public final class SnapshotStore {
  /**
   * What start found.
   *
   * @param snapshot the newest that passed its checks; empty in a new store
   * @param rejected for each newer one that failed, file and reason; a new snapshot should then be
   *     written first
   * @param segments what the kept snapshots name together, for {@code SegmentStore.open}
   * @param orphans files moved out of {@code segments/} because no kept snapshot names them
   */
  public record Loaded(
      Optional<Snapshot> snapshot,
      List<String> rejected,
      List<SegmentInfo> segments,
      List<String> orphans) {}

  /**
   * What became free by a publish.
   *
   * @param journalNeededFrom offset of the older kept snapshot: the journal may be trimmed below
   * @param unneededSegments segments that neither kept snapshot names any more
   */
  public record Published(long journalNeededFrom, Set<Long> unneededSegments) {}

  private SnapshotStore() {}

  /**
   * Checks the snapshots in a data directory and moves unnamed segments to {@code orphaned/}.
   *
   * @throws IOException if snapshots exist and none is valid; the text has each reason
   */
  public static SnapshotStore open(Disk disk, UUID storeId) throws IOException {
    throw new IOException("being written");
  }

  /** What {@link #open} found; reads the state of the newest valid snapshot. */
  public Loaded load() throws IOException {
    throw new IOException("being written");
  }

  /** An address that no segment has ever used. */
  public long nextAddress() {
    return 0;
  }

  /**
   * Makes a snapshot the newest root, durably, then deletes what is older than the two newest and
   * the orphans. The caller sees to it that its offset is durable in the journal.
   *
   * @throws io.lightmq.core.storage.DiskFullException if room is missing; the kept ones are as
   *     before
   */
  public Published publish(Snapshot snapshot) throws IOException {
    throw new IOException("being written");
  }
}

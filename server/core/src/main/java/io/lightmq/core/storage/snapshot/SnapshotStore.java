package io.lightmq.core.storage.snapshot;

import io.lightmq.core.storage.Disk;
import io.lightmq.core.storage.DiskFile;
import io.lightmq.core.storage.DiskFullException;
import io.lightmq.core.storage.FileFaults;
import io.lightmq.core.storage.NoFileHandleException;
import io.lightmq.core.storage.segment.SegmentInfo;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
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
   * @param rejected for each that failed, file and reason; a new snapshot should then be written
   *     first
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
   * @param leftovers for each old file that could not be deleted, name and reason; tried again with
   *     the next publish
   */
  public record Published(
      long journalNeededFrom, Set<Long> unneededSegments, List<String> leftovers) {}

  /** A kept snapshot and the segments that it names. */
  private record Kept(long offset, long nextAddress, List<SegmentInfo> segments) {}

  private static final String FOLDER = "snapshots";
  private static final String SUFFIX = ".snap";
  private static final int KEEP = 2;

  private final Disk disk;
  private final UUID storeId;
  private final SegmentFolder segmentFolder;
  private final List<String> rejected = new ArrayList<>();
  private List<Kept> kept = new ArrayList<>(); // newest first
  private List<String> orphans = List.of();

  /** What failed publishes named: free with the next one, unless that names it too. */
  private final Set<Long> uncertain = new HashSet<>();

  private long nextAddress;

  private SnapshotStore(Disk disk, UUID storeId) {
    this.disk = disk;
    this.storeId = storeId;
    this.segmentFolder = new SegmentFolder(disk);
  }

  /**
   * Checks the snapshots in a data directory and moves unnamed segments to {@code orphaned/}.
   *
   * @throws IOException if snapshots exist and none is valid, or one has a newer version; the text
   *     has each reason
   */
  public static SnapshotStore open(Disk disk, UUID storeId) throws IOException {
    SnapshotStore store = new SnapshotStore(disk, storeId);
    store.recover();
    return store;
  }

  private void recover() throws IOException {
    disk.createFolder(FOLDER);
    segmentFolder.create();
    Map<Long, Long> segmentLengths = segmentFolder.lengths();
    List<String> names = new ArrayList<>(snapshotFiles());
    names.sort(Comparator.reverseOrder());
    for (String name : names) {
      if (kept.size() == KEEP) {
        break;
      }
      try {
        Snapshot snapshot = readTwice(name);
        checkSegments(snapshot.segments(), segmentLengths);
        kept.add(new Kept(snapshot.offset(), snapshot.nextAddress(), snapshot.segments()));
        nextAddress = Math.max(nextAddress, snapshot.nextAddress());
      } catch (NewerSnapshotException e) {
        throw e;
      } catch (InvalidSnapshotException e) {
        rejected.add(FOLDER + "/" + name + ": " + e.getMessage());
      } catch (NoFileHandleException e) {
        throw e; // nothing is wrong with the snapshot
      } catch (IOException e) {
        rejected.add(FOLDER + "/" + name + " can't be read: " + e);
      }
    }
    if (kept.isEmpty() && !names.isEmpty()) {
      throw new IOException(
          "none of %d snapshots is valid; restore the data directory from a backup. %s"
              .formatted(names.size(), String.join("; ", rejected)));
    }
    long known = nextAddress;
    if (names.size() == 1 && segmentLengths.keySet().stream().anyMatch(each -> each >= known)) {
      rejected.add(
          "%s/%s is the only one, and segments are there of a checkpoint behind it: that was cut off, or the snapshot that it had made was removed"
              .formatted(FOLDER, names.get(0)));
    }
    nextAddress = Math.max(nextAddress, segmentFolder.end());
    orphans = segmentFolder.moveOrphans(named(kept).keySet());
  }

  private List<String> snapshotFiles() throws IOException {
    return disk.list(FOLDER).stream().filter(name -> name.matches("\\d{20}\\.snap")).toList();
  }

  private static void checkSegments(List<SegmentInfo> segments, Map<Long, Long> lengths)
      throws InvalidSnapshotException {
    for (SegmentInfo segment : segments) {
      Long length = lengths.get(segment.address());
      if (length == null || length != segment.bytes()) {
        throw new InvalidSnapshotException(
            "it names segment %020d with %d bytes, which %s"
                .formatted(
                    segment.address(),
                    segment.bytes(),
                    length == null ? "is missing" : "has " + length));
      }
    }
  }

  /** A device may fail once; whoever is given up for that loses its segments to an older one. */
  private Snapshot readTwice(String name) throws IOException {
    try {
      return read(name, false);
    } catch (NewerSnapshotException e) {
      throw e;
    } catch (IOException e) {
      try {
        return read(name, false);
      } catch (IOException again) {
        again.addSuppressed(e);
        throw again;
      }
    }
  }

  private Snapshot read(String name, boolean withState) throws IOException {
    long offset;
    try {
      offset = Long.parseLong(name.substring(0, name.length() - SUFFIX.length()));
    } catch (NumberFormatException e) {
      throw new InvalidSnapshotException("its name is not an offset");
    }
    try (DiskFile file = disk.open(FOLDER + "/" + name)) {
      return SnapshotFormat.read(file, storeId, offset, withState);
    }
  }

  private static String name(long offset) {
    return "%020d%s".formatted(offset, SUFFIX);
  }

  private static Map<Long, SegmentInfo> named(List<Kept> kept) {
    Map<Long, SegmentInfo> named = new TreeMap<>();
    for (Kept each : kept) {
      for (SegmentInfo segment : each.segments()) {
        named.put(segment.address(), segment);
      }
    }
    return named;
  }

  /** What {@link #open} found; reads the state of the newest valid snapshot. */
  public Loaded load() throws IOException {
    Optional<Snapshot> newest =
        kept.isEmpty() ? Optional.empty() : Optional.of(read(name(kept.get(0).offset()), true));
    return new Loaded(
        newest, List.copyOf(rejected), List.copyOf(named(kept).values()), List.copyOf(orphans));
  }

  /** An address that no segment has ever used. */
  public long nextAddress() {
    return nextAddress;
  }

  /**
   * Makes a snapshot the newest root, durably, then deletes what is older than the two newest and
   * the orphans. The caller sees to it that its offset is durable in the journal.
   *
   * @throws DiskFullException if room is missing: the kept ones are as before, and the new segments
   *     may be abandoned
   * @throws NoFileHandleException if there is no handle for its file: the same
   * @throws IOException if anything else fails: the snapshot may be the newest root or not, so its
   *     segments must stay; the next publish tells those that it does not name as unneeded
   */
  public Published publish(Snapshot snapshot) throws IOException {
    if (!kept.isEmpty() && snapshot.offset() < kept.get(0).offset()) {
      throw new IllegalArgumentException(
          "snapshot at offset %d is older than the newest, %d"
              .formatted(snapshot.offset(), kept.get(0).offset()));
    }
    long reached = Math.max(nextAddress, snapshot.nextAddress());
    for (SegmentInfo segment : snapshot.segments()) {
      reached = Math.max(reached, segment.end());
    }
    Snapshot stored =
        new Snapshot(
            snapshot.offset(),
            snapshot.createdMillis(),
            reached,
            snapshot.state(),
            snapshot.segments(),
            snapshot.pieces());
    try {
      store(stored);
    } catch (DiskFullException | NoFileHandleException e) {
      throw e;
    } catch (IOException e) {
      stored.segments().forEach(segment -> uncertain.add(segment.address()));
      throw e;
    }
    nextAddress = reached;
    Set<Long> before = new HashSet<>(named(kept).keySet());
    before.addAll(uncertain);
    uncertain.clear();
    List<Kept> now = new ArrayList<>();
    now.add(new Kept(stored.offset(), reached, stored.segments()));
    kept.stream()
        .filter(each -> each.offset() != stored.offset())
        .limit(KEEP - 1)
        .forEach(now::add);
    kept = now;
    before.removeAll(named(kept).keySet());
    return new Published(kept.get(kept.size() - 1).offset(), Set.copyOf(before), clean());
  }

  private void store(Snapshot snapshot) throws IOException {
    String name = FOLDER + "/" + name(snapshot.offset());
    String temporary = name + ".tmp";
    try {
      disk.delete(temporary);
      try (DiskFile file = disk.create(temporary)) {
        SnapshotFormat.write(file, storeId, snapshot);
        file.force();
      }
      disk.rename(temporary, name);
    } catch (IOException e) {
      try {
        disk.delete(temporary);
      } catch (IOException again) {
        e.addSuppressed(again);
      }
      throw DiskFullException.classify(name, e);
    }
    // If this fails the name may be durable or not, so nothing that it refers to may be touched.
    disk.forceDirectory(FOLDER);
  }

  /** Deletes what is not kept; what fails is left for the next time. */
  private List<String> clean() {
    List<String> leftovers = new ArrayList<>();
    try {
      Set<String> keep = new HashSet<>();
      kept.forEach(each -> keep.add(name(each.offset())));
      for (String name : disk.list(FOLDER)) {
        if (!keep.contains(name)) {
          disk.delete(FOLDER + "/" + name);
        }
      }
      disk.forceDirectory(FOLDER);
      segmentFolder.deleteOrphans();
      rejected.clear();
      orphans = List.of();
    } catch (IOException e) {
      leftovers.add(FileFaults.text(e));
    }
    return leftovers;
  }
}

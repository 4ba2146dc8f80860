package io.lightmq.core.storage.snapshot;

import io.lightmq.core.storage.Disk;
import io.lightmq.core.storage.DiskFile;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * The folders {@code segments/} and {@code orphaned/} as start sees them, before any segment is
 * trusted.
 */
final class SegmentFolder {
  private static final String SEGMENTS = "segments";
  private static final String ORPHANED = "orphaned";

  private final Disk disk;

  SegmentFolder(Disk disk) {
    this.disk = disk;
  }

  void create() throws IOException {
    disk.createFolder(SEGMENTS);
    disk.createFolder(ORPHANED);
  }

  /** Length of each segment file by address. */
  Map<Long, Long> lengths() throws IOException {
    return lengths(SEGMENTS);
  }

  /** An address behind every file in both folders. */
  long end() throws IOException {
    long end = 0;
    for (String folder : List.of(SEGMENTS, ORPHANED)) {
      for (Map.Entry<Long, Long> file : lengths(folder).entrySet()) {
        end = Math.max(end, file.getKey() + Math.max(1, file.getValue()));
      }
    }
    return end;
  }

  private Map<Long, Long> lengths(String folder) throws IOException {
    Map<Long, Long> lengths = new TreeMap<>();
    for (String name : disk.list(folder)) {
      if (name.matches("\\d{20}\\.log")) {
        try (DiskFile file = disk.open(folder + "/" + name)) {
          lengths.put(Long.parseLong(name.substring(0, 20)), file.size());
        }
      }
    }
    return lengths;
  }

  /** Moves every file that is not among the named segments; returns their names. */
  List<String> moveOrphans(Set<Long> named) throws IOException {
    List<String> moved = new ArrayList<>();
    for (String name : disk.list(SEGMENTS)) {
      if (!name.matches("\\d{20}\\.log")
          || !named.contains(Long.parseLong(name.substring(0, 20)))) {
        disk.rename(SEGMENTS + "/" + name, ORPHANED + "/" + name);
        moved.add(name);
      }
    }
    if (!moved.isEmpty()) {
      disk.forceDirectory(ORPHANED);
      disk.forceDirectory(SEGMENTS);
    }
    return moved;
  }

  void deleteOrphans() throws IOException {
    List<String> names = disk.list(ORPHANED);
    for (String name : names) {
      disk.delete(ORPHANED + "/" + name);
    }
    if (!names.isEmpty()) {
      disk.forceDirectory(ORPHANED);
    }
  }
}

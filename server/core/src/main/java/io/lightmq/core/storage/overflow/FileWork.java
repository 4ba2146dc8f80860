package io.lightmq.core.storage.overflow;

import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.storage.Disk;
import io.lightmq.core.storage.DiskFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What is done with the overflow's files themselves. Nothing is ever forced. */
@OwnedBy("overflow")
final class FileWork {
  private static final Logger log = LoggerFactory.getLogger(FileWork.class);
  static final String FOLDER = "overflow";

  /** The room on the disk is looked at once in so many bytes. */
  private static final int LOOK_BYTES = 16 << 20;

  private final Disk disk;
  private final long minFreeBytes;
  private long unseenBytes = LOOK_BYTES;

  /** Every handle that is open, whether the shard knows of it or not. */
  private final Set<DiskFile> open = new HashSet<>();

  /**
   * Bytes of files whose deletion failed; tried again with the next one, and wiped by the next
   * start.
   */
  private final Map<String, Integer> undeleted = new TreeMap<>();

  FileWork(Disk disk, long minFreeBytes) {
    this.disk = disk;
    this.minFreeBytes = minFreeBytes;
  }

  /** Deletes what an earlier start left. */
  void wipe() throws IOException {
    disk.createFolder(FOLDER);
    for (String name : disk.list(FOLDER)) {
      disk.delete(FOLDER + "/" + name);
    }
  }

  static String name(int number) {
    return "%s/%010d.log".formatted(FOLDER, number);
  }

  /**
   * Writes a batch at a place of a file, or to the beginning of a new one. A new file is gone again
   * if that fails, one that was there is cut to what it had, as far as the disk lets it.
   */
  DiskFile write(@Nullable DiskFile known, int number, int position, ByteBuffer batch)
      throws IOException {
    look(batch.remaining());
    DiskFile file = known != null ? known : create(name(number));
    try {
      file.write(position, batch);
    } catch (IOException e) {
      if (known == null) {
        delete(file, 0);
      } else {
        try {
          file.truncate(position);
        } catch (IOException second) {
          e.addSuppressed(second);
        }
      }
      throw e;
    }
    return file;
  }

  private DiskFile create(String name) throws IOException {
    DiskFile file = disk.create(name);
    open.add(file);
    return file;
  }

  private void look(int bytes) throws IOException {
    unseenBytes += bytes;
    if (unseenBytes < LOOK_BYTES) {
      return;
    }
    long usable = disk.usableBytes();
    if (usable - LOOK_BYTES < minFreeBytes && minFreeBytes > 0) {
      throw new IOException(
          "%d bytes are free on the disk, the overflow leaves %d and %d for what comes next"
              .formatted(usable, minFreeBytes, LOOK_BYTES));
    }
    unseenBytes = 0;
  }

  /**
   * Closes and deletes a file; the bytes of files that are gone with that, also of earlier ones.
   */
  long delete(DiskFile file, int bytes) {
    close(file);
    undeleted.put(file.name(), bytes);
    return deleteClosed();
  }

  private void close(DiskFile file) {
    open.remove(file);
    try {
      file.close();
    } catch (IOException e) {
      log.warn("{} could not be closed before its deletion", file.name(), e);
    }
  }

  private long deleteClosed() {
    long gone = 0;
    for (String name : List.copyOf(undeleted.keySet())) {
      try {
        disk.delete(name);
        gone += undeleted.getOrDefault(name, 0);
        undeleted.remove(name);
      } catch (IOException e) {
        log.warn("{} could not be deleted; it takes room until the next start at most", name, e);
      }
    }
    return gone;
  }

  /** Closes and deletes all files, also those of which the shard was told no more. */
  void deleteAll() {
    for (DiskFile file : List.copyOf(open)) {
      close(file);
      undeleted.put(file.name(), 0);
    }
    deleteClosed();
  }
}

package io.lightmq.core.storage.journal;

import io.lightmq.core.storage.DiskFile;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * A file with batches in it, and who still uses it. The journal holds one reference, each reader
 * one more; when the last has gone the file may be written anew.
 */
final class JournalFile {
  private final FileHeader header;
  private final String name;
  private final DiskFile file;
  private final Consumer<JournalFile> whenFree;
  private final AtomicInteger references = new AtomicInteger(1);

  JournalFile(FileHeader header, String name, DiskFile file, Consumer<JournalFile> whenFree) {
    this.header = header;
    this.name = name;
    this.file = file;
    this.whenFree = whenFree;
  }

  FileHeader header() {
    return header;
  }

  long base() {
    return header.base();
  }

  String name() {
    return name;
  }

  DiskFile file() {
    return file;
  }

  /** Where the byte at an offset lies in the file. */
  long place(long offset) {
    return JournalSettings.PAGE_BYTES + offset - header.base();
  }

  /** Takes a reference; false if the file has been given up. Any thread. */
  boolean retain() {
    while (true) {
      int count = references.get();
      if (count == 0) {
        return false;
      }
      if (references.compareAndSet(count, count + 1)) {
        return true;
      }
    }
  }

  /** Gives a reference back. Any thread. */
  void release() {
    if (references.decrementAndGet() == 0) {
      whenFree.accept(this);
    }
  }
}

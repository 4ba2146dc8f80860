package io.lightmq.core.storage.segment;

import io.lightmq.core.storage.Disk;
import io.lightmq.core.storage.DiskFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The known segments, their references and their open files. A file that was deleted goes when its
 * last reference is released; at most {@link SegmentSettings#maxOpenFiles} unused ones stay open,
 * the least recently used are closed first. All threads; the lock is held while a file is opened or
 * closed, never while bytes are read or a file is deleted.
 */
final class SegmentFiles {
  private final Disk disk;
  private final UUID storeId;
  private final int maxOpenFiles;
  private final TreeMap<Long, Slot> slots = new TreeMap<>();
  private final LinkedHashMap<Long, Slot> open = new LinkedHashMap<>(64, 0.75f, true);
  private final Set<Long> undeleted = new TreeSet<>();
  private boolean closed;

  /** A known segment; its mutable fields belong to the lock of the files. */
  private static final class Slot {
    final SegmentInfo info;
    int references;
    boolean deleted;
    @Nullable DiskFile file;
    SegmentFormat.@Nullable Footer footer;

    Slot(SegmentInfo info) {
      this.info = info;
    }
  }

  /** A reference to an open segment file. Release it exactly once. */
  final class Reference implements SegmentStore.Hold {
    private final Slot slot;
    private final DiskFile file;
    private final SegmentFormat.Footer footer;
    private boolean released;

    private Reference(Slot slot, DiskFile file, SegmentFormat.Footer footer) {
      this.slot = slot;
      this.file = file;
      this.footer = footer;
    }

    @Override
    public long address() {
      return slot.info.address();
    }

    SegmentInfo info() {
      return slot.info;
    }

    SegmentFormat.Footer footer() {
      return footer;
    }

    /** The file's name, for texts. */
    String name() {
      return SegmentFormat.name(address());
    }

    /** Checks bytes read anew as this segment's header. */
    void checkHeader(ByteBuffer header) throws SegmentException.Damaged {
      SegmentFormat.checkHeader(header, storeId, address(), name());
    }

    /** Fills the buffer with the segment's bytes from an address on. */
    void read(long address, ByteBuffer into) throws IOException {
      int wanted = into.remaining();
      int got = file.read(address - slot.info.address(), into);
      if (got < wanted) {
        throw SegmentFormat.damaged(
            name(),
            "ends at byte %d, expected %d bytes"
                .formatted(address - slot.info.address() + Math.max(0, got), slot.info.bytes()));
      }
    }

    @Override
    public void close() {
      boolean last = false;
      synchronized (SegmentFiles.this) {
        if (!released) {
          released = true;
          slot.references--;
          last = settle(slot);
        }
      }
      if (last) {
        try {
          deleteFile(address());
        } catch (IOException e) {
          // Nothing is lost: it is tried again, and the next start would move the file away.
          return;
        }
      }
    }
  }

  SegmentFiles(Disk disk, UUID storeId, int maxOpenFiles) {
    this.disk = disk;
    this.storeId = storeId;
    this.maxOpenFiles = maxOpenFiles;
  }

  synchronized void add(SegmentInfo info) {
    if (slots.putIfAbsent(info.address(), new Slot(info)) != null) {
      throw new IllegalStateException("segment %d is in the store".formatted(info.address()));
    }
  }

  synchronized List<SegmentInfo> all() {
    List<SegmentInfo> all = new ArrayList<>(slots.size());
    for (Slot slot : slots.values()) {
      all.add(slot.info);
    }
    return all;
  }

  synchronized int openCount() {
    return open.size();
  }

  /** Takes a reference, opening and checking the file if needed. */
  synchronized Reference acquire(long address) throws IOException {
    Slot slot = slots.get(address);
    if (slot == null || closed) {
      throw new SegmentException.Gone(
          closed
              ? "the segment store is closed"
              : "segment %d was deleted; look the sequence up again".formatted(address));
    }
    DiskFile file = slot.file;
    SegmentFormat.Footer footer = slot.footer;
    if (file == null || footer == null) {
      file = disk.open(SegmentFormat.name(address));
      try {
        footer = check(slot.info, file);
      } catch (IOException | RuntimeException e) {
        file.close();
        throw e;
      }
      slot.file = file;
      slot.footer = footer;
      open.put(address, slot);
    } else {
      open.get(address);
    }
    slot.references++;
    closeUnused();
    return new Reference(slot, file, footer);
  }

  private SegmentFormat.Footer check(SegmentInfo info, DiskFile file) throws IOException {
    String name = file.name();
    long size = file.size();
    if (size != info.bytes()) {
      throw SegmentFormat.damaged(name, "has %d bytes, expected %d".formatted(size, info.bytes()));
    }
    ByteBuffer header = ByteBuffer.allocate(SegmentFormat.HEADER);
    file.read(0, header);
    SegmentFormat.checkHeader(header.flip(), storeId, info.address(), name);
    ByteBuffer footer = ByteBuffer.allocate(SegmentFormat.FOOTER);
    file.read(size - SegmentFormat.FOOTER, footer);
    return SegmentFormat.readFooter(footer.flip(), info.address(), size, name);
  }

  /** Closes the handle of a segment if nobody uses it, so that the next look-up opens it afresh. */
  synchronized void reopen(long address) throws IOException {
    Slot slot = slots.get(address);
    if (slot != null && slot.references == 0) {
      closeFile(slot);
    }
  }

  /** Forgets a segment; its file goes now or with its last reference. Passes over unknown ones. */
  void delete(long address) throws IOException {
    synchronized (this) {
      Slot slot = slots.remove(address);
      if (slot == null) {
        return;
      }
      slot.deleted = true;
      if (slot.references > 0) {
        return;
      }
      closeFile(slot);
    }
    deleteFile(address);
  }

  /** Deletes a file that is not known any more; what fails is tried again by the next one. */
  void deleteFile(long address) throws IOException {
    List<Long> due;
    synchronized (this) {
      undeleted.add(address);
      due = List.copyOf(undeleted);
    }
    IOException failure = null;
    for (long each : due) {
      try {
        disk.delete(SegmentFormat.name(each));
        synchronized (this) {
          undeleted.remove(each);
        }
      } catch (IOException e) {
        failure = e;
      }
    }
    if (failure != null) {
      throw failure;
    }
  }

  /** Closes what is not used any more; whether the file is to be deleted. */
  private boolean settle(Slot slot) {
    if (slot.references > 0) {
      return false;
    }
    try {
      if (slot.deleted || closed) {
        closeFile(slot);
      } else {
        closeUnused();
      }
    } catch (IOException e) {
      // A file that was only read loses nothing when its close fails.
      slot.file = null;
    }
    return slot.deleted;
  }

  private void closeUnused() throws IOException {
    if (open.size() <= maxOpenFiles) {
      return;
    }
    for (Slot slot : List.copyOf(open.values())) {
      if (open.size() <= maxOpenFiles) {
        return;
      }
      if (slot.references == 0) {
        closeFile(slot);
      }
    }
  }

  private void closeFile(Slot slot) throws IOException {
    DiskFile file = slot.file;
    slot.file = null;
    open.remove(slot.info.address());
    if (file != null) {
      file.close();
    }
  }

  /** Closes all files that nobody uses; the others close with their last reference. */
  synchronized void close() throws IOException {
    closed = true;
    for (Slot slot : List.copyOf(open.values())) {
      if (slot.references == 0) {
        closeFile(slot);
      }
    }
  }
}

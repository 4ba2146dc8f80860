package io.lightmq.core.storage;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileAlreadyExistsException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * A data directory on the heap, for brokers that live and die with their process. Pages of zeros
 * cost nothing, so preallocated files are free. Forcing does nothing. Any thread.
 *
 * <p>At the capacity writes fail as on a full disk.
 */
public final class MemoryDisk implements Disk {
  private static final int PAGE_BYTES = 16 << 10;

  private final long capacityBytes;
  private final AtomicLong usedBytes = new AtomicLong();
  private final TreeMap<String, Content> files = new TreeMap<>();

  public MemoryDisk(long capacityBytes) {
    this.capacityBytes = capacityBytes;
  }

  @Override
  public DiskFile create(String name) throws IOException {
    synchronized (files) {
      if (files.containsKey(name)) {
        throw new FileAlreadyExistsException(name);
      }
      Content content = new Content();
      files.put(name, content);
      return new MemoryFile(name, content);
    }
  }

  @Override
  public DiskFile open(String name) throws IOException {
    synchronized (files) {
      return new MemoryFile(name, find(name));
    }
  }

  private Content find(String name) throws IOException {
    Content content = files.get(name);
    if (content == null) {
      throw new FileNotFoundException(name);
    }
    return content;
  }

  @Override
  public boolean exists(String name) {
    synchronized (files) {
      return files.containsKey(name);
    }
  }

  @Override
  public List<String> list(String folder) {
    String prefix = folder.isEmpty() ? "" : folder + "/";
    List<String> names = new ArrayList<>();
    synchronized (files) {
      for (Map.Entry<String, Content> file : files.tailMap(prefix).entrySet()) {
        String name = file.getKey();
        if (!name.startsWith(prefix)) {
          break;
        }
        if (name.indexOf('/', prefix.length()) < 0) {
          names.add(name.substring(prefix.length()));
        }
      }
    }
    return names;
  }

  /** Folders exist by the names of their files. */
  @Override
  public void createFolder(String folder) {}

  @Override
  public void rename(String from, String to) throws IOException {
    synchronized (files) {
      Content moved = find(from);
      files.remove(from);
      Content replaced = files.put(to, moved);
      if (replaced != null && replaced != moved) {
        replaced.unlink();
      }
    }
  }

  @Override
  public DiskFile rename(DiskFile file, String to) throws IOException {
    rename(file.name(), to);
    DiskFile renamed = open(to);
    file.close();
    return renamed;
  }

  @Override
  public void delete(String name) {
    synchronized (files) {
      Content content = files.remove(name);
      if (content != null) {
        content.unlink();
      }
    }
  }

  @Override
  public void forceDirectory(String folder) {}

  @Override
  public long usableBytes() {
    return Math.max(0, capacityBytes - usedBytes.get());
  }

  @Override
  public long totalBytes() {
    return capacityBytes;
  }

  /** The bytes of one file; its pages are freed when it has neither a name nor an open handle. */
  private final class Content {
    private final List<byte @Nullable []> pages = new ArrayList<>();
    private long size;
    private int handles;
    private boolean unlinked;

    synchronized void opened() {
      handles++;
    }

    synchronized void closed() {
      handles--;
      freeIfUnused();
    }

    synchronized void unlink() {
      unlinked = true;
      freeIfUnused();
    }

    private void freeIfUnused() {
      if (unlinked && handles == 0) {
        cut(0);
      }
    }

    synchronized int read(long offset, ByteBuffer into) {
      int total = 0;
      while (into.hasRemaining() && offset + total < size) {
        long at = offset + total;
        int inPage = (int) (at % PAGE_BYTES);
        int count = (int) Math.min(Math.min(into.remaining(), PAGE_BYTES - inPage), size - at);
        byte[] page = page(at);
        if (page == null) {
          for (int i = 0; i < count; i++) {
            into.put((byte) 0);
          }
        } else {
          into.put(page, inPage, count);
        }
        total += count;
      }
      return total;
    }

    private byte @Nullable [] page(long at) {
      int index = Math.toIntExact(at / PAGE_BYTES);
      return index < pages.size() ? pages.get(index) : null;
    }

    synchronized long write(long offset, ByteBuffer from) throws IOException {
      long at = offset;
      while (from.hasRemaining()) {
        int inPage = (int) (at % PAGE_BYTES);
        int count = Math.min(from.remaining(), PAGE_BYTES - inPage);
        byte[] page = page(at);
        if (page == null && isZero(from, count)) {
          from.position(from.position() + count);
        } else {
          from.get(page == null ? newPage(at) : page, inPage, count);
        }
        at += count;
        size = Math.max(size, at);
      }
      return at;
    }

    private boolean isZero(ByteBuffer from, int count) {
      int start = from.position();
      for (int i = start; i < start + count; i++) {
        if (from.get(i) != 0) {
          return false;
        }
      }
      return true;
    }

    private byte[] newPage(long at) throws IOException {
      if (usedBytes.addAndGet(PAGE_BYTES) > capacityBytes) {
        usedBytes.addAndGet(-PAGE_BYTES);
        throw new IOException(
            "No space left in memory: the broker's disk in memory has " + capacityBytes + " bytes");
      }
      byte[] page = new byte[PAGE_BYTES];
      int index = Math.toIntExact(at / PAGE_BYTES);
      while (pages.size() <= index) {
        pages.add(null);
      }
      pages.set(index, page);
      return page;
    }

    synchronized long size() {
      return size;
    }

    synchronized void cut(long length) {
      size = Math.min(size, length);
      int keep = Math.toIntExact((size + PAGE_BYTES - 1) / PAGE_BYTES);
      while (pages.size() > keep) {
        if (pages.remove(pages.size() - 1) != null) {
          usedBytes.addAndGet(-PAGE_BYTES);
        }
      }
      byte[] last = size % PAGE_BYTES == 0 ? null : page(size);
      if (last != null) {
        Arrays.fill(last, (int) (size % PAGE_BYTES), PAGE_BYTES, (byte) 0);
      }
    }
  }

  private static final class MemoryFile implements DiskFile {
    private final String name;
    private final Content content;
    private boolean closed;

    MemoryFile(String name, Content content) {
      this.name = name;
      this.content = content;
      content.opened();
    }

    @Override
    public String name() {
      return name;
    }

    @Override
    public int read(long fileOffset, ByteBuffer into) {
      return content.read(fileOffset, into);
    }

    @Override
    public void write(long fileOffset, ByteBuffer... from) throws IOException {
      long at = fileOffset;
      for (ByteBuffer buffer : from) {
        at = content.write(at, buffer);
      }
    }

    @Override
    public void force() {}

    @Override
    public long size() {
      return content.size();
    }

    @Override
    public void truncate(long size) {
      content.cut(size);
    }

    @Override
    public synchronized void close() {
      if (!closed) {
        closed = true;
        content.closed();
      }
    }
  }
}

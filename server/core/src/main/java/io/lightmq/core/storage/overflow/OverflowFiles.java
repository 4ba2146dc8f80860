package io.lightmq.core.storage.overflow;

import io.lightmq.core.runtime.Loop;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.storage.Disk;
import io.lightmq.core.storage.DiskFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * The folder {@code overflow/}: append-only files, never forced, that live no longer than the
 * process. Each batch goes behind the last one; a file that has reached its size gets no more, and
 * is deleted once nobody holds it. All files together stay within a limit; whoever writes asks
 * {@link #hasRoom} before. Owned by the shard; the files are touched on a loop of their own.
 */
@OwnedBy("shard")
public final class OverflowFiles {
  /** So many files fill the limit, so that few are open at a time and each pins little. */
  private static final int FILES = 256;

  private static final int MIN_FILE_BYTES = 64 << 10;
  private static final int MAX_FILE_BYTES = 1 << 30;

  private final Loop shard;
  private final Loop loop;
  private final FileWork work;
  private final long limitBytes;
  private final int fileBytes;
  private final Map<Integer, OverflowFile> files = new TreeMap<>();
  private @Nullable OverflowFile active;
  private int lastNumber;
  private boolean writing;
  private long usedBytes;

  /** Takes the outcome of a write, on the shard loop. */
  public interface Done {
    /** The batch lies in a file from a position on; whoever needs it holds the file at once. */
    void written(OverflowFile file, int position);

    /** The batch is nowhere. */
    void failed(IOException cause);
  }

  private OverflowFiles(Loop shard, Loop loop, FileWork work, long limitBytes) {
    this.shard = shard;
    this.loop = loop;
    this.work = work;
    this.limitBytes = limitBytes;
    this.fileBytes = (int) Math.max(MIN_FILE_BYTES, Math.min(MAX_FILE_BYTES, limitBytes / FILES));
  }

  /**
   * Wipes what an earlier start left and begins without a file. Blocks.
   *
   * @param loop where files are written and deleted; nothing else should run there
   * @param limitBytes the most that all files may take
   * @param minFreeBytes room on the disk that is left to others
   */
  public static OverflowFiles open(
      Disk disk, Loop shard, Loop loop, long limitBytes, long minFreeBytes) throws IOException {
    FileWork work = new FileWork(disk, minFreeBytes);
    work.wipe();
    return new OverflowFiles(shard, loop, work, limitBytes);
  }

  /** The most that all files may take. */
  public long limitBytes() {
    return limitBytes;
  }

  /** What all files take, those included that are about to be deleted. */
  public long usedBytes() {
    return usedBytes;
  }

  /** Files that are there. */
  public int count() {
    return files.size();
  }

  /** Whether a batch is being written; there is one at a time. */
  public boolean isWriting() {
    return writing;
  }

  /** Whether a batch stays within the limit. */
  public boolean hasRoom(int bytes) {
    return usedBytes + bytes <= limitBytes;
  }

  /** The file of a number, which somebody holds. */
  public OverflowFile file(int number) {
    OverflowFile found = files.get(number);
    if (found == null) {
      throw new IllegalStateException("overflow file " + number + " is gone");
    }
    return found;
  }

  /**
   * Writes a batch and tells the outcome later. The buffer is the caller's again then.
   *
   * @throws IllegalStateException if a batch is being written
   */
  public void write(ByteBuffer batch, Done done) {
    if (writing) {
      throw new IllegalStateException("the overflow takes one batch at a time");
    }
    OverflowFile into = active;
    int bytes = batch.remaining();
    if (into != null && into.length >= fileBytes) {
      active = null;
      into = null;
    }
    DiskFile open = into == null ? null : into.file;
    int number = into == null ? ++lastNumber : into.number();
    int position = into == null ? 0 : into.length;
    writing = true;
    try {
      loop.execute(
          () -> {
            try {
              DiskFile file = work.write(open, number, position, batch);
              tell(() -> written(file, number, position + bytes, done));
            } catch (IOException e) {
              tell(() -> failed(e, done));
            }
          });
    } catch (RejectedExecutionException e) {
      writing = false;
      done.failed(new IOException("the overflow's loop takes nothing", e));
    }
  }

  /** To the shard, unless it has ended; then nobody needs to know. */
  private void tell(Runnable outcome) {
    try {
      shard.execute(outcome);
    } catch (RejectedExecutionException e) {
      return;
    }
  }

  private void written(DiskFile file, int number, int length, Done done) {
    OverflowFile into = active;
    if (into == null) {
      into = new OverflowFile(this, number, file);
      files.put(number, into);
      active = into;
    }
    int position = into.length;
    usedBytes += length - position;
    into.length = length;
    done.written(into, position);
    writing = false;
    settle(into);
  }

  /** What the failed file has stays readable; the next batch goes to another one. */
  private void failed(IOException cause, Done done) {
    OverflowFile into = active;
    active = null;
    writing = false;
    if (into != null) {
      settle(into);
    }
    done.failed(cause);
  }

  /** Deletes a file that nobody holds, unless a batch is being written to it. */
  void settle(OverflowFile file) {
    if (file.holds > 0 || (writing && file == active)) {
      return;
    }
    if (file == active) {
      active = null;
    }
    if (files.remove(file.number(), file)) {
      delete(file);
    }
  }

  private void delete(OverflowFile file) {
    int bytes = file.length;
    try {
      loop.execute(
          () -> {
            long gone = work.delete(file.file, bytes);
            tell(() -> usedBytes -= gone);
          });
    } catch (RejectedExecutionException e) {
      // The broker ends; the next start wipes the folder.
      usedBytes -= bytes;
    }
  }

  /** Closes and deletes all files; on the overflow's loop or after its end, as the last thing. */
  public void close() {
    files.clear();
    work.deleteAll();
  }
}

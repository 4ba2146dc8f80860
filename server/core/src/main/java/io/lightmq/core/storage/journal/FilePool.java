package io.lightmq.core.storage.journal;

import io.lightmq.core.runtime.Loop;
import io.lightmq.core.storage.Disk;
import io.lightmq.core.storage.DiskFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The journal's spare files: filled with real zeros or recycled, under names that are durable, so
 * that beginning one costs a header and no force of its own.
 *
 * <p>Files are made and renamed on the loop {@code journal-files}; before that loop is used, on the
 * thread that starts the journal. A file that cannot be made (no space, no file handle) is tried
 * again each second while it is needed, since nothing was confirmed from it; a recycling that fails
 * ends the journal. A recycled file keeps its handle, so that no lack of them can be the reason. At
 * most {@code maxFiles} exist, but for one more that a start may need.
 */
final class FilePool {
  static final String FOLDER = "journal";
  private static final Logger log = LoggerFactory.getLogger(FilePool.class);
  private static final String SUFFIX = ".jnl";
  private static final String UNFINISHED = ".new";
  private static final int NAME_DIGITS = 20;
  private static final int ZERO_BYTES = 64 << 10;
  private static final long RETRY_NANOS = 1_000_000_000L;

  /** A file that may be begun under its number. */
  record Spare(long number, DiskFile file) {}

  private final Disk disk;
  private final Loop loop;
  private final JournalSettings settings;
  private final Runnable onSpare;
  private final Consumer<IOException> onFailure;
  private final ArrayDeque<Spare> spares = new ArrayDeque<>();
  private long nextNumber = 1;
  private int files;
  private boolean growing;
  private boolean full;
  private boolean closed;

  FilePool(
      Disk disk,
      Loop loop,
      JournalSettings settings,
      Runnable onSpare,
      Consumer<IOException> onFailure) {
    this.disk = disk;
    this.loop = loop;
    this.settings = settings;
    this.onSpare = onSpare;
    this.onFailure = onFailure;
  }

  static String name(long number) {
    return FOLDER + "/" + String.format(Locale.ROOT, "%0" + NAME_DIGITS + "d", number) + SUFFIX;
  }

  /** The number in a plain name, or -1 if it is no journal file's. */
  static long number(String plainName) {
    if (plainName.length() != NAME_DIGITS + SUFFIX.length() || !plainName.endsWith(SUFFIX)) {
      return -1;
    }
    String digits = plainName.substring(0, NAME_DIGITS);
    return digits.chars().allMatch(c -> c >= '0' && c <= '9') ? Long.parseLong(digits) : -1;
  }

  static boolean isUnfinished(String plainName) {
    return plainName.endsWith(SUFFIX + UNFINISHED);
  }

  /**
   * Takes over what a start has found. The spare ones get new numbers, so that nothing that a torn
   * start left in them can be taken for new.
   */
  void adopt(long highestNumber, int liveFiles, List<DiskFile> found) throws IOException {
    synchronized (this) {
      nextNumber = highestNumber + 1;
      files = liveFiles + found.size();
    }
    List<Spare> renamed = new ArrayList<>();
    for (DiskFile file : found) {
      long number = takeNumber();
      renamed.add(new Spare(number, disk.rename(file, name(number))));
    }
    disk.forceDirectory(FOLDER);
    synchronized (this) {
      spares.addAll(renamed);
    }
  }

  /** Makes a file now if there is no spare one; on the thread that starts the journal. */
  Spare takeAtStart() throws IOException {
    Spare spare = take();
    if (spare != null) {
      return spare;
    }
    Spare made = make();
    synchronized (this) {
      files++;
    }
    return made;
  }

  /** A spare file, the one of the lowest number, or null; then {@code onSpare} tells when. */
  synchronized @Nullable Spare take() {
    return spares.pollFirst();
  }

  /** Has files made until there are enough and one is spare. Any thread. */
  synchronized void replenish() {
    if (!growing && !closed && wanted()) {
      growing = true;
      loop.execute(this::grow);
    }
  }

  /** Makes a file with batches spare again. Any thread. */
  void recycle(JournalFile file) {
    loop.execute(
        () -> {
          try {
            long number = takeNumber();
            DiskFile renamed = disk.rename(file.file(), name(number));
            disk.forceDirectory(FOLDER);
            add(new Spare(number, renamed));
          } catch (IOException e) {
            onFailure.accept(e);
          }
        });
  }

  synchronized int files() {
    return files;
  }

  /** Files that can be begun before one is recycled. */
  synchronized int freeFiles() {
    return possibleFiles() - files + spares.size();
  }

  /** Files that exist or can still be made. */
  synchronized int possibleFiles() {
    return full ? files : Math.max(files, settings.maxFiles());
  }

  /** Closes the spare files; on the loop. */
  void close() {
    List<Spare> last;
    synchronized (this) {
      closed = true;
      last = new ArrayList<>(spares);
      spares.clear();
    }
    for (Spare spare : last) {
      try {
        spare.file.close();
      } catch (IOException e) {
        log.warn("Spare journal file {} did not close", name(spare.number), e);
      }
    }
  }

  private boolean wanted() {
    return files < settings.minFiles() || (spares.isEmpty() && files < settings.maxFiles());
  }

  private void grow() {
    synchronized (this) {
      if (closed || !wanted()) {
        growing = false;
        return;
      }
    }
    try {
      Spare made = make();
      synchronized (this) {
        full = false;
        files++;
      }
      add(made);
      grow();
    } catch (IOException e) {
      synchronized (this) {
        full = true;
      }
      log.warn(
          "No further journal file of {} bytes can be made; {} exist, {} are wanted; trying again",
          settings.fileBytes(),
          files(),
          settings.maxFiles(),
          e);
      loop.schedule(RETRY_NANOS, this::grow);
    }
  }

  private void add(Spare spare) throws IOException {
    boolean late;
    synchronized (this) {
      late = closed;
      if (!late) {
        spares.addLast(spare);
      }
    }
    if (late) {
      spare.file.close();
    } else {
      onSpare.run();
    }
  }

  /** Zeros, forced, under a name that says unfinished; then the name, forced. */
  private Spare make() throws IOException {
    long number = takeNumber();
    String unfinished = name(number) + UNFINISHED;
    disk.delete(unfinished);
    DiskFile file = disk.create(unfinished);
    boolean whole = false;
    try {
      ByteBuffer zeros = ByteBuffer.allocateDirect(Math.min(ZERO_BYTES, settings.fileBytes()));
      for (long at = 0; at < settings.fileBytes(); at += zeros.capacity()) {
        zeros.clear().limit((int) Math.min(zeros.capacity(), settings.fileBytes() - at));
        file.write(at, zeros);
      }
      file.force();
      file = disk.rename(file, name(number));
      disk.forceDirectory(FOLDER);
      whole = true;
    } finally {
      if (!whole) {
        file.close();
        disk.delete(unfinished);
      }
    }
    return new Spare(number, file);
  }

  private synchronized long takeNumber() {
    return nextNumber++;
  }
}

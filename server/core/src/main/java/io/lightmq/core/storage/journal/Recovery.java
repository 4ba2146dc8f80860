package io.lightmq.core.storage.journal;

import io.lightmq.core.storage.Disk;
import io.lightmq.core.storage.DiskFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Reads what a crash left and decides where the journal ends.
 *
 * <p>The first batch that fails its checks or does not chain is the cut. If a later valid batch
 * says that bytes at the cut had been forced, that is damage and the start is refused; else it is a
 * torn tail, even when whole batches follow.
 *
 * <p>What lies past the highest recorded force may be in the page cache only, so it is written
 * again into a fresh <em>recovery</em> file, forced before the start has any effect. Such a file
 * counts if it has the whole tail, up to the end that its header names; else it is dropped, and
 * with it what was begun behind it, and the files that it was to replace are read again. Whether it
 * has a batch that starts the new epoch cannot decide: that batch may itself be lost again, after
 * the next recovery has built on it. What is replaced is kept until this start has forced its own
 * tail, since a recovery file that an aborted start left may be whole in the page cache only.
 */
final class Recovery {
  private static final Comparator<Map.Entry<Long, Integer>> BY_COUNT = Map.Entry.comparingByValue();

  /** A file found with a valid header under its own number. */
  record Found(FileHeader header, DiskFile file) {
    long base() {
      return header.base();
    }

    long number() {
      return header.number();
    }

    long place(long offset) {
      return JournalSettings.PAGE_BYTES + offset - header.base();
    }
  }

  /**
   * What was found.
   *
   * @param live the files of the sequence, in order
   * @param replaced files whose place a recovery file has taken; needed until the tail is forced
   * @param spare files without live contents
   * @param end the cut
   * @param durable the highest offset recorded as forced, at most {@code end}
   * @param previous the CRC of the batch that ends at {@code end}, 0 if there is none
   * @param clean whether appending may go on in the last file
   */
  record Result(
      List<Found> live,
      List<Found> replaced,
      List<DiskFile> spare,
      long highestNumber,
      long end,
      long durable,
      int previous,
      long epoch,
      boolean clean) {}

  /** Sees the batches in order. */
  interface Replay {
    void batch(long offset, ByteBuffer records);
  }

  private final Disk disk;
  private final UUID store;
  private final JournalSettings settings;
  private final BatchScan scan;
  private final List<Found> begun = new ArrayList<>();
  private final List<Found> unreadable = new ArrayList<>();
  private final List<Found> replaced = new ArrayList<>();
  private final List<DiskFile> spare = new ArrayList<>();
  private final List<DiskFile> opened = new ArrayList<>();
  private long highestNumber;
  private long epoch;
  private long cut;
  private int cutCrc;
  private long durable;
  private long droppedCut;

  Recovery(Disk disk, UUID store, JournalSettings settings) {
    this.disk = disk;
    this.store = store;
    this.settings = settings;
    this.scan = new BatchScan(store, settings.fileBytes());
  }

  /** Reads the files; when it refuses to start it leaves none open. */
  Result run(long fromOffset, Replay replay) throws IOException {
    try {
      return recover(fromOffset, replay);
    } catch (IOException | RuntimeException e) {
      for (DiskFile file : opened) {
        try {
          file.close();
        } catch (IOException second) {
          e.addSuppressed(second);
        }
      }
      throw e;
    }
  }

  private Result recover(long fromOffset, Replay replay) throws IOException {
    readHeaders();
    List<Found> live = sequence();
    int last = -1;
    boolean clean = true;
    if (live.isEmpty()) {
      if (fromOffset > 0 || !begun.isEmpty()) {
        throw new IOException(
            "the journal is missing: "
                + begun.size()
                + " files of it are in "
                + FilePool.FOLDER
                + ", and none holds what is needed from offset "
                + fromOffset
                + "; restore the folder");
      }
      refuseDamageInUnreadable();
    } else {
      last = walk(live, fromOffset, replay);
      clean = refuseDamage(live, last) && durable == cut;
    }
    List<Found> kept = new ArrayList<>(live.subList(0, last + 1));
    for (Found dropped : live.subList(last + 1, live.size())) {
      spare.add(dropped.file);
    }
    for (Found each : unreadable) {
      spare.add(each.file);
    }
    return new Result(
        kept,
        List.copyOf(replaced),
        List.copyOf(spare),
        highestNumber,
        cut,
        durable,
        cutCrc,
        epoch,
        clean && !kept.isEmpty());
  }

  /** All files have the size that is set, or all another one; else one of them is damaged. */
  private void checkSizes() throws IOException {
    Map<Long, Integer> sizes = new HashMap<>();
    for (DiskFile file : opened) {
      sizes.merge(file.size(), 1, Integer::sum);
    }
    long usual = settings.fileBytes();
    if (!sizes.containsKey(usual)) {
      usual = sizes.isEmpty() ? usual : Collections.max(sizes.entrySet(), BY_COUNT).getKey();
    }
    for (DiskFile file : opened) {
      long size = file.size();
      if (size != usual || size % JournalSettings.PAGE_BYTES != 0) {
        throw new IOException(
            "journal file "
                + file.name()
                + " is damaged: it has "
                + size
                + " bytes, but "
                + (size == usual ? settings.fileBytes() : usual)
                + " are expected; it was cut short or written over; restore the data directory"
                + " from a backup");
      }
    }
    for (DiskFile file : opened) {
      long size = file.size();
      if (size != settings.fileBytes()) {
        throw new IOException(
            "journal file "
                + file.name()
                + " has "
                + size
                + " bytes, but the setting says "
                + settings.fileBytes()
                + "; start with the size that the journal was made with, or, if that was never"
                + " changed, restore the data directory from a backup");
      }
    }
  }

  private void readHeaders() throws IOException {
    List<Long> numbers = new ArrayList<>();
    for (String plain : disk.list(FilePool.FOLDER)) {
      long number = FilePool.number(plain);
      if (FilePool.isUnfinished(plain)) {
        disk.delete(FilePool.FOLDER + "/" + plain);
      }
      if (number < 0) {
        continue;
      }
      highestNumber = Math.max(highestNumber, number);
      numbers.add(number);
      opened.add(disk.open(FilePool.name(number)));
    }
    checkSizes();
    for (int i = 0; i < numbers.size(); i++) {
      long number = numbers.get(i);
      DiskFile file = opened.get(i);
      ByteBuffer page = ByteBuffer.allocate(JournalSettings.PAGE_BYTES);
      file.read(0, page);
      if (FileHeader.hasMagic(page) && FileHeader.version(page) > FileHeader.VERSION) {
        throw new IOException(
            "journal file "
                + file.name()
                + " has format version "
                + FileHeader.version(page)
                + ", and this broker reads up to "
                + FileHeader.VERSION
                + "; start it with the newer release");
      }
      sort(file, number, page, FileHeader.read(page));
    }
  }

  private void sort(DiskFile file, long number, ByteBuffer page, @Nullable FileHeader header)
      throws IOException {
    if (header == null) {
      if (isZero(page) && isZero(scan.bytes(file, JournalSettings.PAGE_BYTES, BatchHeader.BYTES))) {
        spare.add(file);
      } else {
        FileHeader unknown = new FileHeader(store, number, -1, 0, false, -1, 0);
        unreadable.add(new Found(unknown, file));
      }
      return;
    }
    if (!header.store().equals(store)) {
      throw new IOException(
          "journal file "
              + file.name()
              + " belongs to store "
              + header.store()
              + ", but this is store "
              + store
              + "; it was copied here from another broker");
    }
    epoch = Math.max(epoch, header.epoch());
    if (header.number() > number) {
      throw new IOException(
          "journal file " + file.name() + " holds file " + header.number() + ": it was renamed");
    }
    if (header.number() < number) {
      spare.add(file);
    } else {
      begun.add(new Found(header, file));
    }
  }

  /** The files that make up the journal: recovery files replace what they were written for. */
  private List<Found> sequence() throws IOException {
    List<Found> live = new ArrayList<>();
    boolean dropping = false;
    for (Found file : begun) {
      if (file.header.recovery()) {
        dropping = !counts(file);
        if (!dropping) {
          while (!live.isEmpty() && live.get(live.size() - 1).base() >= file.base()) {
            replaced.add(live.remove(live.size() - 1));
          }
        }
      } else if (dropping) {
        scan.refuseDamage(file.file, file.number(), JournalSettings.PAGE_BYTES, droppedCut);
      }
      if (dropping) {
        spare.add(file.file);
      } else {
        live.add(file);
      }
    }
    return live;
  }

  /** Whether a recovery file has its whole tail; if not, notes where it breaks off. */
  private boolean counts(Found found) throws IOException {
    long offset = found.base();
    int previous = found.header.continues();
    while (offset < found.header.tailEnd()) {
      BatchHeader batch = next(found, offset, previous);
      if (batch == null) {
        scan.refuseNewer(found.file, found.place(offset), found.number(), offset);
      }
      if (batch == null || batch.is(BatchHeader.EMPTY)) {
        break;
      }
      offset = batch.end();
      previous = batch.crc();
    }
    if (offset == found.header.tailEnd()) {
      return true;
    }
    droppedCut = offset;
    scan.refuseDamage(found.file, found.number(), found.place(offset), offset);
    return false;
  }

  private @Nullable BatchHeader next(Found found, long offset, int previous) throws IOException {
    BatchHeader batch = scan.at(found.file, found.place(offset), found.number());
    return batch != null && batch.offset() == offset && batch.previous() == previous ? batch : null;
  }

  /** Walks from the file that has {@code fromOffset} to the cut; returns the cut's file. */
  private int walk(List<Found> live, long fromOffset, Replay replay) throws IOException {
    int index = 0;
    if (live.get(0).base() > fromOffset) {
      throw new IOException(
          "the journal begins at offset "
              + live.get(0).base()
              + " ("
              + live.get(0).file.name()
              + "), but it is needed from "
              + fromOffset
              + " on: files are missing, or the newest snapshots are");
    }
    while (index + 1 < live.size() && live.get(index + 1).base() <= fromOffset) {
      index++;
    }
    cut = live.get(index).base();
    cutCrc = live.get(index).header.continues();
    durable = fromOffset;
    boolean reached = cut == fromOffset;
    while (true) {
      Found found = live.get(index);
      Found next = index + 1 < live.size() ? live.get(index + 1) : null;
      if (next != null && next.base() == cut && next.header.continues() == cutCrc) {
        index++;
        continue;
      }
      BatchHeader batch = next(found, cut, cutCrc);
      if (batch == null) {
        scan.refuseNewer(found.file, found.place(cut), found.number(), cut);
      }
      if (batch == null || (next != null && batch.end() > next.base())) {
        break;
      }
      durable = Math.max(durable, Math.min(batch.durable(), cut));
      if (batch.is(BatchHeader.EMPTY)) {
        break;
      }
      epoch = Math.max(epoch, batch.epoch());
      if (cut >= fromOffset) {
        ByteBuffer bytes = scan.bytes(found.file, found.place(cut), batch.length());
        replay.batch(cut, bytes.position(BatchHeader.BYTES).slice().asReadOnlyBuffer());
      }
      cut = batch.end();
      cutCrc = batch.crc();
      reached |= cut == fromOffset;
    }
    if (!reached) {
      throw new IOException(
          "the journal has no batch that begins at offset "
              + fromOffset
              + ", from which it is needed; it was read up to offset "
              + cut);
    }
    return index;
  }

  /** True if nothing valid follows the cut. */
  private boolean refuseDamage(List<Found> live, int last) throws IOException {
    Found found = live.get(last);
    long place = found.place(cut);
    BatchHeader mark = next(found, cut, cutCrc);
    long from = mark == null ? place : place + mark.length();
    scan.refuseDamage(found.file, found.number(), from, cut);
    for (Found later : live.subList(last + 1, live.size())) {
      scan.refuseDamage(later.file, later.number(), JournalSettings.PAGE_BYTES, cut);
    }
    refuseDamageInUnreadable();
    return last == live.size() - 1 && !anyValid(found, from);
  }

  private void refuseDamageInUnreadable() throws IOException {
    for (Found found : unreadable) {
      scan.refuseDamage(found.file, found.number(), JournalSettings.PAGE_BYTES, cut);
    }
  }

  private boolean anyValid(Found found, long from) throws IOException {
    for (long place = from;
        place + BatchHeader.BYTES <= settings.fileBytes();
        place += BatchHeader.BYTES) {
      if (scan.at(found.file, place, found.number()) != null) {
        return true;
      }
    }
    return false;
  }

  private static boolean isZero(ByteBuffer bytes) {
    for (int i = 0; i < bytes.capacity(); i++) {
      if (bytes.get(i) != 0) {
        return false;
      }
    }
    return true;
  }
}

package io.lightmq.core.storage.journal;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.UUID;

/**
 * Writes the tail that a start has found, from the highest recorded force to the cut, again into a
 * fresh file, at the same offsets. What was read there may have been in the page cache only, and a
 * page cache outlives a killed process and a failed force, so it proves nothing about the device.
 */
final class TailRewrite {
  private static final int OUT_BYTES = 1 << 20;

  private final BatchScan scan;
  private ByteBuffer out;

  TailRewrite(UUID store, JournalSettings settings) {
    this.scan = new BatchScan(store, settings.fileBytes());
    this.out = ByteBuffer.allocateDirect(Math.min(OUT_BYTES, settings.fileBytes())).limit(0);
  }

  /** The CRC of the last batch that was written, and the header that the file now has. */
  record Written(FileHeader header, int previous) {}

  /** Writes header and batches, and forces them. */
  Written write(FilePool.Spare to, UUID store, Recovery.Result found) throws IOException {
    long offset = found.durable();
    int file = holding(found.live(), offset);
    BatchHeader batch = offset < found.end() ? read(found, file, offset) : null;
    int previous = batch == null ? found.previous() : batch.previous();
    FileHeader header =
        new FileHeader(store, to.number(), offset, previous, true, found.end(), found.epoch() + 1);
    to.file().write(0, header.page());
    long place = JournalSettings.PAGE_BYTES;
    long placeOfOut = place;
    out.clear();
    while (batch != null) {
      if (batch.length() > out.remaining()) {
        flush(to, placeOfOut);
        placeOfOut = place;
        if (batch.length() > out.capacity()) {
          out = ByteBuffer.allocateDirect(Integer.highestOneBit(batch.length()) * 2);
        }
      }
      previous = copy(found, file, batch, to.number(), previous);
      place += batch.length();
      offset = batch.end();
      while (file + 1 < found.live().size() && found.live().get(file + 1).base() <= offset) {
        file++;
      }
      batch = offset < found.end() ? read(found, file, offset) : null;
    }
    flush(to, placeOfOut);
    to.file().force();
    return new Written(header, previous);
  }

  private int copy(Recovery.Result found, int file, BatchHeader batch, long number, int previous)
      throws IOException {
    Recovery.Found from = found.live().get(file);
    int start = out.position();
    out.put(scan.bytes(from.file(), from.place(batch.offset()), batch.length()));
    BatchHeader again =
        new BatchHeader(
            batch.flags(),
            batch.store(),
            number,
            batch.offset(),
            batch.length(),
            0,
            found.durable(),
            batch.epoch(),
            previous);
    return again.write(new ByteBuffer[] {out.slice(start, batch.length())});
  }

  private void flush(FilePool.Spare to, long place) throws IOException {
    out.flip();
    if (out.hasRemaining()) {
      to.file().write(place, out);
    }
    out.clear();
  }

  private BatchHeader read(Recovery.Result found, int file, long offset) throws IOException {
    Recovery.Found from = found.live().get(file);
    BatchHeader batch = scan.at(from.file(), from.place(offset), from.number());
    if (batch == null || batch.offset() != offset) {
      throw new IOException(
          "the journal is damaged: the batch at offset "
              + offset
              + " in "
              + from.file().name()
              + " was read once and is not valid now");
    }
    return batch;
  }

  private static int holding(List<Recovery.Found> files, long offset) {
    int index = files.size() - 1;
    while (index > 0 && files.get(index).base() > offset) {
      index--;
    }
    return index;
  }
}

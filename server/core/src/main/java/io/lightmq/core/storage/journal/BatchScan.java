package io.lightmq.core.storage.journal;

import io.lightmq.core.storage.DiskFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Reads the batches of one file front to back and tells the valid from the rest. One buffer of 1
 * MiB, which grows to the longest batch, serves all files.
 */
final class BatchScan {
  private static final int STEP_BYTES = 1 << 20;

  private final long store;
  private final int fileBytes;
  private ByteBuffer buffer;
  private @Nullable DiskFile file;
  private long bufferStart;

  BatchScan(UUID store, int fileBytes) {
    this.store = BatchHeader.storeHash(store);
    this.fileBytes = fileBytes;
    this.buffer = ByteBuffer.allocateDirect(Math.min(STEP_BYTES, fileBytes)).limit(0);
  }

  /**
   * The batch header at a place if all of the batch is valid and of this file number, else null.
   */
  @Nullable BatchHeader at(DiskFile from, long place, long number) throws IOException {
    if (place + BatchHeader.BYTES > fileBytes) {
      return null;
    }
    BatchHeader header = BatchHeader.read(bytes(from, place, BatchHeader.BYTES), 0);
    if (header == null
        || header.store() != store
        || header.file() != number
        || header.length() < BatchHeader.BYTES
        || header.length() % BatchHeader.BYTES != 0
        || header.length() > fileBytes - place) {
      return null;
    }
    return header.matches(bytes(from, place, header.length())) ? header : null;
  }

  /** Refuses what a newer release has written: it is no torn tail, and nothing may be cut there. */
  void refuseNewer(DiskFile in, long place, long number, long offset) throws IOException {
    if (place + BatchHeader.BYTES > fileBytes) {
      return;
    }
    ByteBuffer bytes = bytes(in, place, BatchHeader.BYTES);
    int version = bytes.get(4) & 0xff;
    BatchHeader newer = BatchHeader.newer(bytes, store, number, offset);
    // Without the right crc it is a torn or damaged batch, whose version may be what is damaged.
    if (newer != null
        && newer.length() <= fileBytes - place
        && newer.matches(bytes(in, place, newer.length()))) {
      throw new IOException(
          "journal file %s: the batch at offset %d has version %d, and this broker reads up to %d; start it with the newer release"
              .formatted(in.name(), offset, version, BatchHeader.VERSION));
    }
  }

  /** Bytes at a place, valid until the next call; short only at the end of the file. */
  ByteBuffer bytes(DiskFile from, long place, int length) throws IOException {
    if (from != file || place < bufferStart || place + length > bufferStart + buffer.limit()) {
      if (length > buffer.capacity()) {
        buffer = ByteBuffer.allocateDirect(Math.min(fileBytes, Integer.highestOneBit(length) * 2));
      }
      file = from;
      bufferStart = place;
      buffer.clear();
      from.read(place, buffer);
      buffer.flip();
      if (buffer.limit() < length) {
        throw new IOException(
            "journal file "
                + from.name()
                + " ends at "
                + (place + buffer.limit())
                + ", before its "
                + fileBytes
                + " bytes");
      }
    }
    return buffer.slice((int) (place - bufferStart), length);
  }

  /**
   * Looks for a batch behind a cut that shows that bytes at the cut had been forced: damage, since
   * a torn tail was never confirmed.
   */
  void refuseDamage(DiskFile in, long number, long fromPlace, long cut) throws IOException {
    for (long place = fromPlace;
        place + BatchHeader.BYTES <= fileBytes;
        place += BatchHeader.BYTES) {
      BatchHeader header = at(in, place, number);
      if (header != null && header.durable() > cut) {
        throw new IOException(
            "the journal is damaged at offset "
                + cut
                + ": no valid batch is there, but the batch at offset "
                + header.offset()
                + " ("
                + in.name()
                + ", byte "
                + place
                + ") says that everything below "
                + header.durable()
                + " had been forced; restore the data directory from a copy or a replica");
      }
    }
  }
}

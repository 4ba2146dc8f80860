package io.lightmq.core.storage.journal;

import io.lightmq.spi.Journal.Batch;
import java.nio.ByteBuffer;
import java.util.UUID;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * The 64 bytes before the records of a batch. Big-endian.
 *
 * <pre>
 *  0 int  magic "LMQB"
 *  4 byte version = 1      |  5 byte flags: bit0 starts an epoch, bit1 empty
 *  6 short zero
 *  8 long store: the halves of the store's UUID, xored
 * 16 long file number      | 24 long offset of this header
 * 32 int  length, header included, a multiple of 64
 * 36 int  crc32c over header and records with this field zero
 * 40 long durable: the offset below which everything was forced when this was written
 * 48 long epoch            | 56 int previous: the crc of the batch before, 0 for the first of all
 * 60 int  zero
 * </pre>
 *
 * <p>An <em>empty</em> batch is not part of the sequence: it lies where the next batch goes, says
 * how far the journal was forced, and the next batch takes its place. A batch <em>written
 * again</em> was copied from the tail found at a start; it does not make a recovery file count,
 * whatever it starts.
 */
record BatchHeader(
    int flags,
    long store,
    long file,
    long offset,
    int length,
    int crc,
    long durable,
    long epoch,
    int previous) {
  static final int BYTES = Batch.HEADER_BYTES;
  static final int STARTS_EPOCH = 1;
  static final int EMPTY = 2;
  static final int VERSION = 1;
  private static final int MAGIC = 0x4c4d5142;
  private static final int CRC_AT = 36;

  boolean is(int flag) {
    return (flags & flag) != 0;
  }

  long end() {
    return offset + length;
  }

  static long storeHash(UUID store) {
    return store.getMostSignificantBits() ^ store.getLeastSignificantBits();
  }

  /** Writes the header at the start of the first piece and returns the CRC over all pieces. */
  int write(ByteBuffer[] pieces) {
    ByteBuffer first = pieces[0];
    int at = first.position();
    first.putInt(at, MAGIC).put(at + 4, (byte) VERSION).put(at + 5, (byte) flags);
    first.putShort(at + 6, (short) 0).putLong(at + 8, store).putLong(at + 16, file);
    first.putLong(at + 24, offset).putInt(at + 32, length).putInt(at + CRC_AT, 0);
    first.putLong(at + 40, durable).putLong(at + 48, epoch).putInt(at + 56, previous);
    first.putInt(at + 60, 0);
    CRC32C sum = new CRC32C();
    for (ByteBuffer piece : pieces) {
      sum.update(piece.duplicate());
    }
    int value = (int) sum.getValue();
    first.putInt(at + CRC_AT, value);
    return value;
  }

  /** The header at a place, unchecked but for magic and version; null if there is none. */
  static @Nullable BatchHeader read(ByteBuffer bytes, int at) {
    if (bytes.getInt(at) != MAGIC || bytes.get(at + 4) != VERSION) {
      return null;
    }
    return new BatchHeader(
        bytes.get(at + 5),
        bytes.getLong(at + 8),
        bytes.getLong(at + 16),
        bytes.getLong(at + 24),
        bytes.getInt(at + 32),
        bytes.getInt(at + CRC_AT),
        bytes.getLong(at + 40),
        bytes.getLong(at + 48),
        bytes.getInt(at + 56));
  }

  /** The header of a batch of a newer version; what is told it never moves. Null if it is none. */
  static @Nullable BatchHeader newer(ByteBuffer bytes, long store, long file, long offset) {
    boolean isOne =
        bytes.getInt(0) == MAGIC
            && (bytes.get(4) & 0xff) > VERSION
            && bytes.getLong(8) == store
            && bytes.getLong(16) == file
            && bytes.getLong(24) == offset
            && bytes.getInt(32) >= BYTES;
    return isOne
        ? new BatchHeader(0, store, file, offset, bytes.getInt(32), bytes.getInt(CRC_AT), 0, 0, 0)
        : null;
  }

  /** Whether the CRC over the bytes of this header and the records behind it is right. */
  boolean matches(ByteBuffer header, ByteBuffer records) {
    CRC32C sum = new CRC32C();
    sum.update(header.slice(0, CRC_AT));
    sum.update(new byte[4]);
    sum.update(header.slice(CRC_AT + 4, BYTES - CRC_AT - 4));
    sum.update(records.duplicate());
    return (int) sum.getValue() == crc;
  }

  /** Whether the CRC over the whole batch, which begins at the buffer's position, is right. */
  boolean matches(ByteBuffer batch) {
    int at = batch.position();
    CRC32C sum = new CRC32C();
    sum.update(batch.slice(at, CRC_AT));
    sum.update(new byte[4]);
    sum.update(batch.slice(at + CRC_AT + 4, length - CRC_AT - 4));
    return (int) sum.getValue() == crc;
  }
}

package io.lightmq.core.storage.journal;

import java.nio.ByteBuffer;
import java.util.UUID;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * The first page of a journal file; the rest of the 4096 bytes is zero. Big-endian.
 *
 * <pre>
 *  0 long magic "LMQJFILE"
 *  8 int  version = 1      | 12 int crc32c over bytes 0 .. 80 with this field zero
 * 16 UUID store (2 longs)
 * 32 long file number      | 40 long base: the offset of the first batch, which lies at byte 4096
 * 48 int  continues: the crc of the batch that ends at base, 0 if there never was one
 * 52 int  flags: bit0 recovery (counts if it is whole up to the tail's end)
 * 56 long tail end: the offset at which the tail ended that was written again here, else base
 * 64 long epoch: the start number in which the file was begun
 * 72 long zero
 * </pre>
 *
 * @param number of the file; equal to its name, else the file is spare and its contents are stale
 */
record FileHeader(
    UUID store, long number, long base, int continues, boolean recovery, long tailEnd, long epoch) {
  static final int BYTES = 80;
  static final int VERSION = 1;
  private static final long MAGIC = 0x4c4d514a46494c45L;
  private static final int CRC_AT = 12;
  private static final int RECOVERY = 1;

  /** The whole first page. */
  ByteBuffer page() {
    ByteBuffer page = ByteBuffer.allocate(JournalSettings.PAGE_BYTES);
    page.putLong(0, MAGIC).putInt(8, VERSION);
    page.putLong(16, store.getMostSignificantBits()).putLong(24, store.getLeastSignificantBits());
    page.putLong(32, number).putLong(40, base).putInt(48, continues);
    page.putInt(52, recovery ? RECOVERY : 0).putLong(56, tailEnd).putLong(64, epoch);
    page.putInt(CRC_AT, crc(page));
    return page;
  }

  /** Whether the page belongs to a journal file, whatever its version. */
  static boolean hasMagic(ByteBuffer page) {
    return page.getLong(0) == MAGIC;
  }

  static int version(ByteBuffer page) {
    return page.getInt(8);
  }

  /** The header, or null if the bytes are not one of this version or have a wrong CRC. */
  static @Nullable FileHeader read(ByteBuffer page) {
    if (!hasMagic(page) || version(page) != VERSION || page.getInt(CRC_AT) != crc(page)) {
      return null;
    }
    return new FileHeader(
        new UUID(page.getLong(16), page.getLong(24)),
        page.getLong(32),
        page.getLong(40),
        page.getInt(48),
        (page.getInt(52) & RECOVERY) != 0,
        page.getLong(56),
        page.getLong(64));
  }

  private static int crc(ByteBuffer page) {
    CRC32C crc = new CRC32C();
    crc.update(page.slice(0, CRC_AT));
    crc.update(new byte[4]);
    crc.update(page.slice(CRC_AT + 4, BYTES - CRC_AT - 4));
    return (int) crc.getValue();
  }
}

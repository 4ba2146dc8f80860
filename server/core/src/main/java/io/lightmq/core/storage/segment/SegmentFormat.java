package io.lightmq.core.storage.segment;

import io.lightmq.wire.entry.Crc;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/**
 * The layout of a segment file around its entries and index blocks. Big-endian; an address minus
 * the segment's own address is the place in the file.
 *
 * <pre>
 * header, 64 bytes
 *  0 long magic "LMQSEGMT"    32 long address of the segment, also its name
 *  8 int  version 1           40 long journal offset of the checkpoint that wrote it
 * 12 int  0                   48 long 0   56 int 0
 * 16 UUID store id            60 int crc32c over bytes 0 to 60
 * entries      back to back, sorted by (destination, lane, holder, sequence)
 * index blocks of each piece, in the order of the pieces
 * hashes       of each span, in the order of the spans
 * directory    72 bytes for each piece
 *  0 long destinationId   24 long firstSequence   48 long address
 *  8 long holderId        32 long lastSequence    56 long bytes
 * 16 int  lane  20 int spans  40 long count       64 long indexAddress
 * footer, 96 bytes
 *  0 long magic "LMQSEGFT"   16 long address of the segment   56 long hash bytes
 *  8 int  version 1          24 long entry bytes              64 long directory bytes
 * 12 int  pieces             32 long entries                  72 long 0
 *                            40 long index blocks             80 long 0
 *                            48 long index bytes              88 int crc32c of the directory
 *                                                             92 int crc32c over bytes 0 to 92
 * </pre>
 */
final class SegmentFormat {
  static final String FOLDER = "segments";
  static final int HEADER = 64;
  static final int PIECE = 72;
  static final int FOOTER = 96;

  private static final long MAGIC = 0x4C4D515345474D54L;
  private static final long FOOTER_MAGIC = 0x4C4D515345474654L;
  private static final int VERSION = 1;

  private SegmentFormat() {}

  /** What the footer tells. */
  record Footer(
      long address,
      int pieces,
      long entryBytes,
      long entries,
      long indexBlocks,
      long indexBytes,
      long hashBytes,
      long directoryBytes,
      int directoryCrc) {
    long indexAddress() {
      return address + HEADER + entryBytes;
    }

    long hashAddress() {
      return indexAddress() + indexBytes;
    }

    long directoryAddress() {
      return hashAddress() + hashBytes;
    }

    long fileBytes() {
      return HEADER + entryBytes + indexBytes + hashBytes + directoryBytes + FOOTER;
    }
  }

  static String name(long address) {
    return FOLDER + "/" + "%020d.log".formatted(address);
  }

  static ByteBuffer header(UUID storeId, long address, long checkpointOffset) {
    ByteBuffer header = ByteBuffer.allocate(HEADER);
    header.putLong(MAGIC).putInt(VERSION).putInt(0);
    header.putLong(storeId.getMostSignificantBits()).putLong(storeId.getLeastSignificantBits());
    header.putLong(address).putLong(checkpointOffset).putLong(0).putInt(0);
    return header.putInt(Crc.of(header, 0, HEADER - 4)).flip();
  }

  /** Checks a header; the text says what is wrong. */
  static void checkHeader(ByteBuffer header, UUID storeId, long address, String file)
      throws SegmentException.Damaged {
    checkCrc(header, HEADER, "header", file);
    if (header.getLong(0) == MAGIC) {
      checkVersion(header.getInt(8), VERSION, "header", file);
    }
    UUID foundStore = new UUID(header.getLong(16), header.getLong(24));
    if (header.getLong(0) != MAGIC
        || header.getInt(8) != VERSION
        || header.getLong(32) != address
        || !foundStore.equals(storeId)) {
      throw damaged(
          file,
          "header says magic %016x, version %d, address %d, store %s; expected %016x, %d, %d, %s"
              .formatted(
                  header.getLong(0),
                  header.getInt(8),
                  header.getLong(32),
                  foundStore,
                  MAGIC,
                  VERSION,
                  address,
                  storeId));
    }
  }

  /** What a newer release wrote is told as that. */
  static void checkVersion(int found, int known, String what, String file)
      throws SegmentException.Damaged {
    if (found > known) {
      throw damaged(
          file,
          "%s has version %d, this software reads up to %d; start a newer one"
              .formatted(what, found, known));
    }
  }

  static ByteBuffer footer(Footer footer) {
    ByteBuffer bytes = ByteBuffer.allocate(FOOTER);
    bytes.putLong(FOOTER_MAGIC).putInt(VERSION).putInt(footer.pieces()).putLong(footer.address());
    bytes.putLong(footer.entryBytes()).putLong(footer.entries()).putLong(footer.indexBlocks());
    bytes.putLong(footer.indexBytes()).putLong(footer.hashBytes()).putLong(footer.directoryBytes());
    bytes.putLong(0).putLong(0).putInt(footer.directoryCrc());
    return bytes.putInt(Crc.of(bytes, 0, FOOTER - 4)).flip();
  }

  /** Reads a footer and checks it against the file's length; the text says what is wrong. */
  static Footer readFooter(ByteBuffer bytes, long address, long fileBytes, String file)
      throws SegmentException.Damaged {
    checkCrc(bytes, FOOTER, "footer", file);
    if (bytes.getLong(0) == FOOTER_MAGIC) {
      checkVersion(bytes.getInt(8), VERSION, "footer", file);
    }
    Footer footer =
        new Footer(
            bytes.getLong(16),
            bytes.getInt(12),
            bytes.getLong(24),
            bytes.getLong(32),
            bytes.getLong(40),
            bytes.getLong(48),
            bytes.getLong(56),
            bytes.getLong(64),
            bytes.getInt(88));
    if (bytes.getLong(0) != FOOTER_MAGIC
        || bytes.getInt(8) != VERSION
        || footer.address() != address
        || footer.fileBytes() != fileBytes
        || footer.directoryBytes() != (long) footer.pieces() * PIECE) {
      throw damaged(
          file,
          "footer says magic %016x, version %d, address %d, %d bytes, %d pieces in %d bytes; expected %016x, %d, %d, %d bytes"
              .formatted(
                  bytes.getLong(0),
                  bytes.getInt(8),
                  footer.address(),
                  footer.fileBytes(),
                  footer.pieces(),
                  footer.directoryBytes(),
                  FOOTER_MAGIC,
                  VERSION,
                  address,
                  fileBytes));
    }
    return footer;
  }

  /** Writes the pieces of a segment. */
  static ByteBuffer directory(List<Piece> pieces) {
    ByteBuffer bytes = ByteBuffer.allocate(Math.multiplyExact(pieces.size(), PIECE));
    for (Piece piece : pieces) {
      bytes.putLong(piece.destinationId()).putLong(piece.holderId());
      bytes.putInt(piece.lane()).putInt(piece.spans());
      bytes.putLong(piece.firstSequence()).putLong(piece.lastSequence()).putLong(piece.count());
      bytes.putLong(piece.address()).putLong(piece.bytes()).putLong(piece.indexAddress());
    }
    return bytes.flip();
  }

  /** Reads the pieces of a segment; the text says what is wrong. */
  static List<Piece> readDirectory(ByteBuffer bytes, Footer footer, String file)
      throws SegmentException.Damaged {
    int computed = Crc.of(bytes, 0, bytes.limit());
    if (computed != footer.directoryCrc()) {
      throw damaged(
          file,
          "directory has crc %08x, the footer says %08x"
              .formatted(computed, footer.directoryCrc()));
    }
    List<Piece> pieces = new ArrayList<>();
    try {
      for (int at = 0; at < bytes.limit(); at += PIECE) {
        pieces.add(
            new Piece(
                bytes.getLong(at),
                bytes.getInt(at + 16),
                bytes.getLong(at + 8),
                bytes.getLong(at + 24),
                bytes.getLong(at + 32),
                bytes.getLong(at + 40),
                footer.address(),
                bytes.getLong(at + 48),
                bytes.getLong(at + 56),
                bytes.getLong(at + 64),
                bytes.getInt(at + 20)));
      }
    } catch (IllegalArgumentException e) {
      throw damaged(file, "directory: " + e.getMessage());
    }
    return pieces;
  }

  static SegmentException.Damaged damaged(String file, String what) {
    return new SegmentException.Damaged(file + ": " + what, -1);
  }

  private static void checkCrc(ByteBuffer bytes, int length, String part, String file)
      throws SegmentException.Damaged {
    int stored = bytes.getInt(length - 4);
    int computed = Crc.of(bytes, 0, length - 4);
    if (stored != computed) {
      throw damaged(file, "%s has crc %08x, expected %08x".formatted(part, stored, computed));
    }
  }
}

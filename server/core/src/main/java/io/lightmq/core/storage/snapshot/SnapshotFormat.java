package io.lightmq.core.storage.snapshot;

import io.lightmq.core.storage.DiskFile;
import io.lightmq.core.storage.segment.Origin;
import io.lightmq.core.storage.segment.Piece;
import io.lightmq.core.storage.segment.SegmentInfo;
import io.lightmq.wire.entry.Crc;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * The layout of a snapshot file. Big-endian.
 *
 * <pre>
 * header, 64 bytes
 *  0 long magic "LMQSNAPH"   32 long journal offset P, also the file's name
 *  8 int  version 2          40 long createdMillis
 * 12 int  0                  48 long nextAddress
 * 16 UUID store id           56 int 0   60 int crc32c over bytes 0 to 60
 * three sections, each: int type, int count, long bytes that follow
 *  1 state     count times: int length, the slice
 *  2 segments  32 bytes each: long address, bytes, entryBytes, entries
 *  3 pieces    104 bytes each: long destinationId, holderId, int lane, spans,
 *              long firstSequence, lastSequence, count, segmentAddress, address, bytes, indexAddress,
 *              from version 2 on, before 80 bytes each: long destinationId (0 for none), int lane, 0,
 *              long shift of the origin
 * footer, 32 bytes
 *  0 long magic "LMQSNAPF"   16 int crc32c over everything before the footer
 *  8 long file bytes         20 int 0   24 int 0   28 int crc32c over footer bytes 0 to 28
 * </pre>
 */
final class SnapshotFormat {
  static final int HEADER = 64;
  static final int FOOTER = 32;
  static final int SECTION = 16;
  static final int SEGMENT = 32;
  static final int PIECE = 104;

  /** Of version 1. */
  private static final int PIECE_1 = 80;

  private static final long MAGIC = 0x4C4D51534E415048L;
  private static final long FOOTER_MAGIC = 0x4C4D51534E415046L;
  private static final int VERSION = 2;
  private static final int STATE = 1;
  private static final int SEGMENTS = 2;
  private static final int PIECES = 3;
  static final int BUFFER = 256 * 1024;

  private SnapshotFormat() {}

  /** Bytes of the file that a snapshot needs. */
  static long fileBytes(Snapshot snapshot) {
    return HEADER
        + 3L * SECTION
        + stateBytes(snapshot)
        + (long) snapshot.segments().size() * SEGMENT
        + (long) snapshot.pieces().size() * PIECE
        + FOOTER;
  }

  private static long stateBytes(Snapshot snapshot) {
    return snapshot.state().stream().mapToLong(slice -> 4L + slice.remaining()).sum();
  }

  /** Writes a whole snapshot into an empty file, without a force. */
  static void write(DiskFile file, UUID storeId, Snapshot snapshot) throws IOException {
    SnapshotOutput out = new SnapshotOutput(file);
    ByteBuffer header = ByteBuffer.allocate(HEADER);
    header.putLong(MAGIC).putInt(VERSION).putInt(0);
    header.putLong(storeId.getMostSignificantBits()).putLong(storeId.getLeastSignificantBits());
    header.putLong(snapshot.offset()).putLong(snapshot.createdMillis());
    header.putLong(snapshot.nextAddress()).putInt(0);
    header.putInt(Crc.of(header, 0, HEADER - 4));
    out.put(header.flip());

    section(out, STATE, snapshot.state().size(), stateBytes(snapshot));
    for (ByteBuffer slice : snapshot.state()) {
      out.room(4).putInt(slice.remaining());
      out.put(slice.duplicate());
    }
    section(out, SEGMENTS, snapshot.segments().size(), (long) snapshot.segments().size() * SEGMENT);
    for (SegmentInfo segment : snapshot.segments()) {
      out.room(SEGMENT)
          .putLong(segment.address())
          .putLong(segment.bytes())
          .putLong(segment.entryBytes())
          .putLong(segment.entries());
    }
    section(out, PIECES, snapshot.pieces().size(), (long) snapshot.pieces().size() * PIECE);
    for (Piece piece : snapshot.pieces()) {
      ByteBuffer room = out.room(PIECE);
      room.putLong(piece.destinationId()).putLong(piece.holderId());
      room.putInt(piece.lane()).putInt(piece.spans());
      room.putLong(piece.firstSequence()).putLong(piece.lastSequence()).putLong(piece.count());
      room.putLong(piece.segmentAddress()).putLong(piece.address());
      room.putLong(piece.bytes()).putLong(piece.indexAddress());
      Origin origin = piece.origin();
      room.putLong(origin == null ? 0 : origin.destinationId());
      room.putInt(origin == null ? 0 : origin.lane()).putInt(0);
      room.putLong(origin == null ? 0 : origin.shift());
    }
    out.flush();
    ByteBuffer footer = ByteBuffer.allocate(FOOTER);
    footer.putLong(FOOTER_MAGIC).putLong(out.written() + FOOTER).putInt(out.crc());
    footer.putInt(0).putInt(0).putInt(Crc.of(footer, 0, FOOTER - 4));
    file.write(out.written(), footer.flip());
  }

  private static void section(SnapshotOutput out, int type, int count, long bytes)
      throws IOException {
    out.room(SECTION).putInt(type).putInt(count).putLong(bytes);
  }

  /**
   * Reads and checks a whole snapshot.
   *
   * @param withState false leaves the state empty
   * @throws InvalidSnapshotException if a check fails; the text says which
   * @throws NewerSnapshotException if it has a version above this one
   */
  static Snapshot read(DiskFile file, UUID storeId, long offset, boolean withState)
      throws IOException {
    long size = file.size();
    if (size < HEADER + 3 * SECTION + FOOTER) {
      throw new InvalidSnapshotException("has only " + size + " bytes");
    }
    refuseNewer(file, storeId);
    checkWhole(file, size);
    SnapshotInput in = new SnapshotInput(file, size - FOOTER);
    ByteBuffer header = in.take(HEADER);
    long nextAddress = checkHeader(header, storeId, offset);
    long createdMillis = header.getLong(40);
    int pieceBytes = header.getInt(8) == 1 ? PIECE_1 : PIECE;
    try {
      List<ByteBuffer> state = readState(in, withState);
      List<SegmentInfo> segments = new ArrayList<>();
      for (int left = in.section(SEGMENTS, SEGMENT); left > 0; left--) {
        ByteBuffer bytes = in.take(SEGMENT);
        segments.add(
            new SegmentInfo(bytes.getLong(), bytes.getLong(), bytes.getLong(), bytes.getLong()));
      }
      List<Piece> pieces = new ArrayList<>();
      for (int left = in.section(PIECES, pieceBytes); left > 0; left--) {
        pieces.add(piece(in.take(pieceBytes)));
      }
      if (in.remaining() != 0) {
        throw new InvalidSnapshotException(in.remaining() + " bytes follow its last section");
      }
      return new Snapshot(offset, createdMillis, nextAddress, state, segments, pieces);
    } catch (IllegalArgumentException e) {
      throw new InvalidSnapshotException(String.valueOf(e.getMessage()));
    }
  }

  private static Piece piece(ByteBuffer bytes) {
    long destinationId = bytes.getLong();
    long holderId = bytes.getLong();
    int lane = bytes.getInt();
    int spans = bytes.getInt();
    return new Piece(
        destinationId,
        lane,
        holderId,
        bytes.getLong(),
        bytes.getLong(),
        bytes.getLong(),
        bytes.getLong(),
        bytes.getLong(),
        bytes.getLong(),
        bytes.getLong(),
        spans,
        bytes.hasRemaining() ? origin(bytes) : null);
  }

  private static @Nullable Origin origin(ByteBuffer bytes) {
    long destinationId = bytes.getLong();
    int lane = bytes.getInt();
    bytes.getInt();
    return destinationId == 0 ? null : new Origin(destinationId, lane, bytes.getLong());
  }

  private static List<ByteBuffer> readState(SnapshotInput in, boolean withState)
      throws IOException {
    List<ByteBuffer> state = new ArrayList<>();
    int slices = in.section(STATE, 4);
    for (int left = slices; left > 0; left--) {
      int length = in.take(4).getInt();
      if (length < 0 || length > in.sectionRemaining()) {
        throw new InvalidSnapshotException(
            "a slice of state says %d bytes, its section has %d left"
                .formatted(length, in.sectionRemaining()));
      }
      if (withState) {
        state.add(in.copy(length));
      } else {
        in.skip(length);
      }
    }
    return state;
  }

  private static void checkWhole(DiskFile file, long size) throws IOException {
    ByteBuffer footer = ByteBuffer.allocate(FOOTER);
    file.read(size - FOOTER, footer);
    footer.flip();
    int stored = footer.getInt(FOOTER - 4);
    int computed = Crc.of(footer, 0, FOOTER - 4);
    if (stored != computed || footer.getLong(0) != FOOTER_MAGIC || footer.getLong(8) != size) {
      throw new InvalidSnapshotException(
          "footer has magic %016x, %d bytes, crc %08x; expected %016x, %d, %08x"
              .formatted(
                  footer.getLong(0), footer.getLong(8), stored, FOOTER_MAGIC, size, computed));
    }
    CRC32C crc = new CRC32C();
    ByteBuffer buffer = ByteBuffer.allocate(BUFFER);
    for (long at = 0; at < size - FOOTER; at += BUFFER) {
      buffer.clear().limit((int) Math.min(BUFFER, size - FOOTER - at));
      file.read(at, buffer);
      crc.update(buffer.flip());
    }
    if ((int) crc.getValue() != footer.getInt(16)) {
      throw new InvalidSnapshotException(
          "contents have crc %08x, the footer says %08x"
              .formatted((int) crc.getValue(), footer.getInt(16)));
    }
  }

  /** The places in the header stay what they are in all versions. */
  private static void refuseNewer(DiskFile file, UUID storeId) throws IOException {
    ByteBuffer header = ByteBuffer.allocate(HEADER);
    file.read(0, header);
    header.flip();
    int version = header.getInt(8);
    if (version > VERSION
        && header.getLong(0) == MAGIC
        && header.getInt(HEADER - 4) == Crc.of(header, 0, HEADER - 4)
        && new UUID(header.getLong(16), header.getLong(24)).equals(storeId)) {
      throw new NewerSnapshotException(
          "%s has version %d, this software reads up to %d; start a newer one"
              .formatted(file.name(), version, VERSION));
    }
  }

  private static long checkHeader(ByteBuffer header, UUID storeId, long offset) throws IOException {
    int stored = header.getInt(HEADER - 4);
    int computed = Crc.of(header, 0, HEADER - 4);
    UUID store = new UUID(header.getLong(16), header.getLong(24));
    if (stored != computed
        || header.getLong(0) != MAGIC
        || header.getInt(8) < 1
        || header.getInt(8) > VERSION
        || !store.equals(storeId)
        || header.getLong(32) != offset) {
      throw new InvalidSnapshotException(
          "header says magic %016x, version %d, store %s, offset %d, crc %08x; expected %016x, 1 to %d, %s, %d, %08x"
              .formatted(
                  header.getLong(0),
                  header.getInt(8),
                  store,
                  header.getLong(32),
                  stored,
                  MAGIC,
                  VERSION,
                  storeId,
                  offset,
                  computed));
    }
    return header.getLong(48);
  }
}

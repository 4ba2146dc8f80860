package io.lightmq.core.storage.segment;

import io.lightmq.core.storage.ReadFailures;
import io.lightmq.wire.entry.Entry;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * What can still be read of a span with damage in it. Sectors that the device does not give are
 * taken as zeros. A damaged length would lead past messages, so behind damage the next entry is
 * looked for byte by byte: it has the piece's destination, lane and holder, a sequence that fits,
 * and a CRC that is right.
 */
final class SpanSalvage {
  /** Read at a time; more than a sector, so that a good span is not read in thousands of steps. */
  private static final int BLOCK = 4096;

  private static final int LANE_AT = 9;
  private static final int DESTINATION_AT = 16;
  private static final int SEQUENCE_AT = 24;
  private static final int HOLDER_AT = 64;

  /** An entry that is whole. */
  record Intact(long sequence, int at, int length) {}

  private SpanSalvage() {}

  /** The span's bytes, with zeros where the device gives none. */
  static ByteBuffer read(SegmentFiles.Reference segment, Span span) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(span.bytes());
    long origin = segment.address();
    int at = 0;
    while (at < bytes.capacity()) {
      int untilEdge = (int) (BLOCK - (span.address() + at - origin) % BLOCK);
      int length = Math.min(untilEdge, bytes.capacity() - at);
      try {
        segment.read(span.address() + at, bytes.slice(at, length));
      } catch (IOException e) {
        if (ReadFailures.isOfTheFile(e)) {
          throw e;
        }
        for (int i = at; i < at + length; i++) {
          bytes.put(i, (byte) 0);
        }
      }
      at += length;
    }
    return bytes;
  }

  /** The whole entries of a span, rising. */
  static List<Intact> find(ByteBuffer bytes, Piece piece, Span span, int maxEntryBytes) {
    List<Intact> found = new ArrayList<>();
    long previous = span.firstSequence() - 1;
    int at = 0;
    while (at + Entry.HEADER_BYTES <= bytes.limit()) {
      if (!isIntact(bytes, at, piece, span, previous, maxEntryBytes)) {
        at++;
        continue;
      }
      previous = Entry.sequence(bytes, at);
      int length = Entry.length(bytes, at);
      found.add(new Intact(previous, at, length));
      at += length;
    }
    return found;
  }

  private static boolean isIntact(
      ByteBuffer bytes, int at, Piece piece, Span span, long previous, int maxEntryBytes) {
    long sequence = bytes.getLong(at + SEQUENCE_AT);
    int length = bytes.getInt(at);
    return bytes.getLong(at + DESTINATION_AT) == piece.destinationId()
        && (bytes.get(at + LANE_AT) & 0xFF) == piece.lane()
        && bytes.getLong(at + HOLDER_AT) == piece.holderId()
        && sequence > previous
        && sequence <= span.lastSequence()
        && length >= Entry.HEADER_BYTES
        && length <= bytes.limit() - at
        && length <= maxEntryBytes
        && Entry.isIntact(bytes, at, at + length);
  }
}

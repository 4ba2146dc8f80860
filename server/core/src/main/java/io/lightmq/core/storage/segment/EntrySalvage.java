package io.lightmq.core.storage.segment;

import io.lightmq.core.storage.ReadFailures;
import io.lightmq.wire.entry.Entry;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * What can still be read of entries that lie back to back with damage among them. Sectors that the
 * device does not give are taken as zeros. A damaged length would lead past messages, so behind
 * damage the next entry is looked for byte by byte: it has the destination, lane and holder that
 * are looked for, a sequence that fits, and a CRC that is right. Where the entry behind it is found
 * a length that alone is damaged is known again, since the CRC then proves it.
 */
public final class EntrySalvage {
  /** Read at a time, so that good bytes are not read in thousands of steps. */
  private static final int BLOCK = 4096;

  /** Read at a time where a block does not come. */
  private static final int SECTOR = 512;

  private static final int LENGTH_AT = 0;
  private static final int LANE_AT = 9;
  private static final int DESTINATION_AT = 16;
  private static final int SEQUENCE_AT = 24;
  private static final int HOLDER_AT = 64;

  /** An entry that is whole. */
  public record Intact(long sequence, int at, int length) {}

  /**
   * Which entries are looked for.
   *
   * @param first the lowest sequence that they may have
   * @param last the highest
   */
  public record Sought(
      long destinationId, int lane, long holderId, long first, long last, int maxEntryBytes) {}

  /** Where the bytes come from. */
  @FunctionalInterface
  public interface Source {
    /** Fills the buffer from a place on. */
    void read(long place, ByteBuffer into) throws IOException;
  }

  private final ByteBuffer bytes;
  private final Sought sought;
  private final List<Intact> found = new ArrayList<>();
  private long previous;
  private int end;

  private EntrySalvage(ByteBuffer bytes, Sought sought) {
    this.bytes = bytes;
    this.sought = sought;
    this.previous = sought.first() - 1;
  }

  /**
   * Bytes from a place on, with zeros where the device gives none.
   *
   * @param origin the place with which the file begins
   * @throws IOException if it is the file that cannot be read, which says nothing of its bytes
   */
  public static ByteBuffer read(Source source, long place, int count, long origin)
      throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(count);
    read(source, place, bytes, origin, BLOCK);
    return bytes;
  }

  private static void read(Source source, long place, ByteBuffer bytes, long origin, int step)
      throws IOException {
    int at = 0;
    while (at < bytes.limit()) {
      int untilEdge = (int) (step - (place + at - origin) % step);
      int length = Math.min(untilEdge, bytes.limit() - at);
      try {
        source.read(place + at, bytes.slice(at, length));
      } catch (IOException e) {
        if (ReadFailures.isOfTheFile(e) || e instanceof SegmentException) {
          throw e;
        }
        if (step > SECTOR) {
          read(source, place + at, bytes.slice(at, length), origin, SECTOR);
        } else {
          for (int i = at; i < at + length; i++) {
            bytes.put(i, (byte) 0);
          }
        }
      }
      at += length;
    }
  }

  /**
   * The whole entries in bytes of one's own, rising; a length that is proven is set right there.
   */
  public static List<Intact> find(ByteBuffer bytes, Sought sought) {
    EntrySalvage salvage = new EntrySalvage(bytes, sought);
    salvage.find();
    return salvage.found;
  }

  private void find() {
    int at = 0;
    while (at + Entry.HEADER_BYTES <= bytes.limit()) {
      if (!isIntact(at, sought.last())) {
        at++;
        continue;
      }
      findWithoutLength(at, Entry.sequence(bytes, at) - 1);
      take(at);
      at = end;
    }
    findWithoutLength(bytes.limit(), sought.last());
  }

  private void take(int at) {
    previous = Entry.sequence(bytes, at);
    int length = Entry.length(bytes, at);
    found.add(new Intact(previous, at, length));
    end = at + length;
  }

  /** Between what was found last and a place there may be one entry whose length is damaged. */
  private void findWithoutLength(int until, long last) {
    if (until - end < Entry.HEADER_BYTES) {
      return;
    }
    int stored = bytes.getInt(end + LENGTH_AT);
    bytes.putInt(end + LENGTH_AT, until - end);
    if (isIntact(end, last)) {
      take(end);
    } else {
      bytes.putInt(end + LENGTH_AT, stored);
    }
  }

  private boolean isIntact(int at, long last) {
    long sequence = bytes.getLong(at + SEQUENCE_AT);
    int length = bytes.getInt(at + LENGTH_AT);
    return bytes.getLong(at + DESTINATION_AT) == sought.destinationId()
        && (bytes.get(at + LANE_AT) & 0xFF) == sought.lane()
        && bytes.getLong(at + HOLDER_AT) == sought.holderId()
        && sequence > previous
        && sequence <= last
        && length >= Entry.HEADER_BYTES
        && length <= bytes.limit() - at
        && length <= sought.maxEntryBytes()
        && Entry.isIntact(bytes, at, at + length);
  }

  /** The entries of a span. */
  static Sought sought(Piece piece, Span span, int maxEntryBytes) {
    return new Sought(
        piece.destinationId(),
        piece.lane(),
        piece.holderId(),
        span.firstSequence(),
        span.lastSequence(),
        maxEntryBytes);
  }
}

package io.lightmq.core.storage.segment;

import io.lightmq.wire.entry.Crc;
import java.nio.ByteBuffer;

/**
 * A block of the sparse index: up to 48 spans of one piece. All blocks of a piece but the last are
 * full, so the block of span n lies at {@code indexAddress + n / 48 * 4244}. Big-endian.
 *
 * <pre>
 *  0 int   magic        "LMQI"
 *  4 short version      1
 *  6 short spans        1 to 48
 *  8 long  address      of this block
 * 16 spans, 88 bytes each:
 *     0 long firstSequence          40 long latestEnqueuedMillis
 *     8 long lastSequence           48 long earliestExpiryMillis  0 none expires
 *    16 long address                56 long latestExpiryMillis    0 one never expires
 *    24 int  count                  64 long hashAddress
 *    28 int  bytes                  72 int  correlationHashes     -1 not collected
 *    32 long earliestEnqueuedMillis 76 int  messageIdHashes       -1 not collected
 *                                   80 int  hashCrc  84 int 0
 *    int  crc32c       over everything before it
 * </pre>
 *
 * <p>The hashes of a span lie elsewhere, at its hashAddress: first those of JMSCorrelationID, then
 * those of JMSMessageID, each a rising array of ints, the upper halves of 64-bit hashes. A block is
 * immutable after it was read or written.
 */
final class IndexBlock {
  static final int SPANS = 48;
  static final int STRIDE = bytes(SPANS);

  private static final int MAGIC = 0x4C4D5149;
  private static final int VERSION = 1;
  private static final int HEADER = 16;
  private static final int SPAN = 88;

  private final ByteBuffer bytes;
  private final boolean rebuilt;

  private IndexBlock(ByteBuffer bytes) {
    this(bytes, false);
  }

  private IndexBlock(ByteBuffer bytes, boolean rebuilt) {
    this.bytes = bytes;
    this.rebuilt = rebuilt;
  }

  /** The same, known to be in no file but made from the entries. */
  IndexBlock asRebuilt() {
    return new IndexBlock(bytes, true);
  }

  boolean isRebuilt() {
    return rebuilt;
  }

  /** Bytes of a block with so many spans. */
  static int bytes(int spans) {
    return HEADER + spans * SPAN + Integer.BYTES;
  }

  /** Bytes of the whole index of a piece with so many spans. */
  static long indexBytes(int spans) {
    int last = spans % SPANS;
    return (long) (spans / SPANS) * STRIDE + (last == 0 ? 0 : bytes(last));
  }

  /** An empty block to {@link #put} spans into. */
  static IndexBlock empty() {
    return new IndexBlock(ByteBuffer.allocate(STRIDE).position(HEADER));
  }

  /** Whether another span has room. */
  boolean isFull() {
    return bytes.position() == HEADER + SPANS * SPAN;
  }

  /** Adds a span; its hash address counts from the start of the segment's hashes until finished. */
  void put(Span span) {
    bytes
        .putLong(span.firstSequence())
        .putLong(span.lastSequence())
        .putLong(span.address())
        .putInt(span.count())
        .putInt(span.bytes())
        .putLong(span.earliestEnqueuedMillis())
        .putLong(span.latestEnqueuedMillis())
        .putLong(span.earliestExpiryMillis())
        .putLong(span.latestExpiryMillis())
        .putLong(span.hashAddress())
        .putInt(span.correlationHashes())
        .putInt(span.messageIdHashes())
        .putInt(span.hashCrc())
        .putInt(0);
  }

  /** Shrinks the memory of a block that gets no more spans. */
  IndexBlock trimmed() {
    ByteBuffer small = ByteBuffer.allocate(bytes.position() + Integer.BYTES);
    return new IndexBlock(small.put(bytes.flip()));
  }

  /** Completes a block for its place in a file and returns its bytes. */
  ByteBuffer finish(long address, long hashBase) {
    int end = bytes.position();
    int spans = (end - HEADER) / SPAN;
    bytes.putInt(0, MAGIC).putShort(4, (short) VERSION).putShort(6, (short) spans);
    bytes.putLong(8, address);
    for (int at = HEADER; at < end; at += SPAN) {
      bytes.putLong(at + 64, bytes.getLong(at + 64) + hashBase);
    }
    bytes.putInt(Crc.of(bytes, 0, end));
    return bytes.flip();
  }

  /** Reads a block from all bytes of a buffer, which is taken over; the text says what is wrong. */
  static IndexBlock read(ByteBuffer bytes, long address, int spans, String file)
      throws SegmentException.Damaged {
    int end = bytes.limit() - Integer.BYTES;
    int stored = bytes.getInt(end);
    int computed = Crc.of(bytes, 0, end);
    if (stored != computed) {
      throw new SegmentException.Damaged(
          "%s: index block at address %d has crc %08x, expected %08x"
              .formatted(file, address, stored, computed),
          -1);
    }
    if (bytes.getInt(0) == MAGIC) {
      SegmentFormat.checkVersion(
          bytes.getShort(4), VERSION, "index block at address " + address, file);
    }
    if (bytes.getInt(0) != MAGIC
        || bytes.getShort(4) != VERSION
        || bytes.getShort(6) != spans
        || bytes.getLong(8) != address) {
      throw new SegmentException.Damaged(
          "%s: index block at address %d says magic %08x, version %d, %d spans, address %d; expected %08x, %d, %d, %d"
              .formatted(
                  file,
                  address,
                  bytes.getInt(0),
                  bytes.getShort(4),
                  bytes.getShort(6),
                  bytes.getLong(8),
                  MAGIC,
                  VERSION,
                  spans,
                  address),
          -1);
    }
    return new IndexBlock(bytes);
  }

  /** Count of spans. */
  int spans() {
    return bytes.getShort(6);
  }

  /** First sequence of a span, without an object. */
  long firstSequence(int span) {
    return bytes.getLong(HEADER + span * SPAN);
  }

  /** A span. */
  Span span(int span) {
    int at = HEADER + span * SPAN;
    return new Span(
        bytes.getLong(at),
        bytes.getLong(at + 8),
        bytes.getLong(at + 16),
        bytes.getInt(at + 24),
        bytes.getInt(at + 28),
        bytes.getLong(at + 32),
        bytes.getLong(at + 40),
        bytes.getLong(at + 48),
        bytes.getLong(at + 56),
        bytes.getLong(at + 64),
        bytes.getInt(at + 72),
        bytes.getInt(at + 76),
        bytes.getInt(at + 80));
  }

  /** The last span whose first sequence is not above the given one, or 0. */
  int floor(long sequence) {
    int low = 0;
    int high = spans() - 1;
    while (low < high) {
      int middle = (low + high + 1) >>> 1;
      if (firstSequence(middle) <= sequence) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return low;
  }

  /** Heap bytes of the block, for the cache's bound. */
  int weight() {
    return bytes.capacity() + 120;
  }
}

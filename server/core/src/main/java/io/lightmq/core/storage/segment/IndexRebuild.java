package io.lightmq.core.storage.segment;

import io.lightmq.wire.entry.Entry;
import io.lightmq.wire.entry.MalformedMessageException;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * Makes an index block anew from the entries that it leads to, in memory: they lie back to back,
 * and what a span takes is a rule. It reads all of them, 48 spans. The hashes of ids are not
 * collected. Where one of the entries is damaged too nothing can be made.
 */
final class IndexRebuild {
  private final Chunk chunk;
  private final SegmentSettings settings;

  /** Reads by a chunk, whose bytes it replaces. */
  IndexRebuild(Chunk chunk, SegmentSettings settings) {
    this.chunk = chunk;
    this.settings = settings;
  }

  /**
   * Makes a block.
   *
   * @param start where the first of its entries lies
   */
  IndexBlock block(
      SegmentFiles.Reference segment, Piece piece, int number, long blockAddress, long start)
      throws IOException {
    int first = number * IndexBlock.SPANS;
    int spans = Math.min(IndexBlock.SPANS, piece.spans() - first);
    IndexBlock made = IndexBlock.empty();
    long address = start;
    long previous = piece.firstSequence() - 1;
    for (int i = 0; i < spans; i++) {
      Span span = span(segment, piece, address, previous);
      made.put(span);
      address = span.end();
      previous = span.lastSequence();
    }
    long end = piece.address() + piece.bytes();
    boolean last = first + spans == piece.spans();
    if (last != (address == end) || (last && previous != piece.lastSequence())) {
      throw damaged(segment, address, "ends %d spans of %s".formatted(first + spans, piece));
    }
    return IndexBlock.read(
        made.trimmed().finish(blockAddress, 0), blockAddress, spans, segment.name());
  }

  private Span span(SegmentFiles.Reference segment, Piece piece, long start, long before)
      throws IOException {
    long end = piece.address() + piece.bytes();
    long address = start;
    long firstSequence = -1;
    long last = before;
    int count = 0;
    int bytes = 0;
    long earliestEnqueued = Long.MAX_VALUE;
    long latestEnqueued = Long.MIN_VALUE;
    long earliestExpiry = 0;
    long latestExpiry = 0;
    boolean someNeverExpire = false;
    while (address < end && count < Span.MAX_COUNT) {
      int length = entry(segment, piece, address, last);
      if (count > 0 && bytes + length > Span.MAX_BYTES) {
        break;
      }
      ByteBuffer buffer = chunk.buffer();
      int at = chunk.index(address);
      last = Entry.sequence(buffer, at);
      firstSequence = count == 0 ? last : firstSequence;
      earliestEnqueued = Math.min(earliestEnqueued, Entry.enqueuedMillis(buffer, at));
      latestEnqueued = Math.max(latestEnqueued, Entry.enqueuedMillis(buffer, at));
      long expiry = Entry.expiryMillis(buffer, at);
      someNeverExpire |= expiry == 0;
      if (expiry != 0) {
        earliestExpiry = earliestExpiry == 0 ? expiry : Math.min(earliestExpiry, expiry);
        latestExpiry = Math.max(latestExpiry, expiry);
      }
      count++;
      bytes += length;
      address += length;
    }
    if (count == 0) {
      throw damaged(segment, address, "is missing, at the end of " + piece);
    }
    return new Span(
        firstSequence,
        last,
        start,
        count,
        bytes,
        earliestEnqueued,
        latestEnqueued,
        earliestExpiry,
        someNeverExpire ? 0 : latestExpiry,
        0,
        IdHashes.NOT_COLLECTED,
        IdHashes.NOT_COLLECTED,
        0);
  }

  /** Brings a whole entry into the chunk and returns its length. */
  private int entry(SegmentFiles.Reference segment, Piece piece, long address, long previous)
      throws IOException {
    long remaining = piece.address() + piece.bytes() - address;
    if (remaining < Entry.HEADER_BYTES) {
      throw damaged(segment, address, "has only " + remaining + " bytes in its piece");
    }
    chunk.require(segment::read, address, Entry.HEADER_BYTES, remaining);
    int length = Entry.length(chunk.buffer(), chunk.index(address));
    if (length < Entry.HEADER_BYTES || length > remaining || length > settings.maxEntryBytes()) {
      throw damaged(segment, address, "says " + length + " bytes of " + remaining);
    }
    chunk.require(segment::read, address, length, remaining);
    ByteBuffer buffer = chunk.buffer();
    int at = chunk.index(address);
    try {
      Entry.check(buffer, at, at + length);
    } catch (MalformedMessageException e) {
      throw damaged(segment, address, String.valueOf(e.getMessage()));
    }
    if (Entry.destinationId(buffer, at) != piece.destinationId()
        || Entry.lane(buffer, at) != piece.lane()
        || Entry.holderId(buffer, at) != piece.holderId()
        || Entry.sequence(buffer, at) <= previous
        || Entry.sequence(buffer, at) > piece.lastSequence()) {
      throw damaged(segment, address, "is none of " + piece + " behind sequence " + previous);
    }
    return length;
  }

  private static SegmentException.Damaged damaged(
      SegmentFiles.Reference segment, long address, String what) {
    return new SegmentException.Damaged(
        "%s: a damaged index block cannot be made anew: the entry at address %d %s"
            .formatted(segment.name(), address, what),
        -1);
  }
}

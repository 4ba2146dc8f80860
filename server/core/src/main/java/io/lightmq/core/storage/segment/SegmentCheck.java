package io.lightmq.core.storage.segment;

import io.lightmq.core.storage.DirectMemory;
import io.lightmq.wire.entry.Crc;
import io.lightmq.wire.entry.Entry;
import io.lightmq.wire.entry.MalformedMessageException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;

/**
 * Reads one segment from end to end and compares all that it says twice: entries with index, hashes
 * with entries, index with directory, directory with footer.
 */
final class SegmentCheck implements AutoCloseable {
  private final SegmentFiles.Reference segment;
  private final SegmentSettings settings;
  private final SegmentFormat.Footer footer;
  private final Chunk chunk;
  private final IdHashes ids = new IdHashes();

  private long address;
  private long hashAddress;
  private long entries;
  private long sequence;

  SegmentCheck(SegmentFiles.Reference segment, SegmentSettings settings, DirectMemory memory) {
    this.segment = segment;
    this.settings = settings;
    this.footer = segment.footer();
    this.chunk = new Chunk(memory, settings.readAheadBytes());
  }

  @Override
  public void close() {
    chunk.close();
  }

  List<Piece> run() throws IOException {
    recheckEnds();
    ByteBuffer directory = ByteBuffer.allocate(Math.toIntExact(footer.directoryBytes()));
    segment.read(footer.directoryAddress(), directory);
    List<Piece> pieces = SegmentFormat.readDirectory(directory.flip(), footer, segment.name());
    address = footer.address() + SegmentFormat.HEADER;
    hashAddress = footer.hashAddress();
    long indexAddress = footer.indexAddress();
    long blocks = 0;
    for (Piece piece : pieces) {
      expect("piece address", piece.address(), address);
      expect("index address", piece.indexAddress(), indexAddress);
      int last = (piece.spans() - 1) / IndexBlock.SPANS;
      sequence = -1;
      long before = entries;
      for (int number = 0; number <= last; number++) {
        IndexBlock block =
            SegmentIndex.load(
                segment, piece, number, indexAddress + (long) number * IndexBlock.STRIDE);
        for (int i = 0; i < block.spans(); i++) {
          checkSpan(piece, block.span(i), number + i == 0);
        }
      }
      expect("last sequence of the piece", sequence, piece.lastSequence());
      expect("entries of the piece", entries - before, piece.count());
      expect("end of the piece", address, piece.address() + piece.bytes());
      blocks += last + 1;
      indexAddress += IndexBlock.indexBytes(piece.spans());
    }
    expect("end of entries", address, footer.indexAddress());
    expect("end of index", indexAddress, footer.hashAddress());
    expect("end of hashes", hashAddress, footer.directoryAddress());
    expect("entries", entries, footer.entries());
    expect("entries as the snapshot says", entries, segment.info().entries());
    expect("entry bytes as the snapshot says", footer.entryBytes(), segment.info().entryBytes());
    expect("index blocks", blocks, footer.indexBlocks());
    return pieces;
  }

  /** The handle may be older than a change on disk: header and footer once more. */
  private void recheckEnds() throws IOException {
    ByteBuffer header = ByteBuffer.allocate(SegmentFormat.HEADER);
    segment.read(footer.address(), header);
    segment.checkHeader(header.flip());
    ByteBuffer end = ByteBuffer.allocate(SegmentFormat.FOOTER);
    segment.read(footer.address() + footer.fileBytes() - SegmentFormat.FOOTER, end);
    SegmentFormat.readFooter(end.flip(), footer.address(), footer.fileBytes(), segment.name());
  }

  private void checkSpan(Piece piece, Span span, boolean first) throws IOException {
    if (first) {
      expect("first sequence of the piece", span.firstSequence(), piece.firstSequence());
    }
    expect("span address", span.address(), address);
    ids.clear();
    long earliestEnqueued = Long.MAX_VALUE;
    long latestEnqueued = Long.MIN_VALUE;
    long earliestExpiry = 0;
    long latestExpiry = 0;
    boolean someNeverExpire = false;
    for (int i = 0; i < span.count(); i++) {
      int at = entry(span);
      ByteBuffer buffer = chunk.buffer();
      long next = Entry.sequence(buffer, at);
      if (i == 0) {
        expect("first sequence of the span", next, span.firstSequence());
      }
      if (next <= sequence
          || Entry.destinationId(buffer, at) != piece.destinationId()
          || Entry.lane(buffer, at) != piece.lane()
          || Entry.holderId(buffer, at) != piece.holderId()) {
        throw damaged(
            "entry has sequence %d of destination %d, expected one above %d of %d"
                .formatted(next, Entry.destinationId(buffer, at), sequence, piece.destinationId()));
      }
      sequence = next;
      ids.add(buffer, at);
      long enqueued = Entry.enqueuedMillis(buffer, at);
      earliestEnqueued = Math.min(earliestEnqueued, enqueued);
      latestEnqueued = Math.max(latestEnqueued, enqueued);
      long expiry = Entry.expiryMillis(buffer, at);
      someNeverExpire |= expiry == 0;
      if (expiry != 0) {
        earliestExpiry = earliestExpiry == 0 ? expiry : Math.min(earliestExpiry, expiry);
        latestExpiry = Math.max(latestExpiry, expiry);
      }
      address += Entry.length(buffer, at);
      entries++;
    }
    expect("end of the span", address, span.end());
    expect("last sequence of the span", sequence, span.lastSequence());
    expect("earliest enqueue time", earliestEnqueued, span.earliestEnqueuedMillis());
    expect("latest enqueue time", latestEnqueued, span.latestEnqueuedMillis());
    expect("earliest expiry", earliestExpiry, span.earliestExpiryMillis());
    expect("latest expiry", someNeverExpire ? 0 : latestExpiry, span.latestExpiryMillis());
    checkHashes(span);
  }

  private int entry(Span span) throws IOException {
    long remaining = span.end() - address;
    if (remaining < Entry.HEADER_BYTES) {
      throw damaged("only %d bytes remain in the span".formatted(remaining));
    }
    long ahead = footer.indexAddress() - address;
    chunk.require(segment::read, address, Entry.HEADER_BYTES, ahead);
    int length = Entry.length(chunk.buffer(), chunk.index(address));
    if (length < Entry.HEADER_BYTES || length > remaining || length > settings.maxEntryBytes()) {
      throw damaged("entry says %d bytes, %d remain".formatted(length, remaining));
    }
    chunk.require(segment::read, address, length, ahead);
    int at = chunk.index(address);
    try {
      Entry.check(chunk.buffer(), at, at + length);
    } catch (MalformedMessageException e) {
      throw damaged(String.valueOf(e.getMessage()));
    }
    return at;
  }

  private void checkHashes(Span span) throws IOException {
    expect("hash address", span.hashAddress(), hashAddress);
    expect("correlation ids", ids.correlationCount(), span.correlationHashes());
    expect("message ids", ids.messageCount(), span.messageIdHashes());
    byte[] expected = ids.encode();
    ByteBuffer found = ByteBuffer.allocate(span.hashBytes());
    segment.read(hashAddress, found);
    int crc = Crc.of(found, 0, found.capacity());
    if (crc != span.hashCrc() || !Arrays.equals(expected, found.array())) {
      throw damaged(
          "hashes at address %d have crc %08x, expected %08x"
              .formatted(hashAddress, crc, span.hashCrc()));
    }
    hashAddress += found.capacity();
  }

  private void expect(String what, long found, long expected) throws SegmentException.Damaged {
    if (found != expected) {
      throw damaged("%s is %d, expected %d".formatted(what, found, expected));
    }
  }

  private SegmentException.Damaged damaged(String what) {
    return new SegmentException.Damaged(
        "%s: address %d: %s".formatted(segment.name(), address, what), sequence);
  }
}

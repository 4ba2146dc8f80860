package io.lightmq.core.storage.segment;

import io.lightmq.core.storage.Disk;
import io.lightmq.core.storage.DiskFile;
import io.lightmq.wire.entry.Crc;
import io.lightmq.wire.entry.Entry;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Writes one segment from its first to its last byte. Keeps the index of the segment in memory
 * until the end, at most {@link SegmentSettings#maxIndexBytes}. Destage thread.
 */
final class SegmentWriter implements Closeable {
  private final SegmentSettings settings;
  private final long address;
  private final DiskFile file;
  private final ByteBuffer buffer;
  private final IdHashes ids = new IdHashes();
  private final List<List<IndexBlock>> index = new ArrayList<>();
  private final List<byte[]> hashes = new ArrayList<>();
  private final List<Piece> pieces = new ArrayList<>();

  private long fileBytes;
  private long hashBytes;
  private long indexBytes;
  private long entries;

  private @Nullable OpenPiece piece;
  private List<IndexBlock> blocks = new ArrayList<>();
  private IndexBlock block = IndexBlock.empty();

  private long spanFirst;
  private long spanLast;
  private long spanAddress;
  private int spanCount;
  private int spanBytes;
  private long earliestEnqueued;
  private long latestEnqueued;
  private long earliestExpiry;
  private long latestExpiry;
  private boolean someNeverExpire;

  /** The piece being written. */
  private static final class OpenPiece {
    final long destinationId;
    final int lane;
    final long holderId;
    final long firstSequence;
    final long address;
    long lastSequence;
    long count;
    int spans;

    OpenPiece(long destinationId, int lane, long holderId, long firstSequence, long address) {
      this.destinationId = destinationId;
      this.lane = lane;
      this.holderId = holderId;
      this.firstSequence = firstSequence;
      this.address = address;
    }

    boolean isOf(long otherDestination, int otherLane, long otherHolder) {
      return destinationId == otherDestination && lane == otherLane && holderId == otherHolder;
    }
  }

  /**
   * Creates the file.
   *
   * @param buffer for gathering writes, lent until the writer is closed
   */
  SegmentWriter(
      Disk disk,
      UUID storeId,
      long address,
      long checkpointOffset,
      ByteBuffer buffer,
      SegmentSettings settings)
      throws IOException {
    this.settings = settings;
    this.address = address;
    this.buffer = buffer.clear();
    this.file = disk.create(SegmentFormat.name(address));
    put(SegmentFormat.header(storeId, address, checkpointOffset));
  }

  long address() {
    return address;
  }

  /** The address that certainly no byte of this segment has reached yet. */
  long reached() {
    return address + fileBytes;
  }

  /** Whether another entry may be added without going beyond a limit. */
  boolean hasRoomFor(int entryBytes) {
    long indexBound =
        indexBytes + hashBytes + ids.boundBytes() + 4L * IndexBlock.bytes(1) + 2 * Integer.BYTES;
    long bound =
        fileBytes
            + entryBytes
            + indexBound
            + (pieces.size() + 2L) * SegmentFormat.PIECE
            + SegmentFormat.FOOTER;
    return entries == 0
        || (bound <= settings.maxSegmentBytes() && indexBound <= settings.maxIndexBytes());
  }

  /** Appends the entry at a place of a buffer, unchanged. It has been checked. */
  void add(long destinationId, int lane, long holderId, long sequence, ByteBuffer from, int at)
      throws IOException {
    int length = Entry.length(from, at);
    OpenPiece current = piece;
    if (current == null || !current.isOf(destinationId, lane, holderId)) {
      endPiece();
      current = new OpenPiece(destinationId, lane, holderId, sequence, address + fileBytes);
      piece = current;
    } else if (sequence <= current.lastSequence) {
      throw new IllegalStateException(
          "destination %d lane %d: sequence %d follows %d in segment %d"
              .formatted(destinationId, lane, sequence, current.lastSequence, address));
    }
    if (spanCount == Span.MAX_COUNT || (spanCount > 0 && spanBytes + length > Span.MAX_BYTES)) {
      endSpan(current);
    }
    if (spanCount == 0) {
      spanFirst = sequence;
      spanAddress = address + fileBytes;
      earliestEnqueued = Long.MAX_VALUE;
      latestEnqueued = Long.MIN_VALUE;
      earliestExpiry = 0;
      latestExpiry = 0;
      someNeverExpire = false;
    }
    spanLast = sequence;
    spanCount++;
    spanBytes += length;
    note(from, at);
    current.lastSequence = sequence;
    current.count++;
    entries++;
    put(from.duplicate().limit(at + length).position(at));
  }

  /** When the entry that was added last expires is not known. */
  void neverExpires() {
    someNeverExpire = true;
  }

  private void note(ByteBuffer from, int at) {
    long enqueued = Entry.enqueuedMillis(from, at);
    earliestEnqueued = Math.min(earliestEnqueued, enqueued);
    latestEnqueued = Math.max(latestEnqueued, enqueued);
    long expiry = Entry.expiryMillis(from, at);
    if (expiry == 0) {
      someNeverExpire = true;
    } else {
      earliestExpiry = earliestExpiry == 0 ? expiry : Math.min(earliestExpiry, expiry);
      latestExpiry = Math.max(latestExpiry, expiry);
    }
    ids.add(from, at);
  }

  private void endSpan(OpenPiece current) {
    if (spanCount == 0) {
      return;
    }
    if (block.isFull()) {
      blocks.add(block);
      block = IndexBlock.empty();
    }
    int correlationHashes = ids.correlationCount();
    int messageHashes = ids.messageCount();
    byte[] encoded = ids.encode();
    block.put(
        new Span(
            spanFirst,
            spanLast,
            spanAddress,
            spanCount,
            spanBytes,
            earliestEnqueued,
            latestEnqueued,
            earliestExpiry,
            someNeverExpire ? 0 : latestExpiry,
            hashBytes,
            correlationHashes,
            messageHashes,
            Crc.of(ByteBuffer.wrap(encoded), 0, encoded.length)));
    indexBytes += IndexBlock.indexBytes(current.spans + 1) - IndexBlock.indexBytes(current.spans);
    current.spans++;
    hashes.add(encoded);
    hashBytes += encoded.length;
    ids.clear();
    spanCount = 0;
    spanBytes = 0;
  }

  /** Ends the current piece: what follows gets a piece of its own, also if its lane is the same. */
  void endPiece() {
    OpenPiece ended = piece;
    if (ended == null) {
      return;
    }
    endSpan(ended);
    blocks.add(block.trimmed());
    index.add(blocks);
    blocks = new ArrayList<>();
    block = IndexBlock.empty();
    long end = address + fileBytes;
    pieces.add(
        new Piece(
            ended.destinationId,
            ended.lane,
            ended.holderId,
            ended.firstSequence,
            ended.lastSequence,
            ended.count,
            address,
            ended.address,
            end - ended.address,
            end,
            ended.spans));
    piece = null;
  }

  /**
   * Writes index, hashes, directory and footer, forces the file and closes it.
   *
   * @param finished receives the segment's pieces
   */
  SegmentInfo finish(List<Piece> finished) throws IOException {
    endPiece();
    long entryBytes = fileBytes - SegmentFormat.HEADER;
    long hashBase = address + fileBytes + indexBytes;
    long indexBlocks = 0;
    long indexStart = fileBytes;
    List<Piece> placed = new ArrayList<>(pieces.size());
    for (int i = 0; i < pieces.size(); i++) {
      placed.add(at(pieces.get(i), address + fileBytes));
      for (IndexBlock each : index.get(i)) {
        put(each.finish(address + fileBytes, hashBase));
        indexBlocks++;
      }
    }
    if (fileBytes - indexStart != indexBytes) {
      throw new IllegalStateException(
          "segment %d: %d bytes of index, counted %d"
              .formatted(address, fileBytes - indexStart, indexBytes));
    }
    for (byte[] each : hashes) {
      put(ByteBuffer.wrap(each));
    }
    ByteBuffer directory = SegmentFormat.directory(placed);
    SegmentFormat.Footer footer =
        new SegmentFormat.Footer(
            address,
            placed.size(),
            entryBytes,
            entries,
            indexBlocks,
            indexBytes,
            hashBytes,
            directory.limit(),
            Crc.of(directory, 0, directory.limit()));
    put(directory);
    put(SegmentFormat.footer(footer));
    flush();
    file.force();
    file.close();
    finished.addAll(placed);
    return new SegmentInfo(address, fileBytes, entryBytes, entries);
  }

  private static Piece at(Piece piece, long indexAddress) {
    return new Piece(
        piece.destinationId(),
        piece.lane(),
        piece.holderId(),
        piece.firstSequence(),
        piece.lastSequence(),
        piece.count(),
        piece.segmentAddress(),
        piece.address(),
        piece.bytes(),
        indexAddress,
        piece.spans());
  }

  private void put(ByteBuffer bytes) throws IOException {
    int length = bytes.remaining();
    if (length > buffer.remaining()) {
      flush();
    }
    if (length > buffer.capacity()) {
      for (int written = 0; written < length; written += buffer.capacity()) {
        int step = Math.min(buffer.capacity(), length - written);
        buffer.put(
            bytes
                .duplicate()
                .limit(bytes.position() + written + step)
                .position(bytes.position() + written));
        fileBytes += step;
        flush();
      }
    } else {
      buffer.put(bytes);
      fileBytes += length;
    }
  }

  private void flush() throws IOException {
    buffer.flip();
    int length = buffer.remaining();
    if (length > 0) {
      file.write(fileBytes - length, buffer);
    }
    buffer.clear();
  }

  @Override
  public void close() throws IOException {
    file.close();
  }
}

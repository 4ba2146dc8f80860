package io.lightmq.core.storage.segment;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * Looks spans up in the index blocks of all segments; blocks are read when they are needed and
 * cached by address, at most {@link SegmentSettings#indexCacheBytes} of them. The cache works on
 * the caller's thread. All threads.
 */
final class SegmentIndex {
  private final Cache<Long, IndexBlock> cache;

  SegmentIndex(long cacheBytes) {
    this.cache =
        Caffeine.newBuilder()
            .maximumWeight(cacheBytes)
            .weigher((Long address, IndexBlock block) -> block.weight())
            .executor(Runnable::run)
            .build();
  }

  /** Number of the last span of a piece that begins at or below a sequence, or 0. */
  int floor(SegmentFiles.Reference segment, Piece piece, long sequence) throws IOException {
    int low = 0;
    int high = (piece.spans() - 1) / IndexBlock.SPANS;
    while (low < high) {
      int middle = (low + high + 1) >>> 1;
      if (block(segment, piece, middle).firstSequence(0) <= sequence) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return low * IndexBlock.SPANS + block(segment, piece, low).floor(sequence);
  }

  /** A span of a piece by its number. */
  Span span(SegmentFiles.Reference segment, Piece piece, int number) throws IOException {
    return block(segment, piece, number / IndexBlock.SPANS).span(number % IndexBlock.SPANS);
  }

  private IndexBlock block(SegmentFiles.Reference segment, Piece piece, int number)
      throws IOException {
    long address = piece.indexAddress() + (long) number * IndexBlock.STRIDE;
    IndexBlock block = cache.getIfPresent(address);
    if (block == null) {
      block = load(segment, piece, number, address);
      cache.put(address, block);
    }
    return block;
  }

  /** Reads a block from the file, past the cache. */
  static IndexBlock load(SegmentFiles.Reference segment, Piece piece, int number, long address)
      throws IOException {
    int spans = Math.min(IndexBlock.SPANS, piece.spans() - number * IndexBlock.SPANS);
    int bytes = IndexBlock.bytes(spans);
    if (address < segment.footer().indexAddress()
        || address + bytes > segment.footer().hashAddress()) {
      throw SegmentFormat.damaged(
          segment.name(),
          "index block at address %d with %d bytes lies outside of the index, %d to %d"
              .formatted(
                  address, bytes, segment.footer().indexAddress(), segment.footer().hashAddress()));
    }
    ByteBuffer buffer = ByteBuffer.allocate(bytes);
    segment.read(address, buffer);
    return IndexBlock.read(buffer.flip(), address, spans, segment.name());
  }

  /** Forgets the blocks of a piece. */
  void forget(Piece piece) {
    for (int first = 0; first < piece.spans(); first += IndexBlock.SPANS) {
      cache.invalidate(
          piece.indexAddress() + (long) (first / IndexBlock.SPANS) * IndexBlock.STRIDE);
    }
  }

  /** Bytes of cached blocks, once pending evictions are done. */
  long cachedBytes() {
    cache.cleanUp();
    return cache.policy().eviction().orElseThrow().weightedSize().orElse(0);
  }
}

package io.lightmq.core.storage.segment;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.lightmq.core.storage.ReadFailures;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Looks spans up in the index blocks of all segments; blocks are read when they are needed and
 * cached by address, at most {@link SegmentSettings#indexCacheBytes} of them. A damaged one is made
 * anew from what it leads to, if that is whole. The cache works on the caller's thread. All
 * threads.
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

  /**
   * Number of the last span of a piece that begins at or below a sequence, or 0.
   *
   * @param rebuild makes what is damaged anew; null if it is not to be made
   */
  int floor(
      SegmentFiles.Reference segment, Piece piece, long sequence, @Nullable IndexRebuild rebuild)
      throws IOException {
    int low = 0;
    int high = (piece.spans() - 1) / IndexBlock.SPANS;
    while (low < high) {
      int middle = (low + high + 1) >>> 1;
      if (block(segment, piece, middle, rebuild).firstSequence(0) <= sequence) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return low * IndexBlock.SPANS + block(segment, piece, low, rebuild).floor(sequence);
  }

  /** A span of a piece by its number. */
  Span span(SegmentFiles.Reference segment, Piece piece, int number, @Nullable IndexRebuild rebuild)
      throws IOException {
    return block(segment, piece, number / IndexBlock.SPANS, rebuild)
        .span(number % IndexBlock.SPANS);
  }

  private IndexBlock block(
      SegmentFiles.Reference segment, Piece piece, int number, @Nullable IndexRebuild rebuild)
      throws IOException {
    long address = address(piece, number);
    IndexBlock block = cache.getIfPresent(address);
    if (block != null) {
      return block;
    }
    IndexBlock loaded =
        rebuild == null
            ? load(segment, piece, number, address)
            : loadIfWhole(segment, piece, number, address);
    if (loaded != null) {
      cache.put(address, loaded);
      return loaded;
    }
    return rebuilt(segment, piece, number, Objects.requireNonNull(rebuild, "else it is thrown"));
  }

  private static long address(Piece piece, int number) {
    return piece.indexAddress() + (long) number * IndexBlock.STRIDE;
  }

  /** Reads a block from the file; null if it is damaged. */
  private static @Nullable IndexBlock loadIfWhole(
      SegmentFiles.Reference segment, Piece piece, int number, long address) throws IOException {
    try {
      return load(segment, piece, number, address);
    } catch (IOException e) {
      if (ReadFailures.isOfTheFile(e)) {
        throw e;
      }
      return null;
    }
  }

  /** Makes a block anew, and those before it that are damaged too, and caches them. */
  private IndexBlock rebuilt(
      SegmentFiles.Reference segment, Piece piece, int number, IndexRebuild rebuild)
      throws IOException {
    int first = number;
    IndexBlock before = null;
    while (first > 0 && before == null) {
      before = cache.getIfPresent(address(piece, first - 1));
      if (before == null) {
        before = loadIfWhole(segment, piece, first - 1, address(piece, first - 1));
      }
      first -= before == null ? 1 : 0;
    }
    long start = before == null ? piece.address() : before.span(before.spans() - 1).end();
    IndexBlock made = null;
    for (int at = first; at <= number; at++) {
      made = rebuild.block(segment, piece, at, address(piece, at), start).asRebuilt();
      start = made.span(made.spans() - 1).end();
      cache.put(address(piece, at), made);
    }
    return Objects.requireNonNull(made, "at least the one that is wanted was made");
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

  /**
   * Forgets the blocks of a piece that were read; those made anew are proven by what they lead to.
   */
  void forget(Piece piece) {
    for (int first = 0; first < piece.spans(); first += IndexBlock.SPANS) {
      long address = address(piece, first / IndexBlock.SPANS);
      IndexBlock block = cache.getIfPresent(address);
      if (block != null && !block.isRebuilt()) {
        cache.invalidate(address);
      }
    }
  }

  /** Bytes of cached blocks, once pending evictions are done. */
  long cachedBytes() {
    cache.cleanUp();
    return cache.policy().eviction().orElseThrow().weightedSize().orElse(0);
  }
}

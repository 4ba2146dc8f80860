package io.lightmq.core.storage.segment;

/**
 * Sizes of the segment store.
 *
 * @param maxSegmentBytes a segment is finished before it would grow beyond; a single longer entry
 *     still gets a segment of its own
 * @param dedicatedBytes a destination with at least this much to keep gets segments to itself
 * @param writeBufferBytes what the destage thread gathers per write, and reads per step
 * @param readAheadBytes what a reader reads per step, at most
 * @param indexCacheBytes bound of the cache of index blocks, over all segments
 * @param maxOpenFiles segment files kept open; those in use beyond it stay open until released
 * @param maxIndexBytes a segment is finished early when its index would need more memory than this
 * @param maxEntryBytes longest entry that is believed; a longer length is damage
 */
public record SegmentSettings(
    long maxSegmentBytes,
    long dedicatedBytes,
    int writeBufferBytes,
    int readAheadBytes,
    long indexCacheBytes,
    int maxOpenFiles,
    int maxIndexBytes,
    int maxEntryBytes) {
  /** 256 MiB segments, 16 MiB dedicated, 256 KiB steps, 8 MiB of index, 64 files. */
  public static final SegmentSettings DEFAULT =
      new SegmentSettings(
          256L << 20, 16L << 20, 256 << 10, 256 << 10, 8L << 20, 64, 4 << 20, 64 << 20);

  public SegmentSettings {
    if (maxSegmentBytes < 1024
        || dedicatedBytes < 1
        || writeBufferBytes < 1024
        || readAheadBytes < 1024
        || indexCacheBytes < 0
        || maxOpenFiles < 1
        || maxIndexBytes < 1024
        || maxEntryBytes < 128) {
      throw new IllegalArgumentException(
          ("segments of %d bytes (at least 1024), dedicated from %d (1), buffers of %d and %d"
                  + " (1024), %d of cached index (0), %d open files (1), %d of index (1024), entries"
                  + " of %d (128)")
              .formatted(
                  maxSegmentBytes,
                  dedicatedBytes,
                  writeBufferBytes,
                  readAheadBytes,
                  indexCacheBytes,
                  maxOpenFiles,
                  maxIndexBytes,
                  maxEntryBytes));
    }
  }
}

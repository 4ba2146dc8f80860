package io.lightmq.core.storage.segment;

/**
 * A finished segment as a snapshot names it.
 *
 * @param address where it starts, which is also its name
 * @param bytes length of the file; the next segment begins at or behind {@code address + bytes}
 * @param entryBytes bytes of entries in it, the rest is directory and index
 * @param entries count of entries
 */
public record SegmentInfo(long address, long bytes, long entryBytes, long entries) {
  public SegmentInfo {
    if (address < 0 || bytes <= 0 || entryBytes < 0 || entryBytes > bytes || entries < 0) {
      throw new IllegalArgumentException(
          "segment at %d with %d bytes, of which %d in %d entries, is impossible"
              .formatted(address, bytes, entryBytes, entries));
    }
  }

  /** The address just behind the segment. */
  public long end() {
    return address + bytes;
  }
}

package io.lightmq.core.storage.segment;

import java.util.List;

/**
 * What a destage has written and forced. It counts once a snapshot names it.
 *
 * @param segments the new segments, rising by address
 * @param pieces the new pieces, in the order (destination, lane, holder, sequence)
 * @param replaced pieces of the rewritten segments: the lanes look up {@code pieces} instead
 * @param nextAddress where the next segment would begin
 */
public record Destaged(
    List<SegmentInfo> segments, List<Piece> pieces, List<Piece> replaced, long nextAddress) {
  public Destaged {
    segments = List.copyOf(segments);
    pieces = List.copyOf(pieces);
    replaced = List.copyOf(replaced);
  }

  /** Bytes in all new segments. */
  public long bytes() {
    return segments.stream().mapToLong(SegmentInfo::bytes).sum();
  }
}

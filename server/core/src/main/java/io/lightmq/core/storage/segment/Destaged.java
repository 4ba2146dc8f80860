package io.lightmq.core.storage.segment;

import java.io.IOException;
import java.util.List;

/**
 * What a destage has written and forced. It counts once a snapshot names it.
 *
 * @param segments the new segments, rising by address
 * @param pieces the new pieces, in the order (destination, lane, holder, sequence)
 * @param replaced pieces of the rewritten segments: the lanes look up {@code pieces} instead
 * @param nextAddress where the next segment would begin
 * @param damages what of the journal was damaged and is so in the new segments too; at most {@value
 *     #MAX_DAMAGES}, the rest is found when it is read
 */
public record Destaged(
    List<SegmentInfo> segments,
    List<Piece> pieces,
    List<Piece> replaced,
    long nextAddress,
    List<Damage> damages) {
  static final int MAX_DAMAGES = 1_024;

  public Destaged {
    segments = List.copyOf(segments);
    pieces = List.copyOf(pieces);
    replaced = List.copyOf(replaced);
    damages = List.copyOf(damages);
  }

  /**
   * Consecutive messages of a lane that are damaged.
   *
   * @param through the last one
   * @param cause says where in the journal
   */
  public record Damage(long destinationId, int lane, long from, long through, IOException cause) {}

  /** Bytes in all new segments. */
  public long bytes() {
    return segments.stream().mapToLong(SegmentInfo::bytes).sum();
  }
}

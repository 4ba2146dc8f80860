package io.lightmq.core.checkpoint;

import io.lightmq.core.state.StateSnapshot;
import io.lightmq.core.storage.segment.DestagePlan;
import io.lightmq.core.storage.segment.Destaged;
import io.lightmq.core.storage.segment.Piece;
import io.lightmq.core.storage.segment.Reclaim;
import io.lightmq.core.storage.segment.SegmentInfo;
import io.lightmq.core.storage.snapshot.Snapshot;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** What the snapshot of a checkpoint names: the state, and the segments with what is needed. */
final class Contents {
  private Contents() {}

  /**
   * Puts a snapshot together.
   *
   * @param before the segments that there were
   * @param chosen those of them that go
   */
  static Snapshot of(
      StateSnapshot encoded,
      DestagePlan plan,
      Reclaim chosen,
      List<SegmentInfo> before,
      Destaged destaged,
      long nowMillis) {
    Set<Piece> replaced = new HashSet<>(destaged.replaced());
    Set<Long> gone = new HashSet<>(chosen.unneeded());
    gone.addAll(plan.rewrite());
    List<SegmentInfo> segments = new ArrayList<>();
    for (SegmentInfo segment : before) {
      if (!gone.contains(segment.address())) {
        segments.add(segment);
      }
    }
    segments.addAll(destaged.segments());
    segments.sort(Comparator.comparingLong(SegmentInfo::address));
    List<Piece> pieces = new ArrayList<>();
    for (Piece piece : encoded.pieces()) {
      if (!replaced.contains(piece) && !gone.contains(piece.segmentAddress())) {
        pieces.add(piece);
      }
    }
    pieces.addAll(destaged.pieces());
    return new Snapshot(
        plan.offset(), nowMillis, destaged.nextAddress(), encoded.slices(), segments, pieces);
  }
}

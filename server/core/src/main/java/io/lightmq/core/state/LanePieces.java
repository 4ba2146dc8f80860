package io.lightmq.core.state;

import io.lightmq.core.storage.segment.Piece;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The pieces of segments that one destination has, for its lanes to take. */
public final class LanePieces {
  /** Of a destination that has none. */
  public static final LanePieces NONE = new LanePieces();

  private final List<Piece> all = new ArrayList<>(1);

  private LanePieces() {}

  /** Sorts pieces by their destination's id. */
  public static Map<Long, LanePieces> byDestination(List<Piece> pieces) {
    Map<Long, LanePieces> sorted = new HashMap<>();
    for (Piece piece : pieces) {
      sorted.computeIfAbsent(piece.destinationId(), id -> new LanePieces()).all.add(piece);
    }
    return sorted;
  }

  /** Those of one durable lane, rising by sequence. */
  public List<Piece> of(int lane) {
    List<Piece> found = new ArrayList<>(all.size());
    for (Piece piece : all) {
      if (piece.lane() == lane) {
        found.add(piece);
      }
    }
    found.sort(Comparator.comparingLong(Piece::firstSequence));
    return found;
  }
}

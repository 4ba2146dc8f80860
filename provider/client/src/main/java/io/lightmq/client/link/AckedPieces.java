package io.lightmq.client.link;

import io.lightmq.wire.Frame;
import io.lightmq.wire.entry.SequenceRange;
import java.util.ArrayList;
import java.util.List;

/**
 * Lists of acknowledged places in pieces that fit into a frame: consumers and ranges are list
 * items, of which a frame has a limited number.
 */
final class AckedPieces {
  private AckedPieces() {}

  /** How many list items these are in a frame. */
  static int items(List<Frame.Acked> acked) {
    int items = 0;
    for (Frame.Acked each : acked) {
      items = Math.addExact(items, 1 + each.ranges().size());
    }
    return items;
  }

  /** The same places in the same order, in pieces of at most so many items, two or more. */
  static List<List<Frame.Acked>> of(List<Frame.Acked> acked, int mostItems) {
    if (items(acked) <= mostItems) {
      return List.of(acked);
    }
    List<List<Frame.Acked>> pieces = new ArrayList<>();
    List<Frame.Acked> piece = new ArrayList<>();
    int left = mostItems;
    for (Frame.Acked each : acked) {
      List<SequenceRange> ranges = each.ranges();
      int from = 0;
      while (from < ranges.size()) {
        if (left < 2) {
          pieces.add(piece);
          piece = new ArrayList<>();
          left = mostItems;
        }
        int to = Math.min(ranges.size(), from + left - 1);
        piece.add(
            new Frame.Acked(each.consumerId(), each.destinationId(), ranges.subList(from, to)));
        left -= 1 + to - from;
        from = to;
      }
    }
    pieces.add(piece);
    return pieces;
  }
}

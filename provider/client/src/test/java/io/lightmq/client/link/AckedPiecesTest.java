package io.lightmq.client.link;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.wire.Frame;
import io.lightmq.wire.entry.SequenceRange;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class AckedPiecesTest {
  private static Frame.Acked acked(int consumerId, int ranges) {
    List<SequenceRange> all = new ArrayList<>();
    for (int i = 0; i < ranges; i++) {
      all.add(new SequenceRange(4, 2L * i, 1));
    }
    return new Frame.Acked(consumerId, 100, all);
  }

  @Test
  void whatFitsStaysOnePiece() {
    List<Frame.Acked> fits = List.of(acked(1, 4), acked(2, 4));
    assertThat(AckedPieces.items(fits)).isEqualTo(10);
    assertThat(AckedPieces.of(fits, 10)).containsExactly(fits);
  }

  @Test
  void piecesHaveAllPlacesInOrderAndNoMoreItemsThanAllowed() {
    for (int most = 2; most < 40; most++) {
      List<Frame.Acked> whole = List.of(acked(1, 7), acked(2, 1), acked(3, 25));
      List<List<Frame.Acked>> pieces = AckedPieces.of(whole, most);
      List<String> places = new ArrayList<>();
      for (List<Frame.Acked> piece : pieces) {
        assertThat(AckedPieces.items(piece)).isBetween(2, most);
        places.addAll(places(piece));
      }
      assertThat(places).isEqualTo(places(whole));
    }
  }

  private static List<String> places(List<Frame.Acked> acked) {
    List<String> places = new ArrayList<>();
    for (Frame.Acked each : acked) {
      each.ranges().forEach(range -> places.add(each.consumerId() + " " + range));
    }
    return places;
  }
}

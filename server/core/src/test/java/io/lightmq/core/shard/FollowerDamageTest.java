package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.door.Command.Subscribe;
import io.lightmq.core.door.Figure;
import io.lightmq.core.sim.PairedLog;
import io.lightmq.core.sim.SimulatedLoops;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What a follower finds damaged, an owner sets aside. */
class FollowerDamageTest {
  private static final long SECOND = 1_000_000_000L;
  private static final DestinationName QUEUE = new DestinationName(DestinationKind.QUEUE, "orders");

  @Test
  void damageThatAFollowerFoundIsToldWhenItLeadsBeforeAnybodyReads() throws IOException {
    SimulatedLoops loops = new SimulatedLoops(3);
    PairedLog log = new PairedLog(3);
    PairedNode one = new PairedNode(3, loops, log);
    PairedNode two = new PairedNode(4, loops, log);
    one.lead();
    FakePeer peer = one.words.attach();
    long queue = one.words.producer(peer, QUEUE);
    List<String> whole = new ArrayList<>();
    for (int i = 1; i <= 20; i++) {
      String text = "text " + i + " of 20";
      one.words.receipt(peer, one.words.publish(peer, queue, i, text));
      if (i != 7) {
        whole.add(text);
      }
    }
    two.member.damagedAt = log.find("text 7 of 20");
    two.words.broker.wantCheckpoint();
    loops.advance(3 * SECOND);
    assertThat(two.words.broker.newestCheckpoint()).isPositive();
    two.member.damagedAt = -1; // where it lies now, it is damaged all the same
    one.member.resign();
    loops.advance(SECOND);
    two.lead();
    loops.advance(2 * SECOND);
    assertThat(two.words.admin("damaged.list", Map.of()))
        .contains("\"destination\":\"orders\"")
        .contains("\"messages\":1}");
    assertThat(two.words.broker.metrics().of(Figure.SET_ASIDE)).isEqualTo(1);
    FakePeer other = two.words.attach();
    two.words.consumer(other, 1, QUEUE, Subscribe.QUEUE, null);
    while (!two.words.pull(other, 1, 20).isEmpty()) {
      // On with the next ones.
    }
    assertThat(other.received).extracting(FakePeer.Received::text).containsExactlyElementsOf(whole);
    assertThat(two.words.admin("damaged.list", Map.of())).contains("\"messages\":1}");
  }
}

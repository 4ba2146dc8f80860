package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.door.Command;
import io.lightmq.core.door.Command.Subscribe;
import io.lightmq.core.door.Peer;
import io.lightmq.core.sessions.SelectorBudget;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class SelectorBudgetTest {
  private static final int CHARS = 30_000;

  private static Peer.Reply open(BrokerHarness h, FakePeer peer, int id, Subscribe how) {
    boolean queue = how == Subscribe.QUEUE || how == Subscribe.BROWSE;
    DestinationName name =
        new DestinationName(queue ? DestinationKind.QUEUE : DestinationKind.TOPIC, "orders");
    String selector = "number = " + id + " AND text = '";
    selector += "x".repeat(CHARS - selector.length() - 1) + "'";
    return h.tryConsumer(peer, id, name, how, "s" + id, selector, false);
  }

  @ParameterizedTest
  @EnumSource(names = {"QUEUE", "BROWSE", "PLAIN", "SHARED", "SHARED_DURABLE"})
  void openSelectorsTakeABoundedPartOfTheHeapAndClosedOnesNone(Subscribe how) throws Exception {
    BrokerHarness h = new BrokerHarness(1).open();
    FakePeer peer = h.attach();
    long fit = Runtime.getRuntime().maxMemory() / 8 / SelectorBudget.BYTES_PER_CHAR / CHARS;
    for (int id = 1; id <= fit; id++) {
      assertThat(open(h, peer, id, how)).isNotInstanceOf(Peer.Reply.Failed.class);
    }
    int next = (int) fit + 1;
    assertThat(open(h, peer, next, how))
        .isInstanceOfSatisfying(
            Peer.Reply.Failed.class,
            failed -> {
              assertThat(failed.code()).isEqualTo(FaultCode.LIMIT_REACHED);
              assertThat(failed.text()).contains(fit * CHARS + "; the limit is ");
            });
    h.broker.submit(new Command.DetachConsumer(peer, h.nextCorrelation(), 1));
    if (how == Subscribe.SHARED_DURABLE) {
      h.broker.submit(new Command.Unsubscribe(peer, h.nextCorrelation(), "s1"));
    }
    h.loops.runUntilIdle();
    assertThat(open(h, peer, next, how)).isNotInstanceOf(Peer.Reply.Failed.class);
    h.close();
  }
}

package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.state.TurnPart;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Who has a share in a turn has it at its place: clients see the order. */
class TurnOrderTest {
  @RegisterExtension final BrokerHarness h = new BrokerHarness(1);

  /** A part that notes when it has its share, and wants turns at some times. */
  private record Noting(String name, List<String> notes, long next, boolean waits)
      implements TurnPart {
    @Override
    public void turn() {
      notes.add("turn of " + name);
    }

    @Override
    public void tick() {
      notes.add("tick of " + name);
    }

    @Override
    public void end() {
      notes.add("end of " + name);
    }

    @Override
    public long nextNanos() {
      return next;
    }

    @Override
    public long nextMillis() {
      return next + 1;
    }
  }

  @Test
  void sharesAreHadInTheOrderThatTurnsHaveAlwaysHad() throws Exception {
    h.open();
    assertThat(h.broker.turnOrder())
        .containsExactly(
            // What becomes due, so that the turn's batch carries what it records.
            "SettingAside",
            "Intake",
            "Sessions",
            "Staging",
            "Withheld",
            "Delays",
            "Mover",
            "Receipts",
            "Janitor",
            "Retries",
            "PreparedAlarm",
            // The batch goes on its way before anybody is given what it made visible.
            "Appending",
            "DeliveryDecisions",
            "GivingOut",
            // What takes long comes when clients have theirs.
            "checkpoints",
            "overflow",
            // Answers that wait for no mark see all that the turn did.
            "effects",
            "timers",
            "Slices",
            "sifting");
  }

  @Test
  void eachPartHasAllItsSharesAtItsPlace() {
    List<String> notes = new ArrayList<>();
    TurnOrder order =
        new TurnOrder(
            new Noting("a", notes, 7, false),
            new TurnOrder.Step("b", () -> notes.add("turn of b")),
            new Noting("c", notes, 5, true));
    order.turn();
    order.tick();
    order.end();
    assertThat(notes)
        .containsExactly(
            "turn of a",
            "turn of b",
            "turn of c",
            "tick of a",
            "tick of c",
            "end of a",
            "end of c");
    assertThat(order.nextNanos()).isEqualTo(5);
    assertThat(order.nextMillis()).isEqualTo(6);
    assertThat(order.waits()).isTrue();
    assertThat(new TurnOrder(new TurnOrder.Step("b", () -> {})).waits()).isFalse();
    assertThat(new TurnOrder().nextNanos()).isEqualTo(Long.MAX_VALUE);
  }
}

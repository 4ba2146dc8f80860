package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.door.Command;
import io.lightmq.core.intake.Intake;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Runs of non-persistent messages that find no memory, and no overflow. */
class HeldRunsTest {
  private static final long MILLI = 1_000_000;
  private static final String TEXT = "x".repeat(7_000);

  @RegisterExtension final BrokerHarness h = new BrokerHarness(5);
  private FakePeer peer;
  private long queue;
  private final List<Integer> stored = new ArrayList<>();
  private final List<Integer> held = new ArrayList<>();

  @BeforeEach
  void fill() throws IOException {
    h.settings = BrokerHarness.settings(64 << 10, 1 << 17, 1 << 20, 0);
    h.open();
    peer = h.attach();
    queue = h.producer(peer, new DestinationName(DestinationKind.QUEUE, "q"));
    for (int i = 0; i < 200; i++) {
      int c = h.publish(peer, queue, 0, TEXT);
      h.loops.runUntilIdle();
      (BrokerHarness.find(peer, c) == null ? held : stored).add(c);
    }
    assertThat(stored).isNotEmpty();
    assertThat(held).isNotEmpty();
  }

  @Test
  void theyAreTakenOnceConsumersHaveMadeRoom() {
    h.consumer(
        peer, 1, new DestinationName(DestinationKind.QUEUE, "q"), Command.Subscribe.QUEUE, null);
    for (FakePeer.Received one : h.pull(peer, 1, stored.size())) {
      Command.Acked acked = new Command.Acked(1, one.destinationId(), List.of(one.range()));
      h.broker.submit(new Command.Acknowledge(peer, 0, List.of(acked)));
    }
    h.loops.advance(2_000 * MILLI);
    assertThat(h.receipt(peer, held.get(0))).isEqualTo(FaultCode.OK);
  }

  @Test
  void theyAreRefusedAfterAWhileAndGiveTheirCreditBack() {
    h.loops.advance((Intake.MAX_HELD_MILLIS - 2_000) * MILLI);
    assertThat(held).allSatisfy(c -> assertThat(BrokerHarness.find(peer, c)).isNull());
    long credit = peer.credit;
    h.loops.advance(4_000 * MILLI);
    assertThat(held)
        .allSatisfy(
            c ->
                assertThat(BrokerHarness.find(peer, c))
                    .extracting(FakePeer.Receipt::code)
                    .isEqualTo(FaultCode.MEMORY_FULL));
    assertThat(peer.credit - credit).isGreaterThanOrEqualTo((long) held.size() * TEXT.length());
    assertThat(peer.disconnects).isEmpty();
  }
}

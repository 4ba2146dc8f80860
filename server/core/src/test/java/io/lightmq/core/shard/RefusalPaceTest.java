package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.door.Command;
import io.lightmq.core.door.Peer;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Refusals that are recorded share the disk with those whose messages are taken. */
class RefusalPaceTest {
  private static final DestinationName QUEUE = new DestinationName(DestinationKind.QUEUE, "q");
  private static final String JOURNAL = "journal/.*";
  private static final long UNKNOWN = 4_711;
  private static final int REFUSALS = 50;

  @RegisterExtension final BrokerHarness h = new BrokerHarness(340);

  @BeforeEach
  void open() throws Exception {
    h.open();
  }

  @Test
  void whoIsRefusedAndComesAgainAtOnceIsToldEachTenMilliseconds() {
    FakePeer stranger = h.attach();
    long began = h.loops.clock().nanos();
    for (int number = 1; number <= REFUSALS; number++) {
      assertThat(h.receipt(stranger, h.publish(stranger, UNKNOWN, number, "m")))
          .isEqualTo(FaultCode.DESTINATION_GONE);
    }
    assertThat(h.loops.clock().nanos() - began).isGreaterThanOrEqualTo(REFUSALS * 10_000_000L);
  }

  @Test
  void thoseThatComeTogetherAreForcedAndToldTogether() {
    List<FakePeer> strangers = new ArrayList<>();
    for (int i = 0; i < REFUSALS; i++) {
      strangers.add(h.attach());
    }
    int forced = h.disk.forces(JOURNAL);
    for (FakePeer stranger : strangers) {
      h.publish(stranger, UNKNOWN, 1, "m");
      h.loops.advance(100_000); // all of them within the time of the first
    }
    h.loops.runUntil(() -> strangers.stream().noneMatch(stranger -> stranger.receipts.isEmpty()));
    assertThat(strangers)
        .allMatch(stranger -> stranger.receipts.get(0).code() == FaultCode.DESTINATION_GONE);
    assertThat(h.disk.forces(JOURNAL) - forced).isEqualTo(1);
  }

  @Test
  void nobodyIsToldOfARefusalThatACrashCouldTake() throws Exception {
    UUID link = new UUID(340, 1);
    FakePeer stranger = h.attach(link, 1, 1, null);
    int waiting = h.publish(stranger, UNKNOWN, 1, "m");
    FakePeer honest = h.attach();
    assertThat(h.receipt(honest, h.publish(honest, h.producer(honest, QUEUE), 1, "m")))
        .as("what is taken waits for no refusal")
        .isEqualTo(FaultCode.OK);
    assertThat(BrokerHarness.find(stranger, waiting)).isNull();
    assertThat(h.receipt(stranger, waiting)).isEqualTo(FaultCode.DESTINATION_GONE);
    h.crash(true);
    h.open();
    FakePeer again = h.newPeer();
    int c = h.nextCorrelation();
    h.broker.submit(new Command.Attach(again, c, link, 2, 1, null));
    Peer.Reply.Attached attached = (Peer.Reply.Attached) h.reply(again, c);
    assertThat(attached.last()).isEqualTo(1);
    assertThat(attached.outcomes()).singleElement().extracting(Peer.Outcome::number).isEqualTo(1L);
  }
}

package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.door.Command;
import io.lightmq.core.door.Command.Subscribe;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import java.io.IOException;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class UnloggedReceiptTest {
  private static final long FORCE = 300_000_000;
  private static final DestinationName QUEUE = new DestinationName(DestinationKind.QUEUE, "q");

  private final BrokerHarness h = new BrokerHarness(61);
  private FakePeer sender;
  private FakePeer reader;
  private long queue;

  @BeforeEach
  void open() throws IOException {
    h.open();
    sender = h.attach(new UUID(7, 7), 1, 1, null);
    reader = h.attach();
    queue = h.producer(sender, QUEUE);
    h.consumer(reader, 1, QUEUE, Subscribe.QUEUE, null);
    h.disk.beforeForce(name -> h.loops.block(name.startsWith("journal/") ? FORCE : 0));
  }

  private long millisUntilReceipt(int correlation) {
    long begin = h.loops.clock().nanos();
    assertThat(h.receipt(sender, correlation)).isEqualTo(FaultCode.OK);
    return (h.loops.clock().nanos() - begin) / 1_000_000;
  }

  @Test
  void aUnloggedMessageBehindADurableOneIsToldOfWhenItCanBeGiven() {
    int durable = h.publish(sender, queue, 1, "durable");
    int unlogged = h.publish(sender, queue, 0, "unlogged");

    millisUntilReceipt(unlogged);

    assertThat(BrokerHarness.find(sender, durable)).as("the durable one's receipt").isNotNull();
    assertThat(h.pull(reader, 1, 10))
        .extracting(FakePeer.Received::text)
        .containsExactly("durable", "unlogged");
  }

  @Test
  void aUnloggedCommitBehindADurableMessageIsToldOfWhenItCanBeGiven() {
    int durable = h.publish(sender, queue, 1, "durable");
    int commit = h.nextCorrelation();
    h.broker.submit(
        new Command.Commit(
            sender,
            commit,
            1,
            2,
            List.of(new Command.StagedRun(queue, false, 1, h.bytes(false, 0, "unlogged"))),
            List.of()));

    millisUntilReceipt(commit);

    assertThat(BrokerHarness.find(sender, durable)).as("the durable one's receipt").isNotNull();
  }

  @Test
  void aUnloggedMessageAloneWaitsForNoForce() {
    assertThat(millisUntilReceipt(h.publish(sender, queue, 0, "unlogged"))).isLessThan(1);
    assertThat(h.pull(reader, 1, 10)).hasSize(1);
  }
}

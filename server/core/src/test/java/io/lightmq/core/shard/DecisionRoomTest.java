package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.door.BrokerSettings;
import io.lightmq.core.door.Command;
import io.lightmq.core.door.Command.Subscribe;
import io.lightmq.core.door.Figure;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class DecisionRoomTest {
  private static final long MILLI = 1_000_000;
  private static final int PAIRS = 1_500;
  private static final DestinationName QUEUE = new DestinationName(DestinationKind.QUEUE, "q");

  @Test
  void whatDeliveryWantsRecordedWaitsForRoomInTheWindow() throws IOException {
    BrokerHarness h = new BrokerHarness(51);
    h.settings = withWindow(32 << 10);
    h.open();
    FakePeer peer = h.attach(new UUID(7, 7), 1, 1, null);
    long id = h.producer(peer, QUEUE);
    for (int i = 1; i <= PAIRS; i++) {
      assertThat(h.receipt(peer, publishPair(h, peer, id, i))).isEqualTo(FaultCode.OK);
    }
    h.consumer(peer, 1, QUEUE, Subscribe.QUEUE, null);
    h.loops.advance(2_000 * MILLI);
    h.loops.delay("journal", 500 * MILLI);
    int before = peer.received.size();
    while (peer.received.size() < before + PAIRS) {
      h.pull(peer, 1, 2 * PAIRS);
      h.loops.advance(MILLI);
    }
    h.loops.advance(60_000 * MILLI);
    assertThat(h.broker.failure()).isNotDone();
    assertThat(h.broker.metrics().of(Figure.EXPIRED)).isEqualTo(PAIRS);
    assertThat(h.broker.metrics().destinations().get(0).subscriptions().get(0).backlog().messages())
        .isEqualTo(PAIRS);
    h.close();
  }

  /** One message that has expired when it is pulled, and one that has not. */
  private static int publishPair(BrokerHarness h, FakePeer peer, long id, int number) {
    int c = h.nextCorrelation();
    Command.Bytes first = h.bytes(true, 1_000, "a");
    Command.Bytes second = h.bytes(true, 0, "b");
    ByteBuffer both =
        ByteBuffer.allocate(first.buffer().remaining() + second.buffer().remaining())
            .put(first.buffer().duplicate())
            .put(second.buffer().duplicate())
            .flip();
    h.broker.submit(
        new Command.Publish(
            peer,
            c,
            id,
            number,
            2,
            new Command.Bytes() {
              @Override
              public ByteBuffer buffer() {
                return both;
              }

              @Override
              public void release() {
                both.limit(0);
              }
            }));
    return c;
  }

  static BrokerSettings withWindow(int windowBytes) {
    BrokerSettings small = BrokerHarness.settings(1 << 20);
    return small
        .with(small.limits().withMaxMessageBytes(4 << 10))
        .with(small.memory().withWindowBytes(windowBytes));
  }
}

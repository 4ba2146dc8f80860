package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.door.Command;
import io.lightmq.core.door.Command.Subscribe;
import io.lightmq.core.shard.BrokerHarness.Sample;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.SequenceRange;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Whatever records say of the state, a state that has nothing but the records says too. */
class ReplayTest {
  private static final DestinationName QUEUE = new DestinationName(DestinationKind.QUEUE, "orders");
  private static final DestinationName TOPIC = new DestinationName(DestinationKind.TOPIC, "prices");

  private final BrokerHarness harness = new BrokerHarness(11);
  private FakePeer peer;
  private long number;

  @BeforeEach
  void open() throws IOException {
    harness.open();
    peer = harness.attach(new UUID(1, 2), 1, 1, "desk");
  }

  @AfterEach
  void close() throws IOException {
    harness.close();
  }

  private void replaysAsItLived() throws IOException {
    harness.loops.runUntilIdle();
    assertThat(harness.isWritten()).isTrue();
    assertThat(harness.replayedOtherwise()).isNull();
  }

  private String replayedOtherwise() throws IOException {
    harness.loops.runUntilIdle();
    return String.valueOf(harness.replayedOtherwise());
  }

  private void send(long destination, Command.Bytes messages, int count) {
    int c = harness.nextCorrelation();
    harness.broker.submit(new Command.Publish(peer, c, destination, ++number, count, messages));
    assertThat(harness.receipt(peer, c)).isEqualTo(FaultCode.OK);
  }

  private long runsThatExpire() {
    long queue = harness.producer(peer, QUEUE);
    send(queue, harness.bytes(true, 60_000, "one", "two", "three"), 3);
    send(queue, harness.bytes(true, 30_000, List.of(new Sample(1, "low"), new Sample(8, "x"))), 2);
    return queue;
  }

  @Test
  void whenMessagesExpireComesFromTheirBytes() throws IOException {
    runsThatExpire();
    replaysAsItLived();
    harness.checkpoint();
    replaysAsItLived();
    harness.loops.advance(40_000_000_000L);
    replaysAsItLived(); // what the janitor has seen is nobody else's
  }

  @Test
  void aReplayThatForgetsExpiriesIsFound() throws IOException {
    runsThatExpire();
    PlantedSeams.replayForgetsExpiries(harness);
    assertThat(replayedOtherwise()).isEqualTo("null"); // the first of each lane expires first
    int c = harness.nextCorrelation();
    long queue = harness.producer(peer, QUEUE);
    var mixed =
        java.nio.ByteBuffer.allocate(1 << 12)
            .put(harness.bytes(true, 60_000, "late").buffer())
            .put(harness.bytes(true, 10_000, "soon").buffer())
            .flip();
    harness.broker.submit(new Command.Publish(peer, c, queue, ++number, 2, harness.bytes(mixed)));
    assertThat(harness.receipt(peer, c)).isEqualTo(FaultCode.OK);
    assertThat(replayedOtherwise()).contains("QUEUE", "orders", "lane 4 expiry blocks");
  }

  private void subscriptionsThatDiffer() {
    long topic = harness.producer(peer, TOPIC);
    harness.tryConsumer(peer, 1, TOPIC, Subscribe.DURABLE, "some", "n > 3", false);
    harness.tryConsumer(peer, 2, TOPIC, Subscribe.SHARED_DURABLE, "all", null, false);
    harness.tryConsumer(peer, 3, TOPIC, Subscribe.PLAIN, null, "n < 3", false);
    send(topic, harness.bytes(true, 0, "a", "abcde", "abc", "abcdef"), 4);
  }

  @Test
  void whatASubscriptionDoesNotWantIsPassed() throws IOException {
    subscriptionsThatDiffer();
    replaysAsItLived();
    PlantedSeams.replayForgetsWhatIsUnwanted(harness);
    assertThat(replayedOtherwise()).contains("TOPIC", "prices", "unacknowledged");
  }

  @Test
  void whatWasGivenOutAndAcknowledgedIsSo() throws IOException {
    long queue = runsThatExpire();
    harness.consumer(peer, 1, QUEUE, Subscribe.QUEUE, null);
    List<FakePeer.Received> received = harness.pull(peer, 1, 3);
    assertThat(received).isNotEmpty();
    replaysAsItLived(); // the block is touched
    FakePeer.Received first = received.get(0);
    harness.acknowledge(peer, 1, queue, new SequenceRange(first.lane(), first.sequence(), 1));
    replaysAsItLived();
    harness.checkpoint();
    replaysAsItLived();
    harness.crash(false);
    harness.open();
    peer = harness.attach(new UUID(1, 2), 2, number + 1, "desk");
    replaysAsItLived(); // all of the block is flagged
  }

  @Test
  void agesAreThoseOfTheRecords() throws IOException {
    long queue = harness.producer(peer, QUEUE);
    for (int i = 0; i < 80; i++) {
      send(queue, harness.bytes(true, 0, "m" + i), 1);
      harness.loops.advance(1_500_000_000L);
      if (i == 60) {
        harness.consumer(peer, 1, QUEUE, Subscribe.QUEUE, null);
        for (FakePeer.Received each : harness.pull(peer, 1, 40)) {
          harness.acknowledge(peer, 1, queue, new SequenceRange(each.lane(), each.sequence(), 1));
        }
      }
    }
    replaysAsItLived();
  }

  @Test
  void settingsLinksAndWhatIsGoneAreSo() throws IOException {
    long queue = runsThatExpire();
    harness.admin("destination.set", Map.of("kind", "queue", "name", "orders", "ttl", "x"));
    harness.admin(
        "destination.set", Map.of("kind", "queue", "name", "orders", "max-attempts", "7"));
    harness.admin("destination.purge", Map.of("kind", "queue", "name", "orders"));
    FakePeer other = harness.attach(new UUID(9, 9), 1, 1, null);
    int refused = harness.publish(other, 4_711, 1, "to nowhere");
    assertThat(harness.receipt(other, refused)).isNotEqualTo(FaultCode.OK);
    replaysAsItLived();
    assertThat(queue).isPositive();
    subscriptionsThatDiffer();
    harness.admin("destination.delete", Map.of("kind", "queue", "name", "orders", "force", "true"));
    replaysAsItLived();
  }
}

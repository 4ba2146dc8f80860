package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import java.io.IOException;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The metrics of many destinations, taken while each turn of the shard lasts a millisecond. */
class MetricsSlicesTest {
  private static final long MILLI = 1_000_000;
  private static final int QUEUES = 3 * MetricsTaker.SLICE;
  private static final int SLICES = 2 * QUEUES / MetricsTaker.SLICE;

  private final BrokerHarness h = new BrokerHarness(63);
  private FakePeer peer;
  private long tickNanos;

  @BeforeEach
  void createQueues() throws IOException {
    h.settings = BrokerHarness.settings(1 << 20);
    h.open();
    peer = h.attach();
    for (int i = 0; i < QUEUES; i++) {
      h.producer(peer, queue("q" + i));
    }
    h.broker.showDestinations(QUEUES);
    BrokerMetrics before = h.broker.metrics();
    awaitOtherThan(before);
    tickNanos = h.broker.metrics().takenNanos();
    h.loops.delay("shard", MILLI);
  }

  @AfterEach
  void close() throws IOException {
    h.loops.delay("shard", 0);
    h.close();
  }

  private static DestinationName queue(String name) {
    return new DestinationName(DestinationKind.QUEUE, name);
  }

  private void awaitOtherThan(BrokerMetrics before) {
    while (h.broker.metrics() == before) {
      h.loops.advance(MILLI);
    }
  }

  @Test
  void aPictureTakesAsManyTurnsAsItNeeds() {
    awaitOtherThan(h.broker.metrics());
    BrokerMetrics taken = h.broker.metrics();
    assertThat(taken.destinations()).hasSize(QUEUES);
    assertThat(taken.takenNanos() - tickNanos)
        .isGreaterThanOrEqualTo(1_000 * MILLI + (SLICES - 1) * MILLI);
  }

  @Test
  void whatIsDeletedMeanwhileIsNotInIt() {
    h.loops.advance(tickNanos + 1_001 * MILLI - h.loops.clock().nanos());
    BrokerMetrics before = h.broker.metrics();
    assertThat(h.admin("destination.delete", Map.of("name", "q" + (QUEUES - 1))))
        .contains("deleted");
    assertThat(h.broker.metrics()).as("not complete when the verb was answered").isSameAs(before);
    awaitOtherThan(before);
    assertThat(h.broker.metrics().destinations())
        .hasSize(QUEUES - 1)
        .noneMatch(each -> each.name().equals(queue("q" + (QUEUES - 1))));
  }

  @Test
  void aTickThatComesTooEarlyLetsThePictureGoOn() {
    h.loops.delay("shard", 300 * MILLI);
    awaitOtherThan(h.broker.metrics());
    assertThat(h.broker.metrics().takenNanos() - tickNanos)
        .as("longer than the second between two ticks")
        .isGreaterThan(2_000 * MILLI);
    assertThat(h.broker.metrics().destinations()).hasSize(QUEUES);
  }
}

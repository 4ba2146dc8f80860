package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.door.Command.Subscribe;
import io.lightmq.core.shard.FakePeer.Received;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A checkpoint does a step for each destination at least three times, and a turn carries out
 * commands between any two of them: here each look at the clock takes a slice's millisecond.
 */
class CheckpointSlicesTest {
  private static final long MILLI = 1_000_000;
  private static final int QUEUES = 50;

  private final BrokerHarness h = new BrokerHarness(33);
  private final List<Long> ids = new ArrayList<>();
  private FakePeer peer;
  private long number;

  @BeforeEach
  void createQueues() throws IOException {
    h.settings = BrokerHarness.settings(1 << 20);
    h.open();
    peer = h.attach();
    for (int i = 0; i < QUEUES; i++) {
      ids.add(h.producer(peer, queue(i)));
      assertThat(publish(i, "old " + i)).isEqualTo(FaultCode.OK);
    }
    h.loops.simulatedClock().looksTake(MILLI);
  }

  @AfterEach
  void close() throws IOException {
    h.loops.simulatedClock().looksTake(0);
    h.close();
  }

  private static DestinationName queue(int i) {
    return new DestinationName(DestinationKind.QUEUE, "q" + i);
  }

  private FaultCode publish(int i, String text) {
    return h.receipt(peer, h.publish(peer, ids.get(i), ++number, text));
  }

  private long done() {
    return h.broker.metrics().checkpoints().done();
  }

  private List<String> drain(int i) {
    FakePeer other = h.attach();
    h.consumer(other, 1, queue(i), Subscribe.QUEUE, null);
    List<String> texts = new ArrayList<>();
    for (List<Received> got = h.pull(other, 1, 10); !got.isEmpty(); got = h.pull(other, 1, 10)) {
      got.forEach(each -> texts.add(each.text()));
    }
    return texts;
  }

  /** Publishes to each queue in turn, one command at a time, until a checkpoint is done. */
  private int publishMeanwhile() {
    h.broker.wantCheckpoint();
    int turns = 0;
    while (done() == 0) {
      assertThat(publish(turns % QUEUES, "new " + turns)).isEqualTo(FaultCode.OK);
      turns++;
    }
    return turns;
  }

  @Test
  void commandsAreCarriedOutBetweenAnyTwoDestinations() {
    int[] steps = {0};
    h.broker.wantCheckpoint();
    h.loops.runUntil(
        () -> {
          steps[0]++;
          return done() == 1;
        });
    assertThat(steps[0]).as("to add up, to encode and to switch over").isGreaterThan(3 * QUEUES);
  }

  @Test
  void whatComesBetweenTheSlicesIsNeitherLostNorThereTwice() throws IOException {
    int turns = publishMeanwhile();
    for (boolean power : new boolean[] {false, true}) {
      h.crash(power);
      h.open();
      h.loops.simulatedClock().looksTake(0);
    }
    for (int i = 0; i < QUEUES; i++) {
      List<String> wanted = new ArrayList<>();
      wanted.add("old " + i);
      for (int turn = i; turn < turns; turn += QUEUES) {
        wanted.add("new " + turn);
      }
      assertThat(drain(i)).isEqualTo(wanted);
    }
  }

  @Test
  void queuesThatComeAndGoBetweenTheSlicesAreAsTheyWereLeft() throws IOException {
    h.broker.wantCheckpoint();
    int round = 0;
    while (done() == 0) {
      if (round < QUEUES) {
        assertThat(h.admin("destination.delete", Map.of("name", "q" + (round * 7) % QUEUES)))
            .contains("deleted");
      }
      h.producer(peer, new DestinationName(DestinationKind.QUEUE, "late" + round++));
    }
    int made = round;
    h.crash(true);
    h.open();
    h.loops.simulatedClock().looksTake(0);
    h.loops.advance(1_100 * MILLI);
    List<String> names =
        h.broker.metrics().destinations().stream().map(each -> each.name().name()).toList();
    for (int i = 0; i < made; i++) {
      assertThat(names).contains("late" + i);
    }
    for (int i = 0; i < Math.min(made, QUEUES); i++) {
      assertThat(names).doesNotContain("q" + (i * 7) % QUEUES);
    }
  }
}

package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.shard.Command.Subscribe;
import io.lightmq.core.shard.FakePeer.Received;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/**
 * Random sends with delays, failures, lost connections, checkpoints, kills and power cuts. Whatever
 * happens: nothing comes before its time, nothing is given out after its last attempt, a dead
 * letter has had just that many, and each confirmed message is in one place in the end.
 */
class MovingSimulationTest {
  private static final int SEEDS = Integer.getInteger("lightmq.seeds", 40);
  private static final long FIRST = Long.getLong("lightmq.seed", 1);
  private static final int MAX_ATTEMPTS = 3;
  private static final long SECOND = 1_000_000_000L;
  private static final DestinationName QUEUE =
      new DestinationName(DestinationKind.QUEUE, "poison.sim");
  private static final DestinationName DLQ = new DestinationName(DestinationKind.QUEUE, "DLQ");

  /** What the clients know of one message. */
  private static final class Message {
    long dueMillis;
    int failures;
    boolean acknowledged;
    int found;
  }

  private static final class Run {
    final Random random;
    final BrokerHarness h;
    final UUID link;
    final Map<String, Message> messages = new LinkedHashMap<>();
    FakePeer producer;
    FakePeer consumer;
    long destination;
    long number;
    long linkEpoch;

    Run(long seed) throws IOException {
      random = new Random(seed);
      h = new BrokerHarness(seed);
      h.keepTime = true;
      h.open();
      link = new UUID(~seed, 77);
      attach();
      if (random.nextBoolean()) {
        set("redelivery-delay", random.nextBoolean() ? "2s,30s" : "1s*2..5m");
        set("redelivery-order", random.nextBoolean() ? "preserving" : "non-blocking");
      }
    }

    private void set(String key, String text) {
      h.admin("destination.set", Map.of("name", QUEUE.name(), key, text));
    }

    private void attach() {
      producer = h.attach(link, ++linkEpoch, 1, null);
      destination = h.producer(producer, QUEUE);
      consume();
    }

    private void consume() {
      consumer = h.attach();
      h.consumer(consumer, 1, QUEUE, Subscribe.QUEUE, null);
    }

    private Command.Acked acked(List<Received> some) {
      return new Command.Acked(1, destination, some.stream().map(Received::range).toList());
    }

    void step() throws IOException {
      switch (random.nextInt(10)) {
        case 0, 1, 2 -> send();
        case 3, 4, 5 -> work();
        case 6, 7 ->
            h.loops.advance(random.nextInt(8) == 0 ? 600 * SECOND : random.nextInt(20) * SECOND);
        case 8 -> h.broker.wantCheckpoint();
        default -> restart();
      }
    }

    private void send() {
      long delay = random.nextInt(3) == 0 ? 0 : random.nextInt(2) == 0 ? 30_000 : 900_000;
      delay = delay == 0 ? 0 : 1 + random.nextInt((int) delay);
      String[] texts = new String[1 + random.nextInt(3)];
      for (int i = 0; i < texts.length; i++) {
        texts[i] = "m" + (messages.size() + i);
      }
      long now = h.loops.clock().wallMillis();
      int c = h.nextCorrelation();
      h.broker.submit(
          new Command.Publish(
              producer, c, destination, ++number, texts.length, h.bytes(true, 0, delay, texts)));
      assertThat(h.receipt(producer, c)).isEqualTo(FaultCode.OK);
      for (String text : texts) {
        Message message = new Message();
        message.dueMillis = now + delay;
        messages.put(text, message);
      }
    }

    private void work() {
      List<Received> got = new ArrayList<>(h.pull(consumer, 1, 1 + random.nextInt(5)));
      for (Received each : got) {
        Message message = messages.get(each.text());
        assertThat(h.loops.clock().wallMillis())
            .as("delivery of " + each.text())
            .isGreaterThanOrEqualTo(message.dueMillis);
        assertThat(message.failures).as("failures of " + each.text()).isLessThan(MAX_ATTEMPTS);
        assertThat(message.acknowledged).as(each.text() + " was acknowledged").isFalse();
      }
      while (!got.isEmpty()) {
        List<Received> some = List.of(got.remove(random.nextInt(got.size())));
        Message message = messages.get(some.get(0).text());
        switch (random.nextInt(4)) {
          case 0 -> {
            h.acknowledge(consumer, 1, destination, some.get(0).range());
            message.acknowledged = true;
          }
          case 1, 2 -> {
            h.broker.submit(new Command.Return(consumer, 0, List.of(acked(some)), true));
            h.loops.runUntilIdle();
            message.failures++;
          }
          default -> {
            h.broker.submit(new Command.Begun(consumer, 1, false, List.of(acked(some))));
            h.broker.submit(new Command.Detach(consumer, false));
            h.loops.runUntilIdle();
            message.failures++;
            consume();
            return; // the others came back uncounted
          }
        }
      }
    }

    private void restart() throws IOException {
      if (random.nextInt(3) == 0) {
        h.close();
      } else {
        h.crash(random.nextBoolean());
      }
      h.open();
      attach();
    }

    /** Takes all that is left and looks where it is. */
    void end() throws IOException {
      h.loops.advance(1_300 * SECOND);
      drain(QUEUE, false);
      drain(DLQ, true);
      messages.forEach(
          (text, message) ->
              assertThat(message.found)
                  .as(text + " after " + message.failures + " failures")
                  .isEqualTo(message.acknowledged ? 0 : 1));
      assertThat(h.admin("destination.show", Map.of("name", QUEUE.name())))
          .contains("\"backlog\":0")
          .contains("\"delayed\":0");
      h.close();
    }

    private void drain(DestinationName from, boolean dead) {
      FakePeer peer = h.attach();
      h.consumer(peer, 1, from, Subscribe.QUEUE, null);
      for (int empty = 0; empty < 3; ) {
        h.loops.advance(120 * SECOND);
        List<Received> got = h.pull(peer, 1, 100);
        empty = got.isEmpty() ? empty + 1 : 0;
        for (Received each : got) {
          Message message = messages.get(each.text());
          message.found++;
          assertThat(message.failures >= MAX_ATTEMPTS).as(each.text()).isEqualTo(dead);
          h.acknowledge(peer, 1, each.destinationId(), each.range());
        }
      }
      if (dead) {
        assertThat(peer.properties)
            .allSatisfy(facts -> assertThat(facts).containsEntry(DeadLetters.ATTEMPTS, 3));
      }
    }
  }

  @Test
  void messagesAreInOnePlaceAndComeNeitherTooEarlyNorTooOften() throws Exception {
    for (long seed = FIRST; seed < FIRST + SEEDS; seed++) {
      try {
        Run run = new Run(seed);
        for (int step = 0; step < 60; step++) {
          run.step();
        }
        run.end();
      } catch (AssertionError | RuntimeException e) {
        throw new AssertionError(
            "seed "
                + seed
                + "; again with -Dtest=MovingSimulationTest -Dlightmq.seeds=1 -Dlightmq.seed="
                + seed,
            e);
      }
    }
  }
}

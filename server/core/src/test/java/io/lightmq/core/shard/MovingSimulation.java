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

/**
 * Random sends with delays and times to live, failures, lost connections, refused targets, retries,
 * checkpoints, kills and power cuts. Whatever happens: nothing comes before its time or after its
 * end, nothing is given out after its last attempt, a dead letter has had just that many, and each
 * confirmed message is in one place in the end.
 */
final class MovingSimulation {
  static final int MAX_ATTEMPTS = 3;
  private static final long SECOND = 1_000_000_000L;
  private static final String REFUSED = "$lightmq.refused";
  private static final DestinationName QUEUE =
      new DestinationName(DestinationKind.QUEUE, "poison.sim");
  private static final DestinationName DLQ = new DestinationName(DestinationKind.QUEUE, "DLQ");
  private static final DestinationName EXPIRED =
      new DestinationName(DestinationKind.QUEUE, "expired");

  /** A faulty implementation of a seam; this one has no fault. */
  static class Plant {
    /** The delay that a run is sent with. */
    long delayMillis(long delayMillis) {
      return delayMillis;
    }

    /** The time to live that a run is sent with. */
    long liveMillis(long liveMillis) {
      return liveMillis;
    }

    /** Whether a failed attempt is told as one. */
    boolean attempted() {
      return true;
    }

    MoveRecords.Maker moves() {
      return MoveRecords::new;
    }
  }

  /** What the clients know of one message. */
  private static final class Message {
    long dueMillis;
    long endMillis = Long.MAX_VALUE;
    int failures;
    boolean retried;
    boolean acknowledged;
    int found;

    /** Whether it may be given out once more although it had its last attempt. */
    boolean mayBeRetried() {
      return retried && failures >= MAX_ATTEMPTS;
    }
  }

  private final Random random;
  private final Plant plant;
  private final BrokerHarness h;
  private final UUID link;
  private final boolean keepsExpired;
  private final Map<String, Message> messages = new LinkedHashMap<>();
  private FakePeer producer;
  private FakePeer consumer;
  private long destination;
  private long number;
  private long linkEpoch;

  MovingSimulation(long seed, Plant plant) throws IOException {
    this.plant = plant;
    random = new Random(seed);
    h = new BrokerHarness(seed);
    h.keepTime = true;
    h.moves = plant.moves();
    h.open();
    link = new UUID(~seed, 77);
    attach();
    if (random.nextBoolean()) {
      set("redelivery-delay", random.nextBoolean() ? "2s,30s" : "1s*2..5m");
      set("redelivery-order", random.nextBoolean() ? "preserving" : "non-blocking");
    }
    keepsExpired = random.nextBoolean();
    h.producer(producer, DLQ);
    h.producer(producer, EXPIRED);
    set("expiry", keepsExpired ? "expired" : random.nextBoolean() ? "none" : QUEUE.name());
  }

  void run() throws IOException {
    for (int step = 0; step < 60; step++) {
      step();
    }
    end();
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

  private void step() throws IOException {
    switch (random.nextInt(12)) {
      case 0, 1, 2 -> send();
      case 3, 4, 5 -> work();
      case 6, 7 ->
          h.loops.advance(random.nextInt(8) == 0 ? 600 * SECOND : random.nextInt(20) * SECOND);
      case 8 -> h.broker.wantCheckpoint();
      case 9 -> target();
      case 10 -> retry();
      default -> restart();
    }
  }

  private void send() {
    long delay = random.nextInt(3) == 0 ? 0 : random.nextInt(2) == 0 ? 30_000 : 900_000;
    delay = delay == 0 ? 0 : 1 + random.nextInt((int) delay);
    long live = random.nextInt(4) == 0 ? 1 + random.nextInt(60_000) : 0;
    String[] texts = new String[1 + random.nextInt(3)];
    for (int i = 0; i < texts.length; i++) {
      texts[i] = "m" + (messages.size() + i);
    }
    long now = h.loops.clock().wallMillis();
    int c = h.nextCorrelation();
    h.broker.submit(
        new Command.Publish(
            producer,
            c,
            destination,
            ++number,
            texts.length,
            h.bytes(true, plant.liveMillis(live), plant.delayMillis(delay), texts)));
    assertThat(h.receipt(producer, c)).isEqualTo(FaultCode.OK);
    long taken = h.loops.clock().wallMillis();
    for (String text : texts) {
      Message message = new Message();
      message.dueMillis = now + delay;
      message.endMillis = live == 0 ? Long.MAX_VALUE : taken + live;
      messages.put(text, message);
    }
  }

  private void work() {
    List<Received> got = new ArrayList<>(h.pull(consumer, 1, 1 + random.nextInt(5)));
    for (Received each : got) {
      gave(each, messages.get(each.text()));
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
          h.broker.submit(new Command.Return(consumer, 0, List.of(acked(some)), plant.attempted()));
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

  private void gave(Received each, Message message) {
    if (message.mayBeRetried()) {
      message.failures = 0;
      message.retried = false;
      message.endMillis = Long.MAX_VALUE; // a dead letter has no time to live
    }
    assertThat(h.loops.clock().wallMillis())
        .as("delivery of " + each.text())
        .isBetween(message.dueMillis, message.endMillis);
    assertThat(message.failures).as("failures of " + each.text()).isLessThan(MAX_ATTEMPTS);
    assertThat(message.acknowledged).as(each.text() + " was acknowledged").isFalse();
  }

  /** Targets take nothing for a while. */
  private void target() {
    boolean refused = random.nextBoolean();
    set("dead-letter", refused ? REFUSED : "DLQ");
    if (keepsExpired) {
      set("expiry", refused ? REFUSED : "expired");
    }
  }

  private void retry() {
    messages.values().forEach(message -> message.retried |= message.failures >= MAX_ATTEMPTS);
    assertThat(h.admin("dead-letters.retry", Map.of("rate", "50"))).contains("\"retrying\"");
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
  private void end() throws IOException {
    set("dead-letter", "DLQ");
    if (keepsExpired) {
      set("expiry", "expired");
    }
    h.loops.advance(1_300 * SECOND);
    drain(QUEUE);
    drain(DLQ);
    drain(EXPIRED);
    messages.forEach(this::isInOnePlace);
    assertThat(h.admin("destination.show", Map.of("name", QUEUE.name())))
        .contains("\"backlog\":0")
        .contains("\"delayed\":0");
    h.close();
  }

  private void isInOnePlace(String text, Message message) {
    boolean mayBeDropped = message.endMillis < Long.MAX_VALUE && !keepsExpired;
    assertThat(message.found)
        .as(text + " after " + message.failures + " failures")
        .isBetween(message.acknowledged || mayBeDropped ? 0 : 1, message.acknowledged ? 0 : 1);
  }

  private void drain(DestinationName from) {
    FakePeer peer = h.attach();
    h.consumer(peer, 1, from, Subscribe.QUEUE, null);
    for (int empty = 0; empty < 3; ) {
      h.loops.advance(120 * SECOND);
      List<Received> got = h.pull(peer, 1, 100);
      empty = got.isEmpty() ? empty + 1 : 0;
      for (Received each : got) {
        Message message = messages.get(each.text());
        message.found++;
        if (from == QUEUE) {
          gave(each, message);
        } else if (from == DLQ) {
          assertThat(message.failures).as(each.text()).isEqualTo(MAX_ATTEMPTS);
        } else {
          assertThat(message.endMillis).as(each.text()).isLessThan(Long.MAX_VALUE);
        }
        h.acknowledge(peer, 1, each.destinationId(), each.range());
      }
    }
    if (from != QUEUE) {
      assertThat(peer.properties)
          .allSatisfy(
              facts ->
                  assertThat(facts.get(DeadLetters.REASON))
                      .isEqualTo(from == DLQ ? DeadLetters.MAX_ATTEMPTS : DeadLetters.EXPIRED));
    }
    if (from == DLQ) {
      assertThat(peer.properties)
          .allSatisfy(facts -> assertThat(facts).containsEntry(DeadLetters.ATTEMPTS, MAX_ATTEMPTS));
    }
  }
}

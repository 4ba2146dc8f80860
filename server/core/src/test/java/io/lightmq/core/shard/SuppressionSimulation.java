package io.lightmq.core.shard;

import io.lightmq.core.shard.Command.Subscribe;
import io.lightmq.core.shard.FakePeer.Received;
import io.lightmq.core.sim.PowerCut;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.SequenceRange;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;

/**
 * Producers that send each business message again and again, consumers that come and go, and a
 * broker that is killed or loses its power: of each key one message is acknowledged, and only one;
 * no key is dropped.
 */
final class SuppressionSimulation {
  private static final DestinationName QUEUE = new DestinationName(DestinationKind.QUEUE, "once");

  private final Random random;
  private final BrokerHarness h;
  private final String setting;
  private final UUID link;
  private final Map<Integer, FakePeer> consumers = new HashMap<>();
  private final Map<FakePeer, List<Received>> held = new HashMap<>();
  private final TreeMap<Long, String[]> unanswered = new TreeMap<>();
  private final Map<Integer, Long> numbers = new HashMap<>();
  private final Set<String> confirmed = new HashSet<>();

  /** Acknowledgements of keys that were sent, and those that the broker has confirmed. */
  private final Set<String> asked = new HashSet<>();

  private final Map<String, Received> acknowledged = new HashMap<>();

  /** The same of keys of messages that are in no record, since the last start. */
  private final Map<String, Received> swiftlyAcknowledged = new HashMap<>();

  /** Those keys that were acknowledged before the last start, whose next message has to come. */
  private final Set<String> newAgain = new HashSet<>();

  private FakePeer producer;
  private long linkEpoch;
  private long queue;
  private long number;
  private int texts;

  /**
   * @param setting what the queue is told to suppress
   */
  SuppressionSimulation(long seed, String setting) {
    this.random = new Random(seed);
    this.h = new BrokerHarness(seed);
    this.setting = setting;
    this.link = new UUID(3, seed);
    h.lookNanos = seed % 2 == 0 ? 0 : 1_000_000;
    h.settings = BrokerHarness.settings(16 << 10, 1 << 16, 8 << 10, 1 << 20);
  }

  /** Runs the history; returns how many messages were suppressed since the last start. */
  long run() throws IOException {
    h.open();
    h.admin(
        "destination.create",
        Map.of("kind", "queue", "name", "once", "suppress-duplicates", setting));
    connect();
    int steps = 150 + random.nextInt(200);
    for (int i = 0; i < steps; i++) {
      try {
        step();
      } catch (PowerCut cut) {
        restart(true);
      }
    }
    drain();
    long suppressed = h.broker.metrics().totals().suppressed();
    h.close();
    return suppressed;
  }

  private void connect() {
    producer = h.newPeer();
    FakePeer own = producer;
    own.onReceipt = receipt -> receipt(own, receipt);
    numbers.clear();
    int c = h.nextCorrelation();
    long from = unanswered.isEmpty() ? number + 1 : unanswered.firstKey();
    h.broker.submit(new Command.Attach(own, c, link, ++linkEpoch, from, null));
    Peer.Reply.Attached attached = (Peer.Reply.Attached) h.reply(own, c);
    while (!unanswered.isEmpty() && unanswered.firstKey() <= attached.last()) {
      confirmed.addAll(List.of(unanswered.pollFirstEntry().getValue()));
    }
    queue = h.producer(own, QUEUE);
    unanswered.forEach(this::submit);
    for (int id = 1; id <= 2; id++) {
      connectConsumer(id);
    }
  }

  private void connectConsumer(int id) {
    FakePeer peer = h.attach();
    consumers.put(id, peer);
    held.put(peer, new ArrayList<>());
    peer.onReceived = message -> received(peer, message);
    h.consumer(peer, id, QUEUE, Subscribe.QUEUE, null);
  }

  private static String key(String text) {
    return text.substring(0, text.indexOf('#'));
  }

  private Map<String, Received> acknowledgedOf(String text) {
    return text.startsWith("v") ? swiftlyAcknowledged : acknowledged;
  }

  private void received(FakePeer peer, Received message) {
    Received taken = acknowledgedOf(message.text()).get(key(message.text()));
    if (taken != null) {
      throw new AssertionError(message + " comes although " + taken + " was taken");
    }
    newAgain.remove(key(message.text()));
    if (consumers.containsValue(peer)) {
      for (List<Received> others : held.values()) {
        for (Received other : others) {
          if (key(other.text()).equals(key(message.text()))) {
            throw new AssertionError(message + " comes while " + other + " is in flight");
          }
        }
      }
      held.get(peer).add(message);
    }
  }

  private void step() throws IOException {
    int what = random.nextInt(1000);
    int id = 1 + random.nextInt(2);
    FakePeer peer = consumers.get(id);
    if (what < 50) {
      h.publish(producer, queue, 0, "v" + random.nextInt(20) + "#" + texts++);
    } else if (what < 350) {
      send();
    } else if (what < 650) {
      h.broker.submit(
          new Command.Pull(peer, id, h.nextCorrelation(), 1 + random.nextInt(6), 4_000, 0));
    } else if (what < 850) {
      settle(id, peer);
    } else if (what < 890) {
      lose(id, peer);
    } else if (what < 915) {
      h.broker.wantCheckpoint();
    } else if (what < 935) {
      restart(random.nextBoolean());
    } else if (what < 945) {
      h.disk.cutPowerAt(1 + random.nextInt(40));
    } else {
      h.loops.advance(random.nextInt(50_000_000));
    }
    for (int n = random.nextInt(25); n > 0 && h.loops.step(); n--) {
      look();
    }
    if (random.nextInt(8) == 0) {
      h.loops.runUntilIdle();
    }
    look();
  }

  private void look() {
    if (h.broker.failure().isDone()) {
      throw new AssertionError("the shard has ended: " + h.broker.failure().join());
    }
  }

  private void send() {
    String[] run = new String[1 + random.nextInt(3)];
    for (int i = 0; i < run.length; i++) {
      run[i] = "k" + random.nextInt(60) + "#" + texts++ + "-" + "x".repeat(random.nextInt(300));
    }
    unanswered.put(++number, run);
    submit(number, run);
  }

  private void submit(long of, String[] run) {
    numbers.put(h.publish(producer, queue, of, run), of);
  }

  private void receipt(FakePeer from, FakePeer.Receipt receipt) {
    Long of = from == producer ? numbers.remove(receipt.correlation()) : null;
    if (of != null && unanswered.containsKey(of)) {
      if (receipt.code() != FaultCode.OK) {
        throw new AssertionError(receipt.toString());
      }
      confirmed.addAll(List.of(unanswered.remove(of)));
    }
  }

  /** Acknowledges and waits for the answer, or gives back. */
  private void settle(int id, FakePeer peer) {
    List<Received> some = new ArrayList<>(held.get(peer));
    some.removeIf(each -> random.nextInt(3) == 0);
    if (some.isEmpty()) {
      return;
    }
    held.get(peer).removeAll(some);
    List<SequenceRange> ranges = some.stream().map(Received::range).toList();
    List<Command.Acked> acked = List.of(new Command.Acked(id, queue, ranges));
    if (random.nextInt(4) == 0) {
      h.broker.submit(new Command.Return(peer, 0, acked, true));
      return;
    }
    some.forEach(each -> asked.add(key(each.text())));
    int c = h.nextCorrelation();
    h.broker.submit(new Command.Acknowledge(peer, c, acked));
    if (h.reply(peer, c) instanceof Peer.Reply.Ok) {
      some.forEach(each -> acknowledgedOf(each.text()).put(key(each.text()), each));
    } else {
      throw new AssertionError("what was in flight could not be acknowledged");
    }
  }

  private void lose(int id, FakePeer peer) {
    consumers.remove(id);
    held.remove(peer);
    h.broker.submit(new Command.Detach(peer, false));
    h.loops.runUntilIdle();
    connectConsumer(id);
  }

  private void restart(boolean power) throws IOException {
    for (int attempt = 0; ; attempt++) {
      h.crash(power || attempt > 0);
      newAgain.addAll(swiftlyAcknowledged.keySet());
      swiftlyAcknowledged.clear();
      consumers.clear();
      held.clear();
      try {
        h.open();
        connect();
        return;
      } catch (PowerCut cut) {
        if (attempt > 5) {
          throw new AssertionError("the power is cut again and again", cut);
        }
      }
    }
  }

  private void drain() throws IOException {
    restart(false);
    h.loops.advance(3_000_000_000L);
    if (!unanswered.isEmpty()) {
      throw new AssertionError(unanswered.size() + " runs without an answer");
    }
    FakePeer peer = consumers.get(1);
    lose(2, consumers.get(2));
    consume(peer);
    for (String key : Set.copyOf(newAgain)) {
      h.publish(producer, queue, 0, key + "#again");
    }
    h.loops.runUntilIdle();
    consume(peer);
    if (!newAgain.isEmpty()) {
      throw new AssertionError(newAgain + " are in no record and are suppressed after a start");
    }
    h.loops.advance(1_100_000_000L);
    for (String text : confirmed) {
      // An acknowledgement whose answer a crash took may count.
      if (!acknowledged.containsKey(key(text)) && !asked.contains(key(text))) {
        throw new AssertionError(key(text) + " was dropped: " + text + " never came");
      }
    }
    long backlog = h.broker.metrics().destinations().get(0).subscriptions().get(0).backlog();
    if (backlog != 0) {
      throw new AssertionError(backlog + " messages are left");
    }
  }

  private void consume(FakePeer peer) {
    boolean more = true;
    while (more) {
      more = !h.pull(peer, 1, 20).isEmpty();
      while (!held.get(peer).isEmpty()) {
        settle(1, peer);
      }
    }
  }
}

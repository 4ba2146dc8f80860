package io.lightmq.core.shard;

import io.lightmq.core.shard.Command.Subscribe;
import io.lightmq.core.shard.FakePeer.Received;
import io.lightmq.core.shard.SimulationModel.IntRange;
import io.lightmq.core.shard.SimulationModel.Message;
import io.lightmq.core.shard.SimulationModel.Queue;
import io.lightmq.core.sim.PowerCut;
import io.lightmq.core.storage.Disk;
import io.lightmq.core.storage.segment.SegmentStore;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * A whole broker on simulated loops, time and disk, with clients that do random things, crashes in
 * between, and invariants that look at every message. One seed is one history.
 */
final class Simulation {
  /** Faults that a planted bug puts between broker and clients. */
  static class Plant {
    /** Makes a connection. */
    FakePeer peer(long connectionId) {
      return new FakePeer(connectionId);
    }

    /** Hands a run to the broker. */
    void submit(Broker broker, Command.Publish publish) {
      broker.submit(publish);
    }

    /** Hands the opening of a consumer to the broker. */
    void submit(Broker broker, Command.AttachConsumer attach) {
      broker.submit(attach);
    }

    /** Told before each start. */
    void starting(boolean begins) {}

    /** The disk under the broker. */
    Disk disk(Disk disk) {
      return disk;
    }

    /** How checkpoints destage. */
    Checkpoints.Destaging destaging(SegmentStore segments, ShardState state) {
      return (plan, bytes) -> segments.destage(plan, bytes, () -> false);
    }
  }

  private final long seed;
  private final Random random;
  private final BrokerHarness harness;
  private final Plant plant;
  private static final DestinationName TOPIC = new DestinationName(DestinationKind.TOPIC, "topic");

  private final List<Queue> queues;
  private final SimulationModel model;
  private final List<Invariant> invariants = Invariant.all();
  private final Map<Queue, Long> lastKnownIds = new HashMap<>();
  private final List<SimulatedClient> clients = new ArrayList<>();
  private boolean draining;
  private boolean quiet;
  private long connections;
  private int crashes;

  Simulation(long seed, Plant plant) {
    this.seed = seed;
    this.random = new Random(seed);
    this.queues = queues(new Random(~seed));
    this.model = new SimulationModel(queues);
    this.harness = new BrokerHarness(seed);
    this.plant = plant;
    int[] fileBytes = {16 << 10, 20 << 10, 32 << 10, 64 << 10};
    harness.settings =
        BrokerHarness.settings(
            fileBytes[random.nextInt(fileBytes.length)],
            1 << (15 + random.nextInt(3)),
            4 << 10,
            1 << 20);
    // What is done in slices of a millisecond is cut after each step, after a few, or never.
    harness.lookNanos = List.of(0L, 300_000L, 1_000_000L).get((int) (seed % 3));
    harness.groups = seed % 2 == 0 ? 0 : 1 + (int) (seed / 2 % 12);
    harness.wrap = plant::disk;
    harness.destaging = plant::destaging;
  }

  /** One topic has two subscriptions; what one or both want is often not all. */
  private static List<Queue> queues(Random choice) {
    Queue topic = new Queue(TOPIC, true, "sub", range(choice));
    Queue other = new Queue(TOPIC, true, "picky", range(choice));
    topic.twin = other;
    return List.of(
        new Queue(new DestinationName(DestinationKind.QUEUE, "high"), true),
        new Queue(new DestinationName(DestinationKind.QUEUE, "fast.q"), false),
        topic,
        new Queue(new DestinationName(DestinationKind.QUEUE, "short-lived"), true),
        other);
  }

  private static IntRange range(Random choice) {
    int low = choice.nextInt(7);
    return choice.nextInt(3) == 0
        ? new IntRange(0, 6)
        : new IntRange(low, low + choice.nextInt(7 - low));
  }

  BrokerHarness harness() {
    return harness;
  }

  Random random() {
    return random;
  }

  SimulationModel model() {
    return model;
  }

  List<Queue> queues() {
    return queues;
  }

  /** Whether nobody asks for a force at this time, so that what is written stays unforced. */
  boolean quiet() {
    return quiet;
  }

  int crashes() {
    return crashes;
  }

  /** Files that took volatile messages for which memory had no room. */
  int overflowFiles() {
    return harness.disk.creations("overflow/.*");
  }

  /** Where something may be sent to. */
  Queue anyQueue() {
    return queues.get(random.nextInt(queues.size() - 1));
  }

  long lastKnownId(Queue queue) {
    return lastKnownIds.getOrDefault(queue, 1L << 40);
  }

  FakePeer newPeer() {
    return plant.peer((harness.broker.epoch() << 32) | ++connections);
  }

  void submit(Command.Publish publish) {
    plant.submit(harness.broker, publish);
  }

  void submit(Command.AttachConsumer attach) {
    plant.submit(harness.broker, attach);
  }

  /** Whether a client's consumer acknowledges by pulling; decided by the seed alone. */
  boolean consumesByPulling(int client, int consumer) {
    return seed % 5 == 3 && (client + consumer) % 2 == 0;
  }

  // ---- the history ----

  /** Runs the history; throws what it finds. */
  void run() throws IOException {
    start();
    subscribeTopic();
    for (int i = 0; i < 3; i++) {
      SimulatedClient client = new SimulatedClient(this, i, i == 0);
      clients.add(client);
      client.connect();
    }
    overflow();
    int steps = 100 + random.nextInt(300);
    for (int i = 0; i < steps; i++) {
      try {
        step();
      } catch (PowerCut cut) {
        crash(true);
      }
    }
    crash(random.nextBoolean());
    drain();
    invariants.forEach(invariant -> invariant.end(model));
  }

  private void start() throws IOException {
    plant.starting(true);
    for (int attempt = 0; ; attempt++) {
      try {
        harness.open();
        if (random.nextBoolean()) {
          harness.loops.delay("destage", 1 + random.nextInt(50_000_000));
        }
        break;
      } catch (PowerCut cut) {
        harness.crash(true);
        model.crashed(true);
        if (attempt > 5) {
          throw new AssertionError("the power is cut again and again", cut);
        }
      }
    }
    plant.starting(false);
  }

  private void subscribeTopic() {
    FakePeer peer = harness.attach(new java.util.UUID(99, seed), 1, 1, "client0");
    for (Queue topic : List.of(queues.get(2), queues.get(4))) {
      lastKnownIds.put(topic, open(peer, queues.indexOf(topic) + 1, topic, topic.wanted));
    }
    harness.broker.submit(new Command.Detach(peer, true));
    harness.loops.runUntilIdle();
  }

  private long open(FakePeer peer, int consumer, Queue queue, IntRange wanted) {
    Peer.Reply reply =
        harness.tryConsumer(
            peer,
            consumer,
            queue.destination,
            queue.subscription == null ? Subscribe.QUEUE : Subscribe.DURABLE,
            queue.subscription,
            wanted.selector(),
            false);
    if (reply instanceof Peer.Reply.ConsumerAttached attached) {
      return attached.destinationId();
    }
    throw new AssertionError("consumer was answered " + reply);
  }

  /** Sends more volatile messages than memory takes, before anybody consumes. */
  private void overflow() {
    harness.loops.runUntilIdle();
    lookAll();
    harness.loops.runUntilIdle();
    lookAll();
    for (int i = 0; i < 100 && overflowFiles() == 0; i++) {
      clients.get(0).send(queues.get(0), false);
      clients.get(0).send(queues.get(0), false);
      harness.loops.runUntilIdle();
      lookAll();
    }
  }

  private void step() throws IOException {
    SimulatedClient client = clients.get(random.nextInt(clients.size()));
    int what = random.nextInt(1000);
    if (random.nextInt(30) == 0) {
      quiet = !quiet;
    }
    if (quiet && (what < 350 || (what >= 760 && what < 920))) {
      if (what < 50) {
        harness.broker.wantCheckpoint();
      } else if (what < 250) {
        client.acknowledge();
      } else {
        client.pull();
      }
    } else if (what < 10) {
      harness.broker.wantCheckpoint();
    } else if (what < 350) {
      client.send();
    } else if (what < 600) {
      client.pull();
    } else if (what < 760) {
      client.acknowledge();
    } else if (what < 830) {
      client.giveBack();
    } else if (what < 900) {
      client.commit();
    } else if (what < 920) {
      client.loseLink();
    } else if (what < 935) {
      client.closeCleanly();
    } else if (what < 945) {
      deleteOrPurge();
    } else if (what < 965) {
      crash(random.nextBoolean());
    } else if (what < 972) {
      restartCleanly();
    } else if (what < 985) {
      harness.disk.cutPowerAt(1 + random.nextInt(40));
    } else {
      harness.loops.advance(random.nextInt(200_000_000));
    }
    if (random.nextInt(10) == 0) {
      harness.loops.runUntilIdle();
    } else {
      for (int n = random.nextInt(25); n > 0 && harness.loops.step(); n--) {
        lookAll();
      }
    }
    lookAll();
  }

  private void lookAll() {
    if (harness.broker.failure().isDone()) {
      throw new AssertionError("the shard has ended: " + harness.broker.failure().join());
    }
    clients.forEach(SimulatedClient::look);
  }

  private void deleteOrPurge() {
    Queue queue = queues.get(3);
    boolean delete = random.nextBoolean();
    List<Message> before = new ArrayList<>(queue.messages.values());
    before.forEach(message -> message.mayBeGone = true);
    FakePeer admin = newPeer();
    harness.broker.submit(
        new Command.Admin(
            admin,
            1,
            delete ? "destination.delete" : "destination.purge",
            delete ? Map.of("name", queue.name(), "force", "true") : Map.of("name", queue.name())));
    harness.loops.runUntil(() -> !admin.replies.isEmpty());
    if (delete && admin.replies.get(1) instanceof Peer.Reply.Json) {
      for (Message message : before) {
        message.gone = message.confirmed;
      }
    }
  }

  private void crash(boolean power) throws IOException {
    crashes++;
    harness.crash(power);
    model.crashed(power);
    clients.forEach(SimulatedClient::crashed);
    start();
    clients.forEach(SimulatedClient::connect);
  }

  private void restartCleanly() throws IOException {
    clients.forEach(SimulatedClient::crashed);
    harness.close();
    start();
    clients.forEach(SimulatedClient::connect);
  }

  // ---- what is seen ----

  /** A message came; a client that has closed its connection does not look at it any more. */
  Message delivered(Queue queue, Received received, boolean alive, boolean consumed) {
    lastKnownIds.put(queue, received.destinationId());
    Message message = queue.messages.get(received.text());
    for (Invariant invariant : invariants) {
      if (!(consumed && invariant instanceof Invariant.NoUnflaggedDuplicate)) {
        invariant.delivered(queue, message, received);
      }
    }
    if (consumed) {
      message.consumed = true;
      message.acknowledgementSent = true;
    }
    message.seen |= alive;
    message.sequence = received.sequence();
    if (draining) {
      invariants.forEach(invariant -> invariant.drained(queue, message));
      message.drained = true;
    }
    return message;
  }

  /** What a browser sees of a queue. */
  private List<String> browse(Queue queue) {
    FakePeer peer = harness.attach();
    harness.consumer(peer, 1, queue.destination, Subscribe.BROWSE, null);
    List<Received> seen = harness.browse(peer, 1, 1 + random.nextInt(20), 1 + random.nextInt(4000));
    harness.broker.submit(new Command.Detach(peer, true));
    return seen.stream().map(Received::text).toList();
  }

  /** Takes all that is there, as one client with nobody beside it. */
  private void drain() throws IOException {
    harness.loops.runUntilIdle();
    lookAll();
    // An attach may wait for a checkpoint; what its client repeats then needs its own time.
    for (int answers = 0; answers < 2; answers++) {
      harness.loops.advance(3_000_000_000L);
      lookAll();
    }
    clients.forEach(SimulatedClient::everythingIsAnswered);
    clients.forEach(SimulatedClient::crashed);
    harness.close();
    start();
    draining = true;
    FakePeer peer = newPeer();
    peer.onReceived =
        received ->
            delivered(
                queues.get((received.consumerId() - 1) % queues.size()), received, true, false);
    harness.broker.submit(
        new Command.Attach(peer, 1_000_000, new java.util.UUID(98, seed), 1, 1, "client0"));
    harness.reply(peer, 1_000_000);
    for (int i = 0; i < queues.size(); i++) {
      if (!queues.get(i).destination.kind().isQueue()) {
        open(peer, i + 1, queues.get(i), queues.get(i).wanted);
        drain(peer, i + 1);
      } else if (seed % 2 == 0) {
        drain(peer, i, List.of(IntRange.ALL));
      } else {
        int cut = random.nextInt(6);
        drain(peer, i, List.of(new IntRange(cut + 1, 6), new IntRange(0, cut), IntRange.ALL));
      }
    }
    harness.close();
  }

  /** Drains a queue by one consumer after the other; each gets what a browser sees and it wants. */
  private void drain(FakePeer peer, int index, List<IntRange> wanted) {
    Queue queue = queues.get(index);
    List<String> waiting = browse(queue);
    int consumer = index + 1;
    for (IntRange range : wanted) {
      invariants.forEach(invariant -> invariant.drainBegins(queue));
      open(peer, consumer, queue, range);
      List<String> came = drain(peer, consumer);
      List<String> expected =
          waiting.stream().filter(text -> range.holds(text.length() % 7)).toList();
      if (!came.equals(expected)) {
        throw new AssertionError(
            "a browser of %s saw %s, a consumer of %s got %s"
                .formatted(queue.name(), expected, range, came));
      }
      waiting = waiting.stream().filter(text -> !range.holds(text.length() % 7)).toList();
      consumer += queues.size();
    }
  }

  private List<String> drain(FakePeer peer, int consumer) {
    int before = peer.received.size();
    while (!harness.pull(peer, consumer, 100).isEmpty()) {}
    return peer.received.subList(before, peer.received.size()).stream()
        .map(Received::text)
        .toList();
  }
}

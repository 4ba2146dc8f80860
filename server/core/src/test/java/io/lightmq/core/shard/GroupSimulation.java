package io.lightmq.core.shard;

import io.lightmq.core.shard.Command.Subscribe;
import io.lightmq.core.shard.FakePeer.Received;
import io.lightmq.core.sim.PowerCut;
import io.lightmq.wire.entry.BodyType;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.MessageWriter;
import io.lightmq.wire.entry.SequenceRange;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Consumers that come, go, crash, acknowledge and give back, and a broker that crashes, with
 * messages of few groups. Whenever a message comes, each earlier one of its group, priority and
 * delivery mode is acknowledged or in the same consumer's hands, and no other consumer has any of
 * the group. Whenever all consumers take and acknowledge what there is, nothing is left.
 */
final class GroupSimulation {
  /** Faults that a planted bug puts between broker and clients. */
  static class Plant {
    /** The group that the broker is told. */
    @Nullable String group(@Nullable String group, int message) {
      return group;
    }

    /** What the broker is told to be acknowledged although the consumer still works on it. */
    List<Received> alsoAcknowledged(List<Received> held) {
      return List.of();
    }
  }

  private static final DestinationName QUEUE = new DestinationName(DestinationKind.QUEUE, "groups");
  private static final DestinationName TOPIC = new DestinationName(DestinationKind.TOPIC, "groups");

  /** A message as its sender knows it. */
  private static final class Message {
    final String text;
    final @Nullable String group;
    final boolean persistent;
    final int priority;
    final boolean odd;
    long sequence = -1;
    boolean acknowledged;

    /** The acknowledgement may have been lost with the broker. */
    boolean mayComeAgain;

    @Nullable Taker holder;

    Message(String text, @Nullable String group, boolean persistent, int priority, boolean odd) {
      this.text = text;
      this.group = group;
      this.persistent = persistent;
      this.priority = priority;
      this.odd = odd;
    }

    @Override
    public String toString() {
      return text
          + " of "
          + group
          + " sequence "
          + sequence
          + (acknowledged ? " acknowledged" : "")
          + (holder == null ? "" : " held by " + holder);
    }
  }

  /** A consumer. */
  private static final class Taker {
    final FakePeer peer;
    final int id;
    final @Nullable Boolean odd;
    final List<Received> held = new ArrayList<>();
    int pull;
    boolean impatient;

    Taker(FakePeer peer, int id, @Nullable Boolean odd) {
      this.peer = peer;
      this.id = id;
      this.odd = odd;
    }

    /** Whether a pull is not answered. */
    boolean isOpen() {
      return pull > 0
          && peer.pullsServed.getOrDefault(id, 0) != pull
          && peer.pullsDone.stream().noneMatch(done -> done.startsWith(id + "/" + pull + "/"));
    }

    boolean wants(Message message) {
      return odd == null || odd == message.odd;
    }

    @Override
    public String toString() {
      return "consumer " + id + " of connection " + peer.connectionId;
    }
  }

  private final Random random;
  private final BrokerHarness h;
  private final Plant plant;
  private final boolean topic;
  private final boolean selectors;
  private final boolean closes;
  private final boolean delays;
  private final int groups;
  private final UUID link;

  /** By text, in the order of sending. */
  private final Map<String, Message> messages = new LinkedHashMap<>();

  private final Map<FakePeer, List<Taker>> connections = new LinkedHashMap<>();
  private FakePeer producer;
  private long linkEpoch;
  private long number;
  private long destination;
  private int nextConsumer;
  private int nextMessage;
  private int delivered;

  GroupSimulation(long seed, Plant plant) {
    this.random = new Random(seed);
    this.h = new BrokerHarness(seed);
    this.plant = plant;
    this.topic = random.nextInt(4) == 0;
    this.selectors = !topic && random.nextInt(4) == 0;
    this.closes = random.nextInt(3) == 0;
    this.delays = random.nextInt(4) == 0;
    this.groups = 1 + random.nextInt(random.nextBoolean() ? 3 : 40);
    this.link = new UUID(4, seed);
    h.keepTime = true;
    h.settings = BrokerHarness.settings(32 << 10, 1 << (15 + random.nextInt(3)), 32 << 10, 1 << 20);
  }

  /** Runs the history; returns how many deliveries were checked. */
  int run() throws IOException {
    h.open();
    h.admin(
        "destination.create",
        Map.of(
            "kind",
            topic ? "topic" : "queue",
            "name",
            "groups",
            "redelivery-delay",
            delays ? "50ms,200ms" : "none",
            "max-attempts",
            "0"));
    connectProducer();
    if (topic) {
      join();
    }
    int steps = 150 + random.nextInt(250);
    for (int i = 0; i < steps; i++) {
      try {
        step();
      } catch (PowerCut cut) {
        restart(true);
      }
    }
    calm();
    h.close();
    return delivered;
  }

  // ---- what happens ----

  private void step() throws IOException {
    int what = random.nextInt(1000);
    if (what < 300) {
      send();
    } else if (what < 370) {
      join();
    } else if (what < 400) {
      close(anyTaker());
    } else if (what < 600) {
      pull(anyTaker(), random.nextInt(3) == 0 ? 0 : 60_000);
    } else if (what < 780) {
      acknowledge(anyTaker());
    } else if (what < 860) {
      giveBack(anyTaker());
    } else if (what < 900) {
      loseConnection();
    } else if (what < 915) {
      writable();
    } else if (what < 925) {
      h.broker.wantCheckpoint();
    } else if (what < 935) {
      restart(random.nextBoolean());
    } else if (what < 940) {
      restartCleanly();
    } else if (what < 960) {
      calm();
    } else {
      h.loops.advance(random.nextInt(300_000_000));
    }
    if (random.nextInt(4) == 0) {
      h.loops.runUntilIdle();
    } else {
      for (int n = random.nextInt(40); n > 0 && h.loops.step(); n--) {
        failIfEnded();
      }
    }
    failIfEnded();
  }

  private void failIfEnded() {
    if (h.broker.failure().isDone()) {
      throw new AssertionError("the shard has ended: " + h.broker.failure().join());
    }
  }

  private void connectProducer() {
    producer = h.attach(link, ++linkEpoch, 1, null);
    destination = h.producer(producer, topic ? TOPIC : QUEUE);
  }

  private void send() {
    boolean persistent = random.nextInt(4) > 0;
    int count = 1 + random.nextInt(random.nextInt(10) == 0 ? 20 : 6);
    ByteBuffer all = ByteBuffer.allocate(count * 500);
    MessageWriter writer = new MessageWriter(1 << 12);
    for (int i = 0; i < count; i++) {
      int n = nextMessage++;
      int group = random.nextInt(groups * 4 / 3 + 1);
      String named = group >= groups ? null : "g" + group;
      int priority = random.nextInt(5) == 0 ? random.nextInt(10) : 4;
      Message message = new Message("m" + n, named, persistent, priority, random.nextBoolean());
      messages.put(message.text, message);
      Map<String, Object> properties = new HashMap<>(Map.of("odd", message.odd));
      String told = plant.group(named, n);
      if (told != null) {
        properties.put("JMSXGroupID", told);
        properties.put("JMSXGroupSeq", closes && random.nextInt(10) == 0 ? -1 : n);
      }
      properties.put("text", "x".repeat(random.nextInt(100)));
      writer
          .start(BodyType.TEXT, priority, persistent, 0, 0)
          .properties(properties)
          .textBody(message.text)
          .finish();
      all.putInt(writer.length()).put(writer.array(), 0, writer.length());
    }
    int c = h.nextCorrelation();
    h.broker.submit(
        new Command.Publish(
            producer, c, destination, persistent ? ++number : 0, count, h.bytes(all.flip())));
    if (h.receipt(producer, c) != FaultCode.OK) {
      throw new AssertionError("a run was refused: " + BrokerHarness.find(producer, c));
    }
  }

  private void join() {
    FakePeer peer;
    if (connections.isEmpty() || (connections.size() < 5 && random.nextInt(3) == 0)) {
      peer = h.attach();
      FakePeer made = peer;
      peer.onReceived = received -> received(made, received);
      connections.put(peer, new ArrayList<>());
    } else {
      peer = any(List.copyOf(connections.keySet()));
    }
    Boolean odd = selectors && random.nextInt(3) > 0 ? (Boolean) random.nextBoolean() : null;
    if (selectors && odd == null) {
      odd = true;
    }
    Taker taker = new Taker(peer, ++nextConsumer, odd);
    connections.get(peer).add(taker);
    Peer.Reply reply =
        h.tryConsumer(
            peer,
            taker.id,
            topic ? TOPIC : QUEUE,
            topic ? Subscribe.SHARED_DURABLE : Subscribe.QUEUE,
            topic ? "shared" : null,
            odd == null ? null : "odd = " + odd,
            false);
    if (!(reply instanceof Peer.Reply.ConsumerAttached)) {
      throw new AssertionError("consumer was answered " + reply);
    }
  }

  private <T> @Nullable T any(List<T> some) {
    return some.isEmpty() ? null : some.get(random.nextInt(some.size()));
  }

  private List<Taker> takers() {
    return connections.values().stream().flatMap(List::stream).toList();
  }

  private @Nullable Taker anyTaker() {
    return any(takers());
  }

  private void close(@Nullable Taker taker) {
    if (taker != null) {
      forget(taker);
      connections.get(taker.peer).remove(taker);
      h.broker.submit(new Command.DetachConsumer(taker.peer, 0, taker.id));
    }
  }

  private void loseConnection() {
    FakePeer peer = any(List.copyOf(connections.keySet()));
    if (peer != null) {
      peer.dead = true;
      connections.remove(peer).forEach(this::forget);
      h.broker.submit(new Command.Detach(peer, random.nextInt(3) == 0));
    }
  }

  private void writable() {
    for (FakePeer peer : connections.keySet()) {
      if (!peer.writable) {
        peer.writable = true;
        h.broker.submit(new Command.Writable(peer));
        return;
      }
    }
    FakePeer peer = any(List.copyOf(connections.keySet()));
    if (peer != null) {
      peer.writable = false;
    }
  }

  private void pull(@Nullable Taker taker, int parkMillis) {
    if (taker != null) {
      taker.pull = h.nextCorrelation();
      taker.impatient = parkMillis == 0;
      h.broker.submit(
          new Command.Pull(
              taker.peer, taker.id, taker.pull, 1 + random.nextInt(8), 1 << 20, parkMillis));
    }
  }

  private void acknowledge(@Nullable Taker taker) {
    if (taker == null || taker.held.isEmpty()) {
      return;
    }
    List<Received> some = some(taker.held);
    List<Received> told = new ArrayList<>(some);
    told.addAll(plant.alsoAcknowledged(taker.held));
    acknowledge(taker, some, told);
  }

  private void acknowledge(Taker taker, List<Received> some, List<Received> told) {
    for (Received each : some) {
      Message message = messages.get(each.text());
      message.acknowledged = true;
      message.holder = null;
    }
    taker.held.removeAll(some);
    h.broker.submit(new Command.Acknowledge(taker.peer, 0, List.of(acked(taker, told))));
  }

  private Command.Acked acked(Taker taker, List<Received> some) {
    List<SequenceRange> ranges = some.stream().map(Received::range).toList();
    return new Command.Acked(taker.id, destination, ranges);
  }

  private List<Received> some(List<Received> held) {
    if (random.nextBoolean()) {
      return List.copyOf(held);
    }
    List<Received> some = new ArrayList<>(held);
    some.removeIf(each -> random.nextBoolean());
    return some.isEmpty() ? List.copyOf(held) : some;
  }

  /**
   * Gives back all, as a rollback does, or the end of it, as a consumer that closes does; nothing
   * is on its way to the consumer then.
   */
  private void giveBack(@Nullable Taker taker) {
    if (taker == null || taker.held.isEmpty() || !taker.peer.writable) {
      return;
    }
    if (taker.isOpen()) {
      pull(taker, 0);
      h.loops.runUntil(() -> !taker.isOpen());
    }
    int from = random.nextBoolean() ? 0 : random.nextInt(taker.held.size());
    List<Received> some = List.copyOf(taker.held.subList(from, taker.held.size()));
    some.forEach(each -> messages.get(each.text()).holder = null);
    taker.held.removeAll(some);
    h.broker.submit(
        new Command.Return(taker.peer, 0, List.of(acked(taker, some)), random.nextBoolean()));
  }

  private void forget(Taker taker) {
    taker.held.forEach(each -> messages.get(each.text()).holder = null);
    taker.held.clear();
  }

  private void restart(boolean power) throws IOException {
    end();
    h.crash(power);
    begin();
  }

  private void restartCleanly() throws IOException {
    end();
    h.close();
    begin();
  }

  private void end() {
    for (FakePeer peer : connections.keySet()) {
      peer.dead = true;
    }
    takers().forEach(this::forget);
    connections.clear();
  }

  private void begin() throws IOException {
    messages.values().removeIf(message -> !message.persistent);
    messages.values().forEach(message -> message.mayComeAgain = message.acknowledged);
    h.open();
    connectProducer();
    if (topic) {
      join();
    }
  }

  /** All consumers take and acknowledge what there is: then nothing is left. */
  private void calm() {
    if (takers().isEmpty()) {
      join();
    }
    if (selectors) {
      for (boolean odd : List.of(true, false)) {
        while (takers().stream().noneMatch(taker -> taker.odd != null && taker.odd == odd)) {
          join();
        }
      }
    }
    for (FakePeer peer : connections.keySet()) {
      if (!peer.writable) {
        peer.writable = true;
        h.broker.submit(new Command.Writable(peer));
      }
    }
    int before = -1;
    while (before != delivered) {
      before = delivered;
      for (Taker taker : takers()) {
        if (!taker.held.isEmpty()) {
          List<Received> all = List.copyOf(taker.held);
          acknowledge(taker, all, all);
        }
        if (!taker.isOpen() || taker.impatient) {
          pull(taker, 600_000);
        }
      }
      h.loops.runUntilIdle();
      h.loops.advance(500_000_000);
      failIfEnded();
    }
    for (Message message : messages.values()) {
      if (!message.acknowledged) {
        throw new AssertionError(
            message
                + " does not come although "
                + takers().size()
                + " consumers wait for it; "
                + this
                + " "
                + h.admin("destination.show", Map.of("name", "groups")));
      }
    }
  }

  @Override
  public String toString() {
    return (topic ? "topic" : "queue")
        + (selectors ? " with selectors" : "")
        + (closes ? " with ends of groups" : "")
        + (delays ? " with waits" : "");
  }

  // ---- what is checked ----

  private void received(FakePeer peer, Received received) {
    if (peer.dead) {
      return;
    }
    Taker taker = null;
    for (Taker each : connections.getOrDefault(peer, List.of())) {
      taker = each.id == received.consumerId() ? each : taker;
    }
    if (taker == null) {
      return; // on its way when the consumer was closed
    }
    delivered++;
    Message message = messages.get(received.text());
    if (message == null) {
      throw new AssertionError(received + " was never sent");
    }
    message.acknowledged &= !message.mayComeAgain;
    if (message.acknowledged || message.holder != null || !taker.wants(message)) {
      throw new AssertionError(message + " comes to " + taker);
    }
    message.sequence = received.sequence();
    if (message.group != null) {
      check(taker, message);
    }
    message.holder = taker;
    taker.held.add(received);
  }

  private void check(Taker taker, Message message) {
    for (Message other : messages.values()) {
      if (!message.group.equals(other.group) || !taker.wants(other) || other == message) {
        continue;
      }
      if (other.holder != null && other.holder != taker && sameSelector(other.holder, taker)) {
        throw new AssertionError(message + " comes to " + taker + " while " + other);
      }
      boolean earlier =
          other.persistent == message.persistent
              && other.priority == message.priority
              && number(other) < number(message);
      if (earlier && !other.acknowledged && other.holder != taker) {
        throw new AssertionError(message + " comes to " + taker + " before " + other);
      }
    }
  }

  private static boolean sameSelector(Taker one, Taker two) {
    return one.odd == null ? two.odd == null : one.odd.equals(two.odd);
  }

  private static int number(Message message) {
    return Integer.parseInt(message.text.substring(1));
  }
}

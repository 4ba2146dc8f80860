package io.lightmq.core.shard;

import io.lightmq.core.shard.Command.Subscribe;
import io.lightmq.core.shard.FakePeer.Received;
import io.lightmq.core.shard.OrderModel.Followed;
import io.lightmq.core.shard.OrderModel.Topic;
import io.lightmq.core.shard.SimulationModel.IntRange;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.SequenceRange;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;

/**
 * The connections that have consumers of one kind under one subscription name. They open and close
 * consumers, lose their links, change selector and topic, and unsubscribe; what they do to the
 * subscription as a whole they repeat until it is answered.
 */
final class OrderSubscribers {
  /** A connection with at most one consumer. */
  private final class Slot {
    final int number;
    final List<Received> held = new ArrayList<>();
    FakePeer peer;
    int request;
    int consumer;
    boolean open;

    /** What the connection's consumers, closed ones too, read. */
    Map<Integer, Followed> reads = Map.of();

    Slot(int number) {
      this.number = number;
    }

    boolean isUsed() {
      return open || request != 0;
    }

    void connect() {
      FakePeer own = simulation.newPeer();
      Map<Integer, Followed> by = new HashMap<>();
      own.onReceived = received -> received(by, own, received);
      reads = by;
      peer = own;
      held.clear();
      open = false;
      request = 0;
      int c = h.nextCorrelation();
      h.broker.submit(
          new Command.Attach(own, c, new UUID(random.nextLong(), number), 1, 1, clientId));
      if (!(h.reply(own, c) instanceof Peer.Reply.Attached)) {
        throw new AssertionError("attach was answered " + own.replies.get(c));
      }
    }

    void received(Map<Integer, Followed> by, FakePeer from, Received received) {
      by.get(received.consumerId()).received(received);
      if (from == peer && !from.dead && open && received.consumerId() == consumer) {
        held.add(received);
      }
    }

    List<Command.Acked> take(boolean all) {
      List<Received> some = new ArrayList<>(held);
      some.removeIf(each -> !all && random.nextInt(3) == 0);
      held.removeAll(some);
      List<SequenceRange> ranges = some.stream().map(Received::range).toList();
      return some.isEmpty()
          ? List.of()
          : List.of(new Command.Acked(consumer, some.get(0).destinationId(), ranges));
    }
  }

  private final OrderSimulation simulation;
  private final BrokerHarness h;
  private final Random random;
  private final Subscribe kind;
  private final String name;
  private final String clientId;
  private final List<Slot> slots = new ArrayList<>();
  private Followed followed;
  private int consumers;

  /** Whether the broker may have another subscription than {@link #followed}, or none. */
  private boolean unsure;

  private int unsubscribing;
  private boolean unsubscribed;
  private FakePeer asker;

  OrderSubscribers(
      OrderSimulation simulation, Subscribe kind, String name, String clientId, int connections) {
    this.simulation = simulation;
    this.h = simulation.harness();
    this.random = simulation.random();
    this.kind = kind;
    this.name = name;
    this.clientId = clientId;
    for (int i = 0; i < connections; i++) {
      slots.add(new Slot(i));
    }
  }

  private boolean isDurable() {
    return kind == Subscribe.DURABLE || kind == Subscribe.SHARED_DURABLE;
  }

  private boolean isShared() {
    return kind == Subscribe.SHARED || kind == Subscribe.SHARED_DURABLE;
  }

  private boolean isUsed() {
    return slots.stream().anyMatch(Slot::isUsed);
  }

  private Slot any() {
    return slots.get(random.nextInt(slots.size()));
  }

  void connect() {
    slots.forEach(Slot::connect);
  }

  /** The broker has ended; what was asked and not answered may have happened. */
  void restarted() {
    unsure |= slots.stream().anyMatch(slot -> slot.request != 0) || unsubscribing != 0;
    unsubscribing = 0;
    slots.forEach(slot -> slot.peer.dead = true);
    if (!isDurable()) {
      followed = null;
    }
  }

  // ---- what they do ----

  void open() {
    Slot slot = any();
    if (slot.isUsed() || unsubscribing != 0) {
      return;
    }
    if (unsubscribed && unsure) {
      unsubscribe();
      return;
    }
    if (followed == null || (!isUsed() && !unsure && random.nextInt(5) == 0)) {
      Topic topic = simulation.anyTopic();
      IntRange wanted = anyRange();
      if (followed == null || topic != followed.topic || !wanted.equals(followed.wanted)) {
        followed = simulation.model().new Followed(kind + " " + name, topic, wanted, isShared());
      }
    }
    slot.request = h.nextCorrelation();
    slot.open = false;
    slot.consumer = ++consumers;
    slot.reads.put(slot.consumer, followed);
    h.broker.submit(
        new Command.AttachConsumer(
            slot.peer,
            slot.request,
            slot.consumer,
            1,
            followed.topic.name(),
            kind,
            kind == Subscribe.PLAIN ? null : name,
            followed.wanted.selector(),
            false,
            false,
            true));
  }

  private IntRange anyRange() {
    int low = random.nextInt(7);
    return random.nextBoolean() ? IntRange.ALL : new IntRange(low, low + random.nextInt(7 - low));
  }

  void close() {
    Slot slot = any();
    if (slot.open) {
      if (random.nextBoolean()) {
        acknowledge(slot, random.nextBoolean());
      }
      slot.open = false;
      slot.held.clear();
      h.broker.submit(new Command.DetachConsumer(slot.peer, h.nextCorrelation(), slot.consumer));
      left();
    }
  }

  void loseLink() {
    Slot slot = any();
    boolean clean = random.nextBoolean();
    if (slot.request != 0 || unsubscribing != 0) {
      return; // it would have to be asked whether that has happened
    }
    slot.peer.dead = true;
    h.broker.submit(new Command.Detach(slot.peer, clean));
    slot.open = false;
    left();
    slot.connect();
  }

  /** A consumer has gone; a subscription that lives with its consumers goes with the last. */
  private void left() {
    if (isUsed()) {
      followed.disturb();
    } else if (!isDurable()) {
      followed = null;
    }
  }

  void unsubscribe() {
    if (isDurable() && unsubscribing == 0 && !isUsed() && (followed != null || unsubscribed)) {
      Slot slot = any();
      unsubscribing = h.nextCorrelation();
      unsubscribed = true;
      asker = slot.peer;
      h.broker.submit(new Command.Unsubscribe(slot.peer, unsubscribing, name));
    }
  }

  void pull() {
    Slot slot = any();
    if (slot.open) {
      h.broker.submit(
          new Command.Pull(
              slot.peer,
              slot.consumer,
              h.nextCorrelation(),
              1 + random.nextInt(12),
              1 + random.nextInt(4000),
              random.nextInt(3) == 0 ? 0 : 40));
    }
  }

  void acknowledge() {
    acknowledge(any(), random.nextInt(3) == 0);
  }

  private void acknowledge(Slot slot, boolean all) {
    List<Command.Acked> acked = slot.take(all);
    if (slot.open && !acked.isEmpty()) {
      h.broker.submit(new Command.Acknowledge(slot.peer, 0, acked));
    }
  }

  void giveBack() {
    Slot slot = any();
    List<Command.Acked> returned = slot.take(false);
    if (slot.open && !returned.isEmpty()) {
      h.broker.submit(new Command.Return(slot.peer, 0, returned, random.nextBoolean()));
    }
  }

  // ---- what they are told ----

  void look() {
    for (Slot slot : slots) {
      if (!slot.peer.dead && !slot.peer.disconnects.isEmpty()) {
        throw new AssertionError(name + " was disconnected: " + slot.peer.disconnects);
      }
      Peer.Reply reply = slot.request == 0 ? null : slot.peer.replies.remove(slot.request);
      if (reply == null) {
        continue;
      }
      if (!(reply instanceof Peer.Reply.ConsumerAttached)) {
        throw new AssertionError(followed + " was answered " + reply);
      }
      slot.request = 0;
      slot.open = true;
      if (unsure) {
        followed.reopened();
      } else {
        followed.opened();
      }
      unsure = false;
    }
    Peer.Reply ended = unsubscribing == 0 ? null : asker.replies.remove(unsubscribing);
    if (ended != null) {
      boolean gone =
          unsure
              && ended instanceof Peer.Reply.Failed failed
              && failed.code() == FaultCode.INVALID_SUBSCRIPTION;
      if (!gone && !(ended instanceof Peer.Reply.Ok)) {
        throw new AssertionError("to unsubscribe " + followed + " was answered " + ended);
      }
      unsubscribing = 0;
      unsubscribed = false;
      unsure = false;
      followed = null;
    }
  }

  /** Takes all that is there for the consumers that are open. */
  void drain() {
    if (slots.stream().noneMatch(slot -> slot.open)) {
      return;
    }
    boolean more = true;
    while (more) {
      more = false;
      for (Slot slot : slots) {
        if (slot.open) {
          more |= drain(slot);
        }
      }
    }
    followed.drained();
  }

  private boolean isAnswered() {
    return slots.stream()
        .allMatch(slot -> slot.request == 0 || slot.peer.replies.containsKey(slot.request));
  }

  private boolean drain(Slot slot) {
    int before = slot.peer.received.size();
    int pull = h.nextCorrelation();
    h.broker.submit(new Command.Pull(slot.peer, slot.consumer, pull, 50, 1 << 20, 0));
    h.loops.runUntil(
        () ->
            slot.peer.received.size() > before
                || slot.peer.pullsDone.contains(slot.consumer + "/" + pull + "/" + FaultCode.OK));
    return slot.peer.received.size() > before;
  }

  /** Opens what the broker keeps, with nothing else to be done, and takes all that is there. */
  void drainDurable() {
    if (!isDurable()) {
      return;
    }
    while (unsubscribed && unsure) {
      unsubscribe();
      h.loops.runUntilIdle();
      look();
    }
    if (followed != null) {
      open();
      h.loops.runUntil(() -> isAnswered());
      look();
      drain();
    }
  }
}

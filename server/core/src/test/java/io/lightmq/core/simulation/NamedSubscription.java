package io.lightmq.core.simulation;

import io.lightmq.core.door.Command;
import io.lightmq.core.door.Command.Subscribe;
import io.lightmq.core.door.Peer;
import io.lightmq.wire.entry.FaultCode;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What consumers come and go under: a queue, or a name of a topic's subscription, which has one
 * life after the other. What is done to it as a whole is repeated until it is answered.
 */
final class NamedSubscription {
  private static final int MOST_TAKERS = 4;

  final Subscribe kind;
  final @Nullable String name;
  final @Nullable String clientId;
  private final World world;
  private final List<SimulatedDestination> destinations;
  final List<Taker> takers = new ArrayList<>();

  /** Its present life; none between two of them, and with plain ones each consumer has its own. */
  @Nullable Followed followed;

  /** Whether the broker may have another one than {@link #followed}, or none. */
  private boolean unsure;

  private int opening;
  private boolean unsubscribing;
  private boolean unsubscribed;

  NamedSubscription(
      World world,
      Subscribe kind,
      @Nullable String name,
      @Nullable String clientId,
      List<SimulatedDestination> destinations) {
    this.world = world;
    this.kind = kind;
    this.name = name;
    this.clientId = clientId;
    this.destinations = destinations;
    if (isQueue()) {
      followed = world.ledger.follow(this, destinations.get(0), IntRange.ALL);
      followed.open = 0;
    }
  }

  boolean isQueue() {
    return kind == Subscribe.QUEUE;
  }

  boolean isDurable() {
    return isQueue() || kind == Subscribe.DURABLE || kind == Subscribe.SHARED_DURABLE;
  }

  boolean isShared() {
    return isQueue() || kind == Subscribe.SHARED || kind == Subscribe.SHARED_DURABLE;
  }

  private boolean isOf(Client client) {
    return isQueue()
        || kind == Subscribe.PLAIN
        || java.util.Objects.equals(clientId, client.clientId);
  }

  // ---- opening ----

  /** A client opens a consumer, if it may have one now. */
  void open(Client client) {
    if (isQueue()) {
      open(client, destinations.get(0).anyRange(world.random));
    } else {
      open(client, IntRange.ALL);
    }
  }

  /** The same with what the consumer of a queue is to ask for. */
  void open(Client client, IntRange range) {
    if (!client.isAttached() || !isOf(client) || unsubscribing || takers.size() >= mostTakers()) {
      return;
    }
    if (unsubscribed && unsure) {
      unsubscribe(client);
      return;
    }
    Followed of = isQueue() ? followed : life();
    if (of == null) {
      return;
    }
    int consumer = world.nextCorrelation();
    boolean consumes = isQueue() && client.consumes(consumer);
    Taker taker = new Taker(client, consumer, this, of, isQueue() ? range : of.wanted, consumes);
    takers.add(taker);
    if (isShared() && takers.size() > 1) {
      world.ledger.disturbed(of);
    }
    opening++;
    client.open(
        taker,
        new Command.AttachConsumer(
            client.peer(),
            consumer,
            consumer,
            Client.SESSION,
            of.destination.name,
            kind,
            kind == Subscribe.PLAIN ? null : name,
            taker.range.selector(),
            false,
            consumes,
            true),
        this::opened);
  }

  private int mostTakers() {
    return isShared() || kind == Subscribe.PLAIN ? MOST_TAKERS : 1;
  }

  private Followed life() {
    Followed present = followed;
    boolean fresh = present == null || kind == Subscribe.PLAIN;
    if (fresh || (takers.isEmpty() && !unsure && world.oneIn(5))) {
      SimulatedDestination topic = world.any(destinations);
      IntRange wanted = world.has(Feature.SELECTS) ? IntRange.any(world.random) : IntRange.ALL;
      if (fresh || topic != present.destination || !wanted.equals(present.wanted)) {
        present = world.ledger.follow(this, topic, wanted);
      }
    }
    followed = kind == Subscribe.PLAIN ? null : present;
    return present;
  }

  private void opened(Taker taker, Peer.Reply reply) {
    if (!(reply instanceof Peer.Reply.ConsumerAttached attached)) {
      throw new AssertionError(taker + " of " + taker.followed + " is answered " + reply);
    }
    opening--;
    taker.open = true;
    taker.followed.destination.id = attached.destinationId();
    if (!isQueue()) {
      world.ledger.opened(taker.followed, unsure);
    }
    unsure = false;
  }

  // ---- ending ----

  /** A consumer has gone. */
  void left(Taker taker) {
    if (!takers.remove(taker)) {
      return;
    }
    if (taker.consumes) {
      taker.followed.mayMiss += Client.MOST_PULLED;
    }
    world.ledger.disturbed(taker.followed);
    if (takers.isEmpty() && !isDurable()) {
      followed = null;
    }
  }

  void unsubscribe(Client client) {
    boolean topical = kind == Subscribe.DURABLE || kind == Subscribe.SHARED_DURABLE;
    if (!topical
        || !client.isAttached()
        || !isOf(client)
        || unsubscribing
        || !takers.isEmpty()
        || (followed == null && !unsubscribed)) {
      return;
    }
    unsubscribing = true;
    unsubscribed = true;
    int c = world.nextCorrelation();
    client.ask(c, new Command.Unsubscribe(client.peer(), c, name == null ? "" : name), this::ended);
  }

  private void ended(Peer.Reply reply) {
    boolean gone =
        unsure
            && reply instanceof Peer.Reply.Failed failed
            && failed.code() == FaultCode.INVALID_SUBSCRIPTION;
    if (!gone && !(reply instanceof Peer.Reply.Ok)) {
      throw new AssertionError("to unsubscribe " + this + " is answered " + reply);
    }
    unsubscribing = false;
    unsubscribed = false;
    unsure = false;
    if (followed != null) {
      world.ledger.ended(followed);
    }
    followed = null;
  }

  /** The broker has ended; what was asked and not answered may have happened. */
  void restarted() {
    unsure |= opening > 0 || unsubscribing;
    opening = 0;
    unsubscribing = false;
    for (Taker taker : List.copyOf(takers)) {
      left(taker);
    }
  }

  /** Sees to it that consumers are there who get all there is, if there is anything. */
  void cover(List<Client> clients) {
    if (isQueue()) {
      for (IntRange range : destinations.get(0).cover()) {
        if (takers.stream().noneMatch(taker -> taker.range.equals(range))) {
          if (takers.size() >= mostTakers()) {
            Taker last = takers.get(takers.size() - 1);
            last.client.close(last);
          }
          open(world.any(clients), range);
        }
      }
    } else if (isDurable() && takers.isEmpty() && (followed != null || unsubscribed)) {
      clients.stream().filter(this::isOf).findFirst().ifPresent(this::open);
    }
  }

  /** Whether what its consumers get is known. */
  boolean isSure() {
    return !unsure && !unsubscribed;
  }

  @Override
  public String toString() {
    return kind + (name == null ? "" : " " + name) + (clientId == null ? "" : " of " + clientId);
  }
}

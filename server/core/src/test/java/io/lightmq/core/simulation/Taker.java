package io.lightmq.core.simulation;

import io.lightmq.core.door.Command;
import io.lightmq.core.simulation.SimulatedPeer.Received;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A consumer of a client's connection. */
final class Taker {
  /**
   * A message in hand.
   *
   * @param handed whether the application has it, and not only the client
   */
  record Held(Copy copy, Received received, boolean handed) {}

  final Client client;
  final int id;
  final NamedSubscription named;
  final Followed followed;

  /** What it asked for. */
  final IntRange range;

  /** What it gets is acknowledged before it is sent. */
  final boolean consumes;

  final List<Held> held = new ArrayList<>();
  boolean open;

  /** The pull that is not answered, 0 for none. */
  int pull;

  Taker(
      Client client,
      int id,
      NamedSubscription named,
      Followed followed,
      IntRange range,
      boolean consumes) {
    this.client = client;
    this.id = id;
    this.named = named;
    this.followed = followed;
    this.range = range;
    this.consumes = consumes;
  }

  /** A message came; whether the application has it at once. What it has is what came first. */
  boolean take(Copy copy, Received received, boolean mayHand) {
    boolean handed = mayHand && (held.isEmpty() || held.get(held.size() - 1).handed());
    held.add(new Held(copy, received, handed));
    return handed;
  }

  /** What commands name of messages in hand. */
  static List<Command.Acked> acked(List<Held> some, Map<Held, Taker> takers) {
    Map<Taker, Map<Long, List<Held>>> parts = new LinkedHashMap<>();
    for (Held each : some) {
      parts
          .computeIfAbsent(takers.get(each), taker -> new LinkedHashMap<>())
          .computeIfAbsent(each.received().destinationId(), id -> new ArrayList<>())
          .add(each);
    }
    List<Command.Acked> acked = new ArrayList<>();
    parts.forEach(
        (taker, byId) ->
            byId.forEach(
                (id, of) ->
                    acked.add(
                        new Command.Acked(
                            taker.id, id, of.stream().map(h -> h.received().range()).toList()))));
    return acked;
  }

  List<Command.Acked> acked(List<Held> some) {
    Map<Held, Taker> mine = new HashMap<>();
    some.forEach(each -> mine.put(each, this));
    return acked(some, mine);
  }

  @Override
  public String toString() {
    return "consumer " + id + " of client " + client.id + (consumes ? " at most once" : "");
  }
}

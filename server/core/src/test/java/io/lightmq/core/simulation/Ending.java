package io.lightmq.core.simulation;

import io.lightmq.core.door.Peer;
import io.lightmq.core.shard.BrokerMetrics;
import io.lightmq.core.simulation.Oracle.Arrival;
import io.lightmq.core.simulation.SimulatedPeer.Received;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Takes all that there is: in the midst of a history, and at its end behind a last start. */
final class Ending {
  private static final long SECOND = 1_000_000_000L;
  private static final int MOST_ROUNDS = 600;
  private static final int QUIET_ROUNDS = 5;

  private final World world;
  private final List<Client> clients;
  private final List<NamedSubscription> names;
  private final List<SimulatedDestination> destinations;

  Ending(
      World world,
      List<Client> clients,
      List<NamedSubscription> names,
      List<SimulatedDestination> destinations) {
    this.world = world;
    this.clients = clients;
    this.names = names;
    this.destinations = destinations;
  }

  /** All consumers take and acknowledge what there is, until nothing comes: nothing is missing. */
  void calm() {
    boolean failing = world.overflowFails;
    world.overflowFails = false;
    attachAll();
    clients.forEach(client -> client.writable(true));
    names.forEach(named -> named.cover(clients));
    world.rest();
    int quiet = 0;
    for (int round = 0; quiet < QUIET_ROUNDS; round++) {
      if (round == MOST_ROUNDS) {
        throw new AssertionError("messages come again and again");
      }
      quiet = takeSome() ? 0 : quiet + 1;
    }
    covered().forEach(world.ledger::calm);
    world.overflowFails = failing;
  }

  private void attachAll() {
    for (int i = 0; i < 50 && !clients.stream().allMatch(Client::isAttached); i++) {
      world.advance(SECOND / 5);
    }
  }

  /** Whether anything came. */
  private boolean takeSome() {
    long before = world.ledger.arrivals();
    for (Client client : clients) {
      for (Taker taker : client.takers()) {
        client.acknowledgeAll(taker);
        if (taker.pull == 0) {
          client.pull(taker, 50, 1 << 20, 600_000);
        }
      }
    }
    world.rest();
    world.advance(SECOND * 2 / 5);
    return world.ledger.arrivals() != before;
  }

  /** What has consumers for all that it keeps. */
  private Set<Followed> covered() {
    Set<Followed> covered = new LinkedHashSet<>();
    for (NamedSubscription named : names) {
      boolean whole =
          !named.isQueue()
              || named.followed.destination.cover().stream()
                  .allMatch(
                      range ->
                          named.takers.stream()
                              .anyMatch(taker -> taker.open && taker.range.equals(range)));
      if (named.isSure() && whole) {
        named.takers.stream()
            .filter(taker -> taker.open)
            .forEach(taker -> covered.add(taker.followed));
      }
    }
    return covered;
  }

  /** Everything is answered that was asked. */
  void answers() {
    world.overflowFails = false;
    for (int i = 0; i < 3; i++) {
      world.advance(5 * SECOND);
    }
    clients.forEach(Client::everythingIsAnswered);
  }

  /** Behind the last start, when all that was delayed is due and what had to expire has. */
  void end() throws IOException {
    world.advance(3 * SECOND);
    attachAll();
    Client sweeper = clients.get(clients.size() - 1);
    for (NamedSubscription named : names) {
      if (named.isQueue()) {
        drain(sweeper, named);
      }
    }
    world.advance(12 * SECOND);
    calm();
    new Letters(world).takeAll();
    Set<Followed> left = new LinkedHashSet<>();
    for (NamedSubscription named : names) {
      if (named.isDurable() && named.followed != null && named.isSure()) {
        left.add(named.followed);
      }
    }
    world.ledger.end(left);
    nothingIsLeft();
  }

  private void drain(Client sweeper, NamedSubscription queue) {
    SimulatedDestination of = queue.followed.destination;
    List<Message> browsed = new ArrayList<>();
    for (Received each : new Visitor(world).browse(of)) {
      browsed.add(world.ledger.message(each));
    }
    queue.open(sweeper, IntRange.ALL);
    world.rest();
    List<Arrival> taken = new ArrayList<>();
    Taker taker = queue.takers.get(0);
    sweeper.onArrival(taken::add);
    for (int before = -1; before < taken.size() && taker.open; ) {
      before = taken.size();
      sweeper.pull(taker, 50, 1 << 20, 0);
      world.until(() -> taker.pull == 0);
    }
    sweeper.onArrival(each -> {});
    browsed.removeIf(message -> movesByItself(message, queue.followed));
    taken.removeIf(each -> movesByItself(each.message(), queue.followed));
    world.ledger.drained(queue.followed, browsed, taken);
    sweeper.acknowledgeAll(taker);
    sweeper.close(taker);
  }

  private boolean movesByItself(Message message, Followed queue) {
    return message.isDelayed()
        || message.isKeyed()
        || message.retried
        || message.content.liveMillis() > 0
        || message.copy(queue).mayBeExhausted();
  }

  private void nothingIsLeft() throws IOException {
    world.advance(2 * SECOND);
    for (SimulatedDestination each : destinations) {
      if (each.isQueue()) {
        Peer.Reply reply =
            world.administer("destination.show", Map.of("name", each.name.name(), "kind", "queue"));
        String shown = reply instanceof Peer.Reply.Json json ? json.json() : "";
        if (!shown.isEmpty()
            && !(shown.contains("\"backlog\":0") && shown.contains("\"delayed\":0"))) {
          throw new Oracle.Violation("NothingLeft", "all was taken, and there is " + shown);
        }
      }
    }
    clients.forEach(Client::ended);
    BrokerMetrics metrics = world.harness.broker.metrics();
    long memory = metrics.direct().byPurpose().getOrDefault("unlogged messages", 0L);
    for (Client client : clients) {
      if (client.peer().openBuffers != 0) {
        throw new Oracle.Violation("NothingLeft", client + " has open buffers");
      }
    }
    if (world.has(Feature.TOPICS)) {
      return; // plain subscriptions may have what nobody took
    }
    if (metrics.overflow().files() > 0 || memory > 0) {
      throw new Oracle.Violation(
          "NothingLeft", metrics.overflow() + " and " + memory + " bytes are left");
    }
  }
}

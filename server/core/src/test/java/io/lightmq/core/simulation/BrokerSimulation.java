package io.lightmq.core.simulation;

import io.lightmq.core.door.Command.Subscribe;
import io.lightmq.core.sim.PowerCut;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * One history: clients that do random things with a whole broker on simulated loops, time and disk,
 * which crashes in between, while oracles look at all that the clients see. The seed and the
 * features decide everything. A step draws what it does from its number alone, so that steps can be
 * left out.
 */
final class BrokerSimulation {
  private static final long SECOND = 1_000_000_000L;
  private static final int BUILDING = -2;
  private static final int ENDING = -3;

  /**
   * What a step may do, and how often beside the others.
   *
   * @param forces whether somebody waits for a force because of it
   */
  private record Action(Feature feature, int weight, boolean forces, Act act) {}

  private interface Act {
    void run() throws IOException;
  }

  private final World world;
  private final int steps;
  private final @Nullable Set<Integer> only;
  private final List<SimulatedDestination> destinations = new ArrayList<>();
  private final List<NamedSubscription> names = new ArrayList<>();
  private final List<Client> clients = new ArrayList<>();
  private final List<Action> actions = new ArrayList<>();
  private final Administrator administrator;
  private final Ending ending;
  private int weights;

  /** Nobody but who takes all that is left opens consumers. */
  private boolean atEnd;

  /** Whether nobody asks for a force at this time, so that what is written stays unforced. */
  private boolean quiet;

  BrokerSimulation(long seed, Set<Feature> features) {
    this(seed, features, new Plant(), null);
  }

  /**
   * A history with a fault.
   *
   * @param only the steps that are done; null for all
   */
  BrokerSimulation(long seed, Set<Feature> features, Plant plant, @Nullable Set<Integer> only) {
    this.only = only;
    world = new World(seed, features, plant);
    world.look = () -> clients.forEach(Client::look);
    steps = 80 + world.random.nextInt(180);
    world.step(BUILDING);
    makeDestinations();
    makeNames();
    makeClients();
    administrator = new Administrator(world, destinations);
    ending = new Ending(world, clients, names, destinations);
    makeActions();
  }

  World world() {
    return world;
  }

  /** The numbers of all steps. */
  static List<Integer> stepsOf(long seed, Set<Feature> features) {
    BrokerSimulation simulation = new BrokerSimulation(seed, features);
    return IntStream.range(0, simulation.steps).boxed().toList();
  }

  // ---- who is there ----

  private void makeDestinations() {
    destination(DestinationKind.QUEUE, "orders", true, false);
    destination(DestinationKind.QUEUE, "jobs", true, false);
    destination(DestinationKind.QUEUE, "fast", false, false);
    destination(DestinationKind.QUEUE, "short-lived", true, true);
    if (world.has(Feature.TOPICS)) {
      destination(DestinationKind.TOPIC, "prices", true, false);
      destination(DestinationKind.TOPIC, "ticks", false, false);
    }
  }

  private void destination(DestinationKind kind, String name, boolean high, boolean shortLived) {
    destinations.add(
        new SimulatedDestination(
            new DestinationName(kind, name), high, shortLived, world.features, world.random));
  }

  private void makeNames() {
    for (SimulatedDestination each : destinations) {
      if (each.isQueue()) {
        names.add(new NamedSubscription(world, Subscribe.QUEUE, null, null, List.of(each)));
      }
    }
    if (world.has(Feature.TOPICS)) {
      List<SimulatedDestination> topics =
          destinations.stream().filter(each -> !each.isQueue()).toList();
      names.add(new NamedSubscription(world, Subscribe.DURABLE, "one", "desk", topics));
      names.add(new NamedSubscription(world, Subscribe.DURABLE, "two", "desk", topics));
      names.add(new NamedSubscription(world, Subscribe.SHARED_DURABLE, "many", null, topics));
      names.add(new NamedSubscription(world, Subscribe.SHARED, "some", null, topics));
      names.add(new NamedSubscription(world, Subscribe.PLAIN, null, null, topics));
    }
  }

  private void makeClients() {
    Wording wording = new Wording(world);
    clients.add(new Client(world, 0, "desk", false, wording));
    clients.add(new Client(world, 1, null, world.oneIn(4), wording));
    clients.add(new Client(world, 2, null, world.oneIn(4), wording));
    clients.add(new Client(world, 3, null, false, wording));
    clients.forEach(client -> client.onAttached = this::settleDown);
  }

  /** A client finds the destinations, and consumes from some. */
  private void settleDown(Client client) {
    destinations.forEach(client::knows);
    if (!atEnd && world.has(Feature.PULLS)) {
      for (NamedSubscription named : names) {
        if (world.oneIn(3)) {
          named.open(client);
        }
      }
    }
  }

  private Client anyClient() {
    return world.any(clients);
  }

  private SimulatedDestination anyDestination() {
    return world.any(destinations);
  }

  // ---- what they do ----

  private void makeActions() {
    idle(Feature.PULLS, 340, () -> withTaker(this::pull));
    idle(Feature.PULLS, 200, () -> withTaker((client, taker) -> client.acknowledge(taker, quiet)));
    idle(Feature.PULLS, 12, () -> anyClient().writable(world.random.nextInt(3) > 0));
    idle(Feature.BROWSES, 12, this::browse);
    idle(Feature.UNLOGGED, 10, () -> world.overflowFails = world.random.nextBoolean());
    idle(Feature.CRASHES, 14, () -> crash(world.random.nextBoolean()));
    idle(Feature.CRASHES, 6, this::stop);
    idle(Feature.CRASHES, 10, () -> world.harness.disk.cutPowerAt(1 + world.random.nextInt(40)));
    idle(Feature.CRASHES, 8, this::cutPowerBesideACheckpoint);
    idle(Feature.PULLS, 15, () -> world.harness.checkpoint());
    idle(Feature.PULLS, 30, () -> quiet = !quiet);
    idle(Feature.PULLS, 50, () -> world.advance(world.random.nextInt(200_000_000)));
    idle(Feature.PULLS, 8, () -> world.advance(world.random.nextInt(15) * SECOND));
    idle(Feature.PULLS, 8, this::calm);
    on(Feature.SENDS, 250, this::send);
    on(Feature.PULLS, 50, () -> world.any(names).open(anyClient()));
    on(Feature.PULLS, 60, () -> withTaker(Client::giveBack));
    on(Feature.PULLS, 25, () -> withTaker(Client::close));
    on(Feature.TRANSACTS, 70, () -> commit(anyClient(), false));
    on(Feature.TRANSACTS, 60, () -> stage(anyClient()));
    on(Feature.TRANSACTS, 8, this::crashBeforeTheAnswer);
    on(Feature.TOPICS, 25, () -> world.any(names).unsubscribe(anyClient()));
    on(Feature.LINKS, 20, () -> anyClient().loseLink());
    on(Feature.LINKS, 10, () -> anyClient().die());
    on(Feature.LINKS, 10, () -> anyClient().closeCleanly());
    on(Feature.RETRIES, 30, () -> withTaker(this::failAgainAndAgain));
    on(Feature.RETRIES, 15, () -> new Letters(world).retry());
    on(Feature.ADMINISTERS, 10, () -> administrator.purgeOrDelete());
    on(Feature.ADMINISTERS, 10, () -> administrator.changeRedelivery());
    on(Feature.ADMINISTERS, 10, () -> administrator.changeTargets(world.random.nextBoolean()));
  }

  private void on(Feature feature, int weight, Act act) {
    add(new Action(feature, weight, true, act));
  }

  /** Something that asks for no force. */
  private void idle(Feature feature, int weight, Act act) {
    add(new Action(feature, weight, false, act));
  }

  private void add(Action action) {
    actions.add(action);
    weights += action.weight();
  }

  private interface WithTaker {
    void run(Client client, Taker taker);
  }

  private void withTaker(WithTaker act) {
    List<Taker> open =
        clients.stream()
            .flatMap(client -> client.takers().stream())
            .filter(taker -> taker.open)
            .toList();
    if (!open.isEmpty()) {
      Taker taker = world.any(open);
      act.run(taker.client, taker);
    }
  }

  private void pull(Client client, Taker taker) {
    client.pull(
        taker,
        1 + world.random.nextInt(Client.MOST_PULLED),
        1 + world.random.nextInt(4_000),
        world.random.nextBoolean() ? 0 : 40);
  }

  private void send() {
    Client client = anyClient();
    SimulatedDestination to = anyDestination();
    for (int runs = world.random.nextInt(3); runs >= 0; runs--) {
      client.send(to, isPersistent());
    }
  }

  private void cutPowerBesideACheckpoint() throws IOException {
    for (int i = 0; i < 4; i++) {
      withTaker(this::pull);
    }
    world.rest();
    world.harness.checkpoint();
    for (int i = world.random.nextInt(6); i >= 0; i--) {
      world.turns(world.random.nextInt(8));
      withTaker((client, taker) -> client.acknowledge(taker, true));
    }
    if (world.random.nextInt(3) > 0) {
      world.advance(world.random.nextInt(60_000_000));
    }
    world.turns(world.random.nextInt(12));
    crash(true);
  }

  private void failAgainAndAgain(Client client, Taker taker) {
    for (int i = world.random.nextInt(4); i >= 0 && taker.open; i--) {
      client.pull(taker, 1 + world.random.nextInt(5), 1 << 20, 0);
      world.rest();
      client.fail(taker);
      world.rest();
      world.advance(SECOND + world.random.nextInt(100_000_000));
    }
  }

  private boolean isPersistent() {
    return !world.has(Feature.UNLOGGED) || world.random.nextInt(4) > 0;
  }

  /** A commit is carried out, and its client does not hear of it before the process ends. */
  private void crashBeforeTheAnswer() throws IOException {
    Client client = anyClient();
    client.deaf = world.has(Feature.CRASHES);
    commit(client, world.random.nextBoolean());
    world.rest();
    for (int i = 0; i < 4; i++) {
      withTaker(this::pull);
    }
    world.turns(world.random.nextInt(25));
    if (client.deaf) {
      crash(world.random.nextInt(4) == 0);
    }
  }

  /** What an open transaction holds keeps back others of its group. */
  private void calm() {
    clients.forEach(Client::endStaging);
    ending.calm();
  }

  private void stage(Client client) {
    client.stage(someDestinations());
  }

  private void commit(Client client, boolean unlogged) {
    client.commit(someDestinations(), unlogged);
  }

  private List<SimulatedDestination> someDestinations() {
    List<SimulatedDestination> targets = new ArrayList<>();
    for (int i = world.random.nextInt(3); i >= 0; i--) {
      targets.add(anyDestination());
    }
    return new ArrayList<>(targets.stream().distinct().toList());
  }

  private void browse() {
    SimulatedDestination of = anyDestination();
    if (of.isQueue()) {
      new Visitor(world).browse(of);
    }
  }

  // ---- the history ----

  /** Runs the history; throws what it finds. */
  void run() throws IOException {
    world.start();
    administrator.createAll();
    clients.forEach(Client::connect);
    if (world.has(Feature.UNLOGGED) && world.random.nextBoolean()) {
      overflow();
    }
    for (int number = 0; number < steps; number++) {
      if (only == null || only.contains(number)) {
        int step = number;
        guarded(step, () -> step(step));
      }
    }
    guarded(ENDING, this::end);
  }

  /** A power cut that comes in between ends the broker and not the history. */
  private void guarded(int number, Act act) throws IOException {
    world.step(number);
    try {
      world.tell(() -> "step " + number);
      act.run();
    } catch (PowerCut cut) {
      crash(true);
      if (number == ENDING) {
        guarded(ENDING - 1, act);
      }
    }
  }

  private void step(int number) throws IOException {
    act();
    world.stepped(number);
  }

  private void act() throws IOException {
    Action action = anyAction();
    if (quiet && action.forces()) {
      beQuiet();
    } else if (world.has(action.feature())) {
      action.act().run();
    }
    if (world.oneIn(10)) {
      world.rest();
    } else {
      world.turns(world.random.nextInt(25));
    }
  }

  /** What is acknowledged now is written and not forced, perhaps beside a checkpoint. */
  private void beQuiet() {
    int what = world.random.nextInt(10);
    if (what == 0) {
      world.harness.checkpoint();
    } else if (what < 5) {
      withTaker((client, taker) -> client.acknowledge(taker, true));
    } else {
      withTaker(this::pull);
    }
  }

  /** Which one it is does not depend on the features, so that a step does the same without some. */
  private Action anyAction() {
    int what = world.random.nextInt(weights);
    for (Action action : actions) {
      what -= action.weight();
      if (what < 0) {
        return action;
      }
    }
    throw new IllegalStateException("weights do not add up to " + weights);
  }

  /** Sends more unlogged messages than memory takes, before anybody consumes. */
  private void overflow() {
    world.rest();
    for (int i = 0; i < 100 && world.overflowFiles() == 0; i++) {
      clients.get(0).send(destinations.get(0), false);
      clients.get(0).send(destinations.get(0), false);
      world.rest();
    }
  }

  private void endBroker() {
    clients.forEach(Client::ended);
    names.forEach(NamedSubscription::restarted);
  }

  private void crash(boolean power) throws IOException {
    endBroker();
    world.end(power);
    begin();
  }

  private void stop() throws IOException {
    endBroker();
    world.stop();
    begin();
  }

  private void begin() throws IOException {
    world.start();
    clients.forEach(Client::connect);
  }

  private void end() throws IOException {
    ending.answers();
    clients.forEach(Client::endStaging);
    ending.answers();
    administrator.changeTargets(false);
    ending.calm();
    atEnd = true;
    world.stepClock(3 * 3_600_000);
    if (world.random.nextBoolean()) {
      stop();
    } else {
      crash(world.random.nextBoolean());
    }
    ending.end();
    clients.forEach(Client::ended);
    world.harness.close();
  }
}

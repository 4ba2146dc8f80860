package io.lightmq.core.simulation;

import io.lightmq.core.door.Command;
import io.lightmq.core.door.Peer;
import io.lightmq.core.simulation.Oracle.Arrival;
import io.lightmq.core.simulation.SimulatedPeer.Received;
import io.lightmq.core.simulation.Taker.Held;
import io.lightmq.wire.entry.FaultCode;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A client with a link, a connection that comes and goes, a session that sends, and consumers. All
 * it is told goes to the ledger at once; what it does about it waits for {@link #look}.
 */
final class Client implements SimulatedPeer.Listener {
  static final int SESSION = 1;

  /** The most that one pull asks for. */
  static final int MOST_PULLED = 12;

  final World world;
  final int id;
  final @Nullable String clientId;
  private final Wording wording;
  private final Outbox outbox;
  private final Stager stager;
  private final boolean mayConsume;
  private final Map<Integer, Taker> all = new HashMap<>();
  private final List<Taker> takers = new ArrayList<>();
  private final Map<Integer, Consumer<Peer.Reply>> waits = new HashMap<>();
  private final Map<SimulatedDestination, Long> ids = new HashMap<>();
  private final Set<SimulatedDestination> resolving = new HashSet<>();
  private final ArrayDeque<Runnable> todo = new ArrayDeque<>();
  private SimulatedPeer peer;
  private boolean attached;

  /** Answers to what it sends are lost, as just before a connection breaks. */
  boolean deaf;

  /** What it does first on a new connection. */
  Consumer<Client> onAttached = client -> {};

  private Consumer<Arrival> onArrival = arrival -> {};
  private int opening;
  private int nextOrder;

  Client(World world, int id, @Nullable String clientId, boolean mayConsume, Wording wording) {
    this.world = world;
    this.id = id;
    this.clientId = clientId;
    this.wording = wording;
    this.mayConsume = mayConsume;
    this.outbox = new Outbox(world, this, wording);
    this.stager = new Stager(world, this, outbox, wording);
    this.peer = new SimulatedPeer(0);
    peer.dead = true;
  }

  SimulatedPeer peer() {
    return peer;
  }

  boolean isAttached() {
    return attached;
  }

  /** Whether one of its consumers acknowledges by pulling. */
  boolean consumes(int consumer) {
    return mayConsume && consumer % 2 == 0;
  }

  // ---- connection ----

  void connect() {
    peer = world.newPeer();
    peer.listener = this;
    attached = false;
    deaf = false;
    waits.clear();
    todo.clear();
    ids.clear();
    resolving.clear();
    takers.clear();
    opening = 0;
    int c = world.nextCorrelation();
    SimulatedPeer own = peer;
    waits.put(c, reply -> attached(own, reply));
    world.submit(outbox.attach(own, c));
  }

  private void attached(SimulatedPeer to, Peer.Reply reply) {
    if (!(reply instanceof Peer.Reply.Attached answer)) {
      throw new AssertionError(this + ": attach is answered " + reply);
    }
    todo.add(
        () -> {
          if (to == peer) {
            attached = true;
            outbox.attached(answer);
            onAttached.accept(this);
          }
        });
  }

  /** Does what answers ask for. */
  void look() {
    if (peer.disconnected != null && !peer.dead) {
      throw new AssertionError(this + " was disconnected: " + peer.disconnected);
    }
    for (Runnable next = todo.poll(); next != null; next = todo.poll()) {
      next.run();
    }
  }

  /** The connection breaks; what was not answered is repeated on the next one. */
  void loseLink() {
    if (isReady()) {
      lose();
      connect();
    }
  }

  /** The client's process ends; another one begins with a link of its own. */
  void die() {
    if (isReady()) {
      lose();
      outbox.forget();
      connect();
    }
  }

  /** Whether nothing is open of which it would have to be asked whether it has happened. */
  private boolean isReady() {
    return attached && opening == 0;
  }

  private void lose() {
    List<Held> begun = new ArrayList<>();
    Map<Held, Taker> of = new HashMap<>();
    for (Taker taker : takers) {
      for (Held each : taker.held) {
        if (each.handed()) {
          begun.add(each);
          of.put(each, taker);
        }
      }
    }
    if (world.has(Feature.RETRIES) && !begun.isEmpty() && world.random.nextBoolean()) {
      world.submit(new Command.Begun(peer, SESSION, false, Taker.acked(begun, of)));
      takers.forEach(taker -> taker.held.forEach(each -> mayFail(each)));
    }
    world.tell(() -> this + " loses its connection");
    peer.dead = true;
    world.submit(new Command.Detach(peer, false));
    letGo();
  }

  private void mayFail(Held each) {
    world.ledger.mayHaveFailed(each.copy());
  }

  /** Closes in order, having given back what its application saw. */
  void closeCleanly() {
    if (!isReady() || !outbox.isIdle() || !waits.isEmpty() || stager.isOpen()) {
      return;
    }
    for (Taker taker : List.copyOf(takers)) {
      settle(taker);
    }
    if (!isReady() || !outbox.isIdle()) {
      return; // time has passed meanwhile
    }
    world.tell(() -> this + " closes");
    peer.dead = true;
    world.submit(new Command.Detach(peer, true));
    letGo();
    outbox.forget();
    connect();
  }

  /** The broker has ended. */
  void ended() {
    peer.dead = true;
    letGo();
  }

  private void letGo() {
    stager.lost();
    for (Taker taker : List.copyOf(takers)) {
      gone(taker);
    }
    attached = false;
  }

  /** Nothing stays without an answer when time passes. */
  void everythingIsAnswered() {
    if (!attached || !outbox.isIdle() || !waits.isEmpty()) {
      throw new AssertionError(this + " waits for answers: " + waits.keySet());
    }
  }

  // ---- requests ----

  void ask(int c, Command command, Consumer<Peer.Reply> then) {
    opening++;
    waits.put(
        c,
        reply -> {
          opening--;
          then.accept(reply);
        });
    world.submit(command);
  }

  /** Asks what the connection may be lost without an answer to. */
  void await(int c, Command command, Consumer<Peer.Reply> then) {
    waits.put(c, then);
    world.submit(command);
  }

  void open(Taker taker, Command.AttachConsumer command, BiConsumer<Taker, Peer.Reply> then) {
    all.put(taker.id, taker);
    takers.add(taker);
    world.tell(() -> this + " opens " + taker + " of " + taker.followed + " for " + taker.range);
    ask(command.correlation(), command, reply -> then.accept(taker, reply));
  }

  @Override
  public void replied(SimulatedPeer from, int correlation, Peer.Reply reply) {
    if (from == peer && !from.dead) {
      Consumer<Peer.Reply> then = waits.remove(correlation);
      if (then != null) {
        then.accept(reply);
      }
    }
  }

  @Override
  public void receipt(SimulatedPeer from, int correlation, FaultCode code, String text) {
    if (from == peer && !from.dead && !deaf) {
      outbox.receipt(correlation, code, text);
    }
  }

  // ---- sending ----

  /** The id of a destination, or the one that was heard of last. */
  long idOf(SimulatedDestination destination) {
    return ids.getOrDefault(destination, destination.id);
  }

  void forget(SimulatedDestination destination) {
    ids.remove(destination);
  }

  /** Whether it knows a destination; asks for it if not. */
  boolean knows(SimulatedDestination destination) {
    if (ids.containsKey(destination)) {
      return true;
    }
    if (attached && resolving.add(destination)) {
      int c = world.nextCorrelation();
      waits.put(
          c,
          reply -> {
            resolving.remove(destination);
            if (reply instanceof Peer.Reply.ProducerAttached producer) {
              ids.put(destination, producer.destinationId());
              destination.id = producer.destinationId();
            } else {
              throw new AssertionError(this + ": a producer is answered " + reply);
            }
          });
      world.submit(new Command.AttachProducer(peer, c, destination.name, true));
    }
    return false;
  }

  void send(SimulatedDestination to, boolean persistent) {
    if (attached && knows(to) && !outbox.isFull()) {
      int count = 1 + world.random.nextInt(world.oneIn(20) ? 20 : 4);
      outbox.send(newRun(to, persistent, count, null));
    }
  }

  private Outbox.Run newRun(
      SimulatedDestination to, boolean persistent, int count, @Nullable Transaction transaction) {
    List<Message> run = new ArrayList<>();
    boolean mixed = world.oneIn(4);
    int priority = wording.priority();
    for (int i = 0; i < count; i++) {
      Message.Content content =
          wording.content(to, persistent, mixed ? wording.priority() : priority);
      int producer = id * 2 + (transaction == null ? 0 : 1); // each has a session of its own
      String name = "c" + id + "." + nextOrder;
      run.add(new Message(name, producer, nextOrder++, to, content, transaction));
    }
    return new Outbox.Run(to, persistent, run);
  }

  /**
   * Commits some of what it has in hand with some runs.
   *
   * @param unlogged whether all its messages are non-persistent, not only some
   */
  void commit(List<SimulatedDestination> targets, boolean unlogged) {
    transact(targets, unlogged, false);
  }

  /** The same, part by part; or goes on with what is begun. */
  void stage(List<SimulatedDestination> targets) {
    if (stager.isOpen()) {
      stager.next();
    } else {
      transact(targets, false, true);
    }
  }

  /** Ends what is staged. */
  void endStaging() {
    for (int i = 0; i < 100 && stager.isOpen(); i++) {
      stager.next();
      world.rest();
    }
  }

  private void transact(List<SimulatedDestination> targets, boolean unlogged, boolean staged) {
    targets.removeIf(to -> !knows(to));
    if (!attached || targets.isEmpty() || outbox.isFull() || stager.isOpen()) {
      return;
    }
    Transaction transaction = world.ledger.newTransaction();
    List<Outbox.Run> runs = new ArrayList<>();
    for (SimulatedDestination to : targets) {
      boolean persistent =
          !world.has(Feature.UNLOGGED) || (world.random.nextInt(4) > 0 && !unlogged);
      runs.add(newRun(to, persistent, 1 + world.random.nextInt(3), transaction));
    }
    Map<Held, Taker> of = new LinkedHashMap<>();
    for (Taker taker : takers) {
      for (Held each : some(taker)) {
        of.put(each, taker);
        taker.held.remove(each);
        world.ledger.acknowledging(each.copy(), transaction);
        each.copy().seen = true;
      }
    }
    List<Held> held = List.copyOf(of.keySet());
    if (staged) {
      stager.begin(transaction, runs, held, of);
      return;
    }
    world.tell(() -> this + " commits " + transaction + ", acknowledges " + held);
    outbox.commit(transaction, runs, held, Taker.acked(held, of));
  }

  // ---- consuming ----

  List<Taker> takers() {
    return List.copyOf(takers);
  }

  void pull(Taker taker, int messages, int bytes, int parkMillis) {
    if (taker.open && attached) {
      taker.pull = world.nextCorrelation();
      // So much may be lost with who acknowledges by pulling, and no more.
      int most = taker.consumes ? Math.min(messages, MOST_PULLED) : messages;
      world.tell(() -> taker + " pulls " + most);
      world.submit(new Command.Pull(peer, taker.id, taker.pull, most, bytes, parkMillis));
    }
  }

  @Override
  public void received(SimulatedPeer from, List<Received> batch) {
    Taker taker = all.get(batch.get(0).consumerId());
    boolean alive = from == peer && !from.dead && taker.open;
    for (Arrival each : world.ledger.arrived(taker, batch, alive)) {
      onArrival.accept(each);
      if (alive && !taker.consumes) {
        each.copy().seen |= taker.take(each.copy(), each.received(), world.random.nextInt(4) > 0);
      }
    }
  }

  @Override
  public void pulled(SimulatedPeer from, int consumerId, int pullId, FaultCode code) {
    Taker taker = all.get(consumerId);
    if (from != peer || from.dead || taker == null || taker.pull != pullId) {
      return;
    }
    taker.pull = 0;
    if (code != FaultCode.OK && code != FaultCode.RETRY_LATER) {
      world.tell(() -> taker + " ends with " + code);
      gone(taker);
    }
  }

  void onArrival(Consumer<Arrival> also) {
    onArrival = also;
  }

  private List<Held> some(Taker taker) {
    List<Held> some = new ArrayList<>(taker.held);
    some.removeIf(each -> world.oneIn(3));
    return some;
  }

  void acknowledge(Taker taker, boolean quiet) {
    acknowledge(taker, some(taker), quiet);
  }

  void acknowledgeAll(Taker taker) {
    acknowledge(taker, List.copyOf(taker.held), true);
  }

  private void acknowledge(Taker taker, List<Held> some, boolean quiet) {
    if (some.isEmpty() || !taker.open) {
      return;
    }
    taker.held.removeAll(some);
    for (Held each : some) {
      world.ledger.acknowledging(each.copy(), null);
      each.copy().seen = true;
    }
    world.tell(() -> taker + " acknowledges " + some);
    int c = quiet ? 0 : world.nextCorrelation();
    if (c != 0) {
      long asked = world.wallMillis();
      waits.put(c, reply -> acknowledged(some, asked, reply));
    }
    world.submit(new Command.Acknowledge(peer, c, taker.acked(some)));
  }

  private void acknowledged(List<Held> some, long askedMillis, Peer.Reply reply) {
    if (reply instanceof Peer.Reply.Ok) {
      for (Held each : some) {
        Copy copy = each.copy();
        if (copy.asked && copy.transaction == null) {
          world.ledger.acknowledged(copy, askedMillis, copy.followed.destination.high);
        }
      }
    } else if (reply instanceof Peer.Reply.Failed failed
        && failed.code() != FaultCode.NOT_IN_FLIGHT
        && failed.code() != FaultCode.DESTINATION_GONE) {
      throw new AssertionError(this + ": an acknowledgement is answered " + reply);
    }
  }

  /** Gives back what failed, or what was not handed to the application. */
  void giveBack(Taker taker) {
    boolean attempted = world.random.nextInt(3) > 0;
    if (!quiesce(taker)) {
      return;
    }
    List<Held> some = some(taker);
    if (taker.followed.keepsGroups()) {
      // As a rollback does, or the end of it, as a consumer that closes does.
      int from =
          world.random.nextBoolean() || taker.held.isEmpty()
              ? 0
              : world.random.nextInt(taker.held.size());
      some = new ArrayList<>(taker.held.subList(from, taker.held.size()));
    }
    if (!attempted) {
      some.removeIf(Held::handed);
    }
    giveBack(taker, some, attempted);
  }

  /** The application fails with all that it has. */
  void fail(Taker taker) {
    settle(taker);
  }

  private void giveBack(Taker taker, List<Held> some, boolean attempted) {
    if (some.isEmpty()) {
      return;
    }
    taker.held.removeAll(some);
    for (Held each : some) {
      world.ledger.released(each.copy());
      if (attempted) {
        each.copy().seen = true;
        mayFail(each);
      }
    }
    world.tell(() -> taker + " gives back " + (attempted ? "failed " : "") + some);
    int c = world.nextCorrelation();
    waits.put(
        c,
        reply -> {
          if (attempted && reply instanceof Peer.Reply.Ok) {
            some.forEach(each -> world.ledger.failed(each.copy()));
          }
        });
    world.submit(new Command.Return(peer, c, taker.acked(some), attempted));
  }

  /** Waits until nothing is on its way to a consumer; whether it is still there. */
  private boolean quiesce(Taker taker) {
    if (!peer.writable) {
      writable(true);
    }
    if (taker.open && taker.pull != 0) {
      SimulatedPeer own = peer;
      pull(taker, 1, 1, 0);
      world.until(() -> taker.pull == 0 || peer != own || peer.dead);
    }
    return taker.open && attached;
  }

  /** Nothing is left in the application's hands. */
  private void settle(Taker taker) {
    if (quiesce(taker)) {
      giveBack(taker, taker.held.stream().filter(Held::handed).toList(), true);
    }
  }

  /** Closes a consumer, but not while a commit of what it had is under way. */
  void close(Taker taker) {
    settle(taker);
    if (taker.open && attached && !outbox.isCommitting(taker) && !stager.has(taker)) {
      world.tell(() -> this + " closes " + taker);
      gone(taker);
      world.submit(new Command.DetachConsumer(peer, 0, taker.id));
    }
  }

  /** A consumer is not there any more. */
  private void gone(Taker taker) {
    taker.held.forEach(each -> world.ledger.released(each.copy()));
    taker.held.clear();
    taker.open = false;
    taker.pull = 0;
    takers.remove(taker);
    taker.named.left(taker);
  }

  void writable(boolean writable) {
    if (peer.writable != writable && attached) {
      peer.writable = writable;
      takers.forEach(taker -> world.ledger.disturbed(taker.followed));
      if (writable) {
        world.submit(new Command.Writable(peer));
      }
    }
  }

  @Override
  public String toString() {
    return "client " + id;
  }
}

package io.lightmq.core.simulation;

import io.lightmq.core.door.Command;
import io.lightmq.core.door.Peer;
import io.lightmq.core.simulation.Outbox.Run;
import io.lightmq.core.simulation.Taker.Held;
import io.lightmq.wire.entry.Branch;
import io.lightmq.wire.entry.FaultCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The transaction that a client's session stages part by part, and then commits or rolls back. It
 * is gone with the connection.
 */
final class Stager {
  /** A part: what it sends and what it acknowledges. */
  private record Part(List<Run> runs, List<Held> held, List<Command.Acked> acked) {
    boolean isStaged() {
      return held.stream().anyMatch(each -> each.copy().staged);
    }
  }

  private final World world;
  private final Client client;
  private final Outbox outbox;
  private final Wording wording;
  private final List<Part> parts = new ArrayList<>();
  private @Nullable Transaction transaction;

  /** Counts the transactions of a link. */
  private long local;

  private long id;
  private int next;
  private boolean waits;
  private boolean commits;

  Stager(World world, Client client, Outbox outbox, Wording wording) {
    this.world = world;
    this.client = client;
    this.outbox = outbox;
    this.wording = wording;
  }

  boolean isOpen() {
    return transaction != null;
  }

  /** Whether it acknowledges what a consumer had. */
  boolean has(Taker taker) {
    return parts.stream()
        .flatMap(part -> part.acked().stream())
        .anyMatch(acked -> acked.consumerId() == taker.id);
  }

  /** Begins with some runs and messages in hand, a few in each part. */
  void begin(Transaction of, List<Run> runs, List<Held> held, Map<Held, Taker> takers) {
    transaction = of;
    local++;
    id = 0;
    next = 0;
    waits = false;
    commits = world.random.nextInt(4) > 0;
    int count = 1 + world.random.nextInt(4);
    for (int i = 0; i < count; i++) {
      int at = i;
      List<Run> own = new ArrayList<>(runs);
      own.removeIf(run -> runs.indexOf(run) % count != at);
      List<Held> mine = new ArrayList<>(held);
      mine.removeIf(each -> held.indexOf(each) % count != at);
      parts.add(new Part(own, mine, Taker.acked(mine, takers)));
    }
    runs.forEach(run -> run.messages().forEach(world.ledger::add));
    next();
  }

  /** Goes on, if the part before is answered. */
  void next() {
    Transaction of = transaction;
    if (of == null || waits || !client.isAttached()) {
      return;
    }
    if (next < parts.size() && (commits ? next < parts.size() - 1 || id == 0 : true)) {
      stage(of, parts.get(next++));
    } else if (commits) {
      commit(of);
    } else {
      rollBack(of);
    }
  }

  private void stage(Transaction of, Part part) {
    world.tell(() -> client + " stages of " + of + " " + part.runs() + ", " + part.held());
    int c = world.nextCorrelation();
    waits = true;
    parts.forEach(each -> each.held().forEach(held -> HeldIsHeld.sent(held.copy())));
    SimulatedPeer own = client.peer();
    client.await(
        c,
        new Command.Stage(
            own, c, Client.SESSION, id, outbox.staged(part.runs()), part.acked(), branch()),
        reply -> staged(of, part, reply));
  }

  private Branch branch() {
    return new Branch.Local(local);
  }

  private void staged(Transaction of, Part part, Peer.Reply reply) {
    if (transaction != of) {
      return;
    }
    waits = false;
    boolean refused = reply instanceof Peer.Reply.Failed;
    parts.forEach(each -> each.held().forEach(held -> HeldIsHeld.answered(held.copy(), refused)));
    if (reply instanceof Peer.Reply.Staged staged) {
      id = staged.transaction();
      part.held().forEach(each -> each.copy().staged = true);
    } else if (reply instanceof Peer.Reply.Failed failed && World.mayBeRefused(failed.code())) {
      world.tell(() -> of + " is refused: " + failed.text());
      if (failed.code() == FaultCode.TRANSACTION_ROLLED_BACK) {
        rolledBack(of, List.copyOf(parts.subList(next, parts.size())));
      } else {
        rollBack(of);
      }
    } else {
      throw new AssertionError(client + ": a part of a transaction is answered " + reply);
    }
  }

  private void commit(Transaction of) {
    Part last = next < parts.size() ? parts.get(next) : new Part(List.of(), List.of(), List.of());
    List<Held> held = new ArrayList<>();
    List<Run> all = new ArrayList<>();
    for (Part part : parts) {
      held.addAll(part.held());
      all.addAll(part.runs());
    }
    held.forEach(each -> each.copy().staged = false);
    world.tell(() -> client + " commits " + of + ", which was staged");
    parts.clear();
    transaction = null;
    outbox.commitStaged(of, all, last.runs(), held, last.acked(), new Command.Staged(branch(), id));
  }

  private void rollBack(Transaction of) {
    world.tell(() -> client + " rolls back " + of);
    int c = world.nextCorrelation();
    client.await(c, new Command.Abandon(client.peer(), c, branch(), true), reply -> {});
    rolledBack(of, parts.stream().filter(part -> !part.isStaged()).toList());
  }

  /** What the broker was not told of, or does not hold, is given back. */
  private void rolledBack(Transaction of, List<Part> untold) {
    List<Command.Acked> back = untold.stream().flatMap(part -> part.acked().stream()).toList();
    end(of, FaultCode.TRANSACTION_ROLLED_BACK);
    if (!back.isEmpty()) {
      world.submit(new Command.Return(client.peer(), 0, back, true));
    }
  }

  /** The connection has gone. */
  void lost() {
    Transaction of = transaction;
    if (of != null) {
      world.tell(() -> of + " is lost with its connection");
      end(of, FaultCode.TRANSACTION_ROLLED_BACK);
    }
  }

  private void end(Transaction of, FaultCode code) {
    for (Part part : parts) {
      for (Run run : part.runs()) {
        world.ledger.answered(run.messages(), code, false);
        world.ledger.settled(run.messages());
      }
      for (Held each : part.held()) {
        Copy copy = each.copy();
        HeldIsHeld.answered(copy, true);
        copy.staged = false;
        if (copy.transaction == of) {
          world.ledger.notAcknowledged(copy);
          world.ledger.mayHaveFailed(copy);
        }
      }
    }
    parts.clear();
    transaction = null;
  }
}

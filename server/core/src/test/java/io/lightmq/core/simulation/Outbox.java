package io.lightmq.core.simulation;

import io.lightmq.core.door.Command;
import io.lightmq.core.door.Peer;
import io.lightmq.core.simulation.Taker.Held;
import io.lightmq.wire.entry.FaultCode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * What a client has sent over its link: runs and commits with their numbers, kept until they and
 * all before them are answered, and repeated after each new attach.
 */
final class Outbox {
  /** Consecutive messages of one delivery mode for one destination. */
  record Run(SimulatedDestination to, boolean persistent, List<Message> messages) {}

  /** What one number stands for: a run, or a commit. */
  private static final class Parcel {
    final List<Run> runs;

    /** Those of its runs that it carries; the others were staged. */
    final List<Run> carried;

    final Command.Step step;
    final @Nullable Transaction transaction;
    final List<Held> acknowledged;
    final List<Command.Acked> acked;
    final long askedMillis;
    int correlation;
    boolean answered;

    Parcel(
        List<Run> runs,
        @Nullable Transaction transaction,
        List<Held> acknowledged,
        List<Command.Acked> acked,
        long askedMillis) {
      this(runs, runs, Command.Step.COMMIT_WHOLE, transaction, acknowledged, acked, askedMillis);
    }

    Parcel(
        List<Run> runs,
        List<Run> carried,
        Command.Step step,
        @Nullable Transaction transaction,
        List<Held> acknowledged,
        List<Command.Acked> acked,
        long askedMillis) {
      this.carried = carried;
      this.step = step;
      this.runs = runs;
      this.transaction = transaction;
      this.acknowledged = acknowledged;
      this.acked = acked;
      this.askedMillis = askedMillis;
    }

    List<Message> messages() {
      return runs.stream().flatMap(run -> run.messages().stream()).toList();
    }

    /** Whether its receipt says that it is forced. */
    boolean isHigh() {
      return runs.stream().anyMatch(run -> run.persistent() && run.to().high)
          || acknowledged.stream()
              .anyMatch(
                  each ->
                      each.copy().followed.destination.high
                          && !each.copy().followed.isInMemory(each.copy().message));
    }
  }

  static final int MOST_OPEN = 200;

  private final World world;
  private final Client client;
  private final Wording wording;
  private final TreeMap<Long, Parcel> unanswered = new TreeMap<>();
  private final Map<Integer, Long> numbers = new HashMap<>();
  private final Map<Integer, Run> unloggedRuns = new HashMap<>();
  private UUID link;
  private long epoch;
  private long nextNumber = 1;

  Outbox(World world, Client client, Wording wording) {
    this.world = world;
    this.client = client;
    this.wording = wording;
    this.link = newLink();
  }

  private UUID newLink() {
    return new UUID(client.id, world.random.nextLong());
  }

  // ---- the link ----

  Command.Attach attach(SimulatedPeer peer, int correlation) {
    numbers.clear();
    unloggedRuns.clear();
    long from = unanswered.isEmpty() ? nextNumber : unanswered.firstKey();
    return new Command.Attach(peer, correlation, link, ++epoch, from, client.clientId);
  }

  /** Its process is gone, and with it what it knew of its link. */
  void forget() {
    for (Parcel parcel : unanswered.values()) {
      parcel.acknowledged.forEach(each -> world.ledger.mayHaveFailed(each.copy()));
    }
    unanswered.clear();
    numbers.clear();
    unloggedRuns.clear();
    link = newLink();
    epoch = 0;
    nextNumber = 1;
  }

  void attached(Peer.Reply.Attached answer) {
    Map<Long, FaultCode> codes = new HashMap<>();
    answer.outcomes().forEach(outcome -> codes.put(outcome.number(), outcome.code()));
    while (!unanswered.isEmpty() && unanswered.firstKey() <= answer.last()) {
      Map.Entry<Long, Parcel> first = unanswered.pollFirstEntry();
      if (!first.getValue().answered) {
        answered(first.getValue(), codes.getOrDefault(first.getKey(), FaultCode.OK), true);
      }
    }
    unanswered.forEach(this::submit);
  }

  boolean isIdle() {
    return unanswered.isEmpty() && unloggedRuns.isEmpty();
  }

  /** Whether a commit that is not answered acknowledges what a consumer had. */
  boolean isCommitting(Taker taker) {
    return unanswered.values().stream()
        .filter(parcel -> !parcel.answered)
        .flatMap(parcel -> parcel.acked.stream())
        .anyMatch(acked -> acked.consumerId() == taker.id);
  }

  boolean isFull() {
    return unanswered.size() + unloggedRuns.size() > MOST_OPEN;
  }

  // ---- sending ----

  void send(Run run) {
    run.messages().forEach(world.ledger::add);
    if (run.persistent()) {
      parcel(new Parcel(List.of(run), null, List.of(), List.of(), 0));
    } else {
      int c = world.nextCorrelation();
      unloggedRuns.put(c, run);
      publish(c, 0, run);
    }
  }

  void commit(Transaction transaction, List<Run> runs, List<Held> held, List<Command.Acked> acked) {
    runs.forEach(run -> run.messages().forEach(world.ledger::add));
    Parcel parcel = new Parcel(runs, transaction, held, acked, world.wallMillis());
    transaction.durable = parcel.isHigh();
    parcel(parcel);
  }

  /** Commits what was staged, with what the last part brings. */
  void commitStaged(
      Transaction transaction,
      List<Run> runs,
      List<Run> carried,
      List<Held> held,
      List<Command.Acked> acked,
      Command.Staged staged) {
    Parcel parcel =
        new Parcel(
            runs,
            carried,
            new Command.Step.Commits(staged),
            transaction,
            held,
            acked,
            world.wallMillis());
    transaction.durable = parcel.isHigh();
    parcel(parcel);
  }

  private void parcel(Parcel parcel) {
    unanswered.put(nextNumber, parcel);
    submit(nextNumber++, parcel);
  }

  private void submit(long number, Parcel parcel) {
    int c = world.nextCorrelation();
    parcel.correlation = c;
    numbers.put(c, number);
    if (parcel.transaction == null) {
      publish(c, number, parcel.runs.get(0));
      return;
    }
    world.submit(
        new Command.Commit(
            client.peer(),
            c,
            Client.SESSION,
            number,
            staged(parcel.carried),
            parcel.acked,
            parcel.step));
  }

  /** Runs as a command brings them. */
  List<Command.StagedRun> staged(List<Run> runs) {
    List<Command.StagedRun> staged = new ArrayList<>();
    for (Run run : runs) {
      world.ledger.submitted(run.messages());
      staged.add(
          new Command.StagedRun(
              client.idOf(run.to()),
              run.persistent(),
              run.messages().size(),
              wording.bytes(run.messages())));
    }
    return staged;
  }

  private void publish(int c, long number, Run run) {
    world.ledger.submitted(run.messages());
    world.submit(
        new Command.Publish(
            client.peer(),
            c,
            client.idOf(run.to()),
            number,
            run.messages().size(),
            wording.bytes(run.messages())));
  }

  // ---- answers ----

  void receipt(int correlation, FaultCode code, String text) {
    if (code != FaultCode.OK && !World.mayBeRefused(code)) {
      throw new AssertionError(client + " is refused with " + code + ": " + text);
    }
    Run light = unloggedRuns.remove(correlation);
    if (light != null) {
      world.ledger.answered(light.messages(), code, false);
      world.ledger.settled(light.messages());
      return;
    }
    Long number = numbers.remove(correlation);
    Parcel parcel = number == null ? null : unanswered.get(number);
    if (parcel == null) {
      throw new AssertionError(client + " got an answer to nothing: " + code + " " + text);
    }
    world.ledger.settled(parcel.messages());
    if (!parcel.answered) {
      parcel.answered = true;
      answered(parcel, code, false);
    }
    // What was answered is kept until all before it is: after a crash the broker may know neither.
    while (!unanswered.isEmpty() && isSettled(unanswered.firstEntry().getValue())) {
      unanswered.pollFirstEntry();
    }
    if (code == FaultCode.DESTINATION_GONE) {
      parcel.runs.forEach(run -> client.forget(run.to()));
    }
  }

  /** Whether it was answered and, if it was repeated since, its repetition was too. */
  private boolean isSettled(Parcel parcel) {
    return parcel.answered && !numbers.containsKey(parcel.correlation);
  }

  private void answered(Parcel parcel, FaultCode code, boolean durably) {
    boolean forced = durably || parcel.isHigh();
    world.ledger.answered(parcel.messages(), code, forced);
    for (Held each : parcel.acknowledged) {
      Copy copy = each.copy();
      if (copy.transaction != parcel.transaction) {
        continue; // it came again meanwhile
      }
      if (code == FaultCode.OK) {
        world.ledger.acknowledged(copy, parcel.askedMillis, forced);
      } else {
        world.ledger.notAcknowledged(copy);
        world.ledger.mayHaveFailed(copy); // what is rolled back has failed
      }
    }
  }
}

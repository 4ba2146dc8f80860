package io.lightmq.core.simulation;

import io.lightmq.core.door.Command.Subscribe;
import io.lightmq.core.simulation.Oracle.Arrival;
import io.lightmq.core.simulation.Oracle.Letter;
import io.lightmq.core.simulation.SimulatedPeer.Received;
import io.lightmq.wire.entry.FaultCode;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** All that clients know, as facts; each new one is shown to the oracles first. */
final class Ledger {
  private final World world;
  private final NothingLost nothingLost;
  private final List<Oracle> oracles;
  private final Map<String, Message> messages = new HashMap<>();
  private final List<Followed> allFollowed = new ArrayList<>();
  private final Set<Transaction> happened = new HashSet<>();

  /** Attempts that the broker has counted, but perhaps not forced. */
  private final List<Copy> counted = new ArrayList<>();

  private long event;
  private int transactions;
  private long arrivals;
  private long again;

  Ledger(World world) {
    this.world = world;
    this.nothingLost = new NothingLost(world);
    this.oracles =
        List.of(
            new NothingInvented(),
            new OnceByNumber(),
            new OnceByKey(world),
            new AllOrNothing(),
            new HeldIsHeld(),
            new AcknowledgedForGood(),
            new FlaggedIfSeen(),
            new UnflaggedIfUnseen(world),
            new AttemptsCounted(),
            new NothingBeforeItsTime(world),
            new NothingAfterItsTime(world),
            new OrderOfProducer(world),
            new OrderOfGroup(),
            new HighestPriorityFirst(),
            new BrowsersSeeWhatComes(),
            nothingLost);
  }

  long arrivals() {
    return arrivals;
  }

  void count(Tally tally) {
    tally.messages += messages.size();
    tally.arrivals += arrivals;
    tally.again += again;
    tally.commits += happened.size();
    for (Message message : messages.values()) {
      tally.retried += message.retried ? 1 : 0;
      for (Copy copy : message.copies()) {
        tally.acknowledged += copy.acknowledged || copy.consumed ? 1 : 0;
        tally.letters += copy.letters;
      }
    }
  }

  // ---- sending ----

  Transaction newTransaction() {
    return new Transaction(++transactions);
  }

  void add(Message message) {
    messages.put(message.id, message);
    message.to.messages.add(message);
  }

  /** A run goes to the broker, perhaps not for the first time. */
  void submitted(List<Message> run) {
    event++;
    long arrival = world.arrivalMillis();
    for (Message message : run) {
      message.to.grouped |= message.content.group() != null;
      message.submitted(event, world.era(), arrival);
      message.uncleanEnds = message.uncleanEnds < 0 ? world.uncleanEnds() : message.uncleanEnds;
      world.tell(() -> "sent " + message);
    }
  }

  /** A sender was told what became of its messages. */
  void answered(List<Message> run, FaultCode code, boolean durably) {
    event++;
    world.tell(() -> code + (durably ? " durably " : " ") + run);
    for (Message message : run) {
      if (code == FaultCode.OK) {
        message.confirmedAt = Math.min(message.confirmedAt, event);
        message.durably |= durably;
      } else {
        message.refused = true;
      }
    }
  }

  /** What was submitted last of these messages is answered. */
  void settled(List<Message> run) {
    event++;
    run.forEach(message -> message.settledAt = event);
  }

  // ---- subscriptions ----

  Followed follow(NamedSubscription named, SimulatedDestination destination, IntRange wanted) {
    Followed followed = new Followed(named, destination, wanted, ++event);
    allFollowed.add(followed);
    return followed;
  }

  /** Its opening is answered; whether it may have been opened anew, at the tail. */
  void opened(Followed followed, boolean anew) {
    event++;
    followed.open = anew ? event : Math.min(followed.open, event);
    if (followed.named.kind != Subscribe.PLAIN) {
      for (Followed each : allFollowed) {
        if (each.named == followed.named && each != followed) {
          ended(each);
        }
      }
    }
    world.tell(() -> "opened " + followed + (anew ? " anew" : ""));
  }

  /** Another life of its name has begun, or none any more. */
  void ended(Followed followed) {
    followed.ended = Math.min(followed.ended, ++event);
  }

  /** A consumer went, and others get what was on its way to it. */
  void disturbed(Followed followed) {
    followed.disturbed = ++event;
  }

  // ---- receiving ----

  /** Messages came to a consumer. */
  List<Arrival> arrived(Taker taker, List<Received> batch, boolean alive) {
    Followed followed = taker.followed;
    List<Arrival> arrivals = new ArrayList<>(batch.size());
    for (Received received : batch) {
      Message message = messages.get(Message.idOf(received.text()));
      if (message == null) {
        oracles.forEach(oracle -> oracle.unknown(followed, received));
        throw new AssertionError("nobody objects to " + received);
      }
      Arrival arrival = new Arrival(message, message.copy(followed), taker, received, alive);
      arrivals.add(arrival);
      world.tell(() -> (alive ? "came " : "came too late ") + arrival);
      for (Oracle oracle : oracles) {
        oracle.arrived(arrival);
      }
      arrived(arrival);
    }
    oracles.forEach(oracle -> oracle.arrivedTogether(arrivals));
    return arrivals;
  }

  private void arrived(Arrival arrival) {
    arrivals++;
    Copy copy = arrival.copy();
    again += copy.came ? 1 : 0;
    if (!arrival.isWhereItWas()) {
      copy.moved(arrival.place());
    }
    copy.place = arrival.place();
    copy.came = true;
    Transaction sent = arrival.message().transaction;
    if (sent != null) {
      sent.happened = true;
      happened.add(sent);
    }
    if (copy.transaction != null) {
      copy.transaction.undone = true;
    }
    copy.cameAgain();
    Followed.Key key = key(copy);
    if (arrival.taker().consumes) {
      copy.consumed = true;
      copy.seen |= arrival.alive();
      acknowledged(copy, world.wallMillis(), copy.followed.destination.high);
    } else if (arrival.alive()) {
      copy.holder = arrival.taker();
      if (key != null) {
        key.held = copy;
      }
    }
  }

  private static Followed.@Nullable Key key(Copy copy) {
    String key = copy.message.isKeyed() ? copy.message.content.key() : null;
    return key == null ? null : copy.followed.key(key);
  }

  /** A consumer lets a message go. */
  void released(Copy copy) {
    copy.holder = null;
    Followed.Key key = key(copy);
    if (key != null && key.held == copy) {
      key.held = null;
    }
  }

  /** An acknowledgement is sent, alone or with a commit. */
  void acknowledging(Copy copy, @Nullable Transaction with) {
    released(copy);
    copy.asked = true;
    copy.askedEra = world.era();
    copy.transaction = with;
    Followed.Key key = key(copy);
    if (key != null) {
      key.asked = true;
    }
  }

  /** An acknowledgement that was sent at a time is confirmed. */
  void acknowledged(Copy copy, long askedMillis, boolean durably) {
    copy.acknowledged |= !copy.consumed;
    copy.acknowledgedDurably |= durably;
    copy.acknowledgementMayBeLost = false;
    Followed.Key key = key(copy);
    if (key != null) {
      boolean inMemory = copy.followed.isInMemory(copy.message);
      // A commit of before a crash is answered, and the keys in memory went with the process.
      boolean forgotten = inMemory && copy.asked && copy.askedEra != world.era();
      key.acknowledgedMillis = forgotten ? null : Long.valueOf(askedMillis);
      key.askedEra = copy.askedEra;
      key.inMemory = inMemory;
      key.durably = durably;
      key.asked = true;
    }
  }

  /** An acknowledgement is refused: the message comes again. */
  void notAcknowledged(Copy copy) {
    copy.asked = false;
    copy.transaction = null;
  }

  /** An attempt may be counted. */
  void mayHaveFailed(Copy copy) {
    copy.mostFailures++;
  }

  /** The broker has counted an attempt for sure, once it rests. */
  void failed(Copy copy) {
    counted.add(copy);
  }

  /** The broker rests: all that it has begun is forced. */
  void rested() {
    counted.forEach(copy -> copy.fewestFailures++);
    counted.clear();
  }

  // ---- other views ----

  void browsed(SimulatedDestination queue, Received received) {
    Message message = messages.get(Message.idOf(received.text()));
    oracles.forEach(oracle -> oracle.browsed(queue, message, received));
  }

  @Nullable Message message(Received received) {
    return messages.get(Message.idOf(received.text()));
  }

  List<Followed> allFollowed() {
    return allFollowed;
  }

  void letter(Letter letter) {
    world.tell(letter::toString);
    oracles.forEach(oracle -> oracle.letter(letter));
  }

  void drained(Followed queue, List<Message> browsed, List<Arrival> taken) {
    oracles.forEach(oracle -> oracle.drained(queue, browsed, taken));
  }

  void calm(Followed followed) {
    oracles.forEach(oracle -> oracle.calm(followed));
  }

  // ---- what happens to the broker ----

  /** The process has ended: a client does not know more than before. */
  void ended(boolean power) {
    event++;
    counted.clear();
    oracles.forEach(oracle -> oracle.crashed(power));
    for (Message message : messages.values()) {
      message.mayBeLost |=
          !message.content.persistent() || (power && message.isConfirmed() && !message.durably);
      message.copies().forEach(copy -> copy.crashed(power));
    }
    allFollowed.forEach(followed -> followed.crashed(power));
    if (power) {
      for (Transaction each : happened) {
        each.happened &= each.durable;
      }
    }
  }

  void end(Collection<Followed> followed) {
    followed.forEach(nothingLost::end);
    oracles.forEach(Oracle::end);
  }
}

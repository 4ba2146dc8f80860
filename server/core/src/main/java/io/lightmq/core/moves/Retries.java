package io.lightmq.core.moves;

import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.record.ShardRecord.Reason;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.sessions.ClientText;
import io.lightmq.core.sessions.Subscribing;
import io.lightmq.core.sessions.Target;
import io.lightmq.core.state.Refusal;
import io.lightmq.core.state.TurnPart;
import io.lightmq.core.state.TurnTime;
import io.lightmq.core.state.Unforeseen;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.Entry;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.MalformedMessageException;
import io.lightmq.wire.entry.MessageEdit;
import io.lightmq.wire.entry.MessageReader;
import io.lightmq.wire.entry.Printable;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * The dead letters that are to go back to where they came from, at the rate that the administrator
 * has set. A letter whose origin does not take it stays in its queue, free for whoever reads that,
 * and is tried again after 1 s at first and 60 s at most, until it has gone or the broker ends.
 */
@OwnedBy("shard")
public final class Retries implements TurnPart {
  /** The most letters that wait to be retried. */
  private static final int MAX_RETRIES = 100_000;

  private static final int SLICE = 256;

  /** Failed ones that are tried again in one second, at most. */
  private static final int MAX_DUE = 4_096;

  private static final long FIRST_PAUSE_NANOS = 1_000_000_000L;
  private static final long LAST_PAUSE_NANOS = 60_000_000_000L;

  /** A letter. */
  public record Place(Subscription from, int lane, long sequence) {}

  /**
   * Where a letter came from.
   *
   * @param subscription the topic's subscription that it came from, null if that had no name
   * @param clientId whose that was
   */
  public record Origin(
      boolean queue, String name, @Nullable String subscription, @Nullable String clientId) {

    /** What the broker wrote on a letter; null if it is none. */
    public static @Nullable Origin of(MessageReader letter) {
      Object name = letter.property(DeadLetters.ORIGIN);
      Object subscription = letter.property(DeadLetters.SUBSCRIPTION);
      Object clientId = letter.property(DeadLetters.SUBSCRIPTION_CLIENT_ID);
      return name == null
          ? null
          : new Origin(
              "queue".equals(letter.property(DeadLetters.ORIGIN_KIND)),
              name.toString(),
              subscription == null ? null : subscription.toString(),
              clientId == null ? null : clientId.toString());
    }

    /** Whether anything can ever take the letter: a queue or a subscription with a name. */
    public boolean canBe() {
      return queue ? ClientText.mayName(name) : subscription != null;
    }

    @Override
    public String toString() {
      String of = clientId == null ? "" : " of client id " + Printable.of(clientId);
      return queue
          ? Printable.of(name)
          : "topic " + Printable.of(name) + ", subscription " + Printable.of(subscription) + of;
    }
  }

  /** What is to be done with a letter, and what came of it so far. */
  private static final class Wanted {
    final Place place;
    final Origin origin;
    final int rate;
    int failures;
    long againNanos;

    Wanted(Place place, Origin origin, int rate) {
      this.place = place;
      this.origin = origin;
      this.rate = rate;
    }
  }

  private final Mover mover;
  private final Subscribing subscribing;
  private final TurnTime time;
  private final Executor nextTurn;
  private final Unforeseen unforeseen;
  private final ArrayDeque<Wanted> waiting = new ArrayDeque<>();
  private final PriorityQueue<Wanted> failed =
      new PriorityQueue<>(Comparator.comparingLong(wanted -> wanted.againNanos));

  /** All that wait, with why they were not taken when they were tried last; empty if never. */
  private final Map<Place, String> known = new HashMap<>();

  /** How many more may be moved in this second. */
  private int left;

  private boolean running;

  public Retries(
      Mover mover,
      Subscribing subscribing,
      TurnTime time,
      Executor nextTurn,
      Unforeseen unforeseen) {
    this.mover = mover;
    this.subscribing = subscribing;
    this.time = time;
    this.nextTurn = nextTurn;
    this.unforeseen = unforeseen;
  }

  /** How many more letters may be added. */
  public int room() {
    return MAX_RETRIES - known.size();
  }

  /** Whether a letter waits already. */
  public boolean knows(Place place) {
    return known.containsKey(place);
  }

  /** Why the origin of a letter takes nothing, null if it would. */
  public @Nullable String obstacle(Origin origin) {
    unforeseen.guard().check();
    try {
      if (origin.queue()) {
        subscribing.existing(ClientText.destination(DestinationKind.QUEUE, origin.name()), true);
      } else {
        subscription(origin);
      }
      return null;
    } catch (Refusal refusal) {
      return refusal.text();
    }
  }

  private Subscription subscription(Origin origin) {
    Destination topic =
        subscribing.existing(ClientText.destination(DestinationKind.TOPIC, origin.name()), false);
    for (Subscription each : topic == null ? List.<Subscription>of() : topic.subscriptions()) {
      if (each.name() != null
          && each.name().equals(origin.subscription())
          && Objects.equals(each.clientId(), origin.clientId())) {
        return each;
      }
    }
    throw new Refusal(
        FaultCode.INVALID_SUBSCRIPTION,
        origin.subscription() == null
            ? "it came from a subscription of topic "
                + Printable.of(origin.name())
                + " without a name"
            : "there is no " + origin);
  }

  /**
   * Adds a letter that is not known, if there is room and its origin {@link Origin#canBe}.
   *
   * @param obstacle why it cannot go yet, null if it can
   */
  public void add(Place place, Origin origin, int rate, @Nullable String obstacle) {
    unforeseen.guard().check();
    if (room() <= 0 || knows(place) || !origin.canBe()) {
      return;
    }
    Wanted wanted = new Wanted(place, origin, rate);
    if (obstacle == null) {
      waiting.add(wanted);
      known.put(place, "");
    } else {
      later(wanted, obstacle);
    }
  }

  /** Why a letter was not taken when it was tried last; null if it was not tried. */
  public @Nullable String failure(Place place) {
    unforeseen.guard().check();
    String why = known.get(place);
    return why == null || why.isEmpty() ? null : why;
  }

  /** Once a second: moves as many letters as their rate allows, 256 in a turn. */
  @Override
  public void tick() {
    unforeseen.guard().check();
    for (int i = 0; i < MAX_DUE && isDue(); i++) {
      waiting.add(failed.remove());
    }
    left = waiting.isEmpty() ? 0 : waiting.element().rate;
    if (!running) {
      running = true;
      step();
    }
  }

  private void step() {
    running = false;
    for (int i = 0; i < SLICE; i++) {
      if (left == 0 || waiting.isEmpty() || !takeNext()) {
        return;
      }
    }
    running = true;
    nextTurn.execute(this::step);
  }

  /** Takes the next letter out, unless too many are under way; one that nobody can, fails. */
  private boolean takeNext() {
    Wanted next = waiting.element();
    boolean[] taken = new boolean[1];
    Refusal refusal = unforeseen.run("a retry", () -> taken[0] = take(next));
    if (refusal != null) {
      later(next, refusal.text());
    } else if (!taken[0]) {
      return false;
    }
    waiting.remove();
    return true;
  }

  /** Begins a retry, or finds that there is none; false if too many are under way. */
  private boolean take(Wanted next) {
    Place place = next.place;
    Subscription from = place.from();
    if (from.isClosed() || !from.isUnacknowledged(place.lane(), place.sequence())) {
      known.remove(place);
      return true;
    }
    if (!from.isFree(place.lane(), place.sequence())) {
      later(next, "a consumer has it, or another retry");
      return true;
    }
    if (!mover.offer(from, place.lane(), place.sequence(), new Retry(next))) {
      return false;
    }
    known.remove(place);
    left--;
    return true;
  }

  private boolean isDue() {
    return !failed.isEmpty() && failed.element().againNanos - time.nanos() <= 0;
  }

  private void later(Wanted wanted, String why) {
    wanted.againNanos =
        time.nanos()
            + Math.min(FIRST_PAUSE_NANOS << Math.min(wanted.failures++, 6), LAST_PAUSE_NANOS);
    failed.add(wanted);
    known.put(wanted.place, why);
  }

  private final class Retry implements Mover.Errand {
    private final Wanted wanted;

    Retry(Wanted wanted) {
      this.wanted = wanted;
    }

    @Override
    public String what() {
      return "retry to " + wanted.origin;
    }

    @Override
    public Mover.Goal decide(Subscription from, int lane, long sequence, ByteBuffer entry) {
      int at = Entry.messageOffset(entry, 0);
      int bytes = Entry.messageBytes(entry, 0);
      try {
        ByteBuffer message = MessageEdit.withProperties(entry, at, bytes, Map.of(), 0);
        Origin origin = wanted.origin;
        if (!origin.queue()) {
          Subscription only = subscription(origin);
          return new Mover.Goal(Target.of(only.destination()), message, 0, Reason.MOVED).to(only);
        }
        Target to =
            subscribing.target(ClientText.destination(DestinationKind.QUEUE, origin.name()), false);
        return new Mover.Goal(to, message, 0, Reason.MOVED);
      } catch (MalformedMessageException e) {
        throw new Refusal(FaultCode.BAD_REQUEST, "a dead letter cannot be read: " + e.getMessage());
      }
    }

    @Override
    public void done(Subscription from, int lane, long sequence, Mover.Goal goal) {}

    @Override
    public boolean keeps(Subscription from, int lane, long sequence, Refusal why) {
      later(wanted, why.text());
      return false;
    }
  }
}

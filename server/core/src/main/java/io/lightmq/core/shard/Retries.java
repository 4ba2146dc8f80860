package io.lightmq.core.shard;

import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.record.ShardRecord.Reason;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.Entry;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.MalformedMessageException;
import io.lightmq.wire.entry.MessageEdit;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * The dead letters that are to go back to where they came from, at the rate that the administrator
 * has set. A letter whose origin does not take it stays in its queue, free for whoever reads that,
 * and is tried again after 1 s at first and 60 s at most, until it has gone or the broker ends.
 */
@OwnedBy("shard")
final class Retries {
  /** The most letters that wait to be retried. */
  private static final int MAX_RETRIES = 100_000;

  private static final long FIRST_PAUSE_NANOS = 1_000_000_000L;
  private static final long LAST_PAUSE_NANOS = 60_000_000_000L;

  /** A letter. */
  record Place(Subscription from, int lane, long sequence) {}

  /** What is to be done with a letter, and what came of it so far. */
  private static final class Wanted {
    final Place place;
    final String origin;
    final int rate;
    int failures;
    long againNanos;

    Wanted(Place place, String origin, int rate) {
      this.place = place;
      this.origin = origin;
      this.rate = rate;
    }
  }

  private final Mover mover;
  private final Subscribing subscribing;
  private final TurnTime time;
  private final ArrayDeque<Wanted> waiting = new ArrayDeque<>();
  private final PriorityQueue<Wanted> failed =
      new PriorityQueue<>(Comparator.comparingLong(wanted -> wanted.againNanos));

  /** Why letters were not taken when they were tried last. */
  private final Map<Place, String> failures = new HashMap<>();

  Retries(Mover mover, Subscribing subscribing, TurnTime time) {
    this.mover = mover;
    this.subscribing = subscribing;
    this.time = time;
  }

  /** How many more letters may be added. */
  int room() {
    return MAX_RETRIES - waiting.size() - failed.size();
  }

  /** Why the origin of a letter takes nothing, null if it would. */
  @Nullable String obstacle(String origin) {
    try {
      subscribing.existing(new DestinationName(DestinationKind.QUEUE, origin), true);
      return null;
    } catch (Refusal refusal) {
      return refusal.text();
    } catch (IllegalArgumentException e) {
      return String.valueOf(e.getMessage());
    }
  }

  /**
   * Adds a letter.
   *
   * @param obstacle why it cannot go yet, null if it can
   */
  void add(Place place, String origin, int rate, @Nullable String obstacle) {
    if (room() <= 0 || failures.containsKey(place)) {
      return;
    }
    Wanted wanted = new Wanted(place, origin, rate);
    if (obstacle == null) {
      waiting.add(wanted);
    } else {
      later(wanted, obstacle);
    }
  }

  /** Why a letter was not taken when it was tried last; null if it was not tried. */
  @Nullable String failure(Place place) {
    return failures.get(place);
  }

  /** Once a second: moves as many letters as their rate allows. */
  void tick() {
    while (!failed.isEmpty() && failed.element().againNanos - time.nanos() <= 0) {
      waiting.add(failed.remove());
    }
    int most = waiting.isEmpty() ? 0 : waiting.element().rate;
    for (int moved = 0; moved < most && !waiting.isEmpty(); ) {
      Wanted next = waiting.element();
      Place place = next.place;
      Subscription from = place.from();
      if (from.isClosed() || !from.isUnacknowledged(place.lane(), place.sequence())) {
        failures.remove(place);
      } else if (!from.isFree(place.lane(), place.sequence())) {
        later(next, "a consumer has it, or another retry");
      } else {
        Retry retry = new Retry(next);
        if (mover.room(from, retry.what()) == 0) {
          return;
        }
        moved++;
        mover.offer(from, place.lane(), place.sequence(), retry);
      }
      waiting.remove();
    }
  }

  private void later(Wanted wanted, String why) {
    wanted.againNanos =
        time.nanos()
            + Math.min(FIRST_PAUSE_NANOS << Math.min(wanted.failures++, 6), LAST_PAUSE_NANOS);
    failed.add(wanted);
    failures.put(wanted.place, why);
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
        Destination to =
            subscribing.resolve(new DestinationName(DestinationKind.QUEUE, wanted.origin), true);
        return new Mover.Goal(to, message, 0, Reason.MOVED);
      } catch (MalformedMessageException e) {
        throw new Refusal(FaultCode.BAD_REQUEST, "a dead letter cannot be read: " + e.getMessage());
      }
    }

    @Override
    public void done(Subscription from, int lane, long sequence, Mover.Goal goal) {
      failures.remove(wanted.place);
    }

    @Override
    public boolean keeps(Subscription from, int lane, long sequence, Refusal why) {
      later(wanted, why.text());
      return false;
    }
  }
}

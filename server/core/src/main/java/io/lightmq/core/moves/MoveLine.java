package io.lightmq.core.moves;

import io.lightmq.core.destination.Holding;
import io.lightmq.core.destination.Lane;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.wire.entry.SequenceRange;
import java.util.ArrayDeque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The moves of one subscription for one purpose, in their order. What fails because of its target
 * holds up its own line and no other. Single moves wait as objects, {@link Mover#MAX_PER_LINE} at
 * most; any number of others as ranges outside the heap, where in-flight messages are noted anyway.
 */
@OwnedBy("shard")
public final class MoveLine {
  /** What a line is for; one exists while it has moves. */
  record Key(Subscription from, String what) {}

  private final Key key;
  private final ArrayDeque<Move> waiting = new ArrayDeque<>();

  /** What comes behind those, all for one errand. */
  private @Nullable Holding rest;

  private Mover.@Nullable Errand restErrand;

  /** Those whose bytes are read or being read, in order. */
  public final ArrayDeque<Move> batch = new ArrayDeque<>();

  /** Reads of the batch that have not ended. */
  int unread;

  /** Moves that cannot be done for a reason of their own and wait beside the line. */
  int aside;

  /** How often the head of the line failed. */
  int tries;

  /** How often there was no room to record its head. */
  int stalls;

  long againNanos;
  long loggedNanos = Long.MIN_VALUE;

  /** Whether the mover has it in one of its queues, or a read of it is under way. */
  boolean queued;

  MoveLine(Key key) {
    this.key = key;
  }

  Key key() {
    return key;
  }

  Subscription from() {
    return key.from();
  }

  /** Whether its target took nothing when it was tried last. */
  boolean isFailing() {
    return tries > 0;
  }

  /** Single moves that are not recorded. */
  int single() {
    return waiting.size() + batch.size() + aside;
  }

  /** All moves that are not recorded. */
  long size() {
    return single() + (rest == null ? 0 : rest.size());
  }

  /** Whether something waits that no read was begun for. */
  boolean hasWaiting() {
    return !waiting.isEmpty() || (rest != null && rest.size() > 0);
  }

  void add(Move move) {
    waiting.add(move);
  }

  /** These sequences, which are in flight, come behind all single moves. */
  void addRange(Lane lane, long from, int count, Mover.Errand errand) {
    Holding known = rest;
    if (known == null) {
      known = from().newHolding();
      rest = known;
    }
    restErrand = errand;
    known.add(lane, from, count);
  }

  /** Puts up to so many moves into the batch. */
  void fill(int most) {
    while (batch.size() < most) {
      Move next = waiting.isEmpty() ? nextOfRest() : waiting.remove();
      if (next == null) {
        return;
      }
      if (next.isValid()) {
        batch.add(next);
      }
    }
  }

  private @Nullable Move nextOfRest() {
    Holding known = rest;
    Mover.Errand errand = restErrand;
    SequenceRange first = known == null ? null : known.first();
    if (known == null || errand == null || first == null) {
      return null;
    }
    known.settle(List.of(new SequenceRange(first.lane(), first.from(), 1)));
    return new Move(from(), first.lane(), first.from(), errand);
  }

  /** Puts the batch back to the head; its bytes are read again. */
  void putBack() {
    while (!batch.isEmpty()) {
      Move last = batch.removeLast();
      last.forgetBytes();
      waiting.addFirst(last);
    }
  }

  /** Forgets what waits, because the subscription has ended. */
  void drop() {
    waiting.clear();
    if (rest != null) {
      rest.clear();
      rest = null;
    }
  }

  /** Gives up: what was not recorded is free, if it is there. */
  void end() {
    batch.forEach(Move::giveBack);
    batch.clear();
    waiting.forEach(Move::giveBack);
    waiting.clear();
    if (rest != null) {
      rest.giveBackAll(false);
      rest = null;
    }
  }
}

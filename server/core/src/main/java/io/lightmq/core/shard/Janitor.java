package io.lightmq.core.shard;

import io.lightmq.core.delivery.Decisions;
import io.lightmq.core.delivery.EntryReads;
import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.Lane;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.destination.VolatileLane;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.wire.entry.Entry;
import java.nio.ByteBuffer;

/**
 * Gives up messages whose time to live is over where no consumer comes by. Once a second it looks
 * at blocks of 4096 in which something has expired, one slice after the other: of each entry that
 * is read and has expired, every subscription that has it free gives it up. A block is looked at
 * again after {@value #REST_MILLIS} ms at the earliest, so that is how late a message may leave, if
 * no more than {@value #SLICES} slices a second are due.
 */
@OwnedBy("shard")
final class Janitor {
  private static final int SLICES = 64;
  private static final int SLICE_COUNT = 256;
  private static final int SLICE_BYTES = 256 << 10;
  private static final long REST_MILLIS = 5_000;
  private static final int BLOCK_BITS = 12;

  private final ShardState state;
  private final EntryReads reads;
  private final Decisions decisions;
  private final TurnTime time;
  private boolean reading;
  private int left;

  Janitor(ShardState state, EntryReads reads, Decisions decisions, TurnTime time) {
    this.state = state;
    this.reads = reads;
    this.decisions = decisions;
    this.time = time;
  }

  /** One look at one block. */
  private static final class Visit {
    final Lane lane;
    final long block;
    long next;
    long earliest = Long.MAX_VALUE;

    Visit(Lane lane, long block) {
      this.lane = lane;
      this.block = block;
      this.next = block << BLOCK_BITS;
    }

    long end() {
      return (block + 1) << BLOCK_BITS;
    }
  }

  /** Once a second. */
  void tick() {
    left = SLICES;
    if (!reading) {
      begin();
    }
  }

  private void begin() {
    for (Lane lane : state.destinations().expiringLanes()) {
      if (lane.destination().isHidden()) {
        continue; // looked at when it is due
      }
      long block = lane.dueBlock(0, time.millis());
      while (block >= 0 && left > 0) {
        go(new Visit(lane, block));
        if (reading) {
          return; // it goes on when the read has ended
        }
        block = lane.dueBlock(block + 1, time.millis());
      }
    }
  }

  /** Reads on until the block is done, the share is used up, or a read has to be waited for. */
  private void go(Visit visit) {
    while (!reading && left > 0) {
      Subscription needs = null;
      long from = Long.MAX_VALUE;
      for (Subscription each : visit.lane.destination().subscriptions()) {
        long own = each.nextUnacknowledged(visit.lane.code(), visit.next);
        if (own >= 0 && own < Math.min(from, visit.end())) {
          from = own;
          needs = each;
        }
      }
      if (needs == null) {
        visit.lane.lookedAt(
            visit.block,
            visit.earliest == Long.MAX_VALUE
                ? Long.MAX_VALUE
                : Math.max(visit.earliest, time.millis() + REST_MILLIS));
        return;
      }
      read(visit, needs, from);
    }
    if (!reading) {
      // The rest of the block comes with the next second.
      visit.lane.lookedAt(visit.block, time.millis());
    }
  }

  private void read(Visit visit, Subscription needs, long from) {
    left--;
    reading = true;
    boolean[] within = {true};
    int most = (int) Math.min(SLICE_COUNT, visit.end() - from);
    int count =
        visit.lane instanceof VolatileLane
            ? 1
            : needs.unacknowledgedRun(visit.lane.code(), from, most);
    reads.read(
        needs,
        visit.lane,
        from,
        count,
        SLICE_BYTES,
        (entries, failure) -> {
          reading = false;
          if (entries == null) {
            visit.next = from + 1; // damaged; whoever pulls it is told
          } else {
            took(visit, entries);
          }
          if (!within[0]) {
            go(visit);
            if (!reading && left > 0) {
              begin();
            }
          }
        });
    within[0] = false;
  }

  private void took(Visit visit, ByteBuffer entries) {
    Destination destination = visit.lane.destination();
    int at = entries.position();
    while (at < entries.limit()) {
      long sequence = Entry.sequence(entries, at);
      long expiry = Entry.expiryMillis(entries, at);
      if (expiry != 0) {
        boolean over = expiry <= time.millis();
        for (Subscription each : destination.subscriptions()) {
          if (over && each.isFree(visit.lane.code(), sequence)) {
            each.take(visit.lane, sequence, 1);
            // Looked at once more, in case that a crash takes the record.
            visit.earliest = Math.min(visit.earliest, expiry);
            decisions.giveUp(each, visit.lane.code(), sequence, 1, Decisions.Reason.EXPIRED);
          } else if (each.isUnacknowledged(visit.lane.code(), sequence)) {
            visit.earliest = Math.min(visit.earliest, expiry);
          }
        }
      }
      visit.next = sequence + 1;
      at += Entry.length(entries, at);
    }
  }
}

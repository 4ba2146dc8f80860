package io.lightmq.core.moves;

import io.lightmq.core.delivery.Damage;
import io.lightmq.core.delivery.Decisions;
import io.lightmq.core.delivery.EntryReads;
import io.lightmq.core.destination.Lane;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.state.Recorder;
import io.lightmq.core.state.ShardState;
import io.lightmq.core.state.TurnPart;
import io.lightmq.core.state.TurnTime;
import io.lightmq.core.state.Unforeseen;
import io.lightmq.wire.entry.Entry;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Gives up messages whose time to live is over where no consumer comes by. It looks at blocks of
 * 4096 in which something has expired, one slice after the other, each in a turn of its own: of
 * each entry that is read and has expired, every subscription that has it free gives it up.
 *
 * <p>It takes a tenth of the shard's time at most, and {@value #SLICES} slices a second. Lanes in
 * which something has expired take turns by blocks, those that have waited longest first, and so do
 * the blocks of a lane; what a second has no time for is gone on with in the next one. A block is
 * looked at again after {@value #REST_MILLIS} ms at the earliest, so that is how late a message may
 * leave, if no more slices are due. One slice is read at a time.
 */
@OwnedBy("shard")
public final class Janitor implements TurnPart {
  /** Slices and steps to the next block in one second, at most. */
  private static final int SLICES = 8_192;

  /** The shard's time for it in one second, at most; what waits for files does not count. */
  private static final long SECOND_NANOS = 100_000_000;

  private static final long TURN_NANOS = 500_000;

  /** Messages of a slice, fewer where many subscriptions have to be asked about each. */
  private static final int SLICE_COUNT = 256;

  private static final int LEAST_COUNT = 16;
  private static final int CHEAP_SUBSCRIPTIONS = 4;
  private static final int SLICE_BYTES = 256 << 10;
  private static final long REST_MILLIS = 5_000;
  private static final int BLOCK_BITS = 12;

  private final ShardState state;
  private final Recorder recorder;
  private final EntryReads reads;
  private final Decisions decisions;
  private final TurnTime time;
  private final Executor nextTurn;
  private final Unforeseen unforeseen;

  /** The look that is under way, if need be over several seconds. */
  private @Nullable Visit visit;

  private boolean running;

  // What is left of this second.
  private int left;
  private long leftNanos;

  public Janitor(
      Recorder recorder,
      EntryReads reads,
      Decisions decisions,
      TurnTime time,
      Executor nextTurn,
      Unforeseen unforeseen) {
    this.state = recorder.state();
    this.recorder = recorder;
    this.reads = reads;
    this.decisions = decisions;
    this.time = time;
    this.nextTurn = nextTurn;
    this.unforeseen = unforeseen;
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
  @Override
  public void tick() {
    state.guard().check();
    leftNanos = SECOND_NANOS;
    left = SLICES;
    if (!running) {
      running = true;
      step();
    }
  }

  private void step() {
    guarded(this::lookOn);
  }

  /** A block at which nobody can look is left for later, and nothing more of it is known then. */
  private void guarded(Runnable piece) {
    if (unforeseen.run("what has expired", piece) == null) {
      return;
    }
    running = false;
    Visit failed = visit;
    if (failed != null) {
      failed.earliest = time.millis();
      finish(failed);
    }
  }

  /** Looks at one slice, and then goes on in another turn. */
  private void lookOn() {
    long began = time.nowNanos();
    long passed = 0;
    while (left > 0 && leftNanos > passed) {
      if (passed >= TURN_NANOS) {
        leftNanos -= passed;
        nextTurn.execute(this::step);
        return;
      }
      Visit current = visit;
      if (current == null) {
        current = next();
        visit = current;
      }
      if (current == null) {
        break;
      }
      left--;
      if (begin(current)) {
        leftNanos -= time.nowNanos() - began;
        return;
      }
      finish(current);
      passed = time.nowNanos() - began;
    }
    running = false;
  }

  private @Nullable Visit next() {
    Lane lane = state.destinations().expiredLane(time.millis());
    return lane == null ? null : new Visit(lane, lane.dueBlock(time.millis()));
  }

  private void finish(Visit done) {
    done.lane.lookedAt(
        done.block,
        done.earliest == Long.MAX_VALUE
            ? Long.MAX_VALUE
            : Math.max(done.earliest, time.millis() + REST_MILLIS),
        time.millis());
    visit = null;
  }

  /** Begins to read the next slice; false if nothing of the block is left. */
  private boolean begin(Visit current) {
    Lane lane = current.lane;
    Collection<Subscription> subscriptions = lane.destination().subscriptions();
    Subscription needs = null;
    long from = Long.MAX_VALUE;
    for (Subscription each : subscriptions) {
      long own = each.nextReadable(lane.code(), current.next);
      if (own >= 0 && own < Math.min(from, current.end())) {
        from = own;
        needs = each;
      }
    }
    if (needs == null) {
      return false;
    }
    long first = from;
    Subscription reader = needs;
    int shares = Math.max(1, subscriptions.size() / CHEAP_SUBSCRIPTIONS);
    int most = (int) Math.min(Math.max(LEAST_COUNT, SLICE_COUNT / shares), current.end() - first);
    reads.read(
        needs,
        lane,
        first,
        needs.readableRun(lane.code(), first, most),
        SLICE_BYTES,
        (entries, failure) -> guarded(() -> read(current, reader, first, entries, failure)));
    return true;
  }

  private void read(
      Visit current,
      Subscription reader,
      long first,
      @Nullable ByteBuffer entries,
      @Nullable IOException failure) {
    if (entries == null) {
      current.next = first + 1;
      Damage damage = Damage.of(failure, first, first);
      if (damage != null) {
        recorder.changing();
        reads.setAside(reader, current.lane, damage);
      }
    } else {
      long began = time.nowNanos();
      took(current, entries);
      leftNanos -= time.nowNanos() - began;
    }
    nextTurn.execute(this::step);
  }

  private void took(Visit current, ByteBuffer entries) {
    for (Subscription each : current.lane.destination().subscriptions()) {
      took(current, entries, each);
    }
    int at = entries.position();
    while (at < entries.limit()) {
      current.next = Entry.sequence(entries, at) + 1;
      at += Entry.length(entries, at);
    }
  }

  private void took(Visit current, ByteBuffer entries, Subscription of) {
    int lane = current.lane.code();
    long from = 0;
    int count = 0;
    int at = entries.position();
    while (at < entries.limit()) {
      long sequence = Entry.sequence(entries, at);
      long expiry = Entry.expiryMillis(entries, at);
      if (expiry != 0 && of.isUnacknowledged(lane, sequence)) {
        // Looked at once more also if it is given up, in case that a crash takes the record.
        current.earliest = Math.min(current.earliest, expiry);
        if (expiry <= time.millis() && of.isFree(lane, sequence)) {
          if (count > 0 && sequence != from + count) {
            giveUp(of, current.lane, from, count);
            count = 0;
          }
          from = count == 0 ? sequence : from;
          count++;
        }
      }
      at += Entry.length(entries, at);
    }
    if (count > 0) {
      giveUp(of, current.lane, from, count);
    }
  }

  private void giveUp(Subscription of, Lane lane, long from, int count) {
    recorder.changing();
    of.take(lane, from, count);
    decisions.giveUp(of, lane.code(), from, count, Decisions.Reason.EXPIRED);
  }
}

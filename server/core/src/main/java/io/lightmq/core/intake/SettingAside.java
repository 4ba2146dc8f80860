package io.lightmq.core.intake;

import io.lightmq.core.delivery.Damage;
import io.lightmq.core.destination.DamagedMessages;
import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.Lane;
import io.lightmq.core.destination.LaneCode;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.door.Figure;
import io.lightmq.core.record.ShardRecord;
import io.lightmq.core.record.ShardRecord.AsideAction;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.state.Admission;
import io.lightmq.core.state.Counters;
import io.lightmq.core.state.Ready;
import io.lightmq.core.state.Recorder;
import io.lightmq.core.state.ShardState;
import io.lightmq.core.state.TurnPart;
import io.lightmq.core.state.TurnTime;
import io.lightmq.core.storage.segment.Destaged;
import io.lightmq.wire.entry.SequenceRange;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sets aside what cannot be read: it is held at once for whoever has found it, and recorded as soon
 * as there is room, so that it is told, counted and passed over by everybody, also after a restart.
 * Nothing is deleted by it. What several find before it is recorded is recorded once.
 *
 * <p>At most {@value #MAX_PENDING} wait to be recorded; what is found beyond that stays as it is
 * and is found again. At most {@value #MAX_RANGES} ranges of persistent messages and {@value
 * #MAX_UNLOGGED_RANGES} of others are kept for the whole shard; what comes beyond is held until the
 * next start only, and told all the same. A turn looks at {@value #TURN_RANGES} ranges, each for
 * one subscription, or at one range if there are more subscriptions; the rest comes in later ones.
 */
@OwnedBy("shard")
public final class SettingAside implements TurnPart {
  private static final Logger log = LoggerFactory.getLogger(SettingAside.class);

  static final int MAX_PENDING = 4_096;
  public static final int MAX_RANGES = 100_000;
  public static final int MAX_UNLOGGED_RANGES = 10_000;
  public static final int TURN_RANGES = 1_024;

  private static final int RECORD_BYTES = 1_024;
  private static final int RANGES_PER_RECORD = 16;
  private static final int REASON_CHARS = 200;

  /** So many lines of the log a minute, and one that says how many more there were. */
  private static final int LINES = 100;

  private static final long MINUTE_NANOS = 60_000_000_000L;

  /** What is to be recorded: a part of a damage, from a place on. */
  private record Found(Destination destination, Lane lane, long from, long through, String reason) {
    Found from(long place) {
      return new Found(destination, lane, place, through, reason);
    }
  }

  private final ShardState state;
  private final Recorder recorder;
  private final Ready ready;
  private final Counters counters;
  private final TurnTime time;
  private final ArrayDeque<Found> pending = new ArrayDeque<>();
  private int turnRanges;
  private long linesSinceNanos;
  private int lines;
  private long untold;
  private long unreadableToldNanos = Long.MIN_VALUE;

  public SettingAside(Recorder recorder, Ready ready, Counters counters, TurnTime time) {
    this.state = recorder.state();
    this.recorder = recorder;
    this.ready = ready;
    this.counters = counters;
    this.time = time;
    this.linesSinceNanos = time.nanos();
  }

  /** See {@link io.lightmq.core.delivery.Decisions#setAside}. */
  public boolean found(Subscription subscription, Lane lane, Damage damage) {
    state.guard().check();
    counters.count(Figure.DAMAGED_READS);
    if (pending.size() >= MAX_PENDING) {
      return false;
    }
    Destination destination = subscription.destination();
    destination.damaged().hold(subscription, lane, damage.from(), damage.through());
    add(destination, lane, damage.from(), damage.through(), damage.cause());
    return true;
  }

  /**
   * What was damaged in the journal lies in segments now, where it is so too. Until it is recorded,
   * whoever reads it finds it as well; it is told once.
   */
  public void damaged(List<Destaged.Damage> damages) {
    state.guard().check();
    for (Destaged.Damage each : damages) {
      counters.count(Figure.DAMAGED_READS);
      Destination destination = state.destinations().find(each.destinationId());
      Lane lane = destination == null ? null : destination.lane(each.lane());
      if (destination != null && lane != null && pending.size() < MAX_PENDING) {
        add(destination, lane, each.from(), each.through(), each.cause());
      }
    }
  }

  private void add(Destination destination, Lane lane, long from, long through, IOException cause) {
    String text = String.valueOf(cause.getMessage());
    String reason = text.length() > REASON_CHARS ? text.substring(0, REASON_CHARS) : text;
    pending.add(new Found(destination, lane, from, through, reason));
  }

  /** Something cannot be read now, for a reason that says nothing of its bytes. */
  public void unreadable(Subscription subscription, IOException cause) {
    state.guard().check();
    counters.count(Figure.DAMAGED_READS);
    if (unreadableToldNanos != Long.MIN_VALUE
        && time.nanos() - unreadableToldNanos < MINUTE_NANOS) {
      return;
    }
    unreadableToldNanos = time.nanos();
    log.error(
        "A message of {} cannot be read now; its consumers try again; such reads are counted, the"
            + " next line comes in 60 s at the earliest",
        subscription.destination().name(),
        cause);
  }

  public boolean isEmpty() {
    return pending.isEmpty();
  }

  /** A turn ends: the next one has its own share. */
  @Override
  public void turn() {
    state.guard().check();
    turnRanges = 0;
  }

  /** Records some of the next one, if there is room and a share left; whether it was so. */
  public boolean recordNext(Admission admission) {
    state.guard().check();
    Found next = pending.element();
    Destination destination = next.destination();
    boolean exists = state.destinations().find(destination.id()) == destination;
    boolean recorded = exists && LaneCode.isDurable(next.lane().code());
    int subscriptions = Math.max(1, destination.subscriptions().size());
    int share = (TURN_RANGES - turnRanges) / subscriptions;
    boolean hasShare = share > 0 || turnRanges == 0;
    if (!hasShare || (recorded && !admission.admit(RECORD_BYTES, false))) {
      return false;
    }
    pending.remove();
    if (!exists) {
      return true;
    }
    int most = Math.min(RANGES_PER_RECORD, Math.max(1, share));
    DamagedMessages.Part part =
        destination.damaged().notAside(next.lane(), next.from(), next.through(), most);
    turnRanges += 1 + part.ranges().size() * subscriptions;
    if (part.next() <= next.through()) {
      pending.addFirst(next.from(part.next()));
    }
    if (!part.ranges().isEmpty()) {
      setAside(next, part.ranges(), recorded);
    }
    ready.add(destination);
    return true;
  }

  private void setAside(Found found, List<SequenceRange> ranges, boolean recorded) {
    Destination destination = found.destination();
    if (!isKept(ranges)) {
      destination.damaged().hold(ranges);
    } else if (!recorded) {
      destination.damaged().setAside(ranges);
    } else {
      recorder.record(
          new ShardRecord.SetAside(
              destination.id(), AsideAction.SET_ASIDE, ranges, found.reason()));
      recorder.wantsForce();
    }
    tell(found, ranges);
  }

  private boolean isKept(List<SequenceRange> ranges) {
    boolean durable = LaneCode.isDurable(ranges.get(0).lane());
    return state.destinations().named().asideRanges(durable) + ranges.size()
        <= (durable ? MAX_RANGES : MAX_UNLOGGED_RANGES);
  }

  private void tell(Found found, List<SequenceRange> ranges) {
    for (SequenceRange range : ranges) {
      long needed = found.destination().damaged().needed(range);
      counters.count(Figure.SET_ASIDE, needed);
      if (time.nanos() - linesSinceNanos >= MINUTE_NANOS) {
        if (untold > 0) {
          log.error("{} more ranges of messages were set aside in the last minute", untold);
        }
        linesSinceNanos = time.nanos();
        lines = 0;
        untold = 0;
      }
      if (lines++ >= LINES) {
        untold++;
        continue;
      }
      log.error(
          "Damage: {} messages of {} cannot be read and are set aside, sequences {} to {} of lane"
              + " {}: {}; the rest is delivered; see bin/lightmq damaged",
          needed,
          found.destination().name(),
          range.from(),
          range.from() + range.count() - 1,
          range.lane(),
          found.reason());
    }
  }
}

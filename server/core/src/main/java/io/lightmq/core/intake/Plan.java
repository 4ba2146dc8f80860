package io.lightmq.core.intake;

import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.Destination.Placement;
import io.lightmq.core.destination.DestinationSettings;
import io.lightmq.core.destination.HeldMessages;
import io.lightmq.core.destination.LaneCode;
import io.lightmq.core.record.ShardRecord.Reason;
import io.lightmq.core.record.TransactionName;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.sessions.MissingQueue;
import io.lightmq.core.sessions.RecordBytes;
import io.lightmq.core.sessions.Settlements;
import io.lightmq.core.state.Runs;
import io.lightmq.core.transaction.StagedQueue;
import io.lightmq.core.transaction.StagedTransaction;
import io.lightmq.spi.Mark;
import io.lightmq.wire.entry.Entry;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * What a publish, a commit or a move is going to do: where its messages go and what the same record
 * acknowledges. {@link Landing#plan} makes it, and nothing has changed yet; {@link
 * Landing#carryOut} does all of it. Good for the moment at which it was made.
 */
@OwnedBy("shard")
public final class Plan implements Landing.Planned {
  /** What a record takes besides its messages, at most. */
  private static final int RECORD_BYTES = 512;

  /** What the end of a staged transaction takes of its record besides its lanes, at most. */
  private static final int RELEASE_BYTES = 64;

  private static final int RELEASED_LANE_BYTES = 40;

  /** What a subscription has done with, and why. */
  public record Settled(Settlements.Accepted accepted, Reason reason) {}

  /**
   * A transaction for which messages and acknowledgements are staged.
   *
   * @param begins its name, if it begins with this; null if it is there
   */
  public record Stage(long transaction, @Nullable TransactionName begins) {}

  /**
   * A transaction that is committed with what was staged of it.
   *
   * @param decided whether an administrator decides it
   */
  public record Release(
      StagedTransaction transaction, List<ReleasedQueue> queues, boolean decided) {
    public Release {
      queues = List.copyOf(queues);
    }
  }

  /** Where the messages of a hidden queue go, which is there or is created with them. */
  public record ReleasedQueue(
      StagedQueue queue, @Nullable Destination there, @Nullable MissingQueue missing) {
    Destination to() {
      if (there != null) {
        return there;
      }
      if (missing == null) {
        throw new IllegalStateException(queue.queue().name() + " is released to nowhere");
      }
      return missing.destination();
    }

    Mark mark() {
      DestinationSettings settings = missing != null ? missing.settings() : to().settings();
      return settings.tier().mark();
    }
  }

  private @Nullable UUID link;
  private long number;
  private @Nullable Stage stage;
  private @Nullable Release release;
  private final boolean alone;
  private final List<Parcel> parcels;
  private List<Settled> settled = List.of();
  private int parts;
  private long recordedBytes;
  private int unloggedCount;
  private long unloggedBytes;

  /** Whether any of these is non-persistent. */
  private boolean atMostOnce;

  private @Nullable Mark mark;
  private @Nullable Mark sent;

  /**
   * A plan in which nothing has its place yet.
   *
   * @param link whose it is; null for a move of the broker's own
   * @param alone whether it is one run, whose record need not hold others
   */
  public Plan(@Nullable UUID link, long number, boolean alone, List<Parcel> parcels) {
    this.link = link;
    this.number = number;
    this.alone = alone;
    this.parcels = parcels;
  }

  /** It stages, and commits nothing. */
  Plan staging(Stage staged) {
    stage = staged;
    return this;
  }

  /** It also commits what was staged of a transaction. */
  Plan releasing(Release released) {
    release = released;
    StagedTransaction transaction = released.transaction();
    parts += released.decided() ? 2 : 1;
    recordedBytes +=
        RELEASE_BYTES + (long) RELEASED_LANE_BYTES * LaneCode.PRIORITIES * released.queues().size();
    // A transaction manager forgets a branch once it is told of its commit.
    mark = strongest(mark, transaction.isPrepared() ? Mark.DURABLE : Mark.WRITTEN);
    for (ReleasedQueue queue : released.queues()) {
      mark = strongest(mark, queue.mark());
    }
    for (HeldMessages held : transaction.held()) {
      mark = strongest(mark, held.subscription().destination().settings().tier().mark());
    }
    return this;
  }

  /** It is another's, and nothing has its place. */
  void again(UUID other, long otherNumber) {
    link = other;
    number = otherNumber;
    settled = List.of();
    parts = 0;
    recordedBytes = 0;
    unloggedCount = 0;
    unloggedBytes = 0;
    atMostOnce = false;
    mark = null;
    sent = null;
  }

  // ---- while it is made ----

  /** Says of a parcel where it goes. */
  public void place(Parcel parcel, Placement placement) {
    parcel.place(placement);
    Runs.Checked wanted = parcel.wanted();
    if (placement == Placement.DURABLE) {
      int lanes = Integer.bitCount(wanted.priorities());
      parts += lanes;
      recordedBytes +=
          wanted.entryBytes() + RecordBytes.ofSkips(wanted) + (long) lanes * Entry.HEADER_BYTES;
      mark = strongest(mark, parcel.mark());
    } else if (placement == Placement.UNLOGGED) {
      unloggedCount += wanted.count();
      unloggedBytes += wanted.entryBytes();
      atMostOnce |= !parcel.sender().isPersistent();
    }
    if (parcel.sender().isPersistent() || placement == Placement.UNLOGGED) {
      sent = strongest(sent, parcel.mark());
    }
  }

  /** Adds what is acknowledged; what a client acknowledges has a mark, too. */
  public void settle(List<Settled> acknowledged) {
    settled = acknowledged;
    for (Settled each : acknowledged) {
      Settlements.Accepted accepted = each.accepted();
      if (!accepted.recorded().isEmpty()) {
        parts += accepted.records(each.reason()).size(); // as many as it would hold
        recordedBytes += RecordBytes.of(accepted.subscription(), accepted.recorded());
        if (stage != null) {
          mark = strongest(mark, Mark.WRITTEN);
        } else if (!isMove()) {
          mark = strongest(mark, accepted.subscription().destination().settings().tier().mark());
        }
      }
    }
  }

  /**
   * All is known. If anything is recorded, the strongest of all its destinations counts for it,
   * also of those of which nothing is recorded.
   */
  Plan done() {
    if (sent != null && (mark != null || isSpendingOnly())) {
      mark = strongest(mark, sent);
    }
    return this;
  }

  /**
   * Whether its record says only that its number is taken: nothing else of a commit is recorded,
   * and the client may send it again to the process that comes after a crash. Non-persistent
   * messages must not come twice then, and what it acknowledged is in flight to nobody there, so it
   * would be told to be rolled back. A run alone needs no such record: either it has no number and
   * is never sent again, or its messages are persistent and may come twice.
   */
  private boolean isSpendingOnly() {
    return parts == 0 && number > 0 && unloggedCount > 0 && (atMostOnce || !settled.isEmpty());
  }

  private static Mark strongest(@Nullable Mark known, Mark other) {
    return known == null || other.compareTo(known) > 0 ? other : known;
  }

  // ---- what it says ----

  @Nullable UUID link() {
    return link;
  }

  /** Whose its record is; what is staged is nobody's yet. */
  @Nullable UUID recordLink() {
    return stage == null ? link : null;
  }

  /** What it stages for; null for nothing. */
  @Nullable Stage stage() {
    return stage;
  }

  /** What it commits that was staged; null for nothing. */
  @Nullable Release release() {
    return release;
  }

  /** The number that it takes of its link; 0 for none. */
  long number() {
    return number;
  }

  /** Whether the broker itself moves a message. */
  public boolean isMove() {
    return link == null;
  }

  /** Whether it is one run of messages and nothing else. */
  boolean isAlone() {
    return alone;
  }

  public List<Parcel> parcels() {
    return parcels;
  }

  public List<Settled> settled() {
    return settled;
  }

  /** The queues that are created first, each once. */
  public Set<MissingQueue> creates() {
    Set<MissingQueue> creates = Set.of();
    for (int i = 0; i < parcels.size(); i++) {
      MissingQueue missing = parcels.get(i).creates();
      if (missing != null) {
        creates = creates.isEmpty() ? new LinkedHashSet<>() : creates;
        creates.add(missing);
      }
    }
    if (release != null) {
      for (ReleasedQueue queue : release.queues()) {
        if (queue.missing() != null) {
          creates = creates.isEmpty() ? new LinkedHashSet<>() : creates;
          creates.add(queue.missing());
        }
      }
    }
    return creates;
  }

  /** Runs and acknowledgements that are recorded. */
  int parts() {
    return parts;
  }

  /** What they take. */
  long recordedBytes() {
    return recordedBytes;
  }

  /** The messages that go into memory only. */
  int unloggedCount() {
    return unloggedCount;
  }

  /** What they take. */
  long unloggedBytes() {
    return unloggedBytes;
  }

  /** The strongest mark of what is recorded; null if nothing is. */
  @Nullable Mark mark() {
    return mark;
  }

  /** Whether messages are recorded. */
  public boolean isPublishing() {
    for (Parcel parcel : parcels) {
      if (parcel.isDurable()) {
        return true;
      }
    }
    return false;
  }

  /** The bytes that it takes of the turn's batch, at most; 0 if it records nothing. */
  public long batchBytes() {
    long created = 0;
    for (MissingQueue each : creates()) {
      created += each.recordBytes();
    }
    return parts == 0 && !isSpendingOnly() ? created : created + RECORD_BYTES + recordedBytes;
  }

  /**
   * The mark that whoever sent it waits for: its own, and that of what its messages stand behind.
   */
  @Nullable Mark awaited() {
    Mark strongest = mark;
    for (int i = 0; i < parcels.size() && unloggedCount > 0; i++) {
      Parcel parcel = parcels.get(i);
      if (parcel.isUnlogged() && parcel.creates() == null) {
        Mark behind = parcel.destination().awaited(parcel.wanted().priorities());
        strongest = behind == null ? strongest : strongest(strongest, behind);
      }
    }
    return strongest;
  }
}

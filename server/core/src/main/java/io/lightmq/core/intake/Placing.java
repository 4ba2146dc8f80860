package io.lightmq.core.intake;

import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.Destination.Placement;
import io.lightmq.core.destination.Filter;
import io.lightmq.core.destination.Overflow;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.destination.UnloggedStore;
import io.lightmq.core.door.BrokerSettings;
import io.lightmq.core.door.Command;
import io.lightmq.core.record.ShardRecord;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.sessions.Arrival;
import io.lightmq.core.sessions.NamedBudget;
import io.lightmq.core.sessions.PeerSession;
import io.lightmq.core.sessions.RecordBytes;
import io.lightmq.core.sessions.Sender;
import io.lightmq.core.state.Refusal;
import io.lightmq.core.state.Runs;
import io.lightmq.core.state.ShardState;
import io.lightmq.core.state.Skip;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.Printable;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Where messages find room: on the disk unless it is full, or in the memory for unlogged ones. */
@OwnedBy("shard")
public final class Placing {
  private final BrokerSettings settings;
  private final ShardState state;
  private final Runs runs;
  private final Selecting selecting;
  private final Overflow overflow;
  private final NamedBudget budget;
  private boolean diskFull;

  public Placing(
      BrokerSettings settings,
      ShardState state,
      Selecting selecting,
      Overflow overflow,
      NamedBudget budget) {
    this.settings = settings;
    this.state = state;
    this.selecting = selecting;
    this.overflow = overflow;
    this.budget = budget;
    this.runs = new Runs(settings.limits().maxMessageBytes(), settings.maxBatchBytes());
  }

  /** Whether the disk guard refuses persistent messages. */
  public void diskFull(boolean full) {
    state.guard().check();
    diskFull = full;
  }

  public boolean diskFull() {
    return diskFull;
  }

  /** Where a run is sent to; null if that is gone. */
  @Nullable Destination find(long destinationId) {
    return state.destinations().find(destinationId);
  }

  /** Checks a run's bytes. */
  public Runs.Checked check(PeerSession session, int count, ByteBuffer messages) {
    state.guard().check();
    return runs.check(count, messages, session.user().length);
  }

  /**
   * What of a run anybody wants, with who does not want which of it.
   *
   * @param known what is known of some selectors already
   * @throws Refusal if to say so takes more than a batch
   */
  public Runs.Checked select(
      Sender sender, Destination destination, Runs.Checked run, Map<Filter, BitSet> known) {
    state.guard().check();
    return checkSkips(run, selecting.select(sender, destination, run, known));
  }

  /**
   * All of a run, with who does not want which of it.
   *
   * @throws Refusal if to say so takes more than a batch
   */
  Runs.Checked skips(
      Sender sender, Destination destination, Runs.Checked run, Map<Filter, BitSet> known) {
    return checkSkips(run, selecting.skips(sender, destination, run, known));
  }

  /** Refuses messages for which the lanes of their destination would find no heap later. */
  void checkLanesOf(Destination destination, Runs.Checked run) {
    long bytes = destination.laneBytes(true, run.priorities());
    if (bytes > 0) {
      budget.look("the first message of a priority in " + destination.name().shown(), bytes, 0);
    }
  }

  /** The same for those of the subscriptions that a delayed message found when it came. */
  public Runs.Checked select(
      Sender sender,
      Destination destination,
      Runs.Checked run,
      Arrival arrival,
      Map<Filter, BitSet> known) {
    state.guard().check();
    return checkSkips(run, selecting.select(sender, destination, run, arrival, known));
  }

  /**
   * The run for one subscription alone.
   *
   * @param known what some selectors do not match; the others are asked
   * @throws Refusal if it does not want it: it may have another selector than when it had it
   */
  public Runs.Checked only(Subscription wanting, Runs.Checked run, Map<Filter, BitSet> known) {
    state.guard().check();
    if (!selecting.wants(wanting, run, known)) {
      throw new Refusal(
          FaultCode.INVALID_SUBSCRIPTION,
          "subscription \""
              + Printable.of(wanting.name())
              + "\" does not want it, its selector is \""
              + Printable.of(wanting.selectorText())
              + "\"");
    }
    BitSet all = new BitSet(run.count());
    all.set(0, run.count());
    List<Skip> skips = new ArrayList<>();
    for (Subscription each : wanting.destination().subscriptions()) {
      if (each != wanting) {
        skips.add(new Skip(each, all));
      }
    }
    return checkSkips(run, run.with(skips));
  }

  private Runs.Checked checkSkips(Runs.Checked run, Runs.Checked wanted) {
    long named = RecordBytes.recordedSkips(wanted);
    if (named > ShardRecord.MAX_UNWANTED) {
      throw new Refusal(
          FaultCode.LIMIT_REACHED,
          named
              + " durable subscriptions do not want the message, and a record names "
              + ShardRecord.MAX_UNWANTED
              + " at most; end those that nobody needs");
    }
    long bytes = wanted.entryBytes() + RecordBytes.ofSkips(wanted);
    if (bytes > settings.maxBatchBytes() && wanted.entryBytes() <= settings.maxBatchBytes()) {
      throw new Refusal(
          FaultCode.TOO_LARGE,
          "the run of "
              + run.count()
              + " messages takes "
              + bytes
              + " bytes with what "
              + wanted.skips().size()
              + " subscriptions do not want of it; the limit is "
              + settings.maxBatchBytes());
    }
    return wanted;
  }

  /** Where what anybody wants of a run goes. */
  static Placement placement(Destination destination, boolean persistent, Runs.Checked wanted) {
    return wanted.count() == 0
        ? Placement.NOWHERE
        : destination.placement(persistent && Selecting.isWantedDurably(destination, wanted));
  }

  /**
   * Refuses messages whose priorities need lanes for which there is no heap.
   *
   * @param created what is created before takes so much
   */
  void checkLanes(Parcel parcel, long created) {
    long bytes = parcel.laneBytes();
    if (bytes > 0) {
      budget.look("the first message of a priority in " + parcel.shown(), bytes, created);
    }
  }

  /** Refuses persistent messages while the disk guard does. */
  void checkDisk() {
    if (diskFull) {
      throw new Refusal(
          FaultCode.DISK_FULL,
          "less than "
              + settings.disk().minFreeBytes()
              + " bytes are free on the broker's disk, or a checkpoint found no room on it;"
              + " persistent messages are refused until there is room");
    }
  }

  /** Whether memory has room for unlogged messages. Refuses what never fits. */
  boolean fits(long count, long entryBytes) {
    if (!mayFit(count, entryBytes)) {
      throw new Refusal(
          FaultCode.TOO_LARGE,
          "a run of "
              + count
              + " messages and "
              + entryBytes
              + " bytes never fits into the "
              + settings.memory().unloggedBytes()
              + " bytes for non-persistent messages: it may have half of that, and takes up to "
              + UnloggedStore.most(count, entryBytes));
    }
    return state.destinations().store().fits(count, entryBytes);
  }

  /** Something waits for memory: the overflow is asked to make room. */
  public void wantRoom() {
    state.guard().check();
    overflow.want();
  }

  /** Whether so many bytes of unlogged messages fit into memory when it is as empty as it gets. */
  boolean mayFit(long count, long entryBytes) {
    return entryBytes <= settings.memory().unloggedBytes() / 2
        && UnloggedStore.most(count, entryBytes) <= settings.memory().unloggedBytes();
  }

  /** Refuses a run that waited for memory for too long, or what does not wait, for 0 ms. */
  public Refusal memoryFull(long entryBytes, long heldMillis) {
    state.guard().check();
    return new Refusal(
        FaultCode.MEMORY_FULL,
        "a run of "
            + entryBytes
            + " bytes found no room"
            + (heldMillis == 0 ? "" : " for " + heldMillis + " ms")
            + ": "
            + state.destinations().store().usedBytes()
            + " of "
            + settings.memory().unloggedBytes()
            + " bytes for non-persistent messages are used, and "
            + overflowText()
            + "; consume some or send fewer");
  }

  /** Refuses a transaction with more bytes of messages than one may have. */
  void checkTransaction(long bytes) {
    if (bytes > settings.limits().maxTransactionBytes()) {
      throw new Refusal(
          FaultCode.TRANSACTION_TOO_LARGE,
          "the transaction has "
              + bytes
              + " bytes of messages, the limit is "
              + settings.limits().maxTransactionBytes());
    }
  }

  /** Why a commit is rolled back that found no room and waits no longer. */
  Refusal transactionFull(long entryBytes) {
    return new Refusal(
        FaultCode.MEMORY_FULL,
        "the transaction is rolled back: its "
            + entryBytes
            + " bytes of non-persistent messages find no room beside "
            + state.destinations().store().usedBytes()
            + " of "
            + settings.memory().unloggedBytes()
            + ", and "
            + overflowText());
  }

  /** What keeps the overflow from making room. */
  private String overflowText() {
    String obstacle = overflow.obstacle();
    return obstacle.isEmpty()
        ? "the overflow's disk is slower than the senders"
        : "the overflow takes nothing: " + obstacle;
  }

  /** Why messages cannot go where they should. */
  static String goneText(long destinationId) {
    return destinationId == Command.NO_DESTINATION
        ? "no producer of this connection is attached to the destination"
        : "destination " + destinationId + " was deleted";
  }
}

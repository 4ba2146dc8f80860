package io.lightmq.core.intake;

import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.Destination.Placement;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.sessions.MissingQueue;
import io.lightmq.core.sessions.Sender;
import io.lightmq.core.state.Runs;
import io.lightmq.spi.Mark;
import org.jspecify.annotations.Nullable;

/** Messages of one sender for one destination, which is there or is created with them. */
@OwnedBy("shard")
public final class Parcel {
  private Sender sender;
  private @Nullable Destination there;
  private final @Nullable MissingQueue missing;
  private Runs.Checked sent;
  private Runs.Checked wanted;
  private Mark mark;
  private boolean mayBeDurable;

  /** Whether they are staged: then they are recorded, whoever wants them now. */
  private boolean staged;

  /** Where they go, as the plan says that has them. */
  private Placement placement = Placement.NOWHERE;

  private Parcel(
      Sender sender,
      @Nullable Destination there,
      @Nullable MissingQueue missing,
      Runs.Checked sent,
      Runs.Checked wanted,
      Mark mark,
      boolean mayBeDurable) {
    this.sender = sender;
    this.there = there;
    this.missing = missing;
    this.sent = sent;
    this.wanted = wanted;
    this.mark = mark;
    this.mayBeDurable = mayBeDurable;
  }

  /**
   * Messages for a destination that is there.
   *
   * @param sent all of them
   * @param wanted those that anybody wants
   */
  public static Parcel to(
      Sender sender, Destination there, Runs.Checked sent, Runs.Checked wanted) {
    return new Parcel(
        sender, there, null, sent, wanted, there.settings().tier().mark(), sender.isPersistent());
  }

  /** Holds other messages for a destination that is there; see {@link Landing#plan}. */
  void again(Sender other, Destination to, Runs.Checked all, Runs.Checked anyWants) {
    sender = other;
    there = to;
    sent = all;
    wanted = anyWants;
    mark = to.settings().tier().mark();
    mayBeDurable = other.isPersistent();
    placement = Placement.NOWHERE;
  }

  /** A message for a queue that is created with it. */
  public static Parcel to(Sender sender, MissingQueue missing, Runs.Checked sent) {
    return new Parcel(
        sender, null, missing, sent, sent, missing.settings().tier().mark(), sender.isPersistent());
  }

  /**
   * Delayed messages.
   *
   * @param holder where they wait; null if that is missing
   * @param named where they go then, whose tier counts
   */
  static Parcel under(
      Sender sender,
      @Nullable Destination holder,
      @Nullable MissingQueue missing,
      Destination named,
      Runs.Checked sent) {
    return new Parcel(
        sender,
        holder,
        missing,
        sent,
        sent,
        named.settings().tier().mark(),
        sender.isPersistent() && !named.kind().isTemporary());
  }

  /**
   * Messages that are staged for a transaction.
   *
   * @param queue where they lie until it is decided; null if that is missing
   * @param sent with who does not want which of them, of those whom they are for
   */
  static Parcel staged(
      Sender sender,
      @Nullable Destination queue,
      @Nullable MissingQueue missing,
      Runs.Checked sent) {
    // Whoever makes them can do nothing with them before the commit, which waits for its own mark.
    Parcel parcel = new Parcel(sender, queue, missing, sent, sent, Mark.WRITTEN, true);
    parcel.staged = true;
    return parcel;
  }

  Sender sender() {
    return sender;
  }

  /** Where they go; not before it is created. */
  Destination destination() {
    return there != null ? there : missing().destination();
  }

  /** The same destination for equal results, also before it is created. */
  Object target() {
    return there != null ? there : missing();
  }

  /** What has to be created first; null if it is there. */
  @Nullable MissingQueue creates() {
    return missing;
  }

  private MissingQueue missing() {
    if (missing == null) {
      throw new IllegalStateException("messages go nowhere");
    }
    return missing;
  }

  /** All that was sent, wanted or not. */
  Runs.Checked sent() {
    return sent;
  }

  /** What of it anybody wants, which is stored. */
  Runs.Checked wanted() {
    return wanted;
  }

  /** What the destination that the sender named waits for. */
  Mark mark() {
    return mark;
  }

  /** Whether it goes into the journal if a durable subscription wants it. */
  boolean mayBeDurable() {
    return mayBeDurable;
  }

  /** Where it goes if it goes alone. */
  Placement natural() {
    if (staged) {
      return Placement.DURABLE;
    }
    if (there != null) {
      return Placing.placement(there, mayBeDurable, wanted);
    }
    if (wanted.count() == 0) {
      return Placement.NOWHERE;
    }
    return mayBeDurable ? Placement.DURABLE : Placement.UNLOGGED;
  }

  /** The heap of lanes that it needs and that are not there. */
  long laneBytes() {
    if (placement == Placement.NOWHERE) {
      return 0;
    }
    return there != null
        ? there.laneBytes(placement == Placement.DURABLE, wanted.priorities())
        : Destination.laneBytesOfNewQueue(wanted.priorities());
  }

  /** How errors name its destination. */
  String shown() {
    return (there != null ? there.name() : missing().name()).shown();
  }

  public Placement placement() {
    return placement;
  }

  boolean isDurable() {
    return placement == Placement.DURABLE;
  }

  boolean isUnlogged() {
    return placement == Placement.UNLOGGED;
  }

  /** The plan says where it goes. */
  void place(Placement decided) {
    placement = decided;
  }
}

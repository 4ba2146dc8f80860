package io.lightmq.core.shard;

import io.lightmq.core.transaction.StagedUse;
import io.lightmq.wire.entry.DestinationName;
import java.util.List;
import java.util.Map;

/**
 * What a shard counts, taken on its loop at one moment.
 *
 * @param takenNanos the clock's nanoseconds at that moment; rates are differences of totals over
 *     differences of this
 * @param destinations those with the largest backlogs, as many as are to be shown
 * @param others all the rest together
 */
public record BrokerMetrics(
    long takenNanos,
    Load load,
    DirectUse direct,
    JournalUse journal,
    CheckpointUse checkpoints,
    DiskUse disk,
    OverflowUse overflow,
    Totals totals,
    List<DestinationUse> destinations,
    OtherUse others) {

  /** Before the first one is taken. */
  public static final BrokerMetrics NONE =
      new BrokerMetrics(
          0,
          new Load(0, 0, ""),
          new DirectUse(0, Map.of()),
          new JournalUse(0, 0, 0, 0, IoUse.NONE, IoUse.NONE),
          new CheckpointUse(0, 0, 0, 0, 0, 0),
          new DiskUse(0, 0),
          new OverflowUse(0, 0, 0, 0, 0),
          new Totals(
              0,
              new PublishedUse(0, 0),
              SettledUse.NONE,
              new DamageUse(0, 0, 0, 0),
              0,
              new Moves(0, 0, 0, 0, 0, 0, 0),
              new NamedUse(0, 0, 0, 0),
              StagedUse.NONE),
          List.of(),
          OtherUse.NONE);

  public BrokerMetrics {
    destinations = List.copyOf(destinations);
  }

  /**
   * What is asked of the shard.
   *
   * @param connections peers that are attached
   * @param commandsWaiting commands in the mailbox
   * @param publishesPaused whether publishes wait for room, and why; empty if not
   */
  public record Load(int connections, int commandsWaiting, String publishesPaused) {}

  /** Off-heap memory of the core, and the same split. */
  public record DirectUse(long bytes, Map<String, Long> byPurpose) {
    public DirectUse {
      byPurpose = Map.copyOf(byPurpose);
    }
  }

  /**
   * The journal and its window.
   *
   * @param usedBytes from the lowest offset still needed to the end
   * @param capacityBytes of all files it may have
   * @param unforcedBytes written or appended but not durable
   * @param windowBytes the size of the window
   */
  public record JournalUse(
      long usedBytes,
      long capacityBytes,
      long unforcedBytes,
      long windowBytes,
      IoUse writes,
      IoUse forces) {}

  /** How often the device was asked since start, and how long that took together. */
  public record IoUse(long count, long nanos) {
    /** Never. */
    public static final IoUse NONE = new IoUse(0, 0);
  }

  /**
   * Checkpoints and the segments that they left.
   *
   * @param lastNanos how long the newest one took
   * @param failed given up for want of room or because of an error
   */
  public record CheckpointUse(
      long done,
      long failed,
      long lastNanos,
      long newestOffset,
      long segmentBytes,
      long segments) {}

  /** The file system that holds the data; 0 until it was looked at. */
  public record DiskUse(long usableBytes, long totalBytes) {}

  /**
   * The files of unlogged messages beyond memory.
   *
   * @param movedMessages messages that memory had no room for, since start
   * @param failures batches of them that could not be written, since start
   */
  public record OverflowUse(
      long bytes, long limitBytes, int files, long movedMessages, long failures) {}

  /**
   * Counters since start.
   *
   * @param clockSteps how often the machine's time was seen to jump
   */
  public record Totals(
      long commands,
      PublishedUse published,
      SettledUse settled,
      DamageUse damage,
      long clockSteps,
      Moves moves,
      NamedUse named,
      StagedUse staged) {}

  /** Messages taken since start, and the bytes of their entries. */
  public record PublishedUse(long messages, long bytes) {}

  /**
   * How messages ended, since start.
   *
   * @param suppressed duplicates that nobody got
   */
  public record SettledUse(long acknowledged, long expired, long suppressed) {
    /** Nothing yet. */
    public static final SettledUse NONE = new SettledUse(0, 0, 0);
  }

  /**
   * What could not be read.
   *
   * @param rejectedSnapshots snapshots that failed their check at start
   * @param reads reads that found damage, or could not be made
   * @param messages that are set aside now because they cannot be read
   * @param setAside messages that were set aside since start
   */
  public record DamageUse(long rejectedSnapshots, long reads, long messages, long setAside) {}

  /**
   * The heap for what clients can name or leave behind: destinations, subscriptions, consumers,
   * connections, links.
   *
   * @param bytes what there is takes, as reckoned
   * @param limitBytes what it may take
   * @param refused how often something was refused for want of it since start
   * @param unforeseen requests that an error of the broker's made undecidable, since start
   */
  public record NamedUse(long bytes, long limitBytes, long refused, long unforeseen) {}

  /**
   * What the broker moves by itself.
   *
   * @param redelivered failed attempts that were counted
   * @param deadLettered messages that became dead letters
   * @param failed moves that failed and are tried again
   * @param underWay moves that are not recorded yet
   * @param waiting those of them whose target took nothing when they were tried last
   * @param withheld messages that wait for their next attempt
   * @param delayed messages that wait for their delivery time
   */
  public record Moves(
      long redelivered,
      long deadLettered,
      long failed,
      long underWay,
      long waiting,
      long withheld,
      long delayed) {}

  /** One destination. */
  public record DestinationUse(
      DestinationName name,
      String tier,
      PublishedUse published,
      List<SubscriptionUse> subscriptions) {
    public DestinationUse {
      subscriptions = List.copyOf(subscriptions);
    }
  }

  /**
   * Destinations and subscriptions that are not shown one by one.
   *
   * @param destinations how many destinations
   * @param subscriptions how many subscriptions, those of destinations that are shown included
   * @param backlog messages that are not acknowledged
   * @param inFlight of them, given to consumers
   */
  public record OtherUse(
      long destinations, long subscriptions, long backlog, long inFlight, long consumers) {
    /** Everything is shown. */
    public static final OtherUse NONE = new OtherUse(0, 0, 0, 0, 0);
  }

  /** One subscription of a destination; a queue has one without a name. */
  public record SubscriptionUse(
      String name,
      String kind,
      int consumers,
      BacklogUse backlog,
      SettledUse settled,
      SelectorUse selector,
      GroupBucketUse groupBuckets) {}

  /**
   * What a subscription still has.
   *
   * @param messages that are not acknowledged
   * @param inFlight of them, given to consumers
   * @param oldestAgeMillis how long the oldest of them is here, at least; 0 without one
   * @param lagMillis by how much the oldest of them is older than the newest message that was
   *     published; 0 if nothing waits
   */
  public record BacklogUse(long messages, long inFlight, long oldestAgeMillis, long lagMillis) {}

  /**
   * What a subscription's selector did since start.
   *
   * @param evaluations how often it looked at a message, for itself and for others of the
   *     destination that have the same selector
   * @param nanos what that took, from samples
   */
  public record SelectorUse(long evaluations, long nanos) {}

  /**
   * The group buckets of a destination with groups.
   *
   * @param moving those that give nothing, because they leave their consumer and something of them
   *     is in flight
   * @param moves how often one was given to a consumer
   */
  public record GroupBucketUse(int moving, long moves) {}
}

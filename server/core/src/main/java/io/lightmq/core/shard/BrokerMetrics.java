package io.lightmq.core.shard;

import io.lightmq.wire.entry.DestinationName;
import java.util.List;
import java.util.Map;

/**
 * What a shard counts, taken on its loop at one moment.
 *
 * @param takenNanos the clock's nanoseconds at that moment; rates are differences of totals over
 *     differences of this
 * @param connections peers that are attached
 * @param commandsWaiting commands in the mailbox
 * @param publishesPaused whether publishes wait for room, and why; empty if not
 * @param directBytes off-heap memory of the core
 * @param directByPurpose the same, split
 * @param destinations those with the largest backlogs, as many as are to be shown
 * @param others all the rest together
 */
public record BrokerMetrics(
    long takenNanos,
    int connections,
    int commandsWaiting,
    String publishesPaused,
    long directBytes,
    Map<String, Long> directByPurpose,
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
          0,
          0,
          "",
          0,
          Map.of(),
          new JournalUse(0, 0, 0, 0, 0, 0, 0, 0),
          new CheckpointUse(0, 0, 0, 0, 0, 0),
          new DiskUse(0, 0),
          new OverflowUse(0, 0, 0, 0, 0),
          new Totals(
              0,
              0,
              0,
              0,
              0,
              0,
              0,
              0,
              0,
              0,
              0,
              new Moves(0, 0, 0, 0, 0, 0, 0),
              new NamedUse(0, 0, 0, 0)),
          List.of(),
          OtherUse.NONE);

  public BrokerMetrics {
    directByPurpose = Map.copyOf(directByPurpose);
    destinations = List.copyOf(destinations);
  }

  /**
   * The journal and its window.
   *
   * @param usedBytes from the lowest offset still needed to the end
   * @param capacityBytes of all files it may have
   * @param unforcedBytes written or appended but not durable
   * @param writeNanos total time spent in writes
   * @param forceNanos total time spent in forces
   */
  public record JournalUse(
      long usedBytes,
      long capacityBytes,
      long unforcedBytes,
      long windowBytes,
      long writes,
      long writeNanos,
      long forces,
      long forceNanos) {}

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
   * @param damagedReads reads that found damage, or could not be made
   * @param damagedMessages messages that are set aside now because they cannot be read
   * @param setAside messages that were set aside since start
   * @param clockSteps how often the machine's time was seen to jump
   */
  public record Totals(
      long commands,
      long published,
      long publishedBytes,
      long acknowledged,
      long expired,
      long suppressed,
      long rejectedSnapshots,
      long damagedReads,
      long damagedMessages,
      long setAside,
      long clockSteps,
      Moves moves,
      NamedUse named) {}

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

  /**
   * One destination.
   *
   * @param published messages taken since start
   * @param publishedBytes bytes of their entries
   */
  public record DestinationUse(
      DestinationName name,
      String tier,
      long published,
      long publishedBytes,
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

  /**
   * One subscription of a destination; a queue has one without a name.
   *
   * @param backlog messages that are not acknowledged
   * @param inFlight of them, given to consumers
   * @param acknowledged since start
   * @param expired since start
   * @param suppressed duplicates that nobody got, since start
   * @param oldestAgeMillis how long the oldest message of the backlog is here, at least; 0 without
   *     one
   * @param lagMillis by how much the oldest message of the backlog is older than the newest that
   *     was published; 0 if nothing waits
   * @param selectorEvaluations how often its selector looked at a message since start, for itself
   *     and for others of the destination that have the same selector
   * @param selectorNanos what that took, from samples
   * @param groupBucketsMoving group buckets of a destination with groups that give nothing, because
   *     they leave their consumer and something of them is in flight
   * @param groupBucketMoves how often one was given to a consumer
   */
  public record SubscriptionUse(
      String name,
      String kind,
      int consumers,
      long backlog,
      long inFlight,
      long acknowledged,
      long expired,
      long suppressed,
      long oldestAgeMillis,
      long lagMillis,
      long selectorEvaluations,
      long selectorNanos,
      int groupBucketsMoving,
      long groupBucketMoves) {}
}

package io.lightmq.core.shard;

import io.lightmq.core.destination.DestinationSettings;
import io.lightmq.core.destination.DurableLane;
import io.lightmq.core.storage.journal.JournalSettings;
import io.lightmq.core.storage.segment.SegmentSettings;
import io.lightmq.spi.Durability;
import io.lightmq.wire.entry.Entry;
import java.util.List;

/**
 * What a broker may be told at start; {@link #defaults} serves a broker of medium size.
 *
 * @param defaultSettings of destinations that no rule and no verb names
 * @param createOnFirstUse whether a destination is created when a client first names it
 * @param rules settings by name pattern; the most specific one wins
 * @param windowBytes the ring of the newest journal bytes, a power of two
 * @param unloggedBytes memory for unlogged messages; beyond half of it the oldest go to files
 * @param overflowBytes the most that these files may take, 0 for none; beyond it and the memory,
 *     sends of unlogged messages are refused
 * @param ballastBytes room on the disk that is kept for a checkpoint when it is full
 * @param maxMessageBytes the longest encoded message
 * @param maxTransactionBytes the most message bytes in one transaction
 * @param flushIntervalMillis how soon a balanced message is forced
 * @param minFreeBytes below so much room on the disk publishes are refused
 * @param idleReclaimMillis how often a broker with dead bytes in segments makes a checkpoint
 *     without need of journal room; 0 for never
 * @param namedBytes the heap for all that clients can name or leave behind, as reckoned: see {@link
 *     NamedBudget}
 * @param temporaryGraceMillis how long temporary destinations wait for their lost connection, and
 *     after a start for those of before
 */
public record BrokerSettings(
    DestinationSettings defaultSettings,
    boolean createOnFirstUse,
    List<DestinationRule> rules,
    int windowBytes,
    long unloggedBytes,
    long overflowBytes,
    JournalSettings journal,
    SegmentSettings segments,
    long ballastBytes,
    int maxMessageBytes,
    int maxTransactionBytes,
    int flushIntervalMillis,
    long minFreeBytes,
    int idleReclaimMillis,
    long namedBytes,
    int temporaryGraceMillis) {

  /** Settings of destinations whose name a pattern ({@code orders.*}, {@code orders.>}) matches. */
  public record DestinationRule(String pattern, DestinationSettings settings) {
    /** A rule that sets the tier alone. */
    public DestinationRule(String pattern, Durability tier) {
      this(pattern, new DestinationSettings(tier));
    }
  }

  private static final long OTHER_HEAP_BYTES = 32L << 20;

  /** What the record of a run takes besides its entries, at most. */
  private static final int RUN_BYTES = 256;

  /** The longest encoded message that any settings allow: its place must fit into a lane's list. */
  public static final int MAX_MESSAGE_BYTES = DurableLane.MAX_ENTRY_BYTES - Entry.MAX_HEADER_BYTES;

  /** How long temporary destinations wait for their connection if nothing else is said. */
  public static final int TEMPORARY_GRACE_MILLIS = 60_000;

  public BrokerSettings {
    rules = List.copyOf(rules);
    check(Integer.bitCount(windowBytes) == 1, "windowBytes", windowBytes, "a power of two");
    check(
        maxMessageBytes >= 64 && maxMessageBytes <= longestMessage(windowBytes, journal),
        "maxMessageBytes",
        maxMessageBytes,
        "64 to "
            + longestMessage(windowBytes, journal)
            + ", what fits into one batch with windowBytes "
            + windowBytes
            + " and maxUnforcedBytes "
            + journal.maxUnforcedBytes());
    check(
        segments.maxEntryBytes() >= maxMessageBytes + Entry.MAX_HEADER_BYTES,
        "segments.maxEntryBytes",
        segments.maxEntryBytes(),
        "at least maxMessageBytes + "
            + Entry.MAX_HEADER_BYTES
            + ", "
            + (maxMessageBytes + Entry.MAX_HEADER_BYTES));
    check(
        maxTransactionBytes > 0 && maxTransactionBytes <= windowBytes / 4,
        "maxTransactionBytes",
        maxTransactionBytes,
        "1 to a quarter of the window, " + windowBytes / 4);
    check(namedBytes >= 1 << 20, "namedBytes", namedBytes, "at least " + (1 << 20));
    check(overflowBytes >= 0, "overflowBytes", overflowBytes, "0 or more");
    check(temporaryGraceMillis >= 0, "temporaryGraceMillis", temporaryGraceMillis, "0 or more");
    check(flushIntervalMillis > 0, "flushIntervalMillis", flushIntervalMillis, "above 0");
  }

  /** The same with the share of this process's heap that fits it. */
  public BrokerSettings(
      DestinationSettings defaultSettings,
      boolean createOnFirstUse,
      List<DestinationRule> rules,
      int windowBytes,
      long unloggedBytes,
      long overflowBytes,
      JournalSettings journal,
      SegmentSettings segments,
      long ballastBytes,
      int maxMessageBytes,
      int maxTransactionBytes,
      int flushIntervalMillis,
      long minFreeBytes,
      int idleReclaimMillis) {
    this(
        defaultSettings,
        createOnFirstUse,
        rules,
        windowBytes,
        unloggedBytes,
        overflowBytes,
        journal,
        segments,
        ballastBytes,
        maxMessageBytes,
        maxTransactionBytes,
        flushIntervalMillis,
        minFreeBytes,
        idleReclaimMillis,
        namedBytes(Runtime.getRuntime().maxMemory()),
        TEMPORARY_GRACE_MILLIS);
  }

  /**
   * What of a heap is for what clients can name: all but 32 MiB that everything else needs, at
   * least a quarter and at most three quarters.
   */
  public static long namedBytes(long heapBytes) {
    return Math.max(
        1 << 20,
        Math.max(heapBytes / 4, Math.min(heapBytes / 4 * 3, heapBytes - OTHER_HEAP_BYTES)));
  }

  /** The most bytes of entries and records in one batch of the journal. */
  int maxBatchBytes() {
    return maxBatchBytes(windowBytes, journal);
  }

  private static int maxBatchBytes(int windowBytes, JournalSettings journal) {
    // A quarter, and a little more for what is around a message of a quarter.
    return Math.min(windowBytes / 4 + windowBytes / 32, journal.maxUnforcedBytes()) - 1024;
  }

  /**
   * The longest encoded message that a window and a journal take: it has to fit into one batch, and
   * its place into a lane's list.
   */
  public static int longestMessage(int windowBytes, JournalSettings journal) {
    return Math.min(
        MAX_MESSAGE_BYTES,
        maxBatchBytes(windowBytes, journal) - Entry.MAX_HEADER_BYTES - RUN_BYTES);
  }

  private static void check(boolean holds, String name, long value, String wanted) {
    if (!holds) {
      throw new IllegalArgumentException(name + " is " + value + " but must be " + wanted);
    }
  }

  /**
   * Tier high, 64 MiB window, 64 MiB for non-persistent messages and 10 GiB for their overflow,
   * four to eight journal files of 64 MiB.
   */
  public static BrokerSettings defaults() {
    return new BrokerSettings(
        DestinationSettings.DEFAULT,
        true,
        List.of(),
        64 << 20,
        64L << 20,
        10L << 30,
        JournalSettings.defaults(),
        SegmentSettings.DEFAULT,
        64L << 20,
        4 << 20,
        1 << 20,
        80,
        256L << 20,
        60_000);
  }
}

package io.lightmq.core.door;

import io.lightmq.core.destination.DestinationRules;
import io.lightmq.core.destination.DestinationSettings;
import io.lightmq.core.destination.DurableLane;
import io.lightmq.core.storage.journal.JournalSettings;
import io.lightmq.core.storage.segment.SegmentSettings;
import io.lightmq.spi.Durability;
import io.lightmq.wire.entry.Entry;
import java.util.ArrayList;
import java.util.List;

/**
 * What a broker may be told at start, in parts by idea; {@link #defaults} serves a broker of medium
 * size. Each part has its defaults and the checks that need nothing else; what has to fit together
 * is checked here.
 *
 * @param destinations what destinations are created with
 * @param memory the large shares of memory
 * @param disk the room on the disk
 * @param limits what clients may send at once
 * @param intervals times that something waits
 */
public record BrokerSettings(
    DestinationDefaults destinations,
    Memory memory,
    DiskRoom disk,
    Limits limits,
    Intervals intervals,
    JournalSettings journal,
    SegmentSettings segments) {

  /**
   * What destinations are created with.
   *
   * @param settings of destinations that no rule and no verb names
   * @param createOnFirstUse whether a destination is created when a client first names it
   * @param rules settings by name pattern; the most specific one wins
   */
  public record DestinationDefaults(
      DestinationSettings settings, boolean createOnFirstUse, List<DestinationRule> rules) {
    public DestinationDefaults {
      rules = List.copyOf(rules);
    }

    /** Tier high, created on first use. */
    public static DestinationDefaults defaults() {
      return new DestinationDefaults(DestinationSettings.DEFAULT, true, List.of());
    }

    /** What names are created with, the least specific pattern last. */
    public DestinationRules byPattern() {
      List<DestinationRules.Rule> all = new ArrayList<>();
      for (DestinationRule rule : rules) {
        all.add(new DestinationRules.Rule(rule.pattern(), rule.settings()));
      }
      all.add(new DestinationRules.Rule(">", settings));
      return new DestinationRules(all);
    }

    /** With or without creation on first use. */
    public DestinationDefaults withCreateOnFirstUse(boolean create) {
      return new DestinationDefaults(settings, create, rules);
    }
  }

  /** Settings of destinations whose name a pattern ({@code orders.*}, {@code orders.>}) matches. */
  public record DestinationRule(String pattern, DestinationSettings settings) {
    /** A rule that sets the tier alone. */
    public DestinationRule(String pattern, Durability tier) {
      this(pattern, new DestinationSettings(tier));
    }
  }

  /**
   * The large shares of memory.
   *
   * @param windowBytes the ring of the newest journal bytes, a power of two
   * @param unloggedBytes memory for unlogged messages; beyond half of it the oldest go to files
   * @param namedBytes the heap for all that clients can name or leave behind, as reckoned: see
   *     {@code NamedBudget}
   */
  public record Memory(int windowBytes, long unloggedBytes, long namedBytes) {
    public Memory {
      check(Integer.bitCount(windowBytes) == 1, "windowBytes", windowBytes, "a power of two");
      check(namedBytes >= 1 << 20, "namedBytes", namedBytes, "at least " + (1 << 20));
    }

    /** A window of 64 MiB, 64 MiB for unlogged messages, and the share of this process's heap. */
    public static Memory defaults() {
      return new Memory(
          64 << 20, 64L << 20, BrokerSettings.namedBytes(Runtime.getRuntime().maxMemory()));
    }

    /** With another window. */
    public Memory withWindowBytes(int bytes) {
      return new Memory(bytes, unloggedBytes, namedBytes);
    }

    /** With other memory for unlogged messages. */
    public Memory withUnloggedBytes(long bytes) {
      return new Memory(windowBytes, bytes, namedBytes);
    }

    /** With another budget for what clients can name. */
    public Memory withNamedBytes(long bytes) {
      return new Memory(windowBytes, unloggedBytes, bytes);
    }
  }

  /**
   * The room on the disk.
   *
   * @param ballastBytes kept for a checkpoint when the disk is full
   * @param minFreeBytes below so much room publishes are refused
   * @param overflowBytes the most that files of unlogged messages may take, 0 for none; beyond it
   *     and the memory, sends of unlogged messages are refused
   */
  public record DiskRoom(long ballastBytes, long minFreeBytes, long overflowBytes) {
    public DiskRoom {
      check(overflowBytes >= 0, "overflowBytes", overflowBytes, "0 or more");
    }

    /** A ballast of 64 MiB, publishes while 256 MiB are free, 10 GiB of overflow. */
    public static DiskRoom defaults() {
      return new DiskRoom(64L << 20, 256L << 20, 10L << 30);
    }

    /** With another ballast. */
    public DiskRoom withBallastBytes(long bytes) {
      return new DiskRoom(bytes, minFreeBytes, overflowBytes);
    }

    /** With another room below which publishes are refused. */
    public DiskRoom withMinFreeBytes(long bytes) {
      return new DiskRoom(ballastBytes, bytes, overflowBytes);
    }

    /** With other room for the files of unlogged messages. */
    public DiskRoom withOverflowBytes(long bytes) {
      return new DiskRoom(ballastBytes, minFreeBytes, bytes);
    }
  }

  /**
   * What clients may send at once.
   *
   * @param maxMessageBytes the longest encoded message
   * @param maxTransactionBytes the most message bytes in one part of a transaction
   * @param maxStagedBytes the most that may be staged of one transaction, all of its parts together
   */
  public record Limits(int maxMessageBytes, int maxTransactionBytes, long maxStagedBytes) {
    /** Messages of 4 MiB, parts of transactions of 1 MiB, and 1 GiB staged of each. */
    public static Limits defaults() {
      return new Limits(4 << 20, 1 << 20);
    }

    /** 1 GiB may be staged of each transaction. */
    public Limits(int maxMessageBytes, int maxTransactionBytes) {
      this(maxMessageBytes, maxTransactionBytes, 1L << 30);
    }

    /** With another longest message. */
    public Limits withMaxMessageBytes(int bytes) {
      return new Limits(bytes, maxTransactionBytes, maxStagedBytes);
    }

    /** With another longest part of a transaction. */
    public Limits withMaxTransactionBytes(int bytes) {
      return new Limits(maxMessageBytes, bytes, maxStagedBytes);
    }

    /** With another longest transaction that is staged. */
    public Limits withMaxStagedBytes(long bytes) {
      return new Limits(maxMessageBytes, maxTransactionBytes, bytes);
    }
  }

  /**
   * Times that something waits.
   *
   * @param flushIntervalMillis how soon a balanced message is forced
   * @param idleReclaimMillis how often a broker with dead bytes in segments makes a checkpoint
   *     without need of journal room; 0 for never
   * @param temporaryGraceMillis how long temporary destinations wait for their lost connection, and
   *     after a start for those of before
   * @param preparedAlarmMillis how long a branch of a distributed transaction may be prepared
   *     before that is said aloud
   */
  public record Intervals(
      int flushIntervalMillis,
      int idleReclaimMillis,
      int temporaryGraceMillis,
      int preparedAlarmMillis) {
    public Intervals {
      check(temporaryGraceMillis >= 0, "temporaryGraceMillis", temporaryGraceMillis, "0 or more");
      check(flushIntervalMillis > 0, "flushIntervalMillis", flushIntervalMillis, "above 0");
      check(preparedAlarmMillis > 0, "preparedAlarmMillis", preparedAlarmMillis, "above 0");
    }

    /**
     * A force each 80 ms, dead bytes looked at each minute, a minute for lost connections, an hour
     * for prepared branches.
     */
    public static Intervals defaults() {
      return new Intervals(80, 60_000, 60_000, 3_600_000);
    }

    /** With another time between checkpoints for dead bytes. */
    public Intervals withIdleReclaimMillis(int millis) {
      return new Intervals(flushIntervalMillis, millis, temporaryGraceMillis, preparedAlarmMillis);
    }

    /** With another time for which lost connections are waited for. */
    public Intervals withTemporaryGraceMillis(int millis) {
      return new Intervals(flushIntervalMillis, idleReclaimMillis, millis, preparedAlarmMillis);
    }

    /** With another time for which branches may be prepared unnoticed. */
    public Intervals withPreparedAlarmMillis(int millis) {
      return new Intervals(flushIntervalMillis, idleReclaimMillis, temporaryGraceMillis, millis);
    }
  }

  private static final long OTHER_HEAP_BYTES = 32L << 20;

  /** What the record of a run takes besides its entries, at most. */
  private static final int RUN_BYTES = 256;

  /** The longest encoded message that any settings allow: its place must fit into a lane's list. */
  public static final int MAX_MESSAGE_BYTES = DurableLane.MAX_ENTRY_BYTES - Entry.MAX_HEADER_BYTES;

  public BrokerSettings {
    int longest = longestMessage(memory.windowBytes(), journal);
    check(
        limits.maxMessageBytes() >= 64 && limits.maxMessageBytes() <= longest,
        "maxMessageBytes",
        limits.maxMessageBytes(),
        "64 to "
            + longest
            + ", what fits into one batch with windowBytes "
            + memory.windowBytes()
            + " and maxUnforcedBytes "
            + journal.maxUnforcedBytes());
    int longestEntry = limits.maxMessageBytes() + Entry.MAX_HEADER_BYTES;
    check(
        segments.maxEntryBytes() >= longestEntry,
        "segments.maxEntryBytes",
        segments.maxEntryBytes(),
        "at least maxMessageBytes + " + Entry.MAX_HEADER_BYTES + ", " + longestEntry);
    check(
        limits.maxTransactionBytes() > 0
            && limits.maxTransactionBytes() <= memory.windowBytes() / 4,
        "maxTransactionBytes",
        limits.maxTransactionBytes(),
        "1 to a quarter of the window, " + memory.windowBytes() / 4);
    check(
        limits.maxStagedBytes() >= limits.maxTransactionBytes(),
        "maxStagedBytes",
        limits.maxStagedBytes(),
        "at least maxTransactionBytes, " + limits.maxTransactionBytes());
  }

  /** Tier high, 64 MiB window, four to eight journal files of 64 MiB. */
  public static BrokerSettings defaults() {
    return new BrokerSettings(
        DestinationDefaults.defaults(),
        Memory.defaults(),
        DiskRoom.defaults(),
        Limits.defaults(),
        Intervals.defaults(),
        JournalSettings.defaults(),
        SegmentSettings.DEFAULT);
  }

  /** With other defaults of destinations. */
  public BrokerSettings with(DestinationDefaults part) {
    return new BrokerSettings(part, memory, disk, limits, intervals, journal, segments);
  }

  /** With other shares of memory. */
  public BrokerSettings with(Memory part) {
    return new BrokerSettings(destinations, part, disk, limits, intervals, journal, segments);
  }

  /** With other room on the disk. */
  public BrokerSettings with(DiskRoom part) {
    return new BrokerSettings(destinations, memory, part, limits, intervals, journal, segments);
  }

  /** With other limits. */
  public BrokerSettings with(Limits part) {
    return new BrokerSettings(destinations, memory, disk, part, intervals, journal, segments);
  }

  /** With other times. */
  public BrokerSettings with(Intervals part) {
    return new BrokerSettings(destinations, memory, disk, limits, part, journal, segments);
  }

  /** With another journal. */
  public BrokerSettings with(JournalSettings part) {
    return new BrokerSettings(destinations, memory, disk, limits, intervals, part, segments);
  }

  /** With other segments. */
  public BrokerSettings with(SegmentSettings part) {
    return new BrokerSettings(destinations, memory, disk, limits, intervals, journal, part);
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
  public int maxBatchBytes() {
    return maxBatchBytes(memory.windowBytes(), journal);
  }

  /**
   * The same for a journal that takes batches of so many bytes at most.
   *
   * @throws IllegalArgumentException if the longest message does not fit into one
   */
  public BrokerSettings within(int batchBytes) {
    if (batchBytes >= journal.maxUnforcedBytes()) {
      return this;
    }
    return with(
        new JournalSettings(
            journal.fileBytes(),
            journal.minFiles(),
            journal.maxFiles(),
            journal.lingerNanos(),
            batchBytes,
            journal.idleNanos()));
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
}

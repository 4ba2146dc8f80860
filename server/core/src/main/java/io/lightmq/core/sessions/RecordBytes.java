package io.lightmq.core.sessions;

import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.LaneCode;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.door.Command;
import io.lightmq.core.record.ShardRecord;
import io.lightmq.core.state.Runs;
import io.lightmq.core.state.Skip;
import io.lightmq.wire.entry.Entry;
import io.lightmq.wire.entry.MessageReader;
import io.lightmq.wire.entry.SequenceRange;
import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** How many bytes the records of a command take in the journal, at most. */
public final class RecordBytes {
  /** What the record takes that creates a holder, at most: it has its destination's settings. */
  public static final int HOLDER_BYTES = 4_096;

  /** What a part takes of one more message for a holder, besides the message, at most. */
  private static final int PART_BYTES = 1_024;

  /** What a record of acknowledgements takes besides its ranges and keys, at most. */
  private static final int RECORD_BYTES = 128;

  private static final int RANGE_BYTES = 20;
  private static final int KEY_BYTES = 16;

  private RecordBytes() {}

  /** The bytes that a run takes in the journal, at most. */
  public static long of(Command.Publish command, int userBytes) {
    return command.messages().buffer().remaining()
        + overhead(command.count(), userBytes)
        + delayed(command.count(), command.messages().buffer());
  }

  private static long overhead(int count, int userBytes) {
    // A run may be split into ten, by priority.
    return 64
        + 64L * Math.min(Math.max(1, count), LaneCode.PRIORITIES)
        + (long) Math.max(0, count) * (Entry.HEADER_BYTES + userBytes);
  }

  /** The bytes that say who does not want what of a run, at most. */
  public static long ofSkips(Runs.Checked run) {
    int parts = Math.max(1, Integer.bitCount(run.priorities()));
    return recordedSkips(run) * ofSkip(run.count(), parts);
  }

  /** How many subscriptions a run's record names that do not want some of it. */
  public static long recordedSkips(Runs.Checked run) {
    long recorded = 0;
    for (Skip skip : run.skips()) {
      recorded += skip.subscription().kind().isDurable() ? 1 : 0;
    }
    return recorded;
  }

  /** The same before it is known, for a destination. */
  public static long ofSkips(@Nullable Destination destination, int count) {
    int partial = destination == null ? 0 : destination.partialDurableSubscriptions();
    return partial * ofSkip(count, Math.min(count, LaneCode.PRIORITIES));
  }

  private static long ofSkip(int count, int parts) {
    return Math.max(0, count) / 8 + 16L * Math.max(1, parts);
  }

  /**
   * Each delayed message may need a holder and a part of its own; one with the delay of the one
   * before is due in the same hour. The bytes are not checked yet.
   */
  private static long delayed(int count, ByteBuffer messages) {
    long bytes = 0;
    long before = 0;
    int at = messages.position();
    for (int i = 0; i < count && messages.limit() - at >= 4 + MessageReader.minBytes(); i++) {
      long delay = MessageReader.deliveryDelayMillis(messages, at + 4);
      if (delay > 0) {
        bytes += delay == before ? PART_BYTES : HOLDER_BYTES;
        before = delay;
      }
      int length = messages.getInt(at);
      if (length < 0 || length > messages.limit() - at - 4) {
        return bytes;
      }
      at += 4 + length;
    }
    return bytes;
  }

  /** The bytes that the runs of a commit take in the journal, at most. */
  public static long of(List<Command.StagedRun> runs, int userBytes) {
    long bytes = 128;
    for (Command.StagedRun run : runs) {
      bytes +=
          run.messages().buffer().remaining()
              + overhead(run.count(), userBytes)
              + delayed(run.count(), run.messages().buffer());
    }
    return bytes;
  }

  /** So many messages may be acknowledged in any ranges by records of so many bytes. */
  static int messages(int bytes) {
    return Math.max(1, (bytes - 2 * RECORD_BYTES) / (RANGE_BYTES + KEY_BYTES));
  }

  /** The bytes that records of failed attempts take in the journal, at most. */
  static long ofAttempts(List<SequenceRange> ranges) {
    return RECORD_BYTES * (1L + ranges.size() / ShardRecord.MAX_RANGES)
        + RANGE_BYTES * (long) ranges.size();
  }

  /** The bytes that the records of some acknowledgements take in the journal, at most. */
  public static long of(Subscription subscription, List<SequenceRange> recorded) {
    if (recorded.isEmpty()) {
      return 0;
    }
    long records = 1L + recorded.size() / ShardRecord.MAX_RANGES;
    long messages = 0;
    if (subscription.duplicates() != null) {
      for (SequenceRange range : recorded) {
        messages += range.count();
      }
    }
    return RECORD_BYTES * records + RANGE_BYTES * (long) recorded.size() + KEY_BYTES * messages;
  }
}

package io.lightmq.core.shard;

import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.Duplicates;
import io.lightmq.core.destination.LaneCode;
import io.lightmq.wire.entry.Entry;
import io.lightmq.wire.entry.MessageReader;
import io.lightmq.wire.entry.SequenceRange;
import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** How many bytes the records of a command take in the journal, at most. */
final class RecordBytes {
  private static final int HOLDER_BYTES = 1_024;

  private RecordBytes() {}

  /** The bytes that a run takes in the journal, at most. */
  static long of(Command.Publish command, int userBytes) {
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
  static long ofSkips(Runs.Checked run) {
    int parts = Math.max(1, Integer.bitCount(run.priorities()));
    long recorded =
        run.skips().stream().filter(skip -> skip.subscription().kind().isDurable()).count();
    return recorded * ofSkip(run.count(), parts);
  }

  /** The same before it is known, for a destination. */
  static long ofSkips(@Nullable Destination destination, int count) {
    int partial = destination == null ? 0 : destination.partialDurableSubscriptions();
    return partial * ofSkip(count, Math.min(count, LaneCode.PRIORITIES));
  }

  private static long ofSkip(int count, int parts) {
    return Math.max(0, count) / 8 + 16L * Math.max(1, parts);
  }

  /**
   * Each delayed message may need a holder and a part of its own. The bytes are not checked yet.
   */
  private static long delayed(int count, ByteBuffer messages) {
    long bytes = 0;
    int at = messages.position();
    for (int i = 0; i < count && messages.limit() - at >= 4 + MessageReader.minBytes(); i++) {
      if (MessageReader.deliveryDelayMillis(messages, at + 4) > 0) {
        bytes += HOLDER_BYTES;
      }
      int length = messages.getInt(at);
      if (length < 0 || length > messages.limit() - at - 4) {
        return bytes;
      }
      at += 4 + length;
    }
    return bytes;
  }

  static long of(Command.Commit command, int userBytes) {
    long bytes = 128;
    for (Command.StagedRun run : command.runs()) {
      bytes +=
          run.messages().buffer().remaining()
              + overhead(run.count(), userBytes)
              + delayed(run.count(), run.messages().buffer());
    }
    return bytes + of(command.acked());
  }

  /** The bytes of the keys of acknowledged messages, where duplicates are suppressed. */
  static long ofKeys(ShardState state, List<Command.Acked> acked) {
    long bytes = 0;
    for (Command.Acked each : acked) {
      Destination destination = state.destinations().find(each.destinationId());
      if (destination != null && destination.settings().suppression() != null) {
        long count = each.ranges().stream().mapToLong(SequenceRange::count).sum();
        long known =
            destination.subscriptions().stream()
                .mapToLong(of -> of.inFlight() + Duplicates.MAX_LATE)
                .max()
                .orElse(0);
        bytes += 32 + 16 * Math.min(count, known);
      }
    }
    return bytes;
  }

  /** The bytes that acknowledgements take in the journal, at most, without keys. */
  static long of(List<Command.Acked> acked) {
    long bytes = 0;
    for (Command.Acked each : acked) {
      bytes += 64 + 20L * each.ranges().size();
    }
    return bytes;
  }
}

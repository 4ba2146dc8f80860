package io.lightmq.core.shard;

import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.LaneCode;
import io.lightmq.wire.entry.Entry;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** How many bytes the records of a command take in the journal, at most. */
final class RecordBytes {
  private RecordBytes() {}

  /** The bytes that a run takes in the journal, at most. */
  static long of(Command.Publish command, int userBytes) {
    return command.messages().buffer().remaining() + overhead(command.count(), userBytes);
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

  static long of(Command.Commit command, int userBytes) {
    long bytes = 128;
    for (Command.StagedRun run : command.runs()) {
      bytes += run.messages().buffer().remaining() + overhead(run.count(), userBytes);
    }
    return bytes + of(command.acked());
  }

  /** The bytes that acknowledgements take in the journal, at most. */
  static long of(List<Command.Acked> acked) {
    long bytes = 0;
    for (Command.Acked each : acked) {
      bytes += 64 + 20L * each.ranges().size();
    }
    return bytes;
  }
}

package io.lightmq.core.shard;

import io.lightmq.core.destination.LaneCode;
import io.lightmq.wire.entry.Entry;
import java.util.List;

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

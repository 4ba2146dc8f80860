package io.lightmq.core.intake;

import io.lightmq.core.destination.UnloggedLane;
import io.lightmq.core.record.RecordWriter;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.sessions.Sender;
import io.lightmq.core.state.LaneRun;
import io.lightmq.core.state.Recorder;
import io.lightmq.core.state.ShardState;
import io.lightmq.core.state.Skip;
import io.lightmq.wire.entry.Entry;
import io.lightmq.wire.entry.EntryStamp;
import io.lightmq.wire.entry.MessageReader;
import java.nio.ByteBuffer;

/** Writes messages into unlogged lanes, as {@link Recorder} does into durable ones. */
@OwnedBy("shard")
final class UnloggedWriter {
  private final ShardState state;
  private final Recorder recorder;
  private ByteBuffer scratch = ByteBuffer.allocate(4096);

  UnloggedWriter(ShardState state, Recorder recorder) {
    this.state = state;
    this.recorder = recorder;
  }

  /**
   * Copies messages into a lane, for those who want them; nobody sees them before the lane is
   * shown.
   */
  void store(UnloggedLane lane, Sender sender, LaneRun run) {
    groupIfAny(lane, run);
    EntryStamp stamp = sender.stamp(lane.destination(), lane.code(), state);
    RecordWriter.Expiry times = sender.times(lane.destination());
    long first = recorder.firstSequence(lane, run.count());
    ByteBuffer messages = run.messages();
    int subscriptions = lane.destination().subscriptions().size();
    int at = messages.position();
    for (int i = 0; i < run.count(); i++) {
      int needs = subscriptions;
      for (Skip skip : run.skips()) {
        needs -= skip.messages().get(i) ? 1 : 0;
      }
      int messageBytes = messages.getInt(at);
      int entryBytes = Entry.entryBytes(stamp, messageBytes);
      if (scratch.capacity() < entryBytes) {
        scratch = ByteBuffer.allocate(Math.max(entryBytes, 2 * scratch.capacity()));
      }
      scratch.clear();
      long expiry = times.expiryMillis(messages, at + 4);
      long due = times.dueMillis(messages, at + 4);
      Entry.write(
          scratch,
          0,
          due == 0 ? stamp : stamp.due(due),
          first + i,
          expiry,
          messages,
          at + 4,
          messageBytes);
      lane.append(first + i, scratch.limit(entryBytes), needs);
      at += 4 + messageBytes;
    }
    recorder.unrecorded().landed(lane, first, run);
  }

  /** Tells the destination of messages with a key, before these are stored. */
  private static void groupIfAny(UnloggedLane lane, LaneRun run) {
    ByteBuffer messages = run.messages();
    int at = messages.position();
    for (int i = 0; i < run.count() && !lane.destination().isGrouped(); i++) {
      if (MessageReader.isGrouped(messages, at + 4)) {
        lane.destination().group(false);
      }
      at += 4 + messages.getInt(at);
    }
  }
}

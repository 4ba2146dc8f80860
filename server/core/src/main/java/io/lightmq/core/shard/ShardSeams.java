package io.lightmq.core.shard;

import io.lightmq.core.checkpoint.Checkpoints;
import io.lightmq.core.destination.OffHeap;
import io.lightmq.core.intake.Landing;
import io.lightmq.core.state.ShardState;
import io.lightmq.core.storage.journal.LocalJournal;
import io.lightmq.core.storage.segment.SegmentStore;
import java.util.function.Supplier;

/**
 * What of a shard tests put something of their own in place of; the product changes the journal
 * only.
 *
 * @param journals which journal it has
 * @param destaging how checkpoints write segments
 * @param landings the door for messages
 * @param touchedAhead so many messages at least are touched ahead of those that are given out
 */
record ShardSeams(
    JournalMaker journals, DestagingMaker destaging, Landing.Maker landings, int touchedAhead) {
  /** Those of the product. */
  static final ShardSeams PRODUCT =
      new ShardSeams(
          LocalJournal::new,
          (segments, state) -> (plan, bytes) -> segments.destage(plan, bytes, () -> false),
          Landing::new,
          OffHeap.TOUCHED_AHEAD);

  /** Makes what writes segments. */
  interface DestagingMaker {
    /** For a store of segments and the state at the moment. */
    Checkpoints.Destaging make(SegmentStore segments, Supplier<ShardState> state);
  }

  /** The same with another journal. */
  ShardSeams with(JournalMaker other) {
    return new ShardSeams(other, destaging, landings, touchedAhead);
  }

  /** The same with other destaging. */
  ShardSeams with(DestagingMaker other) {
    return new ShardSeams(journals, other, landings, touchedAhead);
  }

  /** The same with another door for messages. */
  ShardSeams with(Landing.Maker other) {
    return new ShardSeams(journals, destaging, other, touchedAhead);
  }

  /** The same with so many messages touched ahead. */
  ShardSeams withTouchedAhead(int messages) {
    return new ShardSeams(journals, destaging, landings, messages);
  }
}

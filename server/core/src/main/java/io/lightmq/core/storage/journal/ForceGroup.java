package io.lightmq.core.storage.journal;

import io.lightmq.core.runtime.Clock;
import io.lightmq.spi.Journal.Batch;
import io.lightmq.spi.Journal.Outcome;
import java.io.IOException;
import java.util.List;

/**
 * What one force covers: batches that are written, up to an offset, and the files that they are in,
 * oldest first. It belongs to the loop that forces it.
 */
record ForceGroup(List<Batch> batches, List<JournalFile> files, long end, int waiters) {

  /** Forces, moves the durable mark, completes. A failure ends the journal; false then. */
  boolean run(LocalJournal journal, Clock clock) {
    try {
      if (journal.hasFailed()) {
        throw new IOException("the journal failed before this force began");
      }
      long begin = clock.nanos();
      for (JournalFile file : files) {
        file.file().force();
      }
      journal.forces().add(clock.nanos() - begin);
    } catch (IOException e) {
      journal.fail(e);
      complete(Outcome.UNKNOWN);
      return false;
    }
    journal.marks().durable(end);
    complete(Outcome.DONE);
    return true;
  }

  private void complete(Outcome outcome) {
    for (Batch batch : batches) {
      batch.completed(outcome);
    }
  }
}

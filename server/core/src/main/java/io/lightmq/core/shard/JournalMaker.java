package io.lightmq.core.shard;

import io.lightmq.core.runtime.Loops;
import io.lightmq.core.storage.Disk;
import io.lightmq.core.storage.journal.JournalSettings;
import io.lightmq.spi.Journal;
import java.util.UUID;

/** Which journal a broker has; a cluster brings its own. */
@FunctionalInterface
public interface JournalMaker {
  /** A journal that is not started, for the store of this identity. */
  Journal make(Disk disk, Loops loops, JournalSettings settings, UUID store);
}

package io.lightmq.embedded;

import io.lightmq.core.door.BrokerSettings;
import io.lightmq.core.door.BrokerSettings.DiskRoom;
import io.lightmq.core.storage.journal.JournalSettings;
import io.lightmq.node.NodeSettings;
import io.lightmq.node.connection.ConnectionSettings;

/** Settings of brokers that share a heap with their application: smaller than a server's. */
final class EmbeddedSettings {
  private static final int MIB = 1 << 20;
  static final int WINDOW_BYTES = 16 * MIB;
  private static final int MEMORY_JOURNAL_FILE_BYTES = 8 * MIB;
  private static final int FILE_JOURNAL_FILE_BYTES = 16 * MIB;
  private static final long IDLE_NANOS = 20_000_000;

  private EmbeddedSettings() {}

  /**
   * Nothing is forced, so nothing is gained by waiting for company; nothing overflows, since the
   * disk is memory too.
   */
  static NodeSettings inMemory(long heapBytes) {
    return settings(
        heapBytes,
        DiskRoom.defaults().withBallastBytes(0).withMinFreeBytes(0).withOverflowBytes(0),
        journal(MEMORY_JOURNAL_FILE_BYTES, 0));
  }

  static NodeSettings inDirectory(long heapBytes) {
    return settings(
        heapBytes,
        DiskRoom.defaults().withBallastBytes(16L * MIB),
        journal(FILE_JOURNAL_FILE_BYTES, JournalSettings.defaults().lingerNanos()));
  }

  private static JournalSettings journal(int fileBytes, long lingerNanos) {
    return new JournalSettings(fileBytes, 4, 8, lingerNanos, fileBytes / 5 * 4, IDLE_NANOS);
  }

  private static NodeSettings settings(long heapBytes, DiskRoom disk, JournalSettings journal) {
    long share = Math.min(64L * MIB, Math.max(16L * MIB, heapBytes / 8));
    BrokerSettings server = BrokerSettings.defaults();
    BrokerSettings broker =
        new BrokerSettings(
            server.destinations(),
            server.memory().withWindowBytes(WINDOW_BYTES).withUnloggedBytes(share),
            disk,
            server.limits(),
            server.intervals(),
            journal,
            server.segments());
    return new NodeSettings(
        broker, ConnectionSettings.defaults(), share, MIB, 16L * MIB, 16L * MIB);
  }
}

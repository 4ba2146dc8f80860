package io.lightmq.core.storage.journal;

import io.lightmq.spi.Journal.Batch;
import java.time.Duration;

/**
 * How a {@link LocalJournal} uses its files.
 *
 * @param fileBytes of each file, header page included; a multiple of 4096, at least 16 KiB
 * @param minFiles that exist from the start on
 * @param maxFiles that it grows to; at this bound, with none free, appends wait for {@code trim}
 * @param lingerNanos that a force may wait for the senders of the one before; 0 never waits
 * @param maxUnforcedBytes after which a force comes in any case; at most four fifths of a file, so
 *     that a recovered tail fits into one with room to spare. No batch may be longer
 * @param idleNanos without appends after which the last force is recorded
 */
public record JournalSettings(
    int fileBytes,
    int minFiles,
    int maxFiles,
    long lingerNanos,
    int maxUnforcedBytes,
    long idleNanos) {

  /** The bytes before the first batch of a file. */
  static final int PAGE_BYTES = 4096;

  public JournalSettings {
    if (fileBytes < 4 * PAGE_BYTES || fileBytes % PAGE_BYTES != 0) {
      throw new IllegalArgumentException(
          "journal files of " + fileBytes + " bytes: a multiple of 4096 from 16384 on is needed");
    }
    if (minFiles < 2 || maxFiles < minFiles) {
      throw new IllegalArgumentException(
          "between " + minFiles + " and " + maxFiles + " journal files: at least 2 are needed");
    }
    if (maxUnforcedBytes < Batch.HEADER_BYTES || maxUnforcedBytes > fileBytes / 5 * 4) {
      throw new IllegalArgumentException(
          maxUnforcedBytes
              + " unforced bytes: from 64 to "
              + fileBytes / 5 * 4
              + " (four fifths of a file) are possible");
    }
    if (lingerNanos < 0 || idleNanos < 0) {
      throw new IllegalArgumentException(
          "linger of " + lingerNanos + " ns, idle after " + idleNanos + " ns: both from 0 on");
    }
  }

  /** Four to eight files of 64 MiB, a force at least each 50 MiB. */
  public static JournalSettings defaults() {
    return new JournalSettings(64 << 20, 4, 8, 200_000, 50 << 20, Duration.ofMillis(20).toNanos());
  }

  /** The same files without linger. */
  public static JournalSettings small(int fileBytes) {
    return new JournalSettings(
        fileBytes, 4, 8, 0, fileBytes / 8 * 5, Duration.ofMillis(20).toNanos());
  }

  /** Bytes of batches that one file takes. */
  public int usableBytes() {
    return fileBytes - PAGE_BYTES;
  }
}

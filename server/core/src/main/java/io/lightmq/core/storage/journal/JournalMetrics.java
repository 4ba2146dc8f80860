package io.lightmq.core.storage.journal;

/**
 * A look at a journal's marks, files and times.
 *
 * @param bytes between the start and the appended mark
 * @param usedBytes file space that is not free: batches, and what ends of files and replaced files
 *     take until they are recycled
 * @param capacityBytes of all files that exist or can still be made
 */
public record JournalMetrics(
    long startOffset,
    long durable,
    long written,
    long appended,
    long bytes,
    long usedBytes,
    long capacityBytes,
    int files,
    int freeFiles,
    Times writes,
    Times forces) {

  /** Calls of one kind so far: how many, and nanoseconds in all, of the last and of the longest. */
  public record Times(long count, long totalNanos, long lastNanos, long longestNanos) {}
}

package io.lightmq.core.storage.segment;

/**
 * One entry of the sparse index: at most 4096 entries or, unless it is a single one, about 64 KiB
 * of a piece.
 *
 * @param address of the first entry
 * @param earliestExpiryMillis of those that expire, 0 if none does
 * @param latestExpiryMillis 0 if one of them never expires
 * @param hashAddress where the hash arrays lie
 * @param correlationHashes count of different correlation ids, -1 if not collected
 * @param messageIdHashes count of different message ids, -1 if not collected
 * @param hashCrc of both arrays
 */
record Span(
    long firstSequence,
    long lastSequence,
    long address,
    int count,
    int bytes,
    long earliestEnqueuedMillis,
    long latestEnqueuedMillis,
    long earliestExpiryMillis,
    long latestExpiryMillis,
    long hashAddress,
    int correlationHashes,
    int messageIdHashes,
    int hashCrc) {
  /** A span ends before its count would go beyond. */
  static final int MAX_COUNT = 4096;

  /** A span of more than one entry ends before its bytes would go beyond. */
  static final int MAX_BYTES = 64 * 1024;

  /** The address just behind the last entry. */
  long end() {
    return address + bytes;
  }

  /** Bytes of both hash arrays. */
  int hashBytes() {
    return (Math.max(0, correlationHashes) + Math.max(0, messageIdHashes)) * Integer.BYTES;
  }
}

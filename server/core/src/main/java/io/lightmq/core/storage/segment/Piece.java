package io.lightmq.core.storage.segment;

/**
 * Entries of one lane that lie back to back in one segment, in sequence order. Pieces of a lane
 * never overlap in their sequences; within a piece sequences may be missing.
 *
 * @param destinationId of the lane
 * @param lane code of the lane, 0 to 9 (durable)
 * @param holderId 0, or the holder under which the entries are numbered
 * @param firstSequence of the first entry
 * @param lastSequence of the last entry
 * @param count of entries
 * @param segmentAddress where the segment starts that has the piece
 * @param address of the first entry
 * @param bytes of all entries
 * @param indexAddress where the piece's first index block lies
 * @param spans index entries of the piece
 */
public record Piece(
    long destinationId,
    int lane,
    long holderId,
    long firstSequence,
    long lastSequence,
    long count,
    long segmentAddress,
    long address,
    long bytes,
    long indexAddress,
    int spans) {
  public Piece {
    if (count <= 0
        || bytes <= 0
        || spans <= 0
        || firstSequence < 0
        || lastSequence < firstSequence
        || lastSequence - firstSequence < count - 1
        || segmentAddress < 0
        || address <= segmentAddress
        || indexAddress < address + bytes
        || (lane & ~0x8F) != 0) {
      throw new IllegalArgumentException(
          "piece of segment %d for destination %d lane %d is impossible: sequences %d to %d, %d entries, %d bytes at %d, %d spans at %d"
              .formatted(
                  segmentAddress,
                  destinationId,
                  lane,
                  firstSequence,
                  lastSequence,
                  count,
                  bytes,
                  address,
                  spans,
                  indexAddress));
    }
  }
}

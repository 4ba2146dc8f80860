package io.lightmq.core.storage.segment;

import org.jspecify.annotations.Nullable;

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
 * @param origin under which name its entries lie, if the lane has taken them over; destination,
 *     lane and sequences here are always the lane's own
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
    int spans,
    @Nullable Origin origin) {
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

  /** A piece whose entries lie under the name of the lane that has it. */
  public Piece(
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
    this(
        destinationId,
        lane,
        holderId,
        firstSequence,
        lastSequence,
        count,
        segmentAddress,
        address,
        bytes,
        indexAddress,
        spans,
        null);
  }

  /**
   * The same entries as another lane has them that takes them over.
   *
   * @param by the lane's sequences are higher by so much
   */
  public Piece takenOver(long byDestinationId, int byLane, long by) {
    Origin before = origin;
    return as(
        byDestinationId,
        byLane,
        by,
        before == null
            ? new Origin(destinationId, lane, by)
            : new Origin(before.destinationId(), before.lane(), before.shift() + by));
  }

  /** The same entries under the name that their bytes say. */
  Piece stored() {
    Origin from = origin;
    return from == null ? this : as(from.destinationId(), from.lane(), -from.shift(), null);
  }

  private Piece as(long ofDestination, int ofLane, long by, @Nullable Origin from) {
    return new Piece(
        ofDestination,
        ofLane,
        holderId,
        firstSequence + by,
        lastSequence + by,
        count,
        segmentAddress,
        address,
        bytes,
        indexAddress,
        spans,
        from);
  }
}

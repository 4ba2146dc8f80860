package io.lightmq.core.storage.snapshot;

import io.lightmq.core.storage.segment.Piece;
import io.lightmq.core.storage.segment.SegmentInfo;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * The state of a shard at a journal offset, with every segment that it needs.
 *
 * @param offset P: the journal is replayed from here
 * @param createdMillis broker clock
 * @param nextAddress no segment named by this or an earlier snapshot reaches this address
 * @param state what the shard encoded, slice by slice; the same slices come back
 * @param segments rising by address
 * @param pieces of all lanes, in these segments
 */
public record Snapshot(
    long offset,
    long createdMillis,
    long nextAddress,
    List<ByteBuffer> state,
    List<SegmentInfo> segments,
    List<Piece> pieces) {
  public Snapshot {
    state = List.copyOf(state);
    segments = List.copyOf(segments);
    pieces = List.copyOf(pieces);
  }
}

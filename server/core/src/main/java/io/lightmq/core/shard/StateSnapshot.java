package io.lightmq.core.shard;

import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.DurableLane;
import io.lightmq.core.destination.LaneCheckpoint;
import io.lightmq.core.record.FieldReader;
import io.lightmq.core.record.FieldWriter;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.storage.segment.Piece;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The state of a shard at one journal offset, encoded in slices over many turns: a destination that
 * is about to change before its turn is encoded first, with the picture of what of its lane has to
 * be kept. So all of it shows the state at the offset, whatever is applied meanwhile.
 *
 * <pre>
 * slice 0: byte version 1, varint shard epoch, byte stopped, varint next destination id,
 *          varint next subscription id, varint destinations
 * one slice for each destination (see its encode)
 * last slice: the links
 * </pre>
 */
@OwnedBy("shard")
final class StateSnapshot implements ShardState.ChangeListener {
  private static final int VERSION = 1;
  private static final int LINKS_PER_STEP = 256;

  private final ShardState state;
  private final Set<Long> rewrite;
  private final ArrayDeque<Destination> rest = new ArrayDeque<>();
  private final Set<Long> waiting = new HashSet<>();
  private final List<ByteBuffer> slices = new ArrayList<>();
  private final List<LaneCheckpoint> lanes = new ArrayList<>();
  private final List<Piece> pieces = new ArrayList<>();
  private boolean linksDone;

  /**
   * Begins: the state as it is now is what is encoded.
   *
   * @param rewrite addresses of segments that the checkpoint rewrites
   */
  StateSnapshot(ShardState state, Set<Long> rewrite) {
    this.state = state;
    this.rewrite = rewrite;
    for (Destination destination : state.destinations().all()) {
      if (!destination.kind().isTemporary()) {
        rest.add(destination);
        waiting.add(destination.id());
      }
    }
    FieldWriter head = new FieldWriter(32);
    head.putByte(VERSION);
    head.putVarint(state.epoch());
    head.putBoolean(state.stopped());
    head.putVarint(state.destinations().nextId());
    head.putVarint(state.nextSubscriptionId());
    head.putVarint(rest.size());
    slices.add(head.copy());
    state.links().beginSnapshot();
    state.watch(this);
  }

  @Override
  public void beforeChange(Destination destination) {
    if (waiting.remove(destination.id())) {
      encode(destination);
    }
  }

  /** Encodes one more slice; whether all is encoded. */
  boolean step() {
    while (!rest.isEmpty()) {
      Destination next = rest.remove();
      if (waiting.remove(next.id())) {
        encode(next);
        return false;
      }
    }
    if (!linksDone && state.links().encodeSome(LINKS_PER_STEP)) {
      FieldWriter links = new FieldWriter(1024);
      state.links().endSnapshot(links);
      slices.add(links.copy());
      linksDone = true;
      state.watch(null);
    }
    return linksDone;
  }

  private void encode(Destination destination) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(256);
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      destination.encode(out);
    } catch (IOException e) {
      throw new IllegalStateException("a byte array cannot fail", e);
    }
    slices.add(ByteBuffer.wrap(bytes.toByteArray()));
    destination.durableLanes().forEach(lane -> keep(destination, lane));
  }

  private void keep(Destination destination, DurableLane lane) {
    pieces.addAll(lane.pieces());
    boolean rewritten = false;
    for (Piece piece : lane.pieces()) {
      rewritten |= rewrite.contains(piece.segmentAddress());
    }
    LaneCheckpoint part = destination.checkpoint(lane, rewritten);
    if (part != null) {
      lanes.add(part);
    }
  }

  /** The encoded state, once {@link #step} has said that it is complete. */
  List<ByteBuffer> slices() {
    return slices;
  }

  /** What each lane keeps; to be released by {@link #release}. */
  List<LaneCheckpoint> lanes() {
    return lanes;
  }

  /** All pieces that lanes had. */
  List<Piece> pieces() {
    return pieces;
  }

  /** Ends it, complete or not. */
  void release() {
    if (!linksDone) {
      state.watch(null);
      state.links().abandonSnapshot();
      linksDone = true;
      rest.clear();
      waiting.clear();
    }
    lanes.forEach(LaneCheckpoint::release);
    lanes.clear();
  }

  /** Reads encoded slices into an empty state. */
  static void decode(List<ByteBuffer> slices, ShardState into) throws IOException {
    FieldReader head = new FieldReader(slices.get(0).duplicate());
    int version = head.readByte();
    if (version != VERSION) {
      throw new IOException(
          "the state in the snapshot has version " + version + "; this broker reads " + VERSION);
    }
    long epoch = head.readVarint();
    boolean stopped = head.readBoolean();
    into.destinations().nextId(head.readVarint());
    long nextSubscriptionId = head.readVarint();
    long count = head.readVarint();
    if (count != slices.size() - 2) {
      throw new IOException(
          "the snapshot says " + count + " destinations and has " + (slices.size() - 2));
    }
    for (int i = 1; i <= count; i++) {
      ByteBuffer slice = slices.get(i).duplicate();
      byte[] bytes = new byte[slice.remaining()];
      slice.get(bytes);
      into.destinations().decode(new DataInputStream(new ByteArrayInputStream(bytes)));
    }
    into.links().decode(new FieldReader(slices.get(slices.size() - 1).duplicate()));
    into.restore(epoch, stopped, nextSubscriptionId);
  }
}

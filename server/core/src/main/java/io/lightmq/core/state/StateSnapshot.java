package io.lightmq.core.state;

import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.Destinations;
import io.lightmq.core.destination.DuplicatePicture;
import io.lightmq.core.destination.DurableLane;
import io.lightmq.core.destination.LaneCheckpoint;
import io.lightmq.core.record.FieldReader;
import io.lightmq.core.record.FieldWriter;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.storage.segment.Piece;
import io.lightmq.core.transaction.StagedQueue;
import io.lightmq.core.transaction.StagedTransaction;
import io.lightmq.core.transaction.StagedTransactions;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * The state of a shard at one journal offset, encoded in slices over many turns: a destination that
 * is about to change before its turn is encoded first, with the picture of what of its lane has to
 * be kept. So all of it shows the state at the offset, whatever is applied meanwhile.
 *
 * <p>To begin costs the same however many destinations there are: which of them were there at the
 * offset is known by their ids, and which are encoded they know themselves.
 *
 * <p>The slices depend on the records up to the offset alone and not on when what was encoded or
 * looked up: destinations, subscriptions and links rise by id. Three things in them are in no
 * record and an owner's own, for a clean start to go on with: how often a message was delivered,
 * what of it is in flight, and the numbers of a link's runs that went into unlogged lanes.
 *
 * <pre>
 * slice 0: byte version 5, varint shard epoch, byte stopped, varint next destination id,
 *          varint next subscription id, varint destinations; from version 5 on: varint next
 *          transaction id, varint transactions
 * one slice for each destination, rising by id (see its encode)
 * any number of slices of keys (see DuplicatePicture), in the same order, those of one subscription
 *          oldest first
 * one slice for each transaction that is kept before it is committed, rising by id (see
 *          StagedTransactions)
 * last slice: the links, rising by id
 * </pre>
 */
@OwnedBy("shard")
public final class StateSnapshot implements ShardState.ChangeListener {
  private static final int OLDEST_VERSION = 3;
  private static final int VERSION = 5;

  /** The first with transactions. */
  private static final int WITH_TRANSACTIONS = 5;

  private static final int LINKS_PER_STEP = 256;

  private final ShardState state;
  private final Set<Long> rewrite;
  private final long number;
  private final long epoch;
  private final boolean stopped;
  private final long nextDestinationId;
  private final long nextSubscriptionId;
  private final long nextTransactionId;
  private final List<ByteBuffer> destinations = new ArrayList<>();

  /** What is encoded before its turn. */
  private final TreeMap<Long, Encoded> early = new TreeMap<>();

  private final ArrayDeque<DuplicatePicture> keyPictures = new ArrayDeque<>();
  private final List<ByteBuffer> keys = new ArrayList<>();
  private final List<ByteBuffer> transactions = new ArrayList<>();

  /** Transactions that are encoded before their turn. */
  private final TreeMap<Long, ByteBuffer> earlyTransactions = new TreeMap<>();

  private long lastTransactionId;
  private final List<LaneCheckpoint> lanes = new ArrayList<>();
  private final List<Piece> pieces = new ArrayList<>();
  private List<ByteBuffer> slices = List.of();
  private long lastId = Destinations.BEFORE_ALL;
  private boolean done;
  private int released;

  /**
   * Begins: the state as it is now is what is encoded.
   *
   * @param rewrite addresses of segments that the checkpoint rewrites
   */
  public StateSnapshot(ShardState state, Set<Long> rewrite) {
    this.state = state;
    this.rewrite = rewrite;
    this.number = state.nextPicture();
    this.epoch = state.epoch();
    this.stopped = state.endedKnowingDeliveries();
    this.nextDestinationId = state.destinations().nextId();
    this.nextSubscriptionId = state.nextSubscriptionId();
    this.nextTransactionId = state.transactions().nextId();
    state.links().beginSnapshot();
    state.watch(this);
  }

  /** Whether a destination belongs to the picture and is not encoded. */
  private boolean isWaiting(Destination destination) {
    return !destination.kind().isTemporary()
        && destination.id() < nextDestinationId
        && destination.isNewTo(number);
  }

  private record Encoded(ByteBuffer bytes, List<DuplicatePicture> keys) {}

  @Override
  public void beforeChange(Destination destination) {
    if (isWaiting(destination)) {
      early.put(destination.id(), encode(destination));
    }
  }

  @Override
  public void beforeChange(StagedTransaction transaction) {
    if (transaction.id() < nextTransactionId && transaction.isNewTo(number)) {
      earlyTransactions.put(transaction.id(), encode(transaction));
    }
  }

  /** Encodes one transaction more; whether there was one. */
  private boolean encodeTransaction() {
    StagedTransaction next = state.transactions().after(lastTransactionId);
    Map.Entry<Long, ByteBuffer> early = earlyTransactions.firstEntry();
    if (early != null && (next == null || early.getKey() <= next.id())) {
      lastTransactionId = early.getKey();
      earlyTransactions.remove(lastTransactionId);
      transactions.add(early.getValue());
      return true;
    }
    if (next == null || next.id() >= nextTransactionId) {
      return false;
    }
    lastTransactionId = next.id();
    if (next.isNewTo(number)) {
      transactions.add(encode(next));
    }
    return true;
  }

  private static ByteBuffer encode(StagedTransaction transaction) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(256);
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      StagedTransactions.encode(transaction, out);
    } catch (IOException e) {
      throw new IllegalStateException("a byte array cannot fail", e);
    }
    return ByteBuffer.wrap(bytes.toByteArray());
  }

  /** Does a little more; whether all is encoded. */
  public boolean step() {
    if (done) {
      return true;
    }
    Destination next = state.destinations().after(lastId);
    Map.Entry<Long, Encoded> first = early.firstEntry();
    if (first != null && (next == null || first.getKey() <= next.id())) {
      lastId = first.getKey();
      early.remove(lastId);
      take(first.getValue());
    } else if (next != null) {
      lastId = next.id();
      if (isWaiting(next)) {
        take(encode(next));
      }
    } else if (!keyPictures.isEmpty()) {
      ByteBuffer piece = keyPictures.element().next();
      if (piece == null) {
        keyPictures.remove();
      } else {
        keys.add(piece);
      }
    } else if (encodeTransaction()) {
      return false;
    } else if (state.links().encodeSome(LINKS_PER_STEP)) {
      complete();
    }
    return done;
  }

  private void take(Encoded encoded) {
    destinations.add(encoded.bytes());
    keyPictures.addAll(encoded.keys());
  }

  private void complete() {
    FieldWriter first = new FieldWriter(32);
    first.putByte(VERSION);
    first.putVarint(epoch);
    first.putBoolean(stopped);
    first.putVarint(nextDestinationId);
    first.putVarint(nextSubscriptionId);
    first.putVarint(destinations.size());
    first.putVarint(nextTransactionId);
    first.putVarint(transactions.size());
    FieldWriter links = new FieldWriter(1024);
    state.links().endSnapshot(links);
    List<ByteBuffer> all =
        new ArrayList<>(destinations.size() + keys.size() + transactions.size() + 2);
    all.add(first.copy());
    all.addAll(destinations);
    all.addAll(keys);
    all.addAll(transactions);
    all.add(links.copy());
    slices = all;
    done = true;
    state.watch(null);
  }

  private Encoded encode(Destination destination) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(256);
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      destination.encode(out);
    } catch (IOException e) {
      throw new IllegalStateException("a byte array cannot fail", e);
    }
    destination.durableLanes().forEach(lane -> keep(destination, lane));
    return new Encoded(ByteBuffer.wrap(bytes.toByteArray()), destination.keyPictures());
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
  public List<ByteBuffer> slices() {
    return slices;
  }

  /** What each lane keeps; to be given back by {@link #release}. */
  public List<LaneCheckpoint> lanes() {
    return lanes;
  }

  /** All pieces that lanes had. */
  public List<Piece> pieces() {
    return pieces;
  }

  /** Ends it, complete or not, and gives up to so many lanes back; whether all are. */
  public boolean release(int most) {
    if (!done) {
      done = true;
      state.watch(null);
      state.links().abandonSnapshot();
      early.values().forEach(each -> keyPictures.addAll(each.keys()));
      early.clear();
      earlyTransactions.clear();
      keyPictures.forEach(DuplicatePicture::end);
      keyPictures.clear();
    }
    for (int i = 0; i < most && released < lanes.size(); i++) {
      lanes.get(released++).release();
    }
    return released == lanes.size();
  }

  /** Reads encoded slices into an empty state. */
  public static void decode(List<ByteBuffer> slices, ShardState into) throws IOException {
    FieldReader head = new FieldReader(slices.get(0).duplicate());
    int version = head.readByte();
    if (version < OLDEST_VERSION || version > VERSION) {
      throw new IOException(
          "the state in the snapshot has version "
              + version
              + "; this broker reads "
              + OLDEST_VERSION
              + " to "
              + VERSION);
    }
    long epoch = head.readVarint();
    boolean stopped = head.readBoolean();
    into.destinations().nextId(head.readVarint());
    long nextSubscriptionId = head.readVarint();
    long count = head.readVarint();
    if (count < 0 || count > slices.size() - 2) {
      throw new IOException(
          "the snapshot says " + count + " destinations and has " + (slices.size() - 2));
    }
    boolean withTransactions = version >= WITH_TRANSACTIONS;
    into.transactions().nextId(withTransactions ? head.readVarint() : 1);
    long transactions = withTransactions ? head.readVarint() : 0;
    if (transactions < 0 || transactions > slices.size() - 2 - count) {
      throw new IOException(
          "the snapshot says "
              + transactions
              + " transactions and has "
              + (slices.size() - 2 - count)
              + " slices for them");
    }
    for (int i = 1; i <= count; i++) {
      into.destinations().decode(input(slices.get(i)));
    }
    int firstTransaction = slices.size() - 1 - (int) transactions;
    for (int i = (int) count + 1; i < firstTransaction; i++) {
      into.destinations().decodeKeys(input(slices.get(i)));
    }
    if (transactions > 0) {
      Map<Long, List<StagedQueue>> queues = StagedTransactions.queues(into.destinations());
      for (int i = firstTransaction; i < slices.size() - 1; i++) {
        into.transactions().decode(input(slices.get(i)), into.destinations(), queues);
      }
    }
    into.links().decode(new FieldReader(slices.get(slices.size() - 1).duplicate()), version);
    into.restore(epoch, stopped, nextSubscriptionId);
  }

  private static DataInputStream input(ByteBuffer slice) {
    byte[] bytes = new byte[slice.remaining()];
    slice.duplicate().get(bytes);
    return new DataInputStream(new ByteArrayInputStream(bytes));
  }
}

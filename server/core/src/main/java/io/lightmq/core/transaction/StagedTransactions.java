package io.lightmq.core.transaction;

import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.Destinations;
import io.lightmq.core.destination.HeldMessages;
import io.lightmq.core.destination.LaneSequences;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.record.ShardRecord.Held;
import io.lightmq.core.record.ShardRecord.TransactionBegun;
import io.lightmq.core.record.TransactionName;
import io.lightmq.core.runtime.Guard;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.wire.entry.BranchState;
import io.lightmq.wire.entry.Xid;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The transactions of which a shard keeps something before they are committed. */
@OwnedBy("shard")
public final class StagedTransactions {
  private static final int VERSION = 1;
  private static final int OF_LINK = 1;
  private static final int OF_USER = 2;
  private static final int NOT_PREPARED = 0;

  /** From here on ids are those of subscriptions that live in memory only. */
  private static final long OF_MEMORY = 1L << 62;

  private final Guard guard;
  private final NavigableMap<Long, StagedTransaction> byId = new TreeMap<>();
  private final Map<TransactionName, StagedTransaction> byName = new HashMap<>();

  /** What transaction managers are told of, by user, then by branch. */
  private final Map<String, NavigableMap<String, StagedTransaction>> told = new HashMap<>();

  private long nextId = 1;
  private long bytes;
  private int prepared;
  private int decided;

  public StagedTransactions(Guard guard) {
    this.guard = guard;
  }

  /** The lowest id that no transaction ever had; part of a snapshot. */
  public long nextId() {
    return nextId;
  }

  /** Raises the next id to what a snapshot says. */
  public void nextId(long atLeast) {
    guard.check();
    nextId = Math.max(nextId, atLeast);
  }

  /** The transaction of an id, or null. */
  public @Nullable StagedTransaction find(long id) {
    return byId.get(id);
  }

  /** The transaction of a name, or null. */
  public @Nullable StagedTransaction find(TransactionName name) {
    return byName.get(name);
  }

  /** All of them, rising by id. */
  public Collection<StagedTransaction> all() {
    return Collections.unmodifiableCollection(byId.values());
  }

  /** The one with the lowest id above one, null if there is none. */
  public @Nullable StagedTransaction after(long id) {
    guard.check();
    Map.Entry<Long, StagedTransaction> next = byId.higherEntry(id);
    return next == null ? null : next.getValue();
  }

  /** What a user's transaction managers are told of, in the order of the branch ids' texts. */
  public Collection<StagedTransaction> told(String user, @Nullable Xid after) {
    guard.check();
    NavigableMap<String, StagedTransaction> own =
        told.getOrDefault(user, Collections.emptyNavigableMap());
    return after == null ? own.values() : own.tailMap(after.toString(), false).values();
  }

  /** How many are neither prepared nor decided. */
  public int open() {
    return byId.size() - prepared - decided;
  }

  /** How many are prepared. */
  public int prepared() {
    return prepared;
  }

  /** How many names are kept of those that an administrator has decided. */
  public int decided() {
    return decided;
  }

  /** How many branches of a user are prepared, or decided and not forgotten. */
  public int toldOf(String user) {
    guard.check();
    return told.getOrDefault(user, Collections.emptyNavigableMap()).size();
  }

  /** The prepared ones that send to a destination, or acknowledge in one of its subscriptions. */
  public List<StagedTransaction> preparedTouching(Destination destination) {
    return prepared(each -> each.touches(destination));
  }

  /** The prepared ones that acknowledge in a subscription. */
  public List<StagedTransaction> preparedTouching(Subscription subscription) {
    return prepared(each -> each.touches(subscription));
  }

  private List<StagedTransaction> prepared(Predicate<StagedTransaction> which) {
    guard.check();
    return prepared == 0
        ? List.of()
        : byId.values().stream().filter(each -> each.isPrepared() && which.test(each)).toList();
  }

  /** What is staged for a destination. */
  public StagedTransaction.Amount stagedFor(Destination destination) {
    guard.check();
    StagedTransaction.Amount all = StagedTransaction.Amount.NONE;
    for (StagedTransaction each : byId.values()) {
      for (StagedQueue queue : each.queues()) {
        if (queue.destinationId() == destination.id()) {
          StagedTransaction.Amount own = each.amount(queue);
          all = all.and(own.messages(), own.bytes());
        }
      }
    }
    return all;
  }

  /** What the entries take that are staged of all of them. */
  public long bytes() {
    return bytes;
  }

  /**
   * How much there is.
   *
   * @param nowMillis by the broker's clock
   * @param alarmMillis for so long a branch may be prepared
   */
  public StagedUse use(long nowMillis, long alarmMillis) {
    guard.check();
    long oldest = 0;
    int overdue = 0;
    for (StagedTransaction each : prepared == 0 ? List.<StagedTransaction>of() : byId.values()) {
      long age = each.isPrepared() ? Math.max(0, nowMillis - each.preparedMillis()) : 0;
      oldest = Math.max(oldest, age);
      overdue += age > alarmMillis ? 1 : 0;
    }
    return new StagedUse(open(), prepared, decided, bytes, oldest, overdue);
  }

  // ---- apply ----

  /**
   * Applies a beginning.
   *
   * @param subscriptionsBelow the lowest id that no durable subscription had
   */
  public void begun(TransactionBegun record, long subscriptionsBelow) {
    guard.check();
    if (record.transaction() < nextId) {
      throw new IllegalStateException(
          "transaction id " + record.transaction() + " is used up; the next is " + nextId);
    }
    add(new StagedTransaction(guard, record.transaction(), record.name(), subscriptionsBelow));
  }

  private void add(StagedTransaction begun) {
    if (byName.putIfAbsent(begun.name(), begun) != null) {
      throw new IllegalStateException("transaction " + begun.name() + " exists already");
    }
    byId.put(begun.id(), begun);
    nextId = Math.max(nextId, begun.id() + 1);
  }

  /** Applies that a hidden queue has come. */
  public void came(StagedQueue queue) {
    guard.check();
    get(queue.transaction()).came(queue);
  }

  /** Applies that messages were staged. */
  public void staged(StagedTransaction in, long queueId, long count, long entryBytes) {
    guard.check();
    in.staged(queueId, count, entryBytes);
    bytes += entryBytes;
  }

  /** Applies that it acknowledges messages if it is committed. */
  public void held(Subscription subscription, Held record) {
    guard.check();
    get(record.transaction()).hold(subscription, record);
  }

  /** Applies that it is kept until it is decided. */
  public void prepared(long id, long atMillis) {
    guard.check();
    StagedTransaction transaction = get(id);
    transaction.prepared(atMillis);
    prepared++;
    tell(transaction);
  }

  private void tell(StagedTransaction transaction) {
    if (transaction.name() instanceof TransactionName.OfUser branch) {
      told.computeIfAbsent(branch.user(), user -> new TreeMap<>())
          .put(branch.xid().toString(), transaction);
    }
  }

  /** Applies what an administrator has decided; its name stays behind its end. */
  public void decided(long id, boolean committed) {
    guard.check();
    StagedTransaction transaction = get(id);
    prepared--;
    decided++;
    transaction.branchState(
        committed ? BranchState.HEURISTICALLY_COMMITTED : BranchState.HEURISTICALLY_ROLLED_BACK,
        transaction.preparedMillis());
  }

  /** Applies its end: nothing is kept of it but, if an administrator has decided it, its name. */
  public void ended(StagedTransaction transaction) {
    guard.check();
    bytes -= transaction.bytes();
    transaction.clear();
    BranchState state = transaction.branchState();
    if (state == null || state == BranchState.PREPARED) {
      prepared -= state == null ? 0 : 1;
      remove(transaction);
    }
  }

  /** Applies that the name of one that an administrator has decided is kept no more. */
  public void forgotten(long id) {
    guard.check();
    decided--;
    remove(get(id));
  }

  private void remove(StagedTransaction transaction) {
    byId.remove(transaction.id());
    byName.remove(transaction.name());
    if (transaction.branchState() != null
        && transaction.name() instanceof TransactionName.OfUser branch) {
      told.computeIfPresent(
          branch.user(),
          (user, own) -> {
            own.remove(branch.xid().toString());
            return own.isEmpty() ? null : own;
          });
    }
  }

  /** The transaction of an id that a record names. */
  public StagedTransaction get(long id) {
    StagedTransaction found = byId.get(id);
    if (found == null) {
      throw new IllegalStateException("a record names transaction " + id + ", unknown");
    }
    return found;
  }

  // ---- snapshot ----

  /**
   * Writes one: byte version 1, long id, name, long subscriptions below, byte state (0 for none),
   * long when it was prepared; int hidden queues with messages, each: long id, long messages, long
   * bytes; int subscriptions in which it acknowledges, each of them; int lists of what is not
   * wanted, each: long hidden queue, long subscription, the messages. A name is byte 1, two longs
   * of the link, long number; or byte 2, UTF user, int format, byte length and global id, byte
   * length and qualifier. Where its messages lie is known by the names of hidden queues.
   */
  public static void encode(StagedTransaction transaction, DataOutput out) throws IOException {
    out.writeByte(VERSION);
    out.writeLong(transaction.id());
    encode(transaction.name(), out);
    out.writeLong(transaction.subscriptionsBelow());
    BranchState state = transaction.branchState();
    out.writeByte(state == null ? NOT_PREPARED : state.code());
    out.writeLong(transaction.preparedMillis());
    out.writeInt(transaction.amounts().size());
    for (Map.Entry<Long, StagedTransaction.Amount> each : transaction.amounts().entrySet()) {
      out.writeLong(each.getKey());
      out.writeLong(each.getValue().messages());
      out.writeLong(each.getValue().bytes());
    }
    List<HeldMessages> held =
        transaction.held().stream().filter(each -> !each.subscription().isClosed()).toList();
    out.writeInt(held.size());
    for (HeldMessages each : held) {
      each.encode(out);
    }
    encodeUnwanted(transaction, out);
  }

  /** Only what durable subscriptions do not want; the others end with the process. */
  private static void encodeUnwanted(StagedTransaction transaction, DataOutput out)
      throws IOException {
    int lists = 0;
    for (Map<Long, LaneSequences> each : transaction.unwanted().values()) {
      for (long subscriptionId : each.keySet()) {
        lists += subscriptionId < OF_MEMORY ? 1 : 0;
      }
    }
    out.writeInt(lists);
    for (Map.Entry<Long, Map<Long, LaneSequences>> queue : transaction.unwanted().entrySet()) {
      for (Map.Entry<Long, LaneSequences> each : queue.getValue().entrySet()) {
        if (each.getKey() < OF_MEMORY) {
          out.writeLong(queue.getKey());
          out.writeLong(each.getKey());
          each.getValue().encode(out);
        }
      }
    }
  }

  private static void encode(TransactionName name, DataOutput out) throws IOException {
    if (name instanceof TransactionName.OfLink local) {
      out.writeByte(OF_LINK);
      out.writeLong(local.link().getMostSignificantBits());
      out.writeLong(local.link().getLeastSignificantBits());
      out.writeLong(local.number());
    } else if (name instanceof TransactionName.OfUser branch) {
      out.writeByte(OF_USER);
      out.writeUTF(branch.user());
      Xid xid = branch.xid();
      out.writeInt(xid.formatId());
      out.writeByte(xid.globalId().length);
      out.write(xid.globalId());
      out.writeByte(xid.branchQualifier().length);
      out.write(xid.branchQualifier());
    }
  }

  /** The hidden queues of all of them, by their ids. */
  public static Map<Long, List<StagedQueue>> queues(Destinations destinations) {
    Map<Long, List<StagedQueue>> queues = new HashMap<>();
    for (Destination each : destinations.all()) {
      StagedQueue queue = StagedQueue.of(each);
      if (queue != null) {
        queues.computeIfAbsent(queue.transaction(), none -> new ArrayList<>(1)).add(queue);
      }
    }
    return queues;
  }

  /**
   * Adds one that {@link #encode} wrote, once all destinations are there.
   *
   * @param queues the hidden queues of all, see {@link #queues}
   */
  public void decode(DataInput in, Destinations destinations, Map<Long, List<StagedQueue>> queues)
      throws IOException {
    guard.check();
    int version = in.readUnsignedByte();
    if (version != VERSION) {
      throw new IOException(
          "transactions have version " + version + "; this broker reads version " + VERSION);
    }
    StagedTransaction transaction =
        new StagedTransaction(guard, in.readLong(), decodeName(in), in.readLong());
    if (byId.containsKey(transaction.id())) {
      throw new IOException("transaction " + transaction.id() + " is there twice");
    }
    add(transaction);
    queues.getOrDefault(transaction.id(), List.of()).forEach(transaction::came);
    int state = in.readUnsignedByte();
    transaction.branchState(state == NOT_PREPARED ? null : branchState(state), in.readLong());
    for (int left = in.readInt(); left > 0; left--) {
      transaction.staged(in.readLong(), in.readLong(), in.readLong());
    }
    bytes += transaction.bytes();
    for (int left = in.readInt(); left > 0; left--) {
      transaction.hold(HeldMessages.decode(in, destinations));
    }
    for (int left = in.readInt(); left > 0; left--) {
      transaction.newUnwanted(in.readLong(), in.readLong()).decode(in);
    }
    if (transaction.branchState() != null) {
      prepared += transaction.isPrepared() ? 1 : 0;
      decided += transaction.isPrepared() ? 0 : 1;
      tell(transaction);
    }
  }

  private static BranchState branchState(int code) throws IOException {
    try {
      return BranchState.of(code);
    } catch (IllegalArgumentException e) {
      throw new IOException("a transaction's " + e.getMessage(), e);
    }
  }

  private static TransactionName decodeName(DataInput in) throws IOException {
    int kind = in.readUnsignedByte();
    if (kind == OF_LINK) {
      return new TransactionName.OfLink(new UUID(in.readLong(), in.readLong()), in.readLong());
    } else if (kind != OF_USER) {
      throw new IOException("kind " + kind + " of a transaction is unknown; 1 and 2 are");
    }
    String user = in.readUTF();
    int formatId = in.readInt();
    byte[] globalId = new byte[in.readUnsignedByte()];
    in.readFully(globalId);
    byte[] qualifier = new byte[in.readUnsignedByte()];
    in.readFully(qualifier);
    try {
      return new TransactionName.OfUser(user, new Xid(formatId, globalId, qualifier));
    } catch (IllegalArgumentException e) {
      throw new IOException("a transaction's branch id: " + e.getMessage(), e);
    }
  }
}

package io.lightmq.core.intake;

import io.lightmq.core.delivery.Beside;
import io.lightmq.core.delivery.EntryReads;
import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.DurableLane;
import io.lightmq.core.destination.Filter;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.record.ShardRecord.StagedUnwanted;
import io.lightmq.core.record.ShardRecord.Unwanted;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.selector.Selector;
import io.lightmq.core.selector.Work;
import io.lightmq.core.state.Admission;
import io.lightmq.core.state.Recorder;
import io.lightmq.core.transaction.StagedQueue;
import io.lightmq.core.transaction.StagedTransaction;
import io.lightmq.wire.entry.Entry;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Asks subscriptions that came after messages were staged what of these they want, before the
 * messages are released: they are read in slices of {@value #SLICE_BYTES} bytes, and looked at
 * beside the shard. Whoever commits waits meanwhile. What is found is recorded as it comes, so that
 * the release stays one small record.
 *
 * <p>Bound: one slice of a transaction is in memory at a time, and only for those that are being
 * committed, of which a connection has one.
 */
@OwnedBy("shard")
public final class LateSelecting {
  private static final int SLICE_BYTES = 64 << 10;
  private static final int SLICE_COUNT = 1_024;

  /** What a record takes besides its bits. */
  private static final int RECORD_BYTES = 64;

  /** A subscription, and a hidden queue with messages of before. */
  record Late(StagedQueue queue, Subscription subscription) {}

  private final Recorder recorder;
  private final EntryReads reads;
  private final Beside beside;
  private final Admission admission;
  private final LongFunction<@Nullable String> clientIds;
  private final Runnable wake;
  private final Map<StagedTransaction, Asking> all = new HashMap<>();

  /**
   * Nobody is asked yet.
   *
   * @param clientIds the client id of a connection, null if it has none or has ended
   * @param wake makes the shard look again at what waits
   */
  public LateSelecting(
      Recorder recorder,
      EntryReads reads,
      Beside beside,
      Admission admission,
      LongFunction<@Nullable String> clientIds,
      Runnable wake) {
    this.recorder = recorder;
    this.reads = reads;
    this.beside = beside;
    this.admission = admission;
    this.clientIds = clientIds;
    this.wake = wake;
  }

  /** What is known for one transaction, and what is being asked. */
  private final class Asking {
    final StagedTransaction transaction;
    final Set<Late> known = new HashSet<>();

    /** Those that are asked now. */
    List<Late> round = List.of();

    /** Lanes that are to be read for these. */
    final ArrayDeque<Lane> lanes = new ArrayDeque<>();

    long next;
    boolean busy;

    Asking(StagedTransaction transaction) {
      this.transaction = transaction;
    }

    boolean isOver() {
      return all.get(transaction) != this;
    }
  }

  private record Lane(StagedQueue queue, DurableLane lane) {}

  /** Whether all of these are asked; if not, they are being asked. */
  boolean isReady(StagedTransaction transaction, List<Late> late) {
    recorder.guard().check();
    if (late.isEmpty()) {
      return true;
    }
    Asking asking = all.computeIfAbsent(transaction, Asking::new);
    if (asking.busy) {
      return false;
    }
    List<Late> unknown = new ArrayList<>(late);
    unknown.removeAll(asking.known);
    if (unknown.isEmpty()) {
      return true;
    }
    asking.busy = true;
    asking.round = unknown;
    Set<StagedQueue> queues = new HashSet<>();
    for (Late each : unknown) {
      if (queues.add(each.queue())) {
        for (DurableLane lane : each.queue().queue().durableLanes()) {
          asking.lanes.add(new Lane(each.queue(), lane));
        }
      }
    }
    asking.next = -1;
    goOn(asking);
    return false;
  }

  /** A transaction has ended. */
  void forget(StagedTransaction transaction) {
    all.remove(transaction);
  }

  private void goOn(Asking asking) {
    while (!asking.lanes.isEmpty()) {
      Lane at = asking.lanes.element();
      long from = Math.max(asking.next, at.lane().firstExisting());
      if (!at.lane().exists(from)) {
        asking.lanes.remove();
        asking.next = -1;
        continue;
      }
      read(asking, at, from);
      return;
    }
    asking.busy = false;
    asking.known.addAll(asking.round);
    wake.run();
  }

  private void read(Asking asking, Lane at, long from) {
    long left = at.lane().last() + 1 - from;
    Subscription holder = at.queue().queue().queueSubscription();
    if (!holder.isUnacknowledged(at.lane().code(), from)) {
      asking.next = from + 1; // it is damaged and was dropped
      later(asking);
      return;
    }
    int readable = holder.readableRun(at.lane().code(), from, (int) Math.min(SLICE_COUNT, left));
    if (readable <= 0) {
      asking.next = from + 1; // it is set aside, and comes to nobody before it is given back
      later(asking);
      return;
    }
    reads.read(
        holder,
        at.lane(),
        from,
        readable,
        SLICE_BYTES,
        (entries, failure) -> {
          if (asking.isOver()) {
            return;
          }
          if (entries == null) {
            asking.next = from + 1; // who gets it finds out
            later(asking);
          } else {
            look(asking, at, from, entries);
          }
        });
  }

  private void later(Asking asking) {
    look(() -> {}, () -> goOn(asking), asking);
  }

  private void look(Asking asking, Lane at, long from, ByteBuffer entries) {
    Map<Filter, Selector> selectors = new HashMap<>();
    for (Late each : asking.round) {
      Filter filter = each.subscription().filter();
      if (each.queue().equals(at.queue()) && filter != null) {
        selectors.put(filter, filter.selector());
      }
    }
    Map<Filter, BitSet> failed = new HashMap<>();
    int[] count = new int[1];
    look(
        () -> count[0] = evaluate(entries, selectors, failed),
        () -> looked(asking, at, from, count[0], entries, failed),
        asking);
  }

  private void look(Runnable slice, Runnable then, Asking asking) {
    try {
      beside.run(
          slice,
          () -> {
            if (!asking.isOver()) {
              then.run();
            }
          },
          () -> {});
    } catch (RejectedExecutionException e) {
      asking.busy = false; // the shard ends; nobody commits any more
    }
  }

  /** On the loop beside the shard. */
  private static int evaluate(
      ByteBuffer entries, Map<Filter, Selector> selectors, Map<Filter, BitSet> failed) {
    Work work = new Work();
    int count = 0;
    for (int at = entries.position(); at < entries.limit(); at += Entry.length(entries, at)) {
      count++;
    }
    selectors.forEach(
        (filter, selector) -> {
          Selector.Evaluator evaluator = selector.evaluator();
          BitSet unwanted = new BitSet();
          int place = 0;
          for (int at = entries.position(); at < entries.limit(); ) {
            int messageAt = at + Entry.messageOffset(entries, at);
            if (!evaluator.matches(entries, messageAt, Entry.messageBytes(entries, at), work)) {
              unwanted.set(place);
            }
            place++;
            at += Entry.length(entries, at);
          }
          failed.put(filter, unwanted);
        });
    return count;
  }

  private void looked(
      Asking asking,
      Lane at,
      long from,
      int count,
      ByteBuffer entries,
      Map<Filter, BitSet> failed) {
    List<Late> rest = new ArrayList<>();
    for (Late each : asking.round) {
      if (each.queue().equals(at.queue()) && !each.subscription().isClosed()) {
        rest.add(each);
      }
    }
    record(asking, at, from, count, entries, failed, new ArrayDeque<>(rest));
  }

  private void record(
      Asking asking,
      Lane at,
      long from,
      int count,
      ByteBuffer entries,
      Map<Filter, BitSet> failed,
      ArrayDeque<Late> rest) {
    for (Late next = rest.peek(); next != null; next = rest.peek()) {
      Subscription subscription = next.subscription();
      BitSet unwanted = unwanted(subscription, count, entries, failed);
      if (!unwanted.isEmpty() && !pass(asking, at, from, subscription, unwanted)) {
        look(() -> {}, () -> record(asking, at, from, count, entries, failed, rest), asking);
        return;
      }
      rest.remove();
    }
    asking.next = from + count;
    goOn(asking);
  }

  private BitSet unwanted(
      Subscription subscription, int count, ByteBuffer entries, Map<Filter, BitSet> failed) {
    Filter filter = subscription.filter();
    BitSet unwanted = new BitSet();
    if (filter != null) {
      unwanted.or(failed.getOrDefault(filter, unwanted));
    }
    if (subscription.noLocal()) {
      int at = entries.position();
      for (int i = 0; i < count; i++) {
        long connection = Entry.connectionId(entries, at);
        if (subscription.refuses(connection, clientIds.apply(connection))) {
          unwanted.set(i);
        }
        at += Entry.length(entries, at);
      }
    }
    return unwanted;
  }

  /** Notes what a subscription does not want; false if there is no room for the record now. */
  private boolean pass(
      Asking asking, Lane at, long from, Subscription subscription, BitSet unwanted) {
    Destination staged = at.queue().queue();
    if (!subscription.kind().isDurable()) {
      asking.transaction.unwanted(staged.id(), subscription.id(), at.lane().code(), from, unwanted);
      return true;
    }
    if (!admission.admit(RECORD_BYTES + unwanted.length() / 8, false)) {
      return false;
    }
    recorder.record(
        new StagedUnwanted(
            asking.transaction.id(),
            staged.id(),
            at.lane().code(),
            from,
            new Unwanted(subscription.id(), unwanted)));
    return true;
  }
}

package io.lightmq.core.sessions;

import io.lightmq.core.delivery.Consumer;
import io.lightmq.core.destination.DestinationSettings;
import io.lightmq.core.destination.DestinationSettings.RedeliveryOrder;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.destination.View;
import io.lightmq.core.door.Command;
import io.lightmq.core.door.Figure;
import io.lightmq.core.record.ShardRecord;
import io.lightmq.core.record.ShardRecord.AttemptTakenBack;
import io.lightmq.core.record.ShardRecord.Attempted;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.state.Admission;
import io.lightmq.core.state.Counters;
import io.lightmq.core.state.DistinctRanges;
import io.lightmq.core.state.Ready;
import io.lightmq.core.state.Recorder;
import io.lightmq.core.transaction.Link;
import io.lightmq.wire.entry.SequenceRange;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Counts failed attempts, durably, and decides what comes of each: the message is free again at
 * once, waits, or is a dead letter.
 *
 * <p>A lost connection counts one attempt for what its sessions had told to have begun and not
 * settled; where a session told of none, though it does hand messages over before it acknowledges
 * them, for the oldest in flight to it. All else that was in flight returns uncounted. If the link
 * comes back, its process lives and nothing has failed: what its loss had counted is taken back,
 * unless the broker has ended meanwhile. A message whose last attempt that was waits for the link
 * before it becomes a dead letter, for as long as temporary destinations wait for theirs.
 */
@OwnedBy("shard")
public final class Attempts {
  /** Ranges of one consumer that a lost connection is charged with, at most; the rest is not. */
  private static final int MAX_BEGUN = 4_096;

  /** Ranges of one subscription that a transaction is charged with, at most; the rest is not. */
  public static final int MAX_STAGED = 4_096;

  /**
   * Messages that are dead letters, or wait, after one failure; what is beyond is found to be a
   * dead letter when it is about to be given out, or is free without waiting.
   */
  private static final int MAX_LOOKED = 10_000;

  /** What so many lost links are charged with can be taken back, those that were lost last. */
  private static final int MAX_LINKS = 10_000;

  /** So many ranges all of them together; beyond, those that were lost first keep theirs. */
  private static final int MAX_RANGES = 100_000;

  /** What a lost link is charged with. */
  private record Charge(Subscription subscription, List<SequenceRange> ranges) {}

  private final Map<UUID, List<Charge>> charges = new LinkedHashMap<>();
  private int chargedRanges;

  private final Recorder recorder;
  private final GivingUp givingUp;
  private final Withheld withheld;
  private final Ready ready;
  private final Counters counters;
  private final Admission admission;

  /** So long a message that would be a dead letter waits for the link that was lost. */
  private final long graceMillis;

  public Attempts(
      Recorder recorder,
      GivingUp givingUp,
      Withheld withheld,
      Ready ready,
      Counters counters,
      Admission admission,
      long graceMillis) {
    this.recorder = recorder;
    this.givingUp = givingUp;
    this.withheld = withheld;
    this.ready = ready;
    this.counters = counters;
    this.admission = admission;
    this.graceMillis = graceMillis;
  }

  /**
   * The application has failed with messages; what of them is in flight to the consumer comes back.
   * There is room for {@link #recordBytes}.
   *
   * @param cause what it failed with, if that is known
   */
  public void failed(
      PeerSession session, Consumer consumer, List<SequenceRange> ranges, @Nullable String cause) {
    recorder.guard().check();
    failed(session, consumer, mine(consumer, ranges), cause, false);
  }

  /** What of these messages is in flight to a consumer comes back, and nothing has failed. */
  public void refused(Consumer consumer, List<SequenceRange> ranges) {
    recorder.guard().check();
    consumer.holding().giveBack(mine(consumer, ranges), true);
    ready.add(consumer.subscription());
  }

  private void failed(
      PeerSession session,
      Consumer consumer,
      List<SequenceRange> mine,
      @Nullable String cause,
      boolean lost) {
    if (mine.isEmpty()) {
      return;
    }
    Subscription subscription = consumer.subscription();
    count(subscription, mine);
    consumer.holding().giveBack(mine, true);
    next(subscription, consumer.view(), mine, last(session, cause), lost);
  }

  /** A session as the one that had a message last. */
  public static LastConsumer last(PeerSession session, @Nullable String cause) {
    return new LastConsumer(
        session.peer().userName(), session.clientId(), session.peer().connectionId(), cause);
  }

  /** Decides what comes of messages with which an attempt was counted, and that are free. */
  private void next(
      Subscription subscription,
      View view,
      List<SequenceRange> mine,
      LastConsumer last,
      boolean lost) {
    ready.add(subscription);
    DestinationSettings settings = subscription.destination().settings();
    Map<Integer, Long> longestMillis = new HashMap<>();
    int left = MAX_LOOKED;
    for (SequenceRange range : mine) {
      counters.count(Figure.REDELIVERED, range.count());
      long end = range.from() + range.count();
      for (long at = range.from(); at < end && left > 0; at++) {
        if (!subscription.isExhausted(range.lane(), at)
            && settings.redelivery().delayMillis(subscription.attempts(range.lane(), at)) == 0) {
          at = subscription.attemptsEnd(range.lane(), at, end) - 1; // so are those behind it
          continue;
        }
        left--;
        if (subscription.isExhausted(range.lane(), at)) {
          if (lost
              && graceMillis > 0
              && withheld.withhold(
                  subscription,
                  range.lane(),
                  at,
                  graceMillis,
                  (of, lane, sequence) -> waitedInVain(of, lane, sequence, last))) {
            continue;
          }
          exhausted(subscription, range.lane(), at, last);
          continue;
        }
        long delay = settings.redelivery().delayMillis(subscription.attempts(range.lane(), at));
        if (delay > 0 && settings.order() == RedeliveryOrder.NON_BLOCKING) {
          Withheld.Due due = lost ? Withheld.IS_FREE : null;
          withheld.withhold(subscription, range.lane(), at, delay, due);
        } else {
          int key = subscription.isSpread() ? view.key(range.lane(), at) : -1;
          longestMillis.merge(key, delay, Math::max);
        }
      }
    }
    longestMillis.forEach((key, delay) -> pause(subscription, key, delay));
  }

  /** What a transaction had of a subscription that is rolled back. */
  public record Rest(Subscription subscription, List<SequenceRange> ranges) {
    public Rest {
      ranges = List.copyOf(ranges);
    }
  }

  /**
   * A transaction is rolled back: an attempt has failed with all that it had acknowledged. Of each
   * subscription {@value #MAX_STAGED} ranges are counted, the rest is not. There is room for {@link
   * #recordBytes(List)}.
   *
   * @param last who had it last, and why it failed
   * @param lostLink the link whose loss is why, null for another reason
   * @param free frees all of it
   */
  public void rolledBack(
      List<Rest> all, LastConsumer last, @Nullable UUID lostLink, Runnable free) {
    recorder.guard().check();
    List<Rest> counted = new ArrayList<>();
    for (Rest rest : all) {
      if (!rest.subscription().isClosed()) {
        counted.add(counted(rest));
      }
    }
    counted.forEach(rest -> count(rest.subscription(), rest.ranges()));
    free.run();
    for (Rest rest : counted) {
      next(rest.subscription(), rest.subscription().view(), rest.ranges(), last, lostLink != null);
      if (lostLink != null) {
        charge(lostLink, new Charge(rest.subscription(), rest.ranges()));
      }
    }
  }

  private static Rest counted(Rest rest) {
    return rest.ranges().size() <= MAX_STAGED
        ? rest
        : new Rest(rest.subscription(), rest.ranges().subList(0, MAX_STAGED));
  }

  /** What a transaction had is free, and nothing has failed. */
  public void freed(List<Rest> all) {
    recorder.guard().check();
    all.forEach(rest -> ready.add(rest.subscription()));
  }

  /** The bytes that {@link #rolledBack} records at most. */
  public static long recordBytes(List<Rest> all) {
    long bytes = 0;
    for (Rest rest : all) {
      bytes += RecordBytes.ofAttempts(counted(rest).ranges());
    }
    return bytes;
  }

  /** Keeps order: with keys that of each key, else that of all. */
  private void pause(Subscription subscription, int key, long delayMillis) {
    if (delayMillis > 0 && subscription.isSpread()) {
      withheld.pause(subscription, key, delayMillis);
    } else if (delayMillis > 0) {
      withheld.pause(subscription, delayMillis);
    }
  }

  /** What of some ranges is in flight to a consumer, each message once. */
  private static List<SequenceRange> mine(Consumer consumer, List<SequenceRange> ranges) {
    return consumer.holding().mine(DistinctRanges.of(ranges));
  }

  /** The bytes that {@link #failed} records at most, by what is in flight now. */
  public static long recordBytes(PeerSession session, List<Command.Acked> returned) {
    long bytes = 0;
    for (Command.Acked each : returned) {
      Consumer consumer = Settlements.consumer(session, each);
      bytes += consumer == null ? 0 : RecordBytes.ofAttempts(mine(consumer, each.ranges()));
    }
    return bytes;
  }

  private void waitedInVain(Subscription subscription, int lane, long sequence, LastConsumer last) {
    if (subscription.isExhausted(lane, sequence)) {
      exhausted(subscription, lane, sequence, last);
    }
  }

  private void exhausted(Subscription subscription, int lane, long sequence, LastConsumer last) {
    var of = subscription.destination().lane(lane);
    if (of != null && subscription.isFree(lane, sequence)) {
      subscription.take(of, sequence, 1);
      givingUp.exhausted(subscription, lane, sequence, 1, last);
    }
  }

  private void count(Subscription subscription, List<SequenceRange> mine) {
    List<SequenceRange> recorded = new ArrayList<>();
    List<SequenceRange> unrecorded = new ArrayList<>();
    for (SequenceRange range : mine) {
      (Settlements.isRecorded(subscription, range) ? recorded : unrecorded).add(range);
    }
    for (int from = 0; from < recorded.size(); from += ShardRecord.MAX_RANGES) {
      int to = Math.min(recorded.size(), from + ShardRecord.MAX_RANGES);
      recorder.record(
          new Attempted(
              subscription.destination().id(), subscription.id(), recorded.subList(from, to)));
    }
    if (!recorded.isEmpty()) {
      recorder.wantsForce(); // or a crash of both would give one attempt too many
    }
    subscription.attempted(unrecorded);
  }

  /**
   * A connection is lost: counts what its sessions had begun, before all that is in flight to it
   * returns. While the journal takes no small record either, an attempt goes uncounted.
   */
  void lost(PeerSession session) {
    for (int sessionId : session.tellers()) {
      boolean any = false;
      for (Consumer consumer : session.recipient().consumers()) {
        if (consumer.sessionId() == sessionId && !consumer.subscription().isClosed()) {
          List<SequenceRange> begun = consumer.holding().begun(MAX_BEGUN);
          any |= !begun.isEmpty();
          lost(session, consumer, begun);
        }
      }
      if (!any) {
        lostOldest(session, sessionId);
      }
    }
  }

  private void lostOldest(PeerSession session, int sessionId) {
    Consumer first = null;
    Consumer.Oldest oldest = null;
    for (Consumer consumer : session.recipient().consumers()) {
      if (consumer.sessionId() == sessionId && !consumer.subscription().isClosed()) {
        Consumer.Oldest own = consumer.oldest();
        if (own != null && (oldest == null || own.order() < oldest.order())) {
          oldest = own;
          first = consumer;
        }
      }
    }
    if (first != null && oldest != null) {
      lost(session, first, List.of(oldest.range()));
    }
  }

  private void lost(PeerSession session, Consumer consumer, List<SequenceRange> begun) {
    if (!begun.isEmpty() && admission.admit(RecordBytes.ofAttempts(begun), false)) {
      List<SequenceRange> mine = mine(consumer, begun);
      failed(session, consumer, mine, null, true);
      Link link = session.link();
      if (link != null && !mine.isEmpty()) {
        charge(link.id(), new Charge(consumer.subscription(), mine));
      }
    }
  }

  private void charge(UUID link, Charge charge) {
    charges.computeIfAbsent(link, id -> new ArrayList<>()).add(charge);
    chargedRanges += charge.ranges().size();
    Iterator<List<Charge>> oldest = charges.values().iterator();
    while (charges.size() > MAX_LINKS || (chargedRanges > MAX_RANGES && charges.size() > 1)) {
      chargedRanges -= ranges(oldest.next());
      oldest.remove();
    }
  }

  private static int ranges(List<Charge> charges) {
    return charges.stream().mapToInt(each -> each.ranges().size()).sum();
  }

  /** A link is back: what its loss had counted was no failure. */
  void cameBack(UUID link) {
    List<Charge> mine = charges.remove(link);
    if (mine == null) {
      return;
    }
    chargedRanges -= ranges(mine);
    for (Charge charge : mine) {
      Subscription subscription = charge.subscription();
      if (subscription.isClosed()
          || !admission.admit(RecordBytes.ofAttempts(charge.ranges()), false)) {
        continue;
      }
      List<SequenceRange> recorded = new ArrayList<>();
      List<SequenceRange> unrecorded = new ArrayList<>();
      for (SequenceRange range : charge.ranges()) {
        (Settlements.isRecorded(subscription, range) ? recorded : unrecorded).add(range);
      }
      for (int from = 0; from < recorded.size(); from += ShardRecord.MAX_RANGES) {
        int to = Math.min(recorded.size(), from + ShardRecord.MAX_RANGES);
        recorder.record(
            new AttemptTakenBack(
                subscription.destination().id(), subscription.id(), recorded.subList(from, to)));
      }
      subscription.takeBackAttempts(unrecorded);
      withheld.release(subscription, charge.ranges());
    }
  }
}

package io.lightmq.core.intake;

import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.Filter;
import io.lightmq.core.destination.Lane;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.destination.Views;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.selector.Selector;
import io.lightmq.core.selector.Work;
import io.lightmq.core.sessions.Arrival;
import io.lightmq.core.sessions.Sender;
import io.lightmq.core.state.LaneRun;
import io.lightmq.core.state.Runs;
import io.lightmq.core.state.Skip;
import io.lightmq.core.state.TurnTime;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Decides which of a run's messages each subscription of a topic wants, before anything is stored:
 * each selector is evaluated once a message, however many subscriptions have it, and never again.
 * What nobody wants is dropped here.
 */
@OwnedBy("shard")
public final class Selecting {
  /** One run in so many is timed. */
  private static final int SAMPLED = 64;

  private static final BitSet NONE = new BitSet(0);

  private final TurnTime time;
  private final Work work;
  private int runs;

  public Selecting(TurnTime time, Work work) {
    this.time = time;
    this.work = work;
  }

  /**
   * What of a run is wanted by anybody, with who does not want which of it; the run itself if all
   * want all of it. Its count may be 0.
   *
   * @param known what some selectors do not match; the others are asked
   */
  Runs.Checked select(
      Sender sender, Destination destination, Runs.Checked run, Map<Filter, BitSet> known) {
    return destination.partialSubscriptions() == 0
        ? run
        : select(sender, destination, run, null, known);
  }

  /** The same; subscriptions that were not there at the arrival want nothing. */
  Runs.Checked select(
      Sender sender,
      Destination destination,
      Runs.Checked run,
      @Nullable Arrival arrival,
      Map<Filter, BitSet> known) {
    Map<Filter, BitSet> failed = evaluate(destination, run, known);
    List<Skip> skips = new ArrayList<>();
    BitSet unwanted = null;
    for (Subscription subscription : destination.subscriptions()) {
      BitSet skipped =
          arrival == null || arrival.had(subscription)
              ? skipped(sender, subscription, failed, run.count())
              : all(run.count());
      if (!skipped.isEmpty()) {
        skips.add(new Skip(subscription, skipped));
      }
      if (unwanted == null) {
        unwanted = (BitSet) skipped.clone();
      } else {
        unwanted.and(skipped);
      }
    }
    Runs.Checked marked = run.with(skips);
    return unwanted == null || unwanted.isEmpty() ? marked : marked.without(unwanted);
  }

  /**
   * The whole run with who does not want which of it; for those who come later it is kept, also
   * what nobody wants now.
   */
  Runs.Checked skips(
      Sender sender, Destination destination, Runs.Checked run, Map<Filter, BitSet> known) {
    if (destination.partialSubscriptions() == 0) {
      return run;
    }
    Map<Filter, BitSet> failed = evaluate(destination, run, known);
    List<Skip> skips = new ArrayList<>();
    for (Subscription subscription : destination.subscriptions()) {
      BitSet skipped = skipped(sender, subscription, failed, run.count());
      if (!skipped.isEmpty()) {
        skips.add(new Skip(subscription, skipped));
      }
    }
    return run.with(skips);
  }

  /** Whether a subscription's selector matches all of a run. */
  boolean wants(Subscription subscription, Runs.Checked run, Map<Filter, BitSet> known) {
    Filter filter = subscription.filter();
    if (filter == null) {
      return true;
    }
    BitSet failed = known.get(filter);
    return (failed == null ? evaluate(filter.evaluator(), run) : failed).isEmpty();
  }

  private static BitSet skipped(
      Sender sender, Subscription subscription, Map<Filter, BitSet> failed, int count) {
    if (subscription.refuses(sender.connectionId(), sender.clientId())) {
      return all(count);
    }
    Filter filter = subscription.filter();
    return filter == null ? NONE : failed.getOrDefault(filter, NONE);
  }

  private static BitSet all(int count) {
    BitSet all = new BitSet(count);
    all.set(0, count);
    return all;
  }

  private Map<Filter, BitSet> evaluate(
      Destination destination, Runs.Checked run, Map<Filter, BitSet> known) {
    Map<Filter, BitSet> failed = new HashMap<>();
    runs++;
    boolean timed = runs % SAMPLED == 0;
    for (Filter filter : destination.filters()) {
      BitSet asked = known.get(filter);
      if (asked != null) {
        failed.put(filter, asked);
        continue;
      }
      long begin = timed ? time.nowNanos() : 0;
      failed.put(filter, evaluate(filter.evaluator(), run));
      filter.evaluated(run.count());
      if (timed) {
        filter.timed(run.count(), time.nowNanos() - begin);
      }
    }
    return failed;
  }

  private BitSet evaluate(Selector.Evaluator evaluator, Runs.Checked run) {
    BitSet failed = new BitSet(run.count());
    ByteBuffer messages = run.messages();
    int at = messages.position();
    for (int i = 0; i < run.count(); i++) {
      int bytes = messages.getInt(at);
      if (!evaluator.matches(messages, at + 4, bytes, work)) {
        failed.set(i);
      }
      at += 4 + bytes;
    }
    return failed;
  }

  /** Shows what was appended to a lane to the views that have to look at it. */
  public void arrived(Lane lane, long first, LaneRun run) {
    Destination destination = lane.destination();
    if (destination.kind().isQueue()) {
      arrived(destination.queueSubscription().views(), lane, first, run);
    } else if (destination.isGrouped()) {
      for (Subscription subscription : destination.subscriptions()) {
        arrived(subscription.views(), lane, first, run);
      }
    }
  }

  private void arrived(Views views, Lane lane, long first, LaneRun run) {
    if (views.isEmpty()) {
      return;
    }
    runs++;
    boolean timed = runs % SAMPLED == 0;
    long before = timed ? views.evaluations() : 0;
    long begin = timed ? time.nowNanos() : 0;
    show(views, lane, first, run);
    if (timed) {
      views.timed(views.evaluations() - before, time.nowNanos() - begin);
    }
  }

  private void show(Views views, Lane lane, long first, LaneRun run) {
    ByteBuffer messages = run.messages();
    int at = messages.position();
    for (int i = 0; i < run.count(); i++) {
      int bytes = messages.getInt(at);
      views.arrived(lane, first + i, messages, at + 4, bytes, work);
      at += 4 + bytes;
    }
  }

  /** Whether a durable subscription wants any of what {@link #select} left. */
  static boolean isWantedDurably(Destination destination, Runs.Checked run) {
    int durable = 0;
    for (Skip skip : run.skips()) {
      if (skip.subscription().kind().isDurable() && skip.messages().cardinality() == run.count()) {
        durable++;
      }
    }
    return durable < destination.durableSubscriptions();
  }
}

package io.lightmq.core.destination;

import io.lightmq.core.runtime.Guard;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.selector.Selector;

/**
 * One selector of a destination: compiled once and evaluated once for all subscriptions that have
 * it, with what that has cost.
 */
@OwnedBy("shard")
public final class Filter {
  private final Guard guard;
  private final Selector selector;
  private final Selector.Evaluator evaluator;
  int users;
  private long evaluations;
  private long timedEvaluations;
  private long timedNanos;

  Filter(Selector selector, Guard guard) {
    this.guard = guard;
    this.selector = selector;
    this.evaluator = selector.evaluator();
  }

  /** The selector. */
  public Selector selector() {
    return selector;
  }

  /** What evaluates it. */
  public Selector.Evaluator evaluator() {
    return evaluator;
  }

  /** Counts evaluations. */
  public void evaluated(long messages) {
    guard.check();
    evaluations += messages;
  }

  /** Counts evaluations whose time was measured, which are counted besides. */
  public void timed(long messages, long nanos) {
    guard.check();
    timedEvaluations += messages;
    timedNanos += nanos;
  }

  /** How often it was evaluated. */
  public long evaluations() {
    return evaluations;
  }

  /** What that took, from the samples that were measured. */
  public long nanos() {
    return timedEvaluations == 0
        ? 0
        : (long) ((double) timedNanos / timedEvaluations * evaluations);
  }
}

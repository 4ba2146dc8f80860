package io.lightmq.core.door;

/**
 * What a shard tells of itself as a whole, a number each. What happens is counted by {@code
 * Counters.count}, what is there at the moment is looked at by {@code MetricsTaker}; the page of
 * metrics shows all that stand here, by their names.
 */
public enum Figure {
  COMMANDS(Kind.SINCE_START, "lightmq.commands", "Commands executed."),
  PUBLISHED_MESSAGES(
      Kind.SINCE_START,
      "lightmq.all.published.messages",
      "Messages taken since start, of all destinations."),
  PUBLISHED_BYTES(
      Kind.SINCE_START,
      "lightmq.all.published.bytes",
      "Bytes of messages taken since start, of all destinations."),
  ACKNOWLEDGED(
      Kind.SINCE_START,
      "lightmq.all.acknowledged.messages",
      "Messages acknowledged since start, of all destinations."),
  EXPIRED(
      Kind.SINCE_START,
      "lightmq.all.expired.messages",
      "Messages that expired since start, of all destinations."),
  SUPPRESSED(
      Kind.SINCE_START,
      "lightmq.all.suppressed.messages",
      "Duplicates that no consumer got since start, of all destinations."),
  DAMAGED_READS(
      Kind.SINCE_START, "lightmq.damaged.reads", "Reads from files that failed their check."),
  SET_ASIDE(
      Kind.SINCE_START,
      "lightmq.set.aside.messages",
      "Messages that could not be read and were set aside."),
  DAMAGED_NOW(
      Kind.NOW,
      "lightmq.damaged.messages",
      "Messages that are set aside because they cannot be read."),
  REJECTED_SNAPSHOTS(
      Kind.SINCE_START,
      "lightmq.rejected.snapshots",
      "Snapshots that failed their check at start."),
  CLOCK_STEPS(
      Kind.SINCE_START,
      "lightmq.clock.steps",
      "Jumps of the machine's time, which the broker's follows slowly."),
  REDELIVERED(Kind.SINCE_START, "lightmq.redelivered", "Failed attempts to process a message."),
  DEAD_LETTERS(
      Kind.SINCE_START,
      "lightmq.dead.letters",
      "Messages that became dead letters, dropped ones included."),
  FAILED_MOVES(
      Kind.SINCE_START,
      "lightmq.failed.moves",
      "Moves of dead, expired or due messages that failed; each is tried again."),
  MOVES(Kind.NOW, "lightmq.moves", "Moves of dead, expired or due messages that are under way."),
  WAITING_MOVES(
      Kind.NOW,
      "lightmq.waiting.moves",
      "Moves of dead, expired or due messages that wait because their target takes nothing."),
  WITHHELD(Kind.NOW, "lightmq.withheld", "Messages that wait for their next attempt."),
  DELAYED(Kind.NOW, "lightmq.delayed", "Messages that wait for their delivery time."),
  STAGED_TRANSACTIONS(
      Kind.NOW,
      "lightmq.staged.transactions",
      "Transactions of which the broker keeps something and that are not prepared."),
  STAGED_BYTES(
      Kind.NOW,
      "lightmq.staged.bytes",
      "Bytes of the messages that transactions have sent and not committed."),
  PREPARED_BRANCHES(
      Kind.NOW,
      "lightmq.prepared.branches",
      "Branches of distributed transactions that wait for their decision."),
  PREPARED_OLDEST(
      Kind.NOW,
      "lightmq.prepared.oldest.seconds",
      "How long the oldest of them has been prepared."),
  PREPARED_OVERDUE(
      Kind.NOW,
      "lightmq.prepared.overdue",
      "Branches that have been prepared for longer than xa.prepared-alarm-millis."),
  HEURISTIC_BRANCHES(
      Kind.NOW,
      "lightmq.heuristic.branches",
      "Branches that an administrator has decided and nobody has forgotten."),
  NAMED_BYTES(
      Kind.NOW,
      "lightmq.named.bytes",
      "Heap that destinations, subscriptions, consumers, connections and links take, as reckoned."),
  NAMED_LIMIT_BYTES(
      Kind.NOW, "lightmq.named.limit.bytes", "What they may take: memory.named-state."),
  NAMED_REFUSED(Kind.SINCE_START, "lightmq.named.refused", "What was refused for want of that."),
  UNFORESEEN(
      Kind.SINCE_START,
      "lightmq.unforeseen",
      "Requests that were refused because of an error of the broker's.");

  /** What a figure is of. */
  public enum Kind {
    /** It counts what happened since the start, and only grows. */
    SINCE_START,
    /** It is of the moment. */
    NOW
  }

  private final Kind kind;
  private final String metric;
  private final String help;

  Figure(Kind kind, String metric, String help) {
    this.kind = kind;
    this.metric = metric;
    this.help = help;
  }

  public Kind kind() {
    return kind;
  }

  /** Its name among the metrics, with dots between the words. */
  public String metric() {
    return metric;
  }

  /** A sentence for who reads the metrics. */
  public String help() {
    return help;
  }
}

package io.lightmq.core.simulation;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A message as its sender knows it, with what the sender was told about it. */
final class Message {
  static final long NEVER = Long.MAX_VALUE;

  /** What the sender chooses. */
  record Content(
      boolean persistent,
      int priority,
      int n,
      @Nullable String group,
      @Nullable String key,
      long delayMillis,
      long liveMillis,
      int padding) {}

  final String id;
  final int producer;

  /** Counts the messages of its producer. */
  final int order;

  final SimulatedDestination to;
  final Content content;

  /** The commit it came with, if any. */
  final @Nullable Transaction transaction;

  /** When it was submitted, first and last, and confirmed, in events. */
  long firstSent;

  long lastSent;
  long confirmedAt = NEVER;

  /** When it was answered since it was submitted last. */
  long settledAt = NEVER;

  /** Its confirmation outlives a power cut. */
  boolean durably;

  boolean refused;

  /** It may have been lost with a process or the power. */
  boolean mayBeLost;

  /** Where it may be dead or expired, it was asked to go back. */
  boolean retried;

  /** The start of the broker at which it was submitted first. */
  int era = -1;

  /** How often the broker had ended otherwise than in order when it was submitted first. */
  int uncleanEnds = -1;

  /** The one at which it was submitted last. */
  int lastEra = -1;

  /** Its times by the wall clock, at the earliest and at the latest. */
  long earliestDue = NEVER;

  long latestDue;
  long earliestEnd = NEVER;
  long latestEnd;

  private final Map<Followed, Copy> copies = new HashMap<>(4);

  Message(
      String id,
      int producer,
      int order,
      SimulatedDestination to,
      Content content,
      @Nullable Transaction transaction) {
    this.id = id;
    this.producer = producer;
    this.order = order;
    this.to = to;
    this.content = content;
    this.transaction = transaction;
  }

  static String idOf(String text) {
    int end = text.indexOf('-');
    return end < 0 ? text : text.substring(0, end);
  }

  String text() {
    return id + "-" + "x".repeat(content.padding());
  }

  /** It is given to the broker at a time of the wall clock. */
  void submitted(long event, int inEra, long arrivalMillis) {
    firstSent = firstSent == 0 ? event : firstSent;
    lastSent = event;
    settledAt = NEVER;
    era = era < 0 ? inEra : era;
    lastEra = inEra;
    long due = arrivalMillis + content.delayMillis();
    earliestDue = Math.min(earliestDue, due);
    latestDue = Math.max(latestDue, due);
    long end = content.liveMillis() == 0 ? NEVER : arrivalMillis + content.liveMillis();
    earliestEnd = Math.min(earliestEnd, end);
    latestEnd = Math.max(latestEnd, end);
  }

  boolean isConfirmed() {
    return confirmedAt != NEVER;
  }

  boolean isDelayed() {
    return content.delayMillis() > 0;
  }

  /** Whether a subscription has to wait with it for others of its key. */
  boolean isKeyed() {
    return content.key() != null && to.suppresses;
  }

  Copy copy(Followed followed) {
    return copies.computeIfAbsent(followed, of -> new Copy(this, of));
  }

  /** The copy that a subscription was seen with, if any. */
  @Nullable Copy known(Followed followed) {
    return copies.get(followed);
  }

  List<Copy> copies() {
    return new ArrayList<>(copies.values());
  }

  @Override
  public String toString() {
    return id
        + " for "
        + to.name.name()
        + (content.persistent() ? "" : " unlogged")
        + (content.priority() == 4 ? "" : " priority " + content.priority())
        + " n="
        + content.n()
        + (content.group() == null ? "" : " group " + content.group())
        + (content.key() == null ? "" : " key " + content.key())
        + (content.delayMillis() == 0 ? "" : " delay " + content.delayMillis())
        + (content.liveMillis() == 0 ? "" : " live " + content.liveMillis())
        + (transaction == null ? "" : " in " + transaction)
        + (isConfirmed() ? durably ? " confirmed durably" : " confirmed" : "")
        + (refused ? " refused" : "")
        + (mayBeLost ? " may be lost" : "")
        + (retried ? " retried" : "");
  }
}

package io.lightmq.core.shard;

import io.lightmq.core.runtime.OwnedBy;
import java.util.HashMap;
import java.util.Map;

/** What happened since start. */
@OwnedBy("shard")
final class Counters {
  /** Of one destination. */
  static final class Published {
    long messages;
    long bytes;
    long newestMillis;
  }

  /** Of one subscription. */
  static final class Settled {
    long acknowledged;
    long expired;
    long deadLettered;
    long suppressed;
  }

  private static final Published NOTHING_PUBLISHED = new Published();
  private static final Settled NOTHING_SETTLED = new Settled();

  private final Map<Long, Published> published = new HashMap<>();
  private final Map<Long, Map<Long, Settled>> settled = new HashMap<>();
  long commands;
  long allMessages;
  long allBytes;
  long allAcknowledged;
  long allExpired;
  long allSuppressed;
  long damagedReads;

  /** Messages that were set aside since start. */
  long setAside;

  long redelivered;
  long deadLettered;
  long moveFailures;

  /** Exceptions that became refusals. */
  long unforeseen;

  void published(long destinationId, long messages, long bytes, long nowMillis) {
    Published of = published.computeIfAbsent(destinationId, id -> new Published());
    of.messages += messages;
    of.bytes += bytes;
    of.newestMillis = nowMillis;
    allMessages += messages;
    allBytes += bytes;
  }

  void acknowledged(long destinationId, long subscriptionId, long messages) {
    settled(destinationId, subscriptionId).acknowledged += messages;
    allAcknowledged += messages;
  }

  void expired(long destinationId, long subscriptionId, long messages) {
    settled(destinationId, subscriptionId).expired += messages;
    allExpired += messages;
  }

  void deadLettered(long destinationId, long subscriptionId) {
    settled(destinationId, subscriptionId).deadLettered++;
    deadLettered++;
  }

  void suppressed(long destinationId, long subscriptionId, long messages) {
    settled(destinationId, subscriptionId).suppressed += messages;
    allSuppressed += messages;
  }

  /** What came to a destination, to be looked at only; nothing is made for one that had nothing. */
  Published look(long destinationId) {
    return published.getOrDefault(destinationId, NOTHING_PUBLISHED);
  }

  /** What happened in a subscription, to be looked at only. */
  Settled look(long destinationId, long subscriptionId) {
    Map<Long, Settled> of = settled.get(destinationId);
    return of == null ? NOTHING_SETTLED : of.getOrDefault(subscriptionId, NOTHING_SETTLED);
  }

  Published published(long destinationId) {
    return published.computeIfAbsent(destinationId, id -> new Published());
  }

  Settled settled(long destinationId, long subscriptionId) {
    return settled
        .computeIfAbsent(destinationId, id -> new HashMap<>())
        .computeIfAbsent(subscriptionId, id -> new Settled());
  }

  void forget(long destinationId) {
    published.remove(destinationId);
    settled.remove(destinationId);
  }

  void forget(long destinationId, long subscriptionId) {
    Map<Long, Settled> of = settled.get(destinationId);
    if (of != null) {
      of.remove(subscriptionId);
    }
  }
}

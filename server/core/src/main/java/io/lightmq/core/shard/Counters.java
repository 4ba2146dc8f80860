package io.lightmq.core.shard;

import io.lightmq.core.runtime.OwnedBy;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What happened since start. */
@OwnedBy("shard")
final class Counters {
  /** Of one destination. */
  static final class Published {
    long messages;
    long bytes;
    long newestMillis;
    private @Nullable AgeSamples[] ages = new @Nullable AgeSamples[0];

    /** Forgets when messages came that are acknowledged. */
    void forgetBelow(int lane, long sequence) {
      AgeSamples known = lane < ages.length ? ages[lane] : null;
      if (known != null) {
        known.forgetBelow(sequence);
      }
    }

    /** When a message of a durable lane came; 0 if that is not known. */
    long cameAt(int lane, long sequence) {
      AgeSamples known = lane < ages.length ? ages[lane] : null;
      return known == null ? 0 : known.cameAt(sequence);
    }

    /** When some of a durable lane's messages came. */
    AgeSamples ages(int lane) {
      if (lane >= ages.length) {
        ages = Arrays.copyOf(ages, lane + 1);
      }
      AgeSamples known = ages[lane];
      if (known == null) {
        known = new AgeSamples();
        ages[lane] = known;
      }
      return known;
    }
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

  /** A durable message came, now or before the start. */
  void came(long destinationId, int lane, long lastSequence, long millis) {
    Published of = published(destinationId);
    of.newestMillis = Math.max(of.newestMillis, millis);
    of.ages(lane).sample(lastSequence, millis);
  }

  /** Takes over when messages came that were replayed at start; nothing is counted yet. */
  void adopt(Counters replayed) {
    published.putAll(replayed.published);
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

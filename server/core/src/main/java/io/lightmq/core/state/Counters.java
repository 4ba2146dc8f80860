package io.lightmq.core.state;

import io.lightmq.core.door.Figure;
import io.lightmq.core.runtime.OwnedBy;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;

/** What happened since start. */
@OwnedBy("shard")
public final class Counters {
  /** Of one destination. */
  public static final class Published {
    public long messages;
    public long bytes;
    public long newestMillis;
  }

  /** Of one subscription. */
  public static final class Settled {
    public long acknowledged;
    public long expired;
    long deadLettered;
    public long suppressed;
  }

  private static final Published NOTHING_PUBLISHED = new Published();
  private static final Settled NOTHING_SETTLED = new Settled();

  private final Map<Long, Published> published = new HashMap<>();
  private final Map<Long, Map<Long, Settled>> settled = new HashMap<>();
  private final long[] figures = new long[Figure.values().length];

  /** Something happened once. */
  @SuppressWarnings("EnumOrdinal") // an array, since messages are counted
  public void count(Figure figure) {
    figures[figure.ordinal()]++;
  }

  /** Something happened so often. */
  @SuppressWarnings("EnumOrdinal") // an array, since messages are counted
  public void count(Figure figure, long times) {
    figures[figure.ordinal()] += times;
  }

  /** All that was counted; those that nothing counts are 0. */
  @SuppressWarnings("EnumOrdinal") // an array, since messages are counted
  public Map<Figure, Long> figures() {
    Map<Figure, Long> all = new EnumMap<>(Figure.class);
    for (Figure each : Figure.values()) {
      all.put(each, figures[each.ordinal()]);
    }
    return all;
  }

  public void published(long destinationId, long messages, long bytes, long nowMillis) {
    Published of = published.computeIfAbsent(destinationId, id -> new Published());
    of.messages += messages;
    of.bytes += bytes;
    of.newestMillis = nowMillis;
    count(Figure.PUBLISHED_MESSAGES, messages);
    count(Figure.PUBLISHED_BYTES, bytes);
  }

  public void acknowledged(long destinationId, long subscriptionId, long messages) {
    settled(destinationId, subscriptionId).acknowledged += messages;
    count(Figure.ACKNOWLEDGED, messages);
  }

  public void expired(long destinationId, long subscriptionId, long messages) {
    settled(destinationId, subscriptionId).expired += messages;
    count(Figure.EXPIRED, messages);
  }

  public void deadLettered(long destinationId, long subscriptionId) {
    settled(destinationId, subscriptionId).deadLettered++;
    count(Figure.DEAD_LETTERS);
  }

  public void suppressed(long destinationId, long subscriptionId, long messages) {
    settled(destinationId, subscriptionId).suppressed += messages;
    count(Figure.SUPPRESSED, messages);
  }

  /** What came to a destination, to be looked at only; nothing is made for one that had nothing. */
  public Published look(long destinationId) {
    return published.getOrDefault(destinationId, NOTHING_PUBLISHED);
  }

  /** What happened in a subscription, to be looked at only. */
  public Settled look(long destinationId, long subscriptionId) {
    Map<Long, Settled> of = settled.get(destinationId);
    return of == null ? NOTHING_SETTLED : of.getOrDefault(subscriptionId, NOTHING_SETTLED);
  }

  public Published published(long destinationId) {
    return published.computeIfAbsent(destinationId, id -> new Published());
  }

  public Settled settled(long destinationId, long subscriptionId) {
    return settled
        .computeIfAbsent(destinationId, id -> new HashMap<>())
        .computeIfAbsent(subscriptionId, id -> new Settled());
  }

  public void forget(long destinationId) {
    published.remove(destinationId);
    settled.remove(destinationId);
  }

  public void forget(long destinationId, long subscriptionId) {
    Map<Long, Settled> of = settled.get(destinationId);
    if (of != null) {
      of.remove(subscriptionId);
    }
  }
}

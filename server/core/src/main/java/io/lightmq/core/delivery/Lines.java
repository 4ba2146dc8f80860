package io.lightmq.core.delivery;

import io.lightmq.core.destination.GroupBuckets;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.destination.View;
import io.lightmq.core.runtime.OwnedBy;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The views that have consumers, and those among them that have to be asked again. */
@OwnedBy("shard")
final class Lines {
  private final Map<View, Line> lines = new HashMap<>();

  /** With a pull that would be answered now, but for something that is under way. */
  private final Set<View> held = new LinkedHashSet<>();

  /** Of which an idle consumer owns what another one waits for. */
  private final Set<View> evicting = new LinkedHashSet<>();

  @Nullable Line of(View view) {
    return lines.get(view);
  }

  /** A consumer has come to its view. */
  void add(Consumer consumer) {
    View view = consumer.view();
    view.subscription().attached(1);
    if (view.filter() == null) {
      view.attached(1);
    }
    lines.computeIfAbsent(view, v -> new Line()).consumers.add(consumer);
  }

  /** A consumer goes; whether it was its view's last. */
  boolean remove(Consumer consumer) {
    View view = consumer.view();
    view.subscription().attached(-1);
    GroupBuckets keys = view.keys();
    if (keys != null) {
      keys.leave(consumer);
    }
    Line line = lines.get(view);
    boolean last = false;
    if (line != null) {
      line.consumers.remove(consumer);
      last = line.consumers.isEmpty();
    }
    if (last) {
      lines.remove(view);
      held.remove(view);
      evicting.remove(view);
    }
    if (view.filter() == null) {
      view.attached(-1);
    } else if (keys != null && consumer.fetching) {
      consumer.closesView = true; // what is on the way to it has its place in the order there
    } else {
      view.subscription().views().close(view);
    }
    return last;
  }

  /** What was on the way to a consumer is free again, or acknowledged. */
  void arrived(Consumer consumer) {
    consumer.arrived();
    if (consumer.closesView && !consumer.subscription().isClosed()) {
      consumer.closesView = false;
      consumer.subscription().views().close(consumer.view());
    }
  }

  /** The consumers of a subscription, those with selectors last, in the order of their coming. */
  List<Consumer> consumers(Subscription subscription) {
    List<Consumer> all = new ArrayList<>();
    Line line = lines.get(subscription.view());
    if (line != null) {
      all.addAll(line.consumers);
    }
    for (View view : subscription.views().all()) {
      Line selective = lines.get(view);
      if (selective != null) {
        all.addAll(selective.consumers);
      }
    }
    return all;
  }

  /** All consumers. */
  List<Consumer> consumers() {
    return lines.values().stream().flatMap(line -> line.consumers.stream()).toList();
  }

  // ---- to be asked again ----

  /** A pull of a view waits for something that is under way. */
  void hold(View view) {
    held.add(view);
  }

  /** A view is asked what it has; what it waits for then is found out anew. */
  void asked(View view, long nextEvictionNanos) {
    held.remove(view);
    if (nextEvictionNanos == Long.MAX_VALUE) {
      evicting.remove(view);
    } else {
      evicting.add(view);
    }
  }

  /** The views with a selector of a subscription of which a pull is held. */
  List<View> heldOf(Subscription subscription) {
    if (held.isEmpty()) {
      return List.of();
    }
    return held.stream()
        .filter(view -> view.subscription() == subscription && view.filter() != null)
        .toList();
  }

  /** The views of which an idle consumer loses what it owns now. */
  List<View> evicting(long nowNanos) {
    if (evicting.isEmpty()) {
      return List.of();
    }
    return evicting.stream().filter(view -> nowNanos - evictionNanos(view) >= 0).toList();
  }

  /** When {@link #evicting} has the next one, {@code Long.MAX_VALUE} for never. */
  long nextEvictionNanos() {
    long next = Long.MAX_VALUE;
    for (View view : evicting) {
      next = Math.min(next, evictionNanos(view));
    }
    return next;
  }

  private static long evictionNanos(View view) {
    GroupBuckets keys = view.keys();
    return keys == null ? Long.MAX_VALUE : keys.nextEvictionNanos();
  }
}

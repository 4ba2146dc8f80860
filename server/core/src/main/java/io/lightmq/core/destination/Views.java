package io.lightmq.core.destination;

import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.selector.Selector;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The views with selectors of a queue. Consumers with equal selectors share one. A view looks at the
 * backlog bit by bit, in the order in which it gives out, whenever its consumers wait and it has
 * nothing to give; one that has looked at everything is shown what arrives.
 *
 * <p>Bound: a live view that knows {@link #MAX_MATCHES} matches is shown no more and looks later, so
 * a view takes at most one bitmap of 512 bytes for each of so many, and mostly far less.
 */
@OwnedBy("shard")
public final class Views {
  /** A view that knows so many matches is not shown what arrives. */
  static final int MAX_MATCHES = 16_384;

  private final Subscription subscription;
  private final OffHeap memory;
  private final Map<Selector, View> views = new LinkedHashMap<>();
  private final Map<Lane, Arrivals> arrivals = new LinkedHashMap<>();

  private boolean lagging;

  /** Those that know of something that matches, visible or not. */
  private final Set<View> matching = new LinkedHashSet<>();

  Views(Subscription subscription, OffHeap memory) {
    this.subscription = subscription;
    this.memory = memory;
  }

  /** Whether there is none. */
  public boolean isEmpty() {
    return views.isEmpty();
  }

  /** All of them. */
  public Collection<View> all() {
    return Collections.unmodifiableCollection(views.values());
  }

  /** Those that know of something that matches, visible or not. */
  public List<View> matching() {
    return matching.isEmpty() ? List.of() : new ArrayList<>(matching);
  }

  /** The view of a selector, which is new if nobody has it. */
  public View open(Selector selector) {
    View known = views.get(selector);
    if (known == null) {
      known = new View(subscription, new Filter(selector), this);
      for (Cursor cursor : subscription.cursors()) {
        add(known, cursor);
      }
      views.put(selector, known);
    }
    Filter filter = known.filter();
    if (filter != null) {
      filter.users++;
    }
    return known;
  }

  /** One consumer of a view has gone; the last one takes the view along. */
  public void close(View view) {
    Filter filter = view.filter();
    if (filter != null && --filter.users == 0) {
      views.remove(filter.selector(), view);
      matching.remove(view);
      view.clear();
    }
    if (views.isEmpty()) {
      arrivals.clear();
    }
  }

  void add(Cursor cursor) {
    views.values().forEach(view -> add(view, cursor));
  }

  private void add(View view, Cursor cursor) {
    Arrivals of = arrivals.computeIfAbsent(cursor.lane, Arrivals::new);
    Sifted sifted = new Sifted(cursor, of, memory);
    sifted.reached(cursor.firstUnacknowledged());
    view.add(cursor, sifted);
  }

  // ---- what happens ----

  /**
   * Shows a message that was appended to a lane to the views that have looked at all before it.
   *
   * @param messageAt where the encoded message is in the buffer
   */
  public void arrived(
      Lane lane, long sequence, ByteBuffer buffer, int messageAt, int messageBytes) {
    Arrivals of = arrivals.get(lane);
    if (of == null) {
      return;
    }
    if (!of.isNext(sequence)) {
      pauseAll(lane);
    }
    of.reached(sequence + 1);
    for (View view : views.values()) {
      Filter filter = view.filter();
      if (filter != null && view.isLive(lane)) {
        filter.evaluated(1);
        if (filter.evaluator().matches(buffer, messageAt, messageBytes)) {
          view.match(lane, sequence);
        }
        if (view.matches() > MAX_MATCHES) {
          view.pause(lane);
        }
      }
    }
  }

  /** If something was appended without being shown, the views look it up later. */
  void catchUp() {
    for (Arrivals of : arrivals.values()) {
      if (!of.isAll()) {
        pauseAll(of.lane);
        of.reached(of.lane.extents.end());
      }
    }
  }

  /** Whether views that were shown what arrives have to look at something since the last call. */
  public boolean takeLagging() {
    catchUp();
    boolean taken = lagging;
    lagging = false;
    return taken;
  }

  private void pauseAll(Lane lane) {
    lagging = true;
    for (View view : views.values()) {
      if (view.isLive(lane)) {
        view.pause(lane);
      }
    }
  }

  void acknowledged(Lane lane, long from, long to) {
    for (View view : views.values()) {
      view.acknowledged(lane, from, to);
    }
  }

  void back(Lane lane, long sequence) {
    for (View view : views.values()) {
      view.back(lane, sequence);
    }
  }

  void changed(View view) {
    if (view.matches() > 0) {
      matching.add(view);
    } else {
      matching.remove(view);
    }
  }

  void clear() {
    views.values().forEach(View::clear);
    views.clear();
    matching.clear();
    arrivals.clear();
  }
}

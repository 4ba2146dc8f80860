package io.lightmq.core.destination;

import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.selector.Selector;
import io.lightmq.core.selector.Selector.IdEquality;
import io.lightmq.core.selector.Selector.IdHeader;
import io.lightmq.core.selector.Work;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The views with selectors of a queue. Consumers with equal selectors share one. A view looks at
 * the backlog bit by bit, in the order in which it gives out, whenever its consumers wait and it
 * has nothing to give; one that has looked at everything is shown what arrives.
 *
 * <p>Bound: a live view that knows {@link #MAX_MATCHES} matches is shown no more and looks later,
 * so a view takes at most one bitmap of 512 bytes for each of so many, and mostly far less. With
 * keys it is {@link ViewBounds} that says how much a view may know.
 */
@OwnedBy("shard")
public final class Views {
  /** A view that knows so many matches is not shown what arrives. */
  static final int MAX_MATCHES = 16_384;

  /** So many views are kept after their last consumer, if they know at most so many matches. */
  static final int RECENT = 4;

  static final int RECENT_MATCHES = 4_096;

  private final Subscription subscription;
  private final OffHeap memory;
  private final Map<Selector, View> views = new LinkedHashMap<>();

  /** Views without consumers that may come again, the oldest first; they are shown nothing. */
  private final Map<Selector, View> recent = new LinkedHashMap<>();

  /** Those that ask for no id, which are shown everything. */
  private final List<View> others = new ArrayList<>();

  /** The view without a selector, if messages have keys: it has to look at them too. */
  private @Nullable View plain;

  private final GroupScan keyScan = new GroupScan();

  private final Map<IdHeader, IdIndex> indexes = new EnumMap<>(IdHeader.class);
  private final Map<Lane, Arrivals> arrivals = new LinkedHashMap<>();

  private long closedEvaluations;
  private long timedEvaluations;
  private long timedNanos;
  private boolean lagging;

  /** No message of so many bytes is too long for any of the selectors. */
  private long shortBytes = Long.MAX_VALUE;

  /** Those that know of something that matches, visible or not. */
  private final Set<View> matching = new LinkedHashSet<>();

  Views(Subscription subscription, OffHeap memory) {
    this.subscription = subscription;
    this.memory = memory;
  }

  /** Whether there is none, and nothing to be shown what arrives. */
  public boolean isEmpty() {
    return views.isEmpty() && indexes.isEmpty() && plain == null;
  }

  /** Messages have keys from now on; those that are there have none. */
  void spread(View withoutSelector) {
    withoutSelector.spread(this, memory);
    views.values().forEach(view -> view.spread(this, memory));
    recent.values().forEach(view -> view.spread(this, memory));
    plain = withoutSelector;
    others.add(withoutSelector);
  }

  /** Whether messages have keys. */
  public boolean isSpread() {
    return plain != null;
  }

  /** How group buckets are spread, for each selector and for consumers without one; none if not. */
  public List<GroupUse> groupUse() {
    subscription.guard().check();
    if (plain == null) {
      return List.of();
    }
    List<GroupUse> uses = new ArrayList<>();
    addUse(plain, null, uses);
    views.forEach((selector, view) -> addUse(view, selector.text(), uses));
    return uses;
  }

  private static void addUse(View view, @Nullable String selector, List<GroupUse> uses) {
    GroupBuckets keys = view.keys();
    if (keys != null) {
      uses.add(keys.use(selector));
    }
  }

  /** Whether something has to be given out when anything is settled. */
  public boolean isWatching() {
    if (plain == null) {
      return false;
    }
    boolean any = isWatching(plain);
    for (View view : views.values()) {
      any |= isWatching(view);
    }
    return any;
  }

  private static boolean isWatching(View view) {
    GroupBuckets keys = view.keys();
    return keys != null && keys.isWatching();
  }

  @Nullable IdIndex index(IdHeader header) {
    return indexes.get(header);
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
    subscription.guard().check();
    View known = views.get(selector);
    if (known == null) {
      known = recent.remove(selector);
      if (known == null) {
        known = new View(subscription, new Filter(selector, subscription.guard()), this);
        if (plain != null) {
          known.spread(this, memory);
        }
        for (Cursor cursor : subscription.cursors()) {
          add(known, cursor);
        }
      }
      views.put(selector, known);
      shortBytes = Math.min(shortBytes, selector.shortBytes());
      file(known, selector.idEquality());
    }
    Filter filter = known.filter();
    if (filter != null) {
      filter.users++;
    }
    return known;
  }

  /** One consumer of a view has gone; the last one takes the view along. */
  public void close(View view) {
    subscription.guard().check();
    Filter filter = view.filter();
    if (filter != null && --filter.users == 0) {
      views.remove(filter.selector(), view);
      others.remove(view);
      IdEquality id = filter.selector().idEquality();
      if (id == null && view.matches() <= RECENT_MATCHES) {
        keep(view, filter.selector());
      } else {
        drop(view);
      }
      IdIndex index = id == null ? null : indexes.get(id.header());
      if (id != null && index != null) {
        index.remove(view, IdScan.hash(id.id()));
      }
    }
    forgetArrivals();
  }

  private void keep(View view, Selector selector) {
    view.pause();
    recent.put(selector, view);
    if (recent.size() > RECENT) {
      View oldest = recent.values().iterator().next();
      recent.values().remove(oldest);
      drop(oldest);
    }
  }

  private void drop(View view) {
    Filter filter = view.filter();
    closedEvaluations += filter == null ? 0 : filter.evaluations();
    matching.remove(view);
    view.clear();
  }

  /** Forgets the views that are kept for consumers that may come again. */
  public void forgetRecent() {
    subscription.guard().check();
    recent.values().forEach(this::drop);
    recent.clear();
    forgetArrivals();
  }

  /** Whether consumers with a selector have a view. */
  public boolean isOpen(Selector selector) {
    return views.containsKey(selector);
  }

  /** The characters of the selectors that consumers have. */
  public long selectorChars() {
    long sum = 0;
    for (Selector each : views.keySet()) {
      sum += each.text().length();
    }
    return sum;
  }

  /** Puts a view where what arrives finds it. */
  private void file(View view, @Nullable IdEquality id) {
    if (id == null) {
      others.add(view);
      return;
    }
    IdIndex index = indexes.get(id.header());
    if (index == null) {
      index = new IdIndex(id.header());
      indexes.put(id.header(), index);
      for (Cursor cursor : subscription.cursors()) {
        index.add(cursor, arrivals(cursor.lane));
      }
    }
    index.add(view, IdScan.hash(id.id()));
  }

  Arrivals arrivals(Lane lane) {
    return arrivals.computeIfAbsent(lane, Arrivals::new);
  }

  private void forgetArrivals() {
    if (isEmpty() && recent.isEmpty()) {
      arrivals.clear();
    }
  }

  void add(Cursor cursor) {
    if (plain != null) {
      add(plain, cursor);
    }
    views.values().forEach(view -> add(view, cursor));
    recent.values().forEach(view -> add(view, cursor));
    recent.values().forEach(View::pause);
    indexes.values().forEach(index -> index.add(cursor, arrivals(cursor.lane)));
  }

  private void add(View view, Cursor cursor) {
    Sifted sifted = new Sifted(cursor, arrivals(cursor.lane), memory);
    sifted.reached(cursor.firstUnacknowledged());
    GroupBuckets keys = view.keys();
    if (keys != null) {
      sifted.spread(keys, 0, memory);
    }
    view.add(cursor, sifted);
  }

  // ---- what it costs ----

  /** Evaluations of all selectors that consumers have or had. */
  public long evaluations() {
    long sum = closedEvaluations;
    for (View view : views.values()) {
      sum += evaluations(view);
    }
    for (View view : recent.values()) {
      sum += evaluations(view);
    }
    return sum;
  }

  private static long evaluations(View view) {
    Filter filter = view.filter();
    return filter == null ? 0 : filter.evaluations();
  }

  /** Counts evaluations whose time was measured, which are counted besides. */
  public void timed(long evaluations, long nanos) {
    subscription.guard().check();
    timedEvaluations += evaluations;
    timedNanos += nanos;
  }

  /** What all evaluations took, from those that were measured. */
  public long nanos() {
    return timedEvaluations == 0
        ? 0
        : (long) ((double) timedNanos / timedEvaluations * evaluations());
  }

  // ---- what happens ----

  /**
   * Shows a message that was appended to a lane to the views that have looked at all before it.
   *
   * @param messageAt where the encoded message is in the buffer
   * @param work what it costs is counted there
   */
  public void arrived(
      Lane lane, long sequence, ByteBuffer buffer, int messageAt, int messageBytes, Work work) {
    subscription.guard().check();
    Arrivals of = arrivals.get(lane);
    if (of == null) {
      return;
    }
    if (!of.isNext(sequence)) {
      pauseAll(lane);
    }
    if (work.isTired()) {
      pauseAll(lane); // a turn has its share; what arrives is looked up in another
    } else {
      pauseLong(lane, buffer, messageAt, messageBytes);
    }
    of.reached(sequence + 1);
    int code = plain == null ? 0 : keyScan.codeOf(buffer, messageAt, messageBytes);
    show(others, lane, sequence, buffer, messageAt, messageBytes, code, work);
    if (!indexes.isEmpty()) {
      for (IdIndex index : indexes.values()) {
        List<View> wanting = index.arrived(lane, sequence, buffer, messageAt, messageBytes);
        show(wanting, lane, sequence, buffer, messageAt, messageBytes, code, work);
      }
      if (indexes.values().removeIf(IdIndex::isIdle)) {
        forgetArrivals();
      }
    }
  }

  /** Views for which a message is too long to be looked at in this turn look it up later. */
  private void pauseLong(Lane lane, ByteBuffer buffer, int messageAt, int messageBytes) {
    if (messageBytes <= shortBytes) {
      return;
    }
    for (View view : views.values()) {
      Filter filter = view.filter();
      if (filter != null
          && view.isLive(lane)
          && filter.evaluator().isLong(buffer, messageAt, messageBytes)) {
        lagging = true;
        if (plain == null) {
          view.pause(lane);
        } else {
          view.pause();
        }
      }
    }
  }

  private void show(
      List<View> some,
      Lane lane,
      long sequence,
      ByteBuffer buffer,
      int messageAt,
      int messageBytes,
      int code,
      Work work) {
    for (int i = 0; i < some.size(); i++) {
      View view = some.get(i);
      Filter filter = view.filter();
      if (!view.isLive(lane)) {
        continue;
      }
      if (filter != null) {
        filter.evaluated(1);
      }
      if (filter == null || filter.evaluator().matches(buffer, messageAt, messageBytes, work)) {
        view.match(lane, sequence, code);
      }
      if (view.keys() == null) {
        if (view.matches() > MAX_MATCHES) {
          view.pause(lane);
          lagging = true;
        }
      } else if (view.isFull() || !view.isOpen()) {
        view.pause(); // but this one it has seen
      }
    }
  }

  /** If something was appended without being shown, the views look it up later. */
  void catchUp() {
    for (Arrivals of : arrivals.values()) {
      if (!of.isAll()) {
        pauseAll(of.lane);
      }
      of.reached(of.lane.extents.end()); // also if all of it was trimmed before it was shown
    }
  }

  /** All views have to be asked again whether they have something to look at. */
  public void lag() {
    subscription.guard().check();
    lagging = true;
  }

  /** Whether views that were shown what arrives have to look at something since the last call. */
  public boolean takeLagging() {
    subscription.guard().check();
    catchUp();
    boolean taken = lagging;
    lagging = false;
    return taken;
  }

  private void pauseAll(Lane lane) {
    lagging = true;
    if (plain != null && plain.isLive(lane)) {
      plain.pause();
    }
    for (View view : views.values()) {
      if (view.isLive(lane)) {
        if (plain == null) {
          view.pause(lane);
        } else {
          view.pause(); // with keys it looks at both lanes in order
        }
      }
    }
    indexes.values().forEach(index -> index.pause(lane));
  }

  void acknowledged(Lane lane, long from, long to) {
    if (plain != null) {
      plain.acknowledged(lane, from, to);
    }
    for (View view : matching()) {
      view.acknowledged(lane, from, to);
    }
  }

  void back(Lane lane, long sequence, long count) {
    for (View view : matching) {
      view.back(lane, sequence, count);
    }
  }

  void changed(View view) {
    if (view == plain) {
      return;
    }
    if (view.matches() > 0) {
      matching.add(view);
    } else {
      matching.remove(view);
    }
  }

  /** What nobody could read may be read again. */
  void lookAgain(Cursor cursor, long from) {
    if (plain != null) {
      plain.lookAgain(cursor.lane, from);
    }
    views.values().forEach(view -> view.lookAgain(cursor.lane, from));
    recent.values().forEach(view -> view.lookAgain(cursor.lane, from));
    indexes.values().forEach(index -> index.restart(cursor, arrivals(cursor.lane)));
    lagging = true;
  }

  void clear() {
    if (plain != null) {
      plain.clear();
      plain = null;
    }
    views.values().forEach(View::clear);
    views.clear();
    recent.values().forEach(View::clear);
    recent.clear();
    others.clear();
    indexes.clear();
    matching.clear();
    arrivals.clear();
  }
}

package io.lightmq.core.delivery;

import io.lightmq.core.destination.Lane;
import io.lightmq.core.destination.Location;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.destination.UnloggedLane;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.storage.journal.Window;
import io.lightmq.core.storage.segment.Origin;
import io.lightmq.wire.entry.Entry;
import io.lightmq.wire.entry.SequenceRange;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One delivery in the making: which messages, and where their bytes are in memory. Measured first,
 * then copied into a buffer of just that size. Reused; bounded by one pull.
 */
@OwnedBy("shard")
final class Gather {
  /** Messages as consecutive sequences. */
  private @Nullable Lane[] lanes = new Lane[16];

  private long[] froms = new long[16];
  private int[] counts = new int[16];
  private int ranges;

  /** Bytes: of the window from an offset on, or of an unlogged entry (length 0) by sequence. */
  private long[] places = new long[16];

  private int[] lengths = new int[16];

  /** The lane of an unlogged entry, or of one that it has taken over; null for all else. */
  private @Nullable Lane[] special = new Lane[16];

  /** The sequence of what was taken over. */
  private long[] sequences = new long[16];

  private int parts;
  private int messages;
  private int bytes;

  void clear() {
    Arrays.fill(lanes, 0, ranges, null);
    ranges = 0;
    Arrays.fill(special, 0, parts, null);
    parts = 0;
    messages = 0;
    bytes = 0;
  }

  int messages() {
    return messages;
  }

  int bytes() {
    return bytes;
  }

  /**
   * The next message lies in the window.
   *
   * @param origin under which name, if its lane has taken it over
   */
  void addWindow(Lane lane, long sequence, long offset, int length, @Nullable Origin origin) {
    if (origin != null) {
      addPart(offset, length, lane, sequence);
    } else if (parts > 0
        && special[parts - 1] == null
        && places[parts - 1] + lengths[parts - 1] == offset) {
      lengths[parts - 1] += length;
    } else {
      addPart(offset, length, null, 0);
    }
    addMessage(lane, sequence);
    bytes += length;
  }

  /** The next message is an unlogged one. */
  void addUnlogged(UnloggedLane lane, long sequence, int length) {
    addPart(sequence, 0, lane, sequence);
    addMessage(lane, sequence);
    bytes += length;
  }

  private void addPart(long place, int length, @Nullable Lane lane, long sequence) {
    if (parts == places.length) {
      places = Arrays.copyOf(places, parts * 2);
      lengths = Arrays.copyOf(lengths, parts * 2);
      special = Arrays.copyOf(special, parts * 2);
      sequences = Arrays.copyOf(sequences, parts * 2);
    }
    special[parts] = lane;
    sequences[parts] = sequence;
    places[parts] = place;
    lengths[parts] = length;
    parts++;
  }

  /** The next message, whose bytes are in the buffer already. */
  void addMessage(Lane lane, long sequence) {
    messages++;
    if (ranges > 0
        && lanes[ranges - 1] == lane
        && froms[ranges - 1] + counts[ranges - 1] == sequence) {
      counts[ranges - 1]++;
      return;
    }
    if (ranges == froms.length) {
      lanes = Arrays.copyOf(lanes, ranges * 2);
      froms = Arrays.copyOf(froms, ranges * 2);
      counts = Arrays.copyOf(counts, ranges * 2);
    }
    lanes[ranges] = lane;
    froms[ranges] = sequence;
    counts[ranges] = 1;
    ranges++;
  }

  /** Gives an entry that was copied from a place of the window the name that it has in its lane. */
  static void place(ByteBuffer entry, Location from, Lane lane, long sequence) {
    if (from.origin() != null) {
      Entry.place(entry, 0, lane.destination().id(), lane.code(), sequence);
    }
  }

  /** Copies all parts, in order. */
  void copy(Window window, ByteBuffer into) {
    for (int i = 0; i < parts; i++) {
      Lane lane = special[i];
      if (lane instanceof UnloggedLane unlogged) {
        unlogged.copyTo(places[i], into);
        continue;
      }
      int at = into.position();
      window.copyTo(places[i], lengths[i], into);
      if (lane != null) {
        Entry.place(into, at, lane.destination().id(), lane.code(), sequences[i]);
      }
    }
  }

  /** Puts the messages into a consumer's holding. */
  void hold(Consumer consumer) {
    for (int i = 0; i < ranges; i++) {
      Lane lane = lanes[i];
      if (lane != null) {
        consumer.holding().add(lane, froms[i], counts[i]);
        consumer.given(lane.code(), froms[i], counts[i]);
      }
    }
  }

  /** The messages, as consecutive sequences. */
  List<SequenceRange> sequences() {
    List<SequenceRange> all = new ArrayList<>(ranges);
    for (int i = 0; i < ranges; i++) {
      Lane lane = lanes[i];
      if (lane != null) {
        all.add(new SequenceRange(lane.code(), froms[i], counts[i]));
      }
    }
    return all;
  }

  /** Which messages were or may have been delivered before. */
  List<Outlet.Seen> seen(Subscription subscription) {
    List<Outlet.Seen> seen = List.of();
    int index = 0;
    for (int i = 0; i < ranges; i++) {
      Lane lane = lanes[i];
      if (lane != null && subscription.anySeen(lane, froms[i], counts[i])) {
        if (seen.isEmpty()) {
          seen = new ArrayList<>();
        }
        addSeen(subscription, lane.code(), froms[i], counts[i], index, seen);
      }
      index += counts[i];
    }
    return seen;
  }

  private static void addSeen(
      Subscription subscription,
      int lane,
      long from,
      int count,
      int firstIndex,
      List<Outlet.Seen> seen) {
    int runStart = 0;
    int runDeliveries = 0;
    for (int i = 0; i <= count; i++) {
      int deliveries = i < count ? subscription.deliveries(lane, from + i) : 0;
      if (deliveries != runDeliveries) {
        if (runDeliveries > 0) {
          addSeen(seen, firstIndex + runStart, i - runStart, runDeliveries);
        }
        runStart = i;
        runDeliveries = deliveries;
      }
    }
  }

  private static void addSeen(List<Outlet.Seen> seen, int index, int count, int deliveries) {
    if (!seen.isEmpty()) {
      Outlet.Seen last = seen.get(seen.size() - 1);
      if (last.index() + last.count() == index && last.deliveries() == deliveries) {
        seen.set(seen.size() - 1, new Outlet.Seen(last.index(), last.count() + count, deliveries));
        return;
      }
    }
    seen.add(new Outlet.Seen(index, count, deliveries));
  }
}

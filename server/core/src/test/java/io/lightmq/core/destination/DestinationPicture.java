package io.lightmq.core.destination;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.StringJoiner;

/**
 * All that records make of a destination, as texts by what they are of: whatever two states that
 * got the same records must agree about. Not in it is what is in no record: unlogged lanes, plain
 * subscriptions, consumers, what is in flight or visible, deliveries, waits; and what nobody who
 * outlives the process needs any more.
 */
public final class DestinationPicture {
  private final Destination destination;
  private final long fromOffset;
  private final Map<String, String> texts = new LinkedHashMap<>();

  private DestinationPicture(Destination destination, long fromOffset) {
    this.destination = destination;
    this.fromOffset = fromOffset;
  }

  /**
   * Takes it.
   *
   * @param fromOffset what lies below in the journal may lie in segments as well; if it is above 0,
   *     nothing is known of the ages of what came before
   */
  public static Map<String, String> of(Destination destination, long fromOffset) {
    DestinationPicture picture = new DestinationPicture(destination, fromOffset);
    picture.take();
    return picture.texts;
  }

  private void put(String what, Object text) {
    texts.put(destination.name() + " " + what, String.valueOf(text));
  }

  private void take() {
    put("id", destination.id());
    put("settings", destination.settings().texts());
    put("was grouped by a record", destination.isGroupedDurably());
    for (DurableLane lane : destination.durableLanes()) {
      if (lane.wasUsed()) {
        take(lane);
      }
    }
    for (Subscription subscription : destination.subscriptions()) {
      if (subscription.kind().isDurable()) {
        take(subscription);
      }
    }
  }

  private void take(DurableLane lane) {
    String of = "lane " + lane.code() + " ";
    long from = destination.firstNeeded(lane);
    put(of + "end", hex(lane.extents.end()));
    put(of + "extents", extents(lane, from));
    put(of + "places", places(lane, from));
    put(of + "expiry blocks", lane.earliestExpiries(from));
    put(of + "set aside", lane.aside.within(lane.code(), from, Long.MAX_VALUE));
    if (fromOffset == 0) {
      put(of + "newest", lane.newestMillis());
      put(of + "ages", lane.ages());
    }
  }

  private static String extents(DurableLane lane, long from) {
    StringJoiner text = new StringJoiner(" ");
    long at = lane.extents.ceiling(from);
    while (lane.exists(at)) {
      long end = lane.extents.extentEnd(at);
      text.add(hex(at) + "-" + hex(end));
      at = lane.extents.ceiling(end);
    }
    return text.toString();
  }

  /** Where each entry lies that is needed; of those in segments only that they are there. */
  private String places(DurableLane lane, long from) {
    StringJoiner text = new StringJoiner(" ");
    Location location = new Location();
    long at = nextNeeded(lane, from);
    while (at < Long.MAX_VALUE) {
      if (!lane.locate(at, location)) {
        text.add(hex(at) + " nowhere");
      } else if (location.piece() == null && location.journalOffset() >= fromOffset) {
        text.add(
            hex(location.firstSequence())
                + "+"
                + location.count()
                + " at "
                + location.journalOffset()
                + "+"
                + location.bytes());
        at = location.firstSequence() + location.count() - 1;
      }
      at = nextNeeded(lane, at + 1);
    }
    return text.toString();
  }

  private long nextNeeded(DurableLane lane, long from) {
    long next = Long.MAX_VALUE;
    for (Subscription each : destination.subscriptions()) {
      long own = each.kind().isDurable() ? each.cursor(lane).nextUnacknowledged(from) : from;
      if (each.kind().isDurable() && lane.exists(own)) {
        next = Math.min(next, own);
      }
    }
    return next;
  }

  private void take(Subscription subscription) {
    String of = "subscription " + subscription.id() + " ";
    put(of + "kind", subscription.kind());
    put(of + "client id", subscription.clientId());
    put(of + "name", subscription.name());
    put(of + "selector", subscription.selectorText());
    put(of + "no-local", subscription.noLocal());
    put(of + "owner", subscription.owner());
    for (DurableLane lane : destination.durableLanes()) {
      if (lane.wasUsed()) {
        take(of + "lane " + lane.code() + " ", subscription.cursor(lane), lane);
      }
    }
    Duplicates duplicates = subscription.duplicates();
    if (duplicates != null) {
      StringJoiner keys = new StringJoiner(" ");
      duplicates.forEachRemembered((key, millis) -> keys.add(key + "@" + millis));
      put(of + "suppresses by", duplicates.suppression());
      put(of + "keys", keys);
    }
  }

  private void take(String of, Cursor cursor, DurableLane lane) {
    long needed = destination.firstNeeded(lane);
    StringJoiner unacknowledged = new StringJoiner(" ");
    StringJoiner attempts = new StringJoiner(" ");
    long at = cursor.firstUnacknowledged();
    while (lane.exists(at)) {
      long first = at;
      for (; cursor.isUnacknowledged(at); at++) {
        if (cursor.attempts(at) > 0) {
          attempts.add(hex(at) + ":" + cursor.attempts(at));
        }
      }
      unacknowledged.add(hex(first) + "+" + (at - first));
      at = cursor.nextUnacknowledged(at);
    }
    put(of + "unacknowledged", unacknowledged);
    put(of + "attempts", attempts);
    put(of + "backlog", cursor.backlog());
    put(of + "touched", ranges(cursor.touched.touched(), needed));
    put(of + "flagged", ranges(cursor.touched.flagged(), needed));
  }

  private static String ranges(SequenceSet sequences, long needed) {
    StringJoiner text = new StringJoiner(" ");
    long at = sequences.nextPresent(needed, Long.MAX_VALUE);
    while (at != Long.MAX_VALUE) {
      long end = sequences.nextAbsent(at);
      text.add(hex(at) + "+" + (end - at));
      at = sequences.nextPresent(end, Long.MAX_VALUE);
    }
    return text.toString();
  }

  private static String hex(long sequence) {
    return Long.toHexString(sequence);
  }
}

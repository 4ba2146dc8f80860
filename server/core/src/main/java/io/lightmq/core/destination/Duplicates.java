package io.lightmq.core.destination;

import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.wire.entry.SequenceRange;
import java.io.DataInput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * What a subscription knows of the keys of its messages, so that none is given out that was
 * acknowledged under the same key, or is in flight under it. The keys of acknowledgements that are
 * records are durable: they come by the record, and by nothing else, so that whoever applies the
 * records knows the same. The keys of messages that are in no record are remembered beside them, as
 * many and for as long, and are lost with the process as these messages are. What is in flight is
 * known here only, with its key, so that the record can carry it.
 *
 * <p>A message whose key is in flight waits: it is in flight to nobody until the first one is
 * settled, and then free again.
 */
@OwnedBy("shard")
public final class Duplicates {
  /** While so many messages wait for others of the same key, nothing is given out. */
  static final int MAX_WAITING = 10_000;

  /** So many messages that were given back keep their keys, for acknowledgements that come late. */
  public static final int MAX_LATE = 10_000;

  /** Stands for a message without a key. */
  private static final UUID NO_KEY = new UUID(0, 0);

  /** What is to be done with a message. */
  public enum Verdict {
    /** It may be given out. */
    NEW,
    /** Its key was acknowledged: it is to be acknowledged too. */
    ACKNOWLEDGED,
    /** Its key is in flight: it waits. */
    IN_FLIGHT
  }

  private record Place(int lane, long sequence) {}

  private final Subscription subscription;
  private Suppression suppression;
  private DuplicateWindow window;
  private DuplicateWindow unrecorded;

  /** The keys of what is in flight, by lane and sequence. */
  private final DuplicateKeysByPlace given = new DuplicateKeysByPlace();

  /** The keys that are in flight, and what waits for each. */
  private final Map<UUID, List<Place>> flying = new HashMap<>();

  /** The keys of what was given back; beyond the limit the oldest sequences are forgotten. */
  private final DuplicateKeysByPlace late = new DuplicateKeysByPlace();

  private int waiting;

  /** What is in flight already has no key. */
  Duplicates(Subscription subscription, Suppression suppression) {
    this.subscription = subscription;
    this.suppression = suppression;
    this.window = new DuplicateWindow(suppression);
    this.unrecorded = new DuplicateWindow(suppression);
  }

  /** Which messages are the same. */
  public Suppression suppression() {
    return suppression;
  }

  void change(Suppression to) {
    if (to.hasKeyOf(suppression)) {
      window.limit(to);
      unrecorded.limit(to);
    } else {
      window = new DuplicateWindow(to);
      unrecorded = new DuplicateWindow(to);
      freeAll();
    }
    suppression = to;
  }

  /** Takes what is in flight as messages without a key. */
  void adopt(int lane, long from, long count) {
    for (long sequence = from; sequence < from + count; sequence++) {
      given.put(lane, sequence, NO_KEY);
    }
  }

  /** Keys that are remembered durably. */
  public int remembered() {
    return window.size();
  }

  /** Whether so many wait that nothing more may be looked at. */
  public boolean isFull() {
    return waiting >= MAX_WAITING;
  }

  // ---- giving out ----

  /**
   * Looks whether a message that was just taken may be given out, and takes it as in flight or as
   * waiting.
   *
   * @param key null if the message has none
   */
  public Verdict give(int lane, long sequence, @Nullable UUID key, long nowMillis) {
    subscription.guard().check();
    if (key == null) {
      given.put(lane, sequence, NO_KEY);
      return Verdict.NEW;
    }
    if (window.contains(key, nowMillis) || unrecorded.contains(key, nowMillis)) {
      return Verdict.ACKNOWLEDGED;
    }
    List<Place> others = flying.get(key);
    if (others != null) {
      others.add(new Place(lane, sequence));
      waiting++;
      return Verdict.IN_FLIGHT;
    }
    flying.put(key, new ArrayList<>(0));
    given.put(lane, sequence, key);
    late.take(lane, sequence, 1);
    return Verdict.NEW;
  }

  /** What was in flight is free again. */
  void returned(int lane, long from, long count) {
    given
        .take(lane, from, count)
        .forEach(
            (sequence, key) -> {
              late.put(lane, sequence, key);
              if (late.size() > MAX_LATE) {
                late.forgetOne();
              }
              free(flying.remove(key));
            });
  }

  /** Messages are acknowledged; their keys come by {@link #remember}, if they count. */
  void acknowledged(int lane, long from, long count) {
    late.take(lane, from, count);
    given.take(lane, from, count).values().forEach(key -> free(flying.remove(key)));
  }

  private void free(@Nullable List<Place> others) {
    if (others != null) {
      waiting -= others.size();
      for (Place each : others) {
        subscription.giveBack(each.lane(), each.sequence(), 1, false);
      }
    }
  }

  /** The subscription's settings have changed: nothing waits any more. */
  void freeAll() {
    List<List<Place>> all = new ArrayList<>(flying.values());
    flying.clear();
    given.setAll(NO_KEY);
    late.clear();
    all.forEach(this::free);
  }

  // ---- acknowledging ----

  /**
   * Which of these messages may be acknowledged: those whose keys are known here. After a start, or
   * when a message was given back long ago, they are not; such a message comes again.
   */
  public List<SequenceRange> known(List<SequenceRange> ranges) {
    subscription.guard().check();
    List<SequenceRange> known = new ArrayList<>(ranges.size());
    for (SequenceRange range : ranges) {
      Set<Long> sequences = late.sequences(range.lane(), range.from(), range.count());
      sequences.removeIf(sequence -> isSuperseded(range.lane(), sequence));
      sequences.addAll(given.sequences(range.lane(), range.from(), range.count()));
      long start = -1;
      long end = -1;
      for (long sequence : sequences) {
        if (sequence != end) {
          if (end > start) {
            known.add(new SequenceRange(range.lane(), start, (int) (end - start)));
          }
          start = sequence;
        }
        end = sequence + 1;
      }
      if (end > start) {
        known.add(new SequenceRange(range.lane(), start, (int) (end - start)));
      }
    }
    return known;
  }

  /** If another message of its key is in flight by now, that one counts. */
  private boolean isSuperseded(int lane, long sequence) {
    UUID key = late.get(lane, sequence);
    return key != null && flying.containsKey(key);
  }

  /** The keys of messages that are about to be acknowledged. */
  public List<UUID> keys(List<SequenceRange> ranges) {
    subscription.guard().check();
    List<UUID> keys = new ArrayList<>();
    for (SequenceRange range : ranges) {
      long end = range.from() + range.count();
      for (long sequence = range.from(); sequence < end; sequence++) {
        UUID key = given.get(range.lane(), sequence);
        key = key == null ? late.get(range.lane(), sequence) : key;
        if (key != null && !key.equals(NO_KEY)) {
          keys.add(key);
        }
      }
    }
    return keys;
  }

  /** Applies the keys of a recorded acknowledgement. */
  void remember(List<UUID> keys, long atMillis) {
    keys.forEach(key -> window.add(key, atMillis));
  }

  /** Takes the keys of acknowledged messages that are in no record. */
  void rememberUnrecorded(List<UUID> keys, long atMillis) {
    keys.forEach(key -> unrecorded.add(key, atMillis));
  }

  /** The keys that it remembers durably now. */
  DuplicatePicture picture() {
    return window.picture(subscription.guard(), subscription.destination().id(), subscription.id());
  }

  /** The same as they are, oldest first. */
  void forEachRemembered(DuplicateWindow.Keys taker) {
    window.forEach(taker);
  }

  void decode(DataInput in) throws IOException {
    window.decode(in);
  }
}

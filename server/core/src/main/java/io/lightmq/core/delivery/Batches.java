package io.lightmq.core.delivery;

import io.lightmq.core.destination.Duplicates;
import io.lightmq.core.destination.DurableLane;
import io.lightmq.core.destination.Lane;
import io.lightmq.core.destination.Location;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.destination.UnloggedLane;
import io.lightmq.core.destination.View;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.storage.journal.Window;
import io.lightmq.wire.entry.Entry;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.UUID;

/**
 * Picks the messages of one delivery after the other and fills its buffer. What is picked is in
 * flight from then on; what has expired or is the consumer's own is given up instead.
 */
@OwnedBy("shard")
final class Batches {
  private static final int CONNECTION_AT = 56;

  /** Messages that one delivery may pass by, given up or waiting for others of their keys. */
  private static final int MAX_PASSED_BY = 256;

  /** Where the next messages are. */
  enum Found {
    /** There are none to give now. */
    NOTHING,
    /** In memory; {@link #deliver(Consumer)} hands them over. */
    GATHERED,
    /** In files; {@link #takeForFetch} takes them. */
    IN_FILES
  }

  private final Window window;
  private final Decisions decisions;
  private final Gather gather = new Gather();
  private final Location location = new Location();
  private final GiveUps giveUps;
  private final DuplicateKeys keys = new DuplicateKeys();
  private ByteBuffer scratch = ByteBuffer.allocate(0);
  private int passedBy;
  private long nowMillis;

  // How far the run at an offset of the window was walked through.
  private long walkedRun = -1;
  private long walkedSequence;
  private long walkedOffset;

  Batches(Window window, Decisions decisions) {
    this.window = window;
    this.decisions = decisions;
    this.giveUps = new GiveUps(decisions);
  }

  void time(long wallMillis) {
    nowMillis = wallMillis;
  }

  /** Gathers the next messages as far as they are in memory, within the consumer's pull. */
  Found gather(Consumer consumer, int most) {
    Subscription subscription = consumer.subscription();
    View view = consumer.view();
    gather.clear();
    passedBy = 0;
    boolean full = isFull(subscription);
    while (!full
        && gather.messages() < most
        && view.next(consumer, most - gather.messages(), decisions)) {
      if (view.lane() instanceof UnloggedLane unlogged) {
        if (unlogged.isInMemory(view.from())) {
          full =
              gatherUnlogged(consumer, unlogged, view.from(), view.count()) || isFull(subscription);
          continue;
        }
        if (gather.messages() > 0) {
          break;
        }
        giveUps.flush();
        return Found.IN_FILES;
      }
      DurableLane durable = (DurableLane) view.lane();
      locate(durable, view.from());
      if (location.piece() == null && window.contains(location.journalOffset())) {
        full = gatherWindow(consumer, durable, view.from(), view.count()) || isFull(subscription);
      } else if (gather.messages() > 0) {
        full = true;
      } else {
        giveUps.flush();
        return Found.IN_FILES;
      }
    }
    giveUps.flush();
    return gather.messages() == 0 ? Found.NOTHING : Found.GATHERED;
  }

  /** Whether the last delivery ended because it had passed by enough, and not for want of more. */
  boolean wasCut() {
    return passedBy >= MAX_PASSED_BY;
  }

  /** Whether so many messages wait for others of their keys that nothing is given out. */
  private static boolean isFull(Subscription subscription) {
    Duplicates duplicates = subscription.duplicates();
    return duplicates != null && duplicates.isFull();
  }

  /** Hands over what was gathered. */
  void deliver(Consumer consumer) {
    Outlet.Buffer buffer = consumer.recipient().outlet().allocate(gather.bytes());
    gather.copy(window, buffer.bytes());
    deliver(consumer, buffer, gather.bytes());
  }

  /**
   * Hands a filled buffer over; to a consumer that acknowledges by pulling only once that is
   * recorded, and without a word on earlier deliveries.
   */
  void deliver(Consumer consumer, Outlet.Buffer buffer, int length) {
    if (consumer.noAcknowledge()) {
      consumer.pending = batch(consumer, List.of(), buffer, length);
      decisions.consume(consumer, gather.sequences());
      return;
    }
    gather.hold(consumer);
    consumer
        .recipient()
        .outlet()
        .deliver(batch(consumer, gather.seen(consumer.subscription()), buffer, length));
  }

  private Outlet.Batch batch(
      Consumer consumer, List<Outlet.Seen> seen, Outlet.Buffer buffer, int length) {
    return new Outlet.Batch(
        consumer.consumerId(), consumer.pullId, gather.messages(), seen, buffer, length);
  }

  private void locate(DurableLane lane, long sequence) {
    locate(lane, sequence, location);
  }

  /** Finds the place of a message that is needed. */
  static void locate(DurableLane lane, long sequence, Location location) {
    if (!lane.locate(sequence, location)) {
      throw new IllegalStateException(
          "sequence %d of destination %d lane %d is needed, but has no place: neither in %d pieces nor in the journal"
              .formatted(sequence, lane.destination().id(), lane.code(), lane.pieces().size()));
    }
  }

  private boolean gatherUnlogged(Consumer consumer, UnloggedLane lane, long from, int count) {
    for (long sequence = from; sequence < from + count && lane.isInMemory(sequence); sequence++) {
      int length = lane.length(sequence);
      if (isOver(consumer, length)) {
        return true;
      }
      consumer.view().take(consumer, lane, sequence, 1);
      if (!gaveUp(
              consumer,
              lane,
              sequence,
              lane.getLong(sequence, Entry.EXPIRY_AT),
              lane.getLong(sequence, CONNECTION_AT))
          && !isSuppressed(consumer, lane, sequence, length)) {
        gather.addUnlogged(lane, sequence, length);
      }
    }
    return false;
  }

  /** Gathers what lies in the located run; the rest of the sequences is found again. */
  private boolean gatherWindow(Consumer consumer, DurableLane lane, long from, int count) {
    long offset = skipTo(from);
    long end = Math.min(from + count, location.firstSequence() + location.count());
    for (long sequence = from; sequence < end; sequence++) {
      int length = window.getInt(offset);
      if (isOver(consumer, length)) {
        return true;
      }
      consumer.view().take(consumer, lane, sequence, 1);
      if (!gaveUp(
              consumer,
              lane,
              sequence,
              window.getLong(offset + Entry.EXPIRY_AT),
              window.getLong(offset + CONNECTION_AT))
          && !isSuppressed(consumer, lane, sequence, offset, length)) {
        gather.addWindow(lane, sequence, offset, length, location.origin());
      }
      offset += length;
      walkedSequence = sequence + 1;
      walkedOffset = offset;
    }
    return false;
  }

  /** The offset of a message in the located run; goes on from where the last walk ended. */
  private long skipTo(long from) {
    long offset = location.journalOffset();
    long sequence = location.firstSequence();
    if (walkedRun == offset && walkedSequence > sequence && walkedSequence <= from) {
      offset = walkedOffset;
      sequence = walkedSequence;
    }
    for (; sequence < from; sequence++) {
      offset += window.getInt(offset);
    }
    walkedRun = location.journalOffset();
    walkedSequence = from;
    walkedOffset = offset;
    return offset;
  }

  private boolean isOver(Consumer consumer, int length) {
    return wasCut() || (gather.messages() > 0 && gather.bytes() + (long) length > consumer.bytes);
  }

  /** Gives up a taken message that must not be delivered. */
  private boolean gaveUp(
      Consumer consumer, Lane lane, long sequence, long expiryMillis, long connectionId) {
    Subscription subscription = consumer.subscription();
    Decisions.Reason reason = null;
    if (expiryMillis != 0 && expiryMillis <= nowMillis) {
      reason = Decisions.Reason.EXPIRED;
    } else if (subscription.isExhausted(lane.code(), sequence)) {
      reason = Decisions.Reason.EXHAUSTED;
    } else if (subscription.noLocal()
        && connectionId == consumer.recipient().outlet().connectionId()) {
      reason = Decisions.Reason.LOCAL;
    }
    if (reason == null) {
      return false;
    }
    passedBy++;
    giveUps.add(subscription, lane.code(), sequence, reason);
    return true;
  }

  private boolean isSuppressed(Consumer consumer, UnloggedLane lane, long sequence, int length) {
    if (consumer.subscription().duplicates() == null) {
      return false;
    }
    ByteBuffer entry = scratch(length);
    lane.copyTo(sequence, entry);
    return isSuppressed(consumer, lane, sequence, entry, 0);
  }

  private boolean isSuppressed(
      Consumer consumer, Lane lane, long sequence, long offset, int length) {
    if (consumer.subscription().duplicates() == null) {
      return false;
    }
    ByteBuffer entry = scratch(length);
    window.copyTo(offset, length, entry);
    return isSuppressed(consumer, lane, sequence, entry, 0);
  }

  private ByteBuffer scratch(int length) {
    if (scratch.capacity() < length) {
      scratch = ByteBuffer.allocate(Math.max(length, 4096));
    }
    return scratch.clear();
  }

  /** Gives up, or lets wait, a taken message whose key was acknowledged or is in flight. */
  private boolean isSuppressed(
      Consumer consumer, Lane lane, long sequence, ByteBuffer entries, int at) {
    Subscription subscription = consumer.subscription();
    Duplicates duplicates = subscription.duplicates();
    if (duplicates == null) {
      return false;
    }
    UUID key = keys.of(duplicates.suppression(), entries, at);
    Duplicates.Verdict verdict = duplicates.give(lane.code(), sequence, key, nowMillis);
    if (verdict == Duplicates.Verdict.ACKNOWLEDGED) {
      giveUps.add(subscription, lane.code(), sequence, Decisions.Reason.SUPPRESSED);
    }
    if (verdict == Duplicates.Verdict.NEW) {
      return false;
    }
    passedBy++;
    subscription.toNobody(lane.code(), sequence, 1);
    return true;
  }

  // ---- from files ----

  /** Takes what the view gives next of the lane that it is at, all of it outside memory. */
  Fetch takeForFetch(Consumer consumer, int most, boolean again) {
    View view = consumer.view();
    Fetch fetch = new Fetch(consumer, view.lane(), consumer.bytes, again);
    while (fetch.messages < most
        && fetch.estimatedBytes < consumer.bytes
        && view.next(consumer, most - fetch.messages, decisions)
        && view.lane() == fetch.lane) {
      if (!addPart(fetch, view.from(), view.count())) {
        break;
      }
      Fetch.Part part = fetch.parts.get(fetch.parts.size() - 1);
      view.take(consumer, fetch.lane, part.from(), part.count());
    }
    return fetch;
  }

  /** Adds the first of consecutive messages to a fetch; false if they are in memory. */
  boolean addPart(Fetch fetch, long from, int count) {
    if (fetch.lane instanceof UnloggedLane unlogged) {
      return !unlogged.isInMemory(from) && addOverflow(fetch, unlogged.place(from), from, count);
    }
    locate((DurableLane) fetch.lane, from);
    return addDurable(fetch, from, count, fetch.maxBytes);
  }

  static boolean addOverflow(Fetch fetch, UnloggedLane.Place place, long from, int count) {
    long each = Math.max(1, place.bytes() / place.count());
    long fits = Math.max(1, (fetch.maxBytes - fetch.estimatedBytes) / each + 1);
    int some = (int) Math.min(Math.min(count, place.last() - from + 1), fits);
    fetch.add(Fetch.InOverflow.of(from, some, place), each * some);
    return true;
  }

  private boolean addDurable(Fetch fetch, long from, int count, int maxBytes) {
    if (location.piece() != null) {
      long each = Math.max(1, location.piece().bytes() / location.piece().count());
      long last = Math.min(from + count - 1, location.piece().lastSequence());
      long fits = Math.max(1, (maxBytes - fetch.estimatedBytes) / each + 1);
      int some = (int) Math.min(last - from + 1, fits);
      fetch.add(new Fetch.InPiece(from, some, location.piece()), each * some);
      return true;
    }
    if (window.contains(location.journalOffset())) {
      return false;
    }
    long end = Math.min(from + count, location.firstSequence() + location.count());
    int some = (int) (end - from);
    fetch.add(
        Fetch.InJournal.of(from, some, location),
        (long) location.bytes() * some / location.count());
    return true;
  }

  /** What a fetch has taken is free again, uncounted, unless it was acknowledged meanwhile. */
  static void free(Fetch fetch) {
    Subscription subscription = fetch.consumer.subscription();
    if (!subscription.isClosed()) {
      for (Fetch.Part part : fetch.parts) {
        free(subscription, fetch.lane.code(), part.from(), part.count());
      }
    }
  }

  private static void free(Subscription subscription, int lane, long from, int count) {
    for (long sequence = from; sequence < from + count; sequence++) {
      if (subscription.isInFlight(lane, sequence)) {
        subscription.giveBack(lane, sequence, 1, false);
      }
    }
  }

  /**
   * Moves together what of a fetch is to be delivered under the consumer's pull of now; the rest is
   * free again or given up. Returns its bytes.
   */
  int keepWanted(Fetch fetch, ByteBuffer bytes) {
    Consumer consumer = fetch.consumer;
    Subscription subscription = consumer.subscription();
    Lane lane = fetch.lane;
    gather.clear();
    int at = 0;
    int kept = 0;
    int index = 0;
    boolean full = false;
    for (Fetch.Part part : fetch.parts) {
      for (long sequence = part.from(); sequence < part.from() + part.count(); sequence++) {
        boolean mine = subscription.isInFlight(lane.code(), sequence);
        if (index++ >= fetch.taken) {
          if (mine) {
            subscription.giveBack(lane.code(), sequence, 1, false);
          }
          continue;
        }
        int length = Entry.length(bytes, at);
        full |=
            gather.messages() == consumer.messages
                || (gather.messages() > 0 && kept + (long) length > consumer.bytes);
        if (mine && full) {
          subscription.giveBack(lane.code(), sequence, 1, false);
        } else if (mine
            && !gaveUp(
                consumer,
                lane,
                sequence,
                Entry.expiryMillis(bytes, at),
                Entry.connectionId(bytes, at))
            && !isSuppressed(consumer, lane, sequence, bytes, at)) {
          if (kept != at) {
            bytes.put(kept, bytes, at, length);
          }
          gather.addMessage(lane, sequence);
          kept += length;
        }
        at += length;
      }
    }
    giveUps.flush();
    return kept;
  }
}

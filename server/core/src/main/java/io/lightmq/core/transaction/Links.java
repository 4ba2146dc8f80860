package io.lightmq.core.transaction;

import io.lightmq.core.record.FieldReader;
import io.lightmq.core.record.FieldWriter;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.wire.entry.FaultCode;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * All links of a shard, at most {@link #MAX_LINKS}, and their part of a snapshot, which is encoded
 * in slices: a link that is about to change before its turn is encoded first.
 */
@OwnedBy("shard")
public final class Links {
  /** The most links kept; beyond it the one unused for longest is closed. */
  public static final int MAX_LINKS = 100_000;

  /** An unused link is closed after so long. */
  public static final long UNUSED_MILLIS = 24L * 3600 * 1000;

  /** In order of use, as far as this start knows. */
  private final LinkedHashMap<UUID, Link> links = new LinkedHashMap<>(64, 0.75f, true);

  private @Nullable FieldWriter snapshot;
  private @Nullable Iterator<UUID> rest;
  private long slice;
  private int encoded;
  private long outcomeBytes;

  /** What a link takes in the heap without what it keeps, as measured and a little more. */
  public static final int LINK_BYTES = 256;

  private static final int OUTCOME_BYTES = 160;

  /** What a kept refusal takes in the heap. */
  public static long heapBytes(String text) {
    return OUTCOME_BYTES + 2L * text.length();
  }

  /** The heap that all take with what they keep. */
  public long heapBytes() {
    return (long) LINK_BYTES * links.size() + outcomeBytes;
  }

  /** How many there are. */
  public int size() {
    return links.size();
  }

  /** A link, or null. */
  public @Nullable Link find(UUID id) {
    return links.get(id);
  }

  /**
   * A link to close now: unused for a day, or the least used when there are too many; null if none.
   */
  public @Nullable UUID idle(long nowMillis) {
    Iterator<Map.Entry<UUID, Link>> oldest = links.entrySet().iterator();
    if (!oldest.hasNext()) {
      return null;
    }
    Link link = oldest.next().getValue();
    boolean unused = nowMillis - link.lastUsedMillis() > UNUSED_MILLIS;
    return unused || links.size() > MAX_LINKS ? link.id() : null;
  }

  /** Counts all links as used now: the time since a start is all that is known of their use. */
  public void allUsed(long nowMillis) {
    links.values().forEach(link -> link.used(nowMillis));
  }

  // ---- apply ----

  /** Applies an attach; creates the link. */
  public Link attached(UUID id, long answersFrom) {
    Link link = touch(id);
    outcomeBytes -= link.outcomeBytes();
    link.attach(answersFrom);
    outcomeBytes += link.outcomeBytes();
    return link;
  }

  /** Applies a taken number. */
  public void taken(UUID id, long number) {
    touch(id).take(number);
  }

  /** Applies a refusal. */
  public void refused(UUID id, long number, FaultCode code, String text) {
    touch(id).refuse(new Outcome(number, code, text));
    outcomeBytes += heapBytes(text);
  }

  /** Applies a close. */
  public void closed(UUID id) {
    Link link = links.get(id);
    if (link != null) {
      beforeChange(link);
      links.remove(id);
      outcomeBytes -= link.outcomeBytes();
    }
  }

  private Link touch(UUID id) {
    Link link = links.get(id);
    if (link == null) {
      link = new Link(id);
      link.encoded(slice);
      links.put(id, link);
    } else {
      beforeChange(link);
    }
    return link;
  }

  private void beforeChange(Link link) {
    if (snapshot != null && link.slice() != slice) {
      link.encode(snapshot);
      link.encoded(slice);
      encoded++;
    }
  }

  // ---- snapshot ----

  /** Begins a snapshot of the state as it is now. */
  public void beginSnapshot() {
    snapshot = new FieldWriter(4096);
    slice++;
    encoded = 0;
    rest = List.copyOf(links.keySet()).iterator();
  }

  /** Encodes up to so many links; whether none is left. */
  public boolean encodeSome(int most) {
    if (snapshot == null || rest == null) {
      throw new IllegalStateException("no snapshot was begun");
    }
    for (int i = 0; i < most && rest.hasNext(); i++) {
      UUID id = rest.next();
      Link link = links.get(id);
      if (link != null) {
        beforeChange(link);
      }
    }
    return !rest.hasNext();
  }

  /** Ends the snapshot: the count and the encoded links. */
  public void endSnapshot(FieldWriter into) {
    if (snapshot == null) {
      throw new IllegalStateException("no snapshot was begun");
    }
    into.putVarint(encoded);
    into.putBytes(snapshot.view());
    snapshot = null;
    rest = null;
  }

  /** Gives a begun snapshot up. */
  public void abandonSnapshot() {
    snapshot = null;
    rest = null;
  }

  /**
   * Reads what {@link #endSnapshot} wrote, into an empty table.
   *
   * @param version of the state in the snapshot, 3 or 4
   */
  public void decode(FieldReader in, int version) {
    int count = in.readCount(MAX_LINKS + 1, 18);
    for (int i = 0; i < count; i++) {
      Link link = Link.decode(in, version);
      links.put(link.id(), link);
      outcomeBytes += link.outcomeBytes();
    }
  }
}

package io.lightmq.core.transaction;

import io.lightmq.core.record.FieldReader;
import io.lightmq.core.record.FieldWriter;
import io.lightmq.core.record.ShardRecord.LinkAttached;
import io.lightmq.core.runtime.Guard;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.wire.entry.FaultCode;
import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * All links of a shard, {@link #MAX_LINKS} are made at most, and their part of a snapshot, which is
 * encoded in slices and rising by id: a link that is about to change before its turn is encoded
 * first, and put where it belongs when its turn comes.
 */
@OwnedBy("shard")
public final class Links {
  /** The most links kept; above it no new one is made, and none that is kept is given up. */
  public static final int MAX_LINKS = 100_000;

  /** The most of one user, so that no user takes the place of all others. */
  public static final int MAX_OF_USER = MAX_LINKS / 2;

  /** An unused link is closed after so long. */
  public static final long UNUSED_MILLIS = 24L * 3600 * 1000;

  private final Guard guard;

  /** In order of use, as far as this start knows. */
  private final LinkedHashMap<UUID, Link> links = new LinkedHashMap<>(64, 0.75f, true);

  /** The same by id, so that a snapshot is the same whoever was looked up before it. */
  private final NavigableMap<UUID, Link> inOrder = new TreeMap<>();

  /** How many each user has. */
  private final Map<String, Integer> byOwner = new HashMap<>();

  private @Nullable FieldWriter snapshot;

  /** The last one in it; null before the first. */
  private @Nullable UUID lastEncoded;

  /** What is encoded before its turn, since the link was about to change. */
  private final NavigableMap<UUID, ByteBuffer> early = new TreeMap<>();

  private long slice;
  private int encoded;
  private long outcomeBytes;

  /** What of it is kept for the links of each user. */
  private final Map<String, Long> outcomeBytesByOwner = new HashMap<>();

  /** Without links; its owner, and that of all that come, is who may touch it. */
  public Links(Guard guard) {
    this.guard = guard;
  }

  /** What a link takes in the heap without what it keeps, as measured and a little more. */
  public static final int LINK_BYTES = 304;

  private static final int OUTCOME_BYTES = 160;

  /** What a kept refusal takes in the heap. */
  public static long heapBytes(String text) {
    return OUTCOME_BYTES + 2L * text.length();
  }

  /** The heap that all take with what they keep. */
  public long heapBytes() {
    return (long) LINK_BYTES * links.size() + outcomeBytes;
  }

  /** The heap that kept refusals take. */
  public long outcomeBytes() {
    return outcomeBytes;
  }

  /** The heap that the refusals kept for one user's links take; null is nobody. */
  public long outcomeBytesOf(@Nullable String user) {
    return user == null ? 0 : outcomeBytesByOwner.getOrDefault(user, 0L);
  }

  private void keeps(Link link, long moreBytes) {
    outcomeBytes += moreBytes;
    String owner = link.owner();
    if (owner != null && moreBytes != 0) {
      long all = outcomeBytesByOwner.merge(owner, moreBytes, Long::sum);
      if (all == 0) {
        outcomeBytesByOwner.remove(owner);
      }
    }
  }

  /** How many there are. */
  public int size() {
    return links.size();
  }

  /** A link that is used, or null. */
  public @Nullable Link find(UUID id) {
    guard.check();
    return links.get(id);
  }

  /** All of them; to look at one here is no use of it. */
  public Collection<Link> all() {
    return Collections.unmodifiableCollection(links.values());
  }

  /** How many each user has; those of nobody are not among them. */
  public Map<String, Integer> owners() {
    return Collections.unmodifiableMap(byOwner);
  }

  /**
   * Why a user can have no further link, null if it can.
   *
   * @param manages whether it manages the broker: then it gets in whatever others have left behind,
   *     since its connections are few
   */
  public @Nullable String obstacle(String user, boolean manages) {
    int own = byOwner.getOrDefault(user, 0);
    if (manages || (links.size() < MAX_LINKS && own < MAX_OF_USER)) {
      return null;
    }
    return "the broker keeps "
        + links.size()
        + " links of clients, "
        + own
        + " of them of this user; it takes "
        + MAX_LINKS
        + ", "
        + MAX_OF_USER
        + " of one user; a link ends when its connection is closed, and else when it was not used"
        + " for a day, or by bin/lightmq link drop";
  }

  /** A link to close now, since it was not used for a day; null if there is none. */
  public @Nullable UUID idle(long nowMillis) {
    Iterator<Map.Entry<UUID, Link>> oldest = links.entrySet().iterator();
    if (!oldest.hasNext()) {
      return null;
    }
    Link link = oldest.next().getValue();
    return nowMillis - link.lastUsedMillis() > UNUSED_MILLIS ? link.id() : null;
  }

  /**
   * Counts all links as used now: the time since a start is all that is known of their use.
   *
   * @param clean whether nothing of their numbers was lost with the process before
   */
  public void started(long nowMillis, boolean clean) {
    guard.check();
    for (Link link : links.values()) {
      link.used(nowMillis);
      link.started(clean);
    }
  }

  // ---- apply ----

  /** Applies an attach; creates the link, and says whose it is if that is not known. */
  public Link attached(LinkAttached record) {
    guard.check();
    Link link = touch(record.link(), record.epoch());
    keeps(link, -link.outcomeBytes());
    if (link.owner() == null && record.owner() != null) {
      link.owner(record.owner());
      byOwner.merge(record.owner(), 1, Integer::sum);
    }
    link.attach(record.answersFrom(), record.epoch());
    keeps(link, link.outcomeBytes());
    return link;
  }

  /** Applies a taken number. */
  public void taken(UUID id, long number) {
    guard.check();
    touch(id, 0).take(number);
  }

  /** A number is taken by a run that is in no record. */
  public void takenUnlogged(UUID id, long number) {
    guard.check();
    touch(id, 0).takeUnlogged(number);
  }

  /** Applies a refusal. */
  public void refused(UUID id, long number, FaultCode code, String text) {
    guard.check();
    Link link = touch(id, 0);
    keeps(link, -link.outcomeBytes());
    link.refuse(new Outcome(number, code, text));
    keeps(link, link.outcomeBytes());
  }

  /** Applies a close. */
  public void closed(UUID id) {
    guard.check();
    Link link = links.get(id);
    if (link != null) {
      beforeChange(link);
      links.remove(id);
      inOrder.remove(id);
      link.close();
      String owner = link.owner();
      if (owner != null) {
        byOwner.computeIfPresent(owner, (user, count) -> count == 1 ? null : count - 1);
      }
      keeps(link, -link.outcomeBytes());
    }
  }

  private Link touch(UUID id, long since) {
    Link link = links.get(id);
    if (link == null) {
      link = new Link(id, since, guard);
      link.encoded(slice);
      links.put(id, link);
      inOrder.put(id, link);
    } else {
      beforeChange(link);
    }
    return link;
  }

  private void beforeChange(Link link) {
    if (snapshot != null && link.slice() != slice) {
      FieldWriter encodedLink = new FieldWriter(64);
      link.encode(encodedLink);
      link.encoded(slice);
      early.put(link.id(), encodedLink.copy());
    }
  }

  // ---- snapshot ----

  /** Begins a snapshot of the state as it is now. */
  public void beginSnapshot() {
    guard.check();
    snapshot = new FieldWriter(4096);
    lastEncoded = null;
    early.clear();
    slice++;
    encoded = 0;
  }

  /** Encodes up to so many links, rising by id; whether none is left. */
  public boolean encodeSome(int most) {
    guard.check();
    if (snapshot == null) {
      throw new IllegalStateException("no snapshot was begun");
    }
    for (int i = 0; i < most; i++) {
      Map.Entry<UUID, Link> next =
          lastEncoded == null ? inOrder.firstEntry() : inOrder.higherEntry(lastEncoded);
      Map.Entry<UUID, ByteBuffer> first = early.firstEntry();
      if (first != null && (next == null || first.getKey().compareTo(next.getKey()) <= 0)) {
        early.remove(first.getKey());
        snapshot.putBytes(first.getValue());
        lastEncoded = first.getKey();
        encoded++;
      } else if (next != null) {
        encode(next.getValue(), snapshot);
        lastEncoded = next.getKey();
      } else {
        return true;
      }
    }
    return false;
  }

  private void encode(Link link, FieldWriter into) {
    if (link.slice() != slice) { // else it has come since
      link.encode(into);
      link.encoded(slice);
      encoded++;
    }
  }

  /** Ends the snapshot: the count and the encoded links. */
  public void endSnapshot(FieldWriter into) {
    guard.check();
    if (snapshot == null) {
      throw new IllegalStateException("no snapshot was begun");
    }
    into.putVarint(encoded);
    into.putBytes(snapshot.view());
    snapshot = null;
    early.clear();
  }

  /** Gives a begun snapshot up. */
  public void abandonSnapshot() {
    guard.check();
    snapshot = null;
    early.clear();
  }

  /**
   * Reads what {@link #endSnapshot} wrote, into an empty table.
   *
   * @param version of the state in the snapshot, 3 or 4
   */
  public void decode(FieldReader in, int version) {
    guard.check();
    // Brokers of before could have any number; what is there is read, and no more is taken in.
    int count = in.readCount(Integer.MAX_VALUE, 18);
    for (int i = 0; i < count; i++) {
      Link link = Link.decode(in, version, guard);
      links.put(link.id(), link);
      inOrder.put(link.id(), link);
      if (link.owner() != null) {
        byOwner.merge(link.owner(), 1, Integer::sum);
      }
      keeps(link, link.outcomeBytes());
    }
  }
}

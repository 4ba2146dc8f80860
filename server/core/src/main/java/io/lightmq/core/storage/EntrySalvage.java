package io.lightmq.core.storage;

import io.lightmq.wire.entry.Entry;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * What can still be read of entries that lie back to back with damage among them. Sectors that the
 * device does not give are taken as zeros. A damaged length would lead past messages, so behind
 * damage the next entry is looked for byte by byte.
 *
 * <p>A client may have written a message whose body looks like entries. So a place counts only if
 * its header fits: destination, lane, holder, a length that there is room for, and a sequence that
 * leaves one for what is damaged before it. If the CRC of the damaged entry is right up to one of
 * them, only its length is damaged, and it is whole again. Else the next one is, in this order: the
 * one to which the damaged entry leads if headers lead on from there up to the end; the first whole
 * one from which they do; the first whole one. So a body is taken for entries only if the header of
 * its own message is lost, and either sequences are missing before it or there is more damage
 * behind it. Of the last two kinds {@value #MOST_TRIES} places are looked at, so that a body cannot
 * make this slow.
 */
public final class EntrySalvage {
  /** Read at a time, so that good bytes are not read in thousands of steps. */
  private static final int BLOCK = 4096;

  /** Read at a time where a block does not come. */
  private static final int SECTOR = 512;

  /** So many places with a fitting header are looked at behind each damage. */
  private static final int MOST_TRIES = 64;

  private static final int LENGTH_AT = 0;

  /** An entry that is whole. */
  public record Intact(long sequence, int at, int length) {}

  /**
   * Which entries are looked for.
   *
   * @param first the lowest sequence that they may have
   * @param last the highest
   */
  public record Sought(
      long destinationId, int lane, long holderId, long first, long last, int maxEntryBytes) {}

  /** Where the bytes come from. */
  @FunctionalInterface
  public interface Source {
    /** Fills the buffer from a place on. */
    void read(long place, ByteBuffer into) throws IOException;
  }

  private final ByteBuffer bytes;
  private final int limit;
  private final Sought sought;
  private final List<Intact> found = new ArrayList<>();

  /** The sequence of what was found last. */
  private long previous;

  /** Where what was found last ends, or where the next begins. */
  private int end;

  /** Places from which headers lead from entry to entry up to the end; null until damage is met. */
  private @Nullable BitSet chains;

  private EntrySalvage(ByteBuffer bytes, Sought sought) {
    this.bytes = bytes;
    this.limit = bytes.limit();
    this.sought = sought;
    this.previous = sought.first() - 1;
  }

  /**
   * Bytes from a place on, with zeros where the device gives none.
   *
   * @param origin the place with which the file begins
   * @throws IOException if it is the file that cannot be read, which says nothing of its bytes
   */
  public static ByteBuffer read(Source source, long place, int count, long origin)
      throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(count);
    read(source, place, bytes, origin, BLOCK);
    return bytes;
  }

  private static void read(Source source, long place, ByteBuffer bytes, long origin, int step)
      throws IOException {
    int at = 0;
    while (at < bytes.limit()) {
      int untilEdge = (int) (step - (place + at - origin) % step);
      int length = Math.min(untilEdge, bytes.limit() - at);
      try {
        source.read(place + at, bytes.slice(at, length));
      } catch (IOException e) {
        if (ReadFailures.isOfTheFile(e) || e instanceof ExplainedFailure) {
          throw e;
        }
        if (step > SECTOR) {
          read(source, place + at, bytes.slice(at, length), origin, SECTOR);
        } else {
          for (int i = at; i < at + length; i++) {
            bytes.put(i, (byte) 0);
          }
        }
      }
      at += length;
    }
  }

  /**
   * The whole entries in bytes of one's own, rising; a length that is proven is set right there.
   */
  public static List<Intact> find(ByteBuffer bytes, Sought sought) {
    EntrySalvage salvage = new EntrySalvage(bytes, sought);
    salvage.find();
    return salvage.found;
  }

  private void find() {
    while (limit - end >= Entry.HEADER_BYTES) {
      if (isIntact(end, previous + 1, sought.last(), limit)) {
        take();
      } else {
        passDamage();
      }
    }
  }

  private void take() {
    previous = Entry.sequence(bytes, end);
    int length = Entry.length(bytes, end);
    found.add(new Intact(previous, end, length));
    end += length;
  }

  /** Goes to the next whole entry, or takes the one that begins here if its length alone is bad. */
  private void passDamage() {
    if (provesItsLength()) {
      take();
    } else if (leadsToTheEnd(end)) {
      previous = Entry.sequence(bytes, end); // lost, but its header says where the next one is
      end += Entry.length(bytes, end);
    } else {
      end = next();
    }
  }

  /**
   * Whether the CRC of what begins here is right if it ends where another entry begins, or all
   * does: then its length is set to that.
   */
  private boolean provesItsLength() {
    int from = end + Entry.CHECKED_FROM;
    if (!isSought(end, previous + 1, sought.last())) {
      return false;
    }
    int stored = Entry.length(bytes, end);
    long sequence = Entry.sequence(bytes, end);
    int most = (int) Math.min(limit, (long) end + sought.maxEntryBytes());
    CRC32C crc = new CRC32C();
    for (int at = end + Entry.HEADER_BYTES; at <= most; at++) {
      if (at == limit || fits(at, sequence + 1, sought.last(), limit)) {
        crc.update(bytes.slice(from, at - from));
        from = at;
        if ((int) crc.getValue() == Entry.crc(bytes, end)) {
          bytes.putInt(end + LENGTH_AT, at - end);
          if (Entry.isIntact(bytes, end, at)) {
            return true;
          }
        }
      }
    }
    bytes.putInt(end + LENGTH_AT, stored);
    return false;
  }

  /** Where the next whole entry begins; the end if there is none. */
  private int next() {
    int chain = nextChain();
    long last = chain == limit ? sought.last() : Entry.sequence(bytes, chain) - 1;
    int tries = last >= previous + 2 ? MOST_TRIES : 0;
    for (int at = end + Entry.HEADER_BYTES; at + Entry.HEADER_BYTES <= chain && tries > 0; at++) {
      if (fits(at, previous + 2, last, chain)) {
        tries--;
        if (Entry.isIntact(bytes, at, at + Entry.length(bytes, at))) {
          return at;
        }
      }
    }
    return chain;
  }

  /** The first whole entry behind this place whose chain reaches the end; the end if none does. */
  private int nextChain() {
    BitSet all = chains();
    int tries = MOST_TRIES;
    for (int at = all.nextSetBit(end + Entry.HEADER_BYTES);
        at >= 0 && tries > 0;
        at = all.nextSetBit(at + 1)) {
      if (fits(at, previous + 2, sought.last(), limit)) {
        tries--;
        if (Entry.isIntact(bytes, at, at + Entry.length(bytes, at))) {
          return at;
        }
      }
    }
    return limit;
  }

  private boolean leadsToTheEnd(int at) {
    return chains().get(at) && Entry.sequence(bytes, at) > previous;
  }

  private BitSet chains() {
    BitSet all = chains;
    if (all == null) {
      all = findChains();
      chains = all;
    }
    return all;
  }

  private BitSet findChains() {
    BitSet all = new BitSet(limit);
    for (int at = limit - Entry.HEADER_BYTES; at >= end; at--) {
      if (fits(at, sought.first(), sought.last(), limit)) {
        int next = at + Entry.length(bytes, at);
        all.set(
            at,
            next == limit
                || (all.get(next) && Entry.sequence(bytes, next) > Entry.sequence(bytes, at)));
      }
    }
    return all;
  }

  private boolean isIntact(int at, long first, long last, int until) {
    return fits(at, first, last, until) && Entry.isIntact(bytes, at, at + Entry.length(bytes, at));
  }

  /** Whether a header is that of an entry which is looked for; its CRC is not asked. */
  private boolean fits(int at, long first, long last, int until) {
    if (until - at < Entry.HEADER_BYTES) {
      return false;
    }
    int length = Entry.length(bytes, at);
    return length >= Entry.HEADER_BYTES
        && length <= until - at
        && length <= sought.maxEntryBytes()
        && isSought(at, first, last);
  }

  private boolean isSought(int at, long first, long last) {
    long sequence = Entry.sequence(bytes, at);
    return sequence >= first
        && sequence <= last
        && Entry.destinationId(bytes, at) == sought.destinationId()
        && Entry.lane(bytes, at) == sought.lane()
        && Entry.holderId(bytes, at) == sought.holderId();
  }
}

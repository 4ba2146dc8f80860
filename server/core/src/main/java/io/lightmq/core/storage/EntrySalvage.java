package io.lightmq.core.storage;

import io.lightmq.wire.entry.Crc;
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
 * behind it. However much is damaged, every whole entry is found whose chain reaches the end.
 *
 * <p>The work is linear in the bytes, whatever is in them. Each place that looks like a header is
 * checked once at most, by reading {@value SpanCrc#MOST_BYTES} bytes. The end of an entry whose
 * length may be damaged is looked for up to where one would go on without it; and beyond that as
 * long as this takes {@value #LOOKS} times the bytes of the span, for all entries together. Only
 * where so much is damaged may an entry be lost that has nothing wrong but its length, if that
 * leads into its own body.
 */
public final class EntrySalvage {
  /** Read at a time, so that good bytes are not read in thousands of steps. */
  private static final int BLOCK = 4096;

  /** Read at a time where a block does not come. */
  private static final int SECTOR = 512;

  /** So often the bytes of the span are read again in search of the ends of damaged entries. */
  static final int LOOKS = 64;

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

  /** What damage makes necessary; null until some is met. */
  private @Nullable Places places;

  /** Bytes that may still be read beyond where one would go on. */
  private long looksLeft;

  /** Bytes that were read to compare a check sum. */
  private long read;

  private EntrySalvage(ByteBuffer bytes, Sought sought) {
    this.bytes = bytes;
    this.limit = bytes.limit();
    this.sought = sought;
    this.previous = sought.first() - 1;
    this.looksLeft = (long) LOOKS * limit;
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

  /** How many bytes {@link #find} reads to compare check sums; for tests. */
  static long readToFind(ByteBuffer bytes, Sought sought) {
    EntrySalvage salvage = new EntrySalvage(bytes, sought);
    salvage.find();
    return salvage.read;
  }

  private void find() {
    while (limit - end >= Entry.HEADER_BYTES) {
      if (isIntact(end)) {
        take(Entry.length(bytes, end));
      } else {
        passDamage();
      }
    }
    for (Intact each : found) {
      bytes.putInt(each.at() + LENGTH_AT, each.length());
    }
  }

  private boolean isIntact(int at) {
    if (!fits(at, previous + 1, sought.last(), limit)) {
      return false;
    }
    int length = Entry.length(bytes, at);
    read += length;
    return Entry.isFramed(bytes, at, length)
        && Crc.of(bytes, at + Entry.CHECKED_FROM, at + length) == Entry.crc(bytes, at);
  }

  private void take(int length) {
    previous = Entry.sequence(bytes, end);
    found.add(new Intact(previous, end, length));
    end += length;
  }

  /** Goes to the next whole entry, or takes the one that begins here if its length alone is bad. */
  private void passDamage() {
    Places all = places;
    if (all == null) {
      all = new Places();
      places = all;
    }
    boolean leads = all.leadToTheEnd.get(end) && Entry.sequence(bytes, end) > previous;
    int next = leads ? end + Entry.length(bytes, end) : all.next();
    int proven = provenLength(all, next);
    if (proven > 0) {
      take(proven);
      return;
    }
    if (leads) {
      previous = Entry.sequence(bytes, end); // lost, but its header says where the next one is
    }
    end = next;
  }

  /**
   * The length with which the CRC of what begins here is right, of those with which it ends where
   * another entry begins, or all does; 0 if there is none.
   *
   * @param next where one goes on if there is none
   */
  private int provenLength(Places all, int next) {
    if (!isSought(end, previous + 1, sought.last())) {
      return 0;
    }
    long sequence = Entry.sequence(bytes, end);
    int most = (int) Math.min(limit, (long) end + sought.maxEntryBytes());
    CRC32C crc = new CRC32C();
    int from = end + Entry.CHECKED_FROM;
    int seen = next;
    int at = all.behind(end + Entry.HEADER_BYTES);
    while (at <= most) {
      if (at > seen) {
        looksLeft = Math.max(0, looksLeft - (at - seen));
        seen = at;
        if (looksLeft == 0) {
          break;
        }
      }
      if (at == limit || Entry.sequence(bytes, at) > sequence) {
        read += at - from;
        crc.update(bytes.slice(from, at - from));
        from = at;
        if ((int) crc.getValue() == Entry.crc(bytes, end) && Entry.isFramed(bytes, end, at - end)) {
          return at - end;
        }
      }
      at = at == limit ? Integer.MAX_VALUE : all.behind(at + 1);
    }
    return 0;
  }

  /**
   * The places with fitting headers. What is sought moves on; only when a chain that led to the end
   * is given up are the places before the next one looked at again, since its sequence had ruled
   * them out. The sum of each place is made once.
   */
  private final class Places {
    /** All of them. */
    final BitSet fitting = new BitSet(limit);

    /** Those from which headers lead from entry to entry up to the end, with rising sequences. */
    final BitSet leadToTheEnd = new BitSet(limit);

    private final SpanCrc sums = new SpanCrc(bytes, limit);
    private int nextLeading;
    private int nextAny;

    /** The chain before which the places up to {@link #nextAny} were passed over. */
    private int anyBefore = -1;

    private final BitSet summed = new BitSet(limit);
    private final BitSet right = new BitSet(limit);

    Places() {
      for (int at = limit - Entry.HEADER_BYTES; at >= end; at--) {
        if (fits(at, sought.first(), sought.last(), limit)) {
          int next = at + Entry.length(bytes, at);
          fitting.set(at);
          leadToTheEnd.set(
              at,
              next == limit
                  || (leadToTheEnd.get(next)
                      && Entry.sequence(bytes, next) > Entry.sequence(bytes, at)));
        }
      }
      read += limit;
    }

    /** The first fitting place from one on; the end if there is none. */
    int behind(int from) {
      int at = fitting.nextSetBit(from);
      return at < 0 ? limit : at;
    }

    /** Where the next whole entry begins; the end if there is none. */
    int next() {
      int chain = leading();
      long last = chain == limit ? sought.last() : Entry.sequence(bytes, chain) - 1;
      if (chain != anyBefore) {
        anyBefore = chain;
        nextAny = 0;
      }
      int at = behind(Math.max(nextAny, end + Entry.HEADER_BYTES));
      while (at < chain && !isWhole(at, last, chain)) {
        at = behind(at + 1);
      }
      nextAny = Math.min(at, chain);
      return nextAny;
    }

    /** The first whole entry whose headers lead on to the end; the end if there is none. */
    private int leading() {
      int at = leadToTheEnd.nextSetBit(Math.max(nextLeading, end + Entry.HEADER_BYTES));
      while (at >= 0 && !isWhole(at, sought.last(), limit)) {
        at = leadToTheEnd.nextSetBit(at + 1);
      }
      nextLeading = at < 0 ? limit : at;
      return nextLeading;
    }

    /** Whether an entry is whole and leaves a sequence for what is damaged before it. */
    private boolean isWhole(int at, long last, int until) {
      if (!fits(at, previous + 2, last, until)) {
        return false;
      }
      if (!summed.get(at)) {
        int length = Entry.length(bytes, at);
        read += Math.min(length, SpanCrc.MOST_BYTES);
        summed.set(at);
        right.set(
            at,
            Entry.isFramed(bytes, at, length)
                && sums.of(at + Entry.CHECKED_FROM, at + length) == Entry.crc(bytes, at));
      }
      return right.get(at);
    }
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

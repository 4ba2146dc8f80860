package io.lightmq.wire.entry;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * The one layout of a message as the broker stores and sends it: in the journal, in segments and in
 * deliver frames. Big-endian; all places are absolute, positions and limits of buffers stay as they
 * are.
 *
 * <pre>
 *  0 int   length        whole entry, this field included
 *  4 int   crc32c        over bytes 8 to length
 *  8 byte  version       1
 *  9 byte  lane          0-9 durable, 0x80 | 0-9 unlogged
 * 10 byte  flags         bit 0 persistent, bit 1 chunk, bit 2 under a holder
 * 11 byte  compression   0 none
 * 12 int   messageOffset where the encoded message starts in the entry
 * 16 long  destinationId
 * 24 long  sequence      or, under a holder, the number there
 * 32 long  enqueuedMillis the broker's clock
 * 40 long  expiryMillis  the broker's clock, 0 for never
 * 48 long  dueMillis     the broker's clock, 0 for at once
 * 56 long  connectionId  the producer's
 * 64 long  holderId      0 for none
 * 72 int   chunk         number among the chunks, from 0
 * 76 int   chunks        0 for a whole message
 * 80 byte  userBytes     length of the user name
 * 81       user          UTF-8
 *          message       see {@link MessageWriter}, to the end
 * </pre>
 *
 * <p>A delayed message is never chunked. Until it is due its entry says instead which subscriptions
 * there were when it came: at 72 the lowest id that no durable subscription had (unsigned, all bits
 * for that or more), at 76 how many ids the process had given to what lives in memory only.
 *
 * <p>Readers trust the fields after {@link #check} or {@link #isIntact} has accepted the entry.
 */
public final class Entry {
  /** Bytes before the user name. */
  public static final int HEADER_BYTES = 81;

  /** The CRC is over the bytes from here to the end. */
  public static final int CHECKED_FROM = 8;

  /** The longest user name in bytes of UTF-8. */
  public static final int MAX_USER_BYTES = 255;

  /** The longest header. */
  public static final int MAX_HEADER_BYTES = HEADER_BYTES + MAX_USER_BYTES;

  /** The version that is written. */
  public static final int VERSION = 1;

  /** Flag: the message is persistent. */
  public static final int PERSISTENT = 1;

  /** Flag: the entry is one chunk of a message. */
  public static final int CHUNK = 2;

  /** Flag: the entry lives under a holder; its sequence is the number there. */
  public static final int HELD = 4;

  /** Where {@link #enqueuedMillis} lies in the entry, for bytes that are no buffer. */
  public static final int ENQUEUED_AT = 32;

  /** Where {@link #expiryMillis} lies. */
  public static final int EXPIRY_AT = 40;

  private static final int LENGTH = 0;
  private static final int CRC = 4;
  private static final int VERSION_AT = 8;
  private static final int LANE = 9;
  private static final int FLAGS = 10;
  private static final int COMPRESSION = 11;
  private static final int MESSAGE_OFFSET = 12;
  private static final int DESTINATION = 16;
  private static final int SEQUENCE = 24;
  private static final int DUE = 48;
  private static final int CONNECTION = 56;
  private static final int HOLDER = 64;
  private static final int CHUNK_AT = 72;
  private static final int CHUNKS = 76;
  private static final int USER_BYTES = 80;

  private Entry() {}

  // ---- writing ----

  /** The bytes before the message for a user name of so many bytes. */
  public static int headerBytes(byte[] user) {
    return HEADER_BYTES + user.length;
  }

  /** The bytes of a whole entry. */
  public static int entryBytes(EntryStamp stamp, int messageBytes) {
    return Math.addExact(headerBytes(stamp.user()), messageBytes);
  }

  /**
   * Writes a whole entry, header and message, and returns its length. The two buffers may be the
   * same only if the places don't overlap.
   */
  public static int write(
      ByteBuffer target,
      int at,
      EntryStamp stamp,
      long sequence,
      long expiryMillis,
      ByteBuffer message,
      int messageAt,
      int messageBytes) {
    int header = putHeader(target, at, stamp, sequence, expiryMillis, messageBytes);
    target.put(at + header, message, messageAt, messageBytes);
    int length = header + messageBytes;
    target.putInt(at + CRC, Crc.of(target, at + VERSION_AT, at + length));
    return length;
  }

  /**
   * Writes only the header, with the CRC over header and message, and returns the header's length:
   * for targets that are not one buffer. The message follows directly behind the header.
   *
   * @param scratch has room for {@link #MAX_HEADER_BYTES} from {@code at} on
   */
  public static int writeHeader(
      ByteBuffer scratch,
      int at,
      EntryStamp stamp,
      long sequence,
      long expiryMillis,
      ByteBuffer message,
      int messageAt,
      int messageBytes) {
    int header = putHeader(scratch, at, stamp, sequence, expiryMillis, messageBytes);
    int crc =
        Crc.of(scratch, at + VERSION_AT, at + header, message, messageAt, messageAt + messageBytes);
    scratch.putInt(at + CRC, crc);
    return header;
  }

  /**
   * Gives a whole entry another place: it is the same message in another lane from now on, with the
   * CRC of that.
   */
  public static void place(ByteBuffer target, int at, long destinationId, int lane, long sequence) {
    target.put(at + LANE, (byte) lane);
    target.putLong(at + DESTINATION, destinationId);
    target.putLong(at + SEQUENCE, sequence);
    target.putInt(at + CRC, Crc.of(target, at + VERSION_AT, at + length(target, at)));
  }

  /** Makes the CRC of a written entry wrong: it stands for one that is lost, and is never read. */
  public static void spoil(ByteBuffer target, int at) {
    target.putInt(at + CRC, ~target.getInt(at + CRC));
  }

  private static int putHeader(
      ByteBuffer target,
      int at,
      EntryStamp stamp,
      long sequence,
      long expiryMillis,
      int messageBytes) {
    byte[] user = stamp.user();
    int header = HEADER_BYTES + user.length;
    target.putInt(at + LENGTH, Math.addExact(header, messageBytes));
    target.putInt(at + CRC, 0);
    target.put(at + VERSION_AT, (byte) VERSION);
    target.put(at + LANE, (byte) stamp.lane());
    target.put(at + FLAGS, (byte) stamp.flags());
    target.put(at + COMPRESSION, (byte) 0);
    target.putInt(at + MESSAGE_OFFSET, header);
    target.putLong(at + DESTINATION, stamp.destinationId());
    target.putLong(at + SEQUENCE, sequence);
    target.putLong(at + ENQUEUED_AT, stamp.enqueuedMillis());
    target.putLong(at + EXPIRY_AT, expiryMillis);
    target.putLong(at + DUE, stamp.dueMillis());
    target.putLong(at + CONNECTION, stamp.connectionId());
    target.putLong(at + HOLDER, stamp.holderId());
    target.putInt(at + CHUNK_AT, stamp.chunk());
    target.putInt(at + CHUNKS, stamp.chunks());
    target.put(at + USER_BYTES, (byte) user.length);
    target.put(at + HEADER_BYTES, user);
    return header;
  }

  // ---- reading ----

  /**
   * Checks the entry at a place and returns its length.
   *
   * @param limit where the readable bytes end
   * @throws MalformedMessageException with the facts, if the entry is torn, damaged or of an
   *     unknown version
   */
  public static int check(ByteBuffer buffer, int at, int limit) {
    int length = checkFrame(buffer, at, limit);
    int stored = crc(buffer, at);
    int computed = Crc.of(buffer, at + VERSION_AT, at + length);
    if (stored != computed) {
      throw new MalformedMessageException(
          String.format(
              "entry at %d, %d bytes, has crc %08x, expected %08x", at, length, stored, computed));
    }
    return length;
  }

  /**
   * Checks lengths and version of the entry at a place, not its CRC, and returns its length.
   *
   * @throws MalformedMessageException with the facts
   */
  public static int checkFrame(ByteBuffer buffer, int at, int limit) {
    if (limit - at < HEADER_BYTES) {
      throw new MalformedMessageException(
          "an entry has at least "
              + HEADER_BYTES
              + " bytes; at "
              + at
              + " only "
              + (limit - at)
              + " remain");
    }
    int length = length(buffer, at);
    if (length < HEADER_BYTES || length > limit - at) {
      throw new MalformedMessageException(
          "entry at " + at + " says length " + length + "; " + (limit - at) + " bytes remain");
    }
    int version = buffer.get(at + VERSION_AT);
    if (version != VERSION) {
      throw new MalformedMessageException(
          "entry at " + at + " has version " + version + "; this program reads " + VERSION);
    }
    int messageOffset = messageOffset(buffer, at);
    if (messageOffset != HEADER_BYTES + userBytes(buffer, at) || messageOffset > length) {
      throw new MalformedMessageException(
          "entry at "
              + at
              + " has message offset "
              + messageOffset
              + ", a user name of "
              + userBytes(buffer, at)
              + " bytes and length "
              + length);
    }
    return length;
  }

  /** Whether version, user name and message offset are those of an entry of so many bytes. */
  public static boolean isFramed(ByteBuffer buffer, int at, int length) {
    int messageOffset = messageOffset(buffer, at);
    return buffer.get(at + VERSION_AT) == VERSION
        && messageOffset == HEADER_BYTES + userBytes(buffer, at)
        && messageOffset <= length;
  }

  /** Whether {@link #check} would accept the entry. */
  public static boolean isIntact(ByteBuffer buffer, int at, int limit) {
    try {
      check(buffer, at, limit);
      return true;
    } catch (MalformedMessageException e) {
      return false;
    }
  }

  /** The length of the whole entry. */
  public static int length(ByteBuffer buffer, int at) {
    return buffer.getInt(at + LENGTH);
  }

  /** The stored CRC. */
  public static int crc(ByteBuffer buffer, int at) {
    return buffer.getInt(at + CRC);
  }

  /** The lane's code. */
  public static int lane(ByteBuffer buffer, int at) {
    return buffer.get(at + LANE) & 0xFF;
  }

  /** The flags. */
  public static int flags(ByteBuffer buffer, int at) {
    return buffer.get(at + FLAGS) & 0xFF;
  }

  /** Whether the message is persistent. */
  public static boolean isPersistent(ByteBuffer buffer, int at) {
    return (flags(buffer, at) & PERSISTENT) != 0;
  }

  /** Where the encoded message starts in the entry. */
  public static int messageOffset(ByteBuffer buffer, int at) {
    return buffer.getInt(at + MESSAGE_OFFSET);
  }

  /** The length of the encoded message. */
  public static int messageBytes(ByteBuffer buffer, int at) {
    return length(buffer, at) - messageOffset(buffer, at);
  }

  /** The destination's id. */
  public static long destinationId(ByteBuffer buffer, int at) {
    return buffer.getLong(at + DESTINATION);
  }

  /** The sequence in its lane or, under a holder, the number there. */
  public static long sequence(ByteBuffer buffer, int at) {
    return buffer.getLong(at + SEQUENCE);
  }

  /** When the broker took the message, by its clock. */
  public static long enqueuedMillis(ByteBuffer buffer, int at) {
    return buffer.getLong(at + ENQUEUED_AT);
  }

  /** When the message expires by the broker's clock, 0 for never. */
  public static long expiryMillis(ByteBuffer buffer, int at) {
    return buffer.getLong(at + EXPIRY_AT);
  }

  /** When a delayed message falls due by the broker's clock, 0 for at once. */
  public static long dueMillis(ByteBuffer buffer, int at) {
    return buffer.getLong(at + DUE);
  }

  /** The producer's connection. */
  public static long connectionId(ByteBuffer buffer, int at) {
    return buffer.getLong(at + CONNECTION);
  }

  /** The holder under which the entry lives, 0 for none. */
  public static long holderId(ByteBuffer buffer, int at) {
    return buffer.getLong(at + HOLDER);
  }

  /** The number among the message's chunks, from 0. */
  public static int chunk(ByteBuffer buffer, int at) {
    return buffer.getInt(at + CHUNK_AT);
  }

  /** How many chunks the message has, 0 if the entry is whole. */
  public static int chunks(ByteBuffer buffer, int at) {
    return buffer.getInt(at + CHUNKS);
  }

  /** The length of the user name in bytes. */
  public static int userBytes(ByteBuffer buffer, int at) {
    return buffer.get(at + USER_BYTES) & 0xFF;
  }

  /** The producer's user name. */
  public static String user(ByteBuffer buffer, int at) {
    byte[] user = new byte[userBytes(buffer, at)];
    buffer.get(at + HEADER_BYTES, user);
    return new String(user, StandardCharsets.UTF_8);
  }
}

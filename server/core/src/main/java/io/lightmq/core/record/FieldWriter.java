package io.lightmq.core.record;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Fields of records and snapshots, written one after the other into a heap array that grows: fixed
 * numbers big-endian, others as varints of 7 bits a byte, lowest first. {@link FieldReader} reads
 * them.
 */
public final class FieldWriter {
  private byte[] bytes;
  private int length;

  /** An empty writer with room for so many bytes before it grows. */
  public FieldWriter(int initialBytes) {
    bytes = new byte[Math.max(16, initialBytes)];
  }

  /** Bytes written so far. */
  public int length() {
    return length;
  }

  /** Forgets what was written; keeps the room. */
  public void clear() {
    length = 0;
  }

  /** What was written, valid until the next write or clear. */
  public ByteBuffer view() {
    return ByteBuffer.wrap(bytes, 0, length).slice();
  }

  /** A copy of what was written. */
  public ByteBuffer copy() {
    return ByteBuffer.wrap(Arrays.copyOf(bytes, length));
  }

  /** Writes one byte. */
  public void putByte(int value) {
    room(1);
    bytes[length++] = (byte) value;
  }

  /** Writes a flag as one byte. */
  public void putBoolean(boolean value) {
    putByte(value ? 1 : 0);
  }

  /** Writes four bytes. */
  public void putInt(int value) {
    room(4);
    for (int shift = 24; shift >= 0; shift -= 8) {
      bytes[length++] = (byte) (value >>> shift);
    }
  }

  /** Replaces four bytes written before. */
  public void patchInt(int at, int value) {
    for (int i = 0; i < 4; i++) {
      bytes[at + i] = (byte) (value >>> (24 - 8 * i));
    }
  }

  /** Writes eight bytes. */
  public void putLong(long value) {
    putInt((int) (value >>> 32));
    putInt((int) value);
  }

  /** Writes a number that is not negative in 1 to 9 bytes. */
  public void putVarint(long value) {
    if (value < 0) {
      throw new IllegalArgumentException("a varint is not negative: " + value);
    }
    room(9);
    long rest = value;
    while (rest > 0x7F) {
      bytes[length++] = (byte) (rest | 0x80);
      rest >>>= 7;
    }
    bytes[length++] = (byte) rest;
  }

  /** Writes 16 bytes. */
  public void putUuid(UUID value) {
    putLong(value.getMostSignificantBits());
    putLong(value.getLeastSignificantBits());
  }

  /** Writes length plus one and UTF-8 bytes; 0 for null. */
  public void putString(@Nullable String value) {
    if (value == null) {
      putVarint(0);
      return;
    }
    byte[] utf8 = value.getBytes(StandardCharsets.UTF_8);
    if (utf8.length > FieldReader.MAX_STRING_BYTES) {
      throw new IllegalArgumentException(
          "a string has at most "
              + FieldReader.MAX_STRING_BYTES
              + " bytes in UTF-8, this one has "
              + utf8.length);
    }
    putVarint(utf8.length + 1L);
    room(utf8.length);
    System.arraycopy(utf8, 0, bytes, length, utf8.length);
    length += utf8.length;
  }

  /** Writes the remaining bytes of a buffer, without a length; its position stays. */
  public void putBytes(ByteBuffer from) {
    int count = from.remaining();
    room(count);
    from.get(from.position(), bytes, length, count);
    length += count;
  }

  private void room(int more) {
    if (bytes.length - length < more) {
      int wanted = Math.addExact(length, more);
      bytes = Arrays.copyOf(bytes, Math.max(wanted, (int) Math.min(2L * bytes.length, 1 << 30)));
    }
  }
}

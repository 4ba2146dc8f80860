package io.lightmq.core.record;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Reads what {@link FieldWriter} wrote, between the buffer's position and limit; every length is
 * checked against the bytes that remain before anything is allocated.
 */
public final class FieldReader {
  /** The longest string in UTF-8. */
  public static final int MAX_STRING_BYTES = (1 << 20) - 1;

  private final ByteBuffer buffer;

  /** Reads from a buffer of its own: its position moves. */
  public FieldReader(ByteBuffer buffer) {
    this.buffer = buffer;
  }

  /** Bytes that are left. */
  public int remaining() {
    return buffer.remaining();
  }

  /** Where the next field starts in the buffer. */
  public int position() {
    return buffer.position();
  }

  /** The next byte, 0 to 255. */
  public int readByte() {
    need(1);
    return buffer.get() & 0xFF;
  }

  /** The next flag. */
  public boolean readBoolean() {
    int value = readByte();
    if (value > 1) {
      throw new MalformedRecordException("a flag is 0 or 1, not " + value);
    }
    return value == 1;
  }

  /** The next four bytes. */
  public int readInt() {
    need(4);
    return buffer.getInt();
  }

  /** The next eight bytes. */
  public long readLong() {
    need(8);
    return buffer.getLong();
  }

  /** The next number in 1 to 9 bytes. */
  public long readVarint() {
    long value = 0;
    for (int shift = 0; shift < 63; shift += 7) {
      int next = readByte();
      value |= (long) (next & 0x7F) << shift;
      if (next < 0x80) {
        return value;
      }
    }
    throw new MalformedRecordException("a varint has at most 9 bytes");
  }

  /**
   * The next varint as a count of things that take so many bytes each at least.
   *
   * @throws MalformedRecordException if there are more than permitted or than can follow
   */
  public int readCount(int max, int bytesEach) {
    long count = readVarint();
    if (count > max || count * bytesEach > remaining()) {
      throw new MalformedRecordException(
          "count "
              + count
              + " is above "
              + max
              + " or needs more than the "
              + remaining()
              + " bytes that remain");
    }
    return (int) count;
  }

  /** The next 16 bytes. */
  public UUID readUuid() {
    return new UUID(readLong(), readLong());
  }

  /** The next string, null where null was written. */
  public @Nullable String readNullableString() {
    int withOne = readCount(MAX_STRING_BYTES + 1, 0);
    if (withOne == 0) {
      return null;
    }
    need(withOne - 1);
    byte[] utf8 = new byte[withOne - 1];
    buffer.get(utf8);
    return new String(utf8, StandardCharsets.UTF_8);
  }

  /** The next string. */
  public String readString() {
    String value = readNullableString();
    if (value == null) {
      throw new MalformedRecordException("a string is missing");
    }
    return value;
  }

  /** The next bytes as a slice, without a copy. */
  public ByteBuffer readBytes(int count) {
    need(count);
    ByteBuffer slice = buffer.slice(buffer.position(), count);
    buffer.position(buffer.position() + count);
    return slice;
  }

  private void need(int count) {
    if (count < 0 || buffer.remaining() < count) {
      throw new MalformedRecordException(
          "field needs " + count + " bytes, " + buffer.remaining() + " remain");
    }
  }
}

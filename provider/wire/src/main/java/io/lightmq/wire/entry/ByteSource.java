package io.lightmq.wire.entry;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * A bounded piece of a buffer that is read front to back: the counterpart of {@link ByteSink}.
 * Every length is checked against the bytes that remain before anything is allocated.
 */
final class ByteSource {
  private final ByteBuffer buffer;
  private final int end;
  private int at;

  ByteSource(ByteBuffer buffer, int from, int end) {
    this.buffer = buffer;
    this.at = from;
    this.end = end;
  }

  int at() {
    return at;
  }

  int remaining() {
    return end - at;
  }

  int readByte() {
    need(1, "byte");
    return buffer.get(at++) & 0xFF;
  }

  private short readShort() {
    need(2, "short");
    short value = buffer.getShort(at);
    at += 2;
    return value;
  }

  private int readInt() {
    need(4, "int");
    int value = buffer.getInt(at);
    at += 4;
    return value;
  }

  private long readLong() {
    need(8, "long");
    long value = buffer.getLong(at);
    at += 8;
    return value;
  }

  /** A varint of 0 to 2^31 - 1 in its shortest form. */
  int readVarint() {
    int value = 0;
    for (int shift = 0; shift < 35; shift += 7) {
      int next = readByte();
      if (shift == 28 && next > 0x07) {
        break;
      }
      value |= (next & 0x7F) << shift;
      if ((next & 0x80) == 0) {
        if (next == 0 && shift > 0) {
          throw new MalformedMessageException("varint before " + at + " has a needless last byte");
        }
        return value;
      }
    }
    throw new MalformedMessageException("varint before " + at + " is above 2147483647");
  }

  /** A varint that says how many bytes follow; they do. */
  int readLength(String what) {
    int length = readVarint();
    need(length, what);
    return length;
  }

  /** A count of things that take at least so many bytes each; there is room for them. */
  int readCount(String what, int leastBytes, int limit) {
    int count = readVarint();
    if (count > limit || (long) count * leastBytes > remaining()) {
      throw new MalformedMessageException(
          count
              + " "
              + what
              + " before "
              + at
              + "; the limit is "
              + limit
              + ", and "
              + remaining()
              + " bytes remain");
    }
    return count;
  }

  void skip(int count) {
    need(count, "skipped part");
    at += count;
  }

  byte[] readBytes(int count) {
    need(count, "byte array");
    byte[] bytes = new byte[count];
    buffer.get(at, bytes);
    at += count;
    return bytes;
  }

  String readString() {
    return readChars(readLength("string"));
  }

  String readName() {
    int length = readLength("name");
    if (length > MessageLayout.MAX_NAME_BYTES) {
      throw new MalformedMessageException(
          "name at "
              + at
              + " has "
              + length
              + " bytes; the limit is "
              + MessageLayout.MAX_NAME_BYTES);
    }
    return readChars(length);
  }

  /** A string of so many bytes; see {@link ByteSink}. */
  String readChars(int count) {
    need(count, "string");
    int from = at;
    at += count;
    byte[] bytes;
    int offset;
    if (buffer.hasArray()) {
      bytes = buffer.array();
      offset = buffer.arrayOffset() + from;
    } else {
      bytes = new byte[count];
      buffer.get(from, bytes);
      offset = 0;
    }
    String text = new String(bytes, offset, count, UTF_8);
    // U+FFFD is what the JDK makes of what is not UTF-8, lone surrogates among it.
    return text.indexOf('\uFFFD') < 0 ? text : readWideChars(bytes, offset, count, from);
  }

  private static String readWideChars(byte[] bytes, int offset, int count, int place) {
    StringBuilder text = new StringBuilder(count);
    int i = offset;
    int end = offset + count;
    while (i < end) {
      int lead = bytes[i] & 0xFF;
      int more = lead < 0x80 ? 0 : lead < 0xC2 ? -1 : lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
      if (more < 0 || lead > 0xF4 || i + more >= end) {
        throw notText(bytes, offset, i, place);
      }
      int point = more == 0 ? lead : lead & (0x3F >> more);
      for (int k = 1; k <= more; k++) {
        int next = bytes[i + k];
        if ((next & 0xC0) != 0x80) {
          throw notText(bytes, offset, i, place);
        }
        point = (point << 6) | (next & 0x3F);
      }
      boolean shortest = more < 2 || point >= (more == 2 ? 0x800 : 0x10000);
      if (!shortest || point > Character.MAX_CODE_POINT) {
        throw notText(bytes, offset, i, place);
      }
      text.appendCodePoint(point);
      i += more + 1;
    }
    return text.toString();
  }

  private static MalformedMessageException notText(byte[] bytes, int offset, int i, int place) {
    return new MalformedMessageException(
        String.format(
            "string at %d has byte %02x at its place %d, which is not UTF-8",
            place, bytes[i], i - offset));
  }

  @Nullable Object readValue() {
    int tag = readByte();
    return switch (tag) {
      case MessageLayout.VALUE_NULL -> null;
      case MessageLayout.VALUE_FALSE -> false;
      case MessageLayout.VALUE_TRUE -> true;
      case MessageLayout.VALUE_BYTE -> (byte) readByte();
      case MessageLayout.VALUE_SHORT -> readShort();
      case MessageLayout.VALUE_CHAR -> (char) readShort();
      case MessageLayout.VALUE_INT -> readInt();
      case MessageLayout.VALUE_LONG -> readLong();
      case MessageLayout.VALUE_FLOAT -> Float.intBitsToFloat(readInt());
      case MessageLayout.VALUE_DOUBLE -> Double.longBitsToDouble(readLong());
      case MessageLayout.VALUE_STRING -> readString();
      case MessageLayout.VALUE_BYTES -> readBytes(readLength("byte array"));
      default -> throw unknownTag(tag);
    };
  }

  void skipValue() {
    int tag = readByte();
    switch (tag) {
      case MessageLayout.VALUE_NULL, MessageLayout.VALUE_FALSE, MessageLayout.VALUE_TRUE -> {}
      case MessageLayout.VALUE_BYTE -> skip(1);
      case MessageLayout.VALUE_SHORT, MessageLayout.VALUE_CHAR -> skip(2);
      case MessageLayout.VALUE_INT, MessageLayout.VALUE_FLOAT -> skip(4);
      case MessageLayout.VALUE_LONG, MessageLayout.VALUE_DOUBLE -> skip(8);
      case MessageLayout.VALUE_STRING, MessageLayout.VALUE_BYTES -> skip(readLength("value"));
      default -> throw unknownTag(tag);
    }
  }

  void expectEnd(String what) {
    if (at != end) {
      throw new MalformedMessageException(
          remaining() + " bytes are left behind the " + what + " that ends at " + at);
    }
  }

  private MalformedMessageException unknownTag(int tag) {
    return new MalformedMessageException(
        "value tag " + tag + " before " + at + " is unknown; known are 0 to 11");
  }

  private void need(int count, String what) {
    if (count > end - at) {
      throw new MalformedMessageException(
          what + " at " + at + " needs " + count + " bytes, " + (end - at) + " remain");
    }
  }
}

package io.lightmq.wire.entry;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A growing byte array up to a limit, with the primitive encodings of a message: big-endian
 * numbers, varints (7 bits a byte, low first) and strings.
 *
 * <p>A string is UTF-8 in which a surrogate without its partner stands as the three bytes of its
 * code (WTF-8), so that every Java string survives.
 */
final class ByteSink {
  private static final VarHandle SHORT =
      MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.BIG_ENDIAN);
  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

  /** Longer strings are encoded by the JDK: quicker, at the price of a copy. */
  private static final int SHORT_CHARS = 48;

  private final int limitBytes;
  private byte[] bytes;
  private int length;

  ByteSink(int limitBytes) {
    this.limitBytes = limitBytes;
    this.bytes = new byte[Math.min(512, limitBytes)];
  }

  byte[] bytes() {
    return bytes;
  }

  int length() {
    return length;
  }

  /** Drops what was written; a buffer that has grown beyond so many bytes is given up. */
  void clear(int keepBytes) {
    length = 0;
    if (bytes.length > keepBytes) {
      bytes = new byte[Math.min(512, limitBytes)];
    }
  }

  /** Skips bytes that are written later by {@link #setInt} and its like. */
  void skip(int count) {
    reserve(count);
    Arrays.fill(bytes, length, length + count, (byte) 0);
    length += count;
  }

  void setByte(int at, int value) {
    bytes[at] = (byte) value;
  }

  void setInt(int at, int value) {
    INT.set(bytes, at, value);
  }

  void setLong(int at, long value) {
    LONG.set(bytes, at, value);
  }

  void putByte(int value) {
    reserve(1);
    bytes[length++] = (byte) value;
  }

  void putShort(int value) {
    reserve(2);
    SHORT.set(bytes, length, (short) value);
    length += 2;
  }

  void putInt(int value) {
    reserve(4);
    INT.set(bytes, length, value);
    length += 4;
  }

  void putLong(long value) {
    reserve(8);
    LONG.set(bytes, length, value);
    length += 8;
  }

  void putBytes(byte[] source, int from, int count) {
    reserve(count);
    System.arraycopy(source, from, bytes, length, count);
    length += count;
  }

  void putVarint(int value) {
    reserve(5);
    length = putVarintAt(length, value);
  }

  private int putVarintAt(int at, int value) {
    int rest = value;
    int place = at;
    while ((rest & ~0x7F) != 0) {
      bytes[place++] = (byte) (rest | 0x80);
      rest >>>= 7;
    }
    bytes[place++] = (byte) rest;
    return place;
  }

  /** A varint length and the string; returns that length. */
  int putString(String value) {
    int frame = openFrame();
    putChars(value);
    return closeFrame(frame);
  }

  /** The string without its length. */
  void putChars(String value) {
    int chars = value.length();
    if (chars > limitBytes - length) {
      throw new MessageTooLargeException((long) length + chars, limitBytes);
    }
    if (chars <= SHORT_CHARS) {
      int ascii = putAscii(value);
      if (ascii < chars) {
        putWideChars(value, ascii);
      }
      return;
    }
    byte[] utf8 = value.getBytes(StandardCharsets.UTF_8);
    // The JDK writes a question mark for a lone surrogate.
    if (hasQuestionMark(utf8) && hasLoneSurrogate(value)) {
      putWideChars(value, 0);
    } else {
      putBytes(utf8, 0, utf8.length);
    }
  }

  /** Writes leading ASCII without garbage, and returns how much of it there was. */
  private int putAscii(String value) {
    int chars = value.length();
    reserve(chars);
    byte[] target = bytes;
    int place = length;
    int i = 0;
    while (i < chars) {
      char c = value.charAt(i);
      if (c >= 0x80) {
        break;
      }
      target[place++] = (byte) c;
      i++;
    }
    length = place;
    return i;
  }

  /** Eight bytes at a time: the usual trick to find a zero byte in a long. */
  private static boolean hasQuestionMark(byte[] utf8) {
    int i = 0;
    for (; i <= utf8.length - 8; i += 8) {
      long word = (long) LONG.get(utf8, i) ^ 0x3F3F3F3F3F3F3F3FL;
      if (((word - 0x0101010101010101L) & ~word & 0x8080808080808080L) != 0) {
        return true;
      }
    }
    for (; i < utf8.length; i++) {
      if (utf8[i] == '?') {
        return true;
      }
    }
    return false;
  }

  private static boolean hasLoneSurrogate(String value) {
    for (int i = 0; i < value.length(); i++) {
      char c = value.charAt(i);
      if (Character.isSurrogate(c)) {
        if (i + 1 == value.length() || !Character.isSurrogatePair(c, value.charAt(i + 1))) {
          return true;
        }
        i++;
      }
    }
    return false;
  }

  private void putWideChars(String value, int from) {
    int i = from;
    while (i < value.length()) {
      int point = value.codePointAt(i);
      i += Character.charCount(point);
      reserve(4);
      if (point < 0x80) {
        bytes[length++] = (byte) point;
      } else if (point < 0x800) {
        bytes[length++] = (byte) (0xC0 | (point >> 6));
        bytes[length++] = (byte) (0x80 | (point & 0x3F));
      } else if (point < 0x10000) {
        bytes[length++] = (byte) (0xE0 | (point >> 12));
        bytes[length++] = (byte) (0x80 | ((point >> 6) & 0x3F));
        bytes[length++] = (byte) (0x80 | (point & 0x3F));
      } else {
        bytes[length++] = (byte) (0xF0 | (point >> 18));
        bytes[length++] = (byte) (0x80 | ((point >> 12) & 0x3F));
        bytes[length++] = (byte) (0x80 | ((point >> 6) & 0x3F));
        bytes[length++] = (byte) (0x80 | (point & 0x3F));
      }
    }
  }

  /** Begins a part that is preceded by its length as a varint; {@link #closeFrame} ends it. */
  int openFrame() {
    putByte(0);
    return length;
  }

  /**
   * Writes the length of what follows {@code frame}, moving it if the length needs more bytes, and
   * returns it.
   */
  int closeFrame(int frame) {
    int count = length - frame;
    int extra = varintBytes(count) - 1;
    if (extra > 0) {
      reserve(extra);
      System.arraycopy(bytes, frame, bytes, frame + extra, count);
      length += extra;
    }
    putVarintAt(frame - 1, count);
    return count;
  }

  static int varintBytes(int value) {
    return Math.max(1, (38 - Integer.numberOfLeadingZeros(value)) / 7);
  }

  /** A tag and the value; names and texts may not be null, values may. */
  void putValue(@Nullable Object value) {
    if (value == null) {
      putByte(MessageLayout.VALUE_NULL);
    } else if (value instanceof String text) {
      putByte(MessageLayout.VALUE_STRING);
      putString(text);
    } else if (value instanceof Integer number) {
      putByte(MessageLayout.VALUE_INT);
      putInt(number);
    } else if (value instanceof Long number) {
      putByte(MessageLayout.VALUE_LONG);
      putLong(number);
    } else if (value instanceof Boolean flag) {
      putByte(flag ? MessageLayout.VALUE_TRUE : MessageLayout.VALUE_FALSE);
    } else if (value instanceof Double number) {
      putByte(MessageLayout.VALUE_DOUBLE);
      putLong(Double.doubleToRawLongBits(number));
    } else if (value instanceof Float number) {
      putByte(MessageLayout.VALUE_FLOAT);
      putInt(Float.floatToRawIntBits(number));
    } else if (value instanceof Short number) {
      putByte(MessageLayout.VALUE_SHORT);
      putShort(number);
    } else if (value instanceof Byte number) {
      putByte(MessageLayout.VALUE_BYTE);
      putByte(number);
    } else if (value instanceof Character character) {
      putByte(MessageLayout.VALUE_CHAR);
      putShort(character);
    } else if (value instanceof byte[] array) {
      putByte(MessageLayout.VALUE_BYTES);
      putVarint(array.length);
      putBytes(array, 0, array.length);
    } else {
      throw new IllegalArgumentException(
          "a value of "
              + value.getClass().getName()
              + " cannot be sent; possible are null, String, byte[] and the boxed primitives");
    }
  }

  private void reserve(int count) {
    if (count > bytes.length - length) {
      grow((long) length + count);
    }
  }

  private void grow(long needed) {
    if (needed > limitBytes) {
      throw new MessageTooLargeException(needed, limitBytes);
    }
    bytes = Arrays.copyOf(bytes, (int) Math.min(limitBytes, Math.max(needed, 2L * bytes.length)));
  }
}

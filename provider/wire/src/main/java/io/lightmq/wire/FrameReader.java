package io.lightmq.wire;

import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Reads the fields of one frame. Lengths and counts are checked against the bytes that remain
 * before anything is allocated; whatever does not fit is a {@link ProtocolException}.
 */
final class FrameReader {
  private final ByteBuf in;
  private final List<ByteBuf> retained = new ArrayList<>(0);
  private int itemsLeft = Protocol.MAX_ITEMS;

  FrameReader(ByteBuf in) {
    this.in = in;
  }

  int remaining() {
    return in.readableBytes();
  }

  int u8() {
    need(1);
    return in.readUnsignedByte();
  }

  boolean flag() {
    int value = u8();
    if (value > 1) {
      throw ProtocolException.bad("a flag is 0 or 1, not " + value);
    }
    return value == 1;
  }

  int i32() {
    need(4);
    return in.readInt();
  }

  long bits64() {
    need(8);
    return in.readLong();
  }

  UUID uuid() {
    need(16);
    return new UUID(in.readLong(), in.readLong());
  }

  /** A varint of 0 to 2^31 - 1. */
  int varint() {
    long value = varlong();
    if (value > Integer.MAX_VALUE) {
      throw ProtocolException.bad("varint " + value + " is above 2147483647");
    }
    return (int) value;
  }

  /** A varint of 0 to 2^63 - 1 in its shortest form: at most nine bytes. */
  long varlong() {
    long value = 0;
    for (int shift = 0; shift < 63; shift += 7) {
      int next = u8();
      value |= (long) (next & 0x7F) << shift;
      if ((next & 0x80) == 0) {
        if (next == 0 && shift > 0) {
          throw ProtocolException.bad("a varint ends in a needless zero byte");
        }
        return value;
      }
    }
    throw ProtocolException.bad("a varint has more than nine bytes");
  }

  /** A count of things of at least so many bytes each, for which there is room. */
  int count(String what, int leastBytes, int most) {
    int count = varint();
    if ((long) count * leastBytes > remaining()) {
      throw ProtocolException.bad(
          count + " " + what + " do not fit into the " + remaining() + " bytes that remain");
    }
    if (count > most) {
      throw ProtocolException.bad(count + " " + what + " in one frame; the limit is " + most);
    }
    return count;
  }

  <T> List<T> list(String what, int leastBytes, Function<FrameReader, T> item) {
    return list(what, leastBytes, Protocol.MAX_ITEMS, item);
  }

  <T> List<T> list(String what, int leastBytes, int most, Function<FrameReader, T> item) {
    int count = count(what, leastBytes, Math.min(most, itemsLeft));
    itemsLeft -= count;
    if (count == 0) {
      return List.of();
    }
    List<T> items = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      items.add(item.apply(this));
    }
    return items;
  }

  byte[] bytes() {
    byte[] bytes = new byte[length()];
    in.readBytes(bytes);
    return bytes;
  }

  /** So many bytes, and not too many of them. */
  byte[] bytes(String what, int most) {
    int length = length();
    if (length > most) {
      throw ProtocolException.bad(what + " of " + length + " bytes; at most " + most + " allowed");
    }
    byte[] bytes = new byte[length];
    in.readBytes(bytes);
    return bytes;
  }

  String text() {
    return chars(length());
  }

  @Nullable String optionalText() {
    int lengthPlusOne = varint();
    if (lengthPlusOne == 0) {
      return null;
    }
    need(lengthPlusOne - 1);
    return chars(lengthPlusOne - 1);
  }

  private String chars(int length) {
    ByteBuffer bytes = in.nioBuffer(in.readerIndex(), length);
    in.skipBytes(length);
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(bytes).toString();
    } catch (CharacterCodingException e) {
      throw ProtocolException.bad("a text of " + length + " bytes is not UTF-8");
    }
  }

  /** A varint length and a retained slice of so many bytes; the frame owns it. */
  ByteBuf slice() {
    ByteBuf slice = in.readRetainedSlice(length());
    retained.add(slice);
    return slice;
  }

  /** Gives up the slices of a frame that turned out to be bad. */
  void release() {
    retained.forEach(ByteBuf::release);
    retained.clear();
  }

  private int length() {
    int length = varint();
    need(length);
    return length;
  }

  private void need(int bytes) {
    if (bytes > in.readableBytes()) {
      throw ProtocolException.bad(
          "a field needs " + bytes + " bytes, " + in.readableBytes() + " remain in the frame");
    }
  }
}

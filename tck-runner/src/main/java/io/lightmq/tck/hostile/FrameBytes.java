package io.lightmq.tck.hostile;

import java.io.DataInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.UUID;

/**
 * A frame that is written field by field as docs/protocol.md draws it, whatever the values. A
 * negative number becomes a varint of ten bytes, which no peer may accept.
 */
final class FrameBytes {
  static final int HEADER_BYTES = 12;
  static final int TYPE_AT = 4;
  static final int CORRELATION_AT = 8;

  private static final int MAX_READ_BYTES = 32 << 20;

  private byte[] bytes = new byte[128];
  private int length;

  FrameBytes(int type, int correlation) {
    i32(0).u8(type).u8(0).u8(0).u8(0).i32(correlation);
  }

  FrameBytes u8(int value) {
    room(1);
    bytes[length++] = (byte) value;
    return this;
  }

  FrameBytes i32(int value) {
    return u8(value >> 24).u8(value >> 16).u8(value >> 8).u8(value);
  }

  FrameBytes i64(long value) {
    return i32((int) (value >> 32)).i32((int) value);
  }

  FrameBytes uuid(UUID id) {
    return i64(id.getMostSignificantBits()).i64(id.getLeastSignificantBits());
  }

  FrameBytes v(long value) {
    long rest = value;
    while ((rest & ~127L) != 0) {
      u8((int) (rest & 127) | 128);
      rest >>>= 7;
    }
    return u8((int) rest);
  }

  FrameBytes raw(byte[] value) {
    room(value.length);
    System.arraycopy(value, 0, bytes, length, value.length);
    length += value.length;
    return this;
  }

  FrameBytes bytes(byte[] value) {
    return v(value.length).raw(value);
  }

  FrameBytes text(String value) {
    return bytes(value.getBytes(StandardCharsets.UTF_8));
  }

  FrameBytes maybe(String value) {
    byte[] encoded = value.getBytes(StandardCharsets.UTF_8);
    return v(encoded.length + 1L).raw(encoded);
  }

  FrameBytes none() {
    return v(0);
  }

  /** The whole frame, with its length in front. */
  byte[] done() {
    byte[] whole = Arrays.copyOf(bytes, length);
    putInt(whole, 0, length - 4);
    return whole;
  }

  private void room(int more) {
    if (length + more > bytes.length) {
      bytes = Arrays.copyOf(bytes, Math.max(length + more, 2 * bytes.length));
    }
  }

  // ---- frames that came ----

  /** Reads one frame, with its length in front. */
  static byte[] read(DataInputStream in) throws IOException {
    int length = in.readInt();
    if (length < HEADER_BYTES - 4 || length > MAX_READ_BYTES) {
      throw new IOException("a frame of " + length + " bytes");
    }
    byte[] frame = new byte[4 + length];
    putInt(frame, 0, length);
    in.readFully(frame, 4, length);
    return frame;
  }

  /** Whether the length in front is that of the frame. */
  static boolean isWhole(byte[] frame) {
    return frame.length >= HEADER_BYTES && getInt(frame, 0) == frame.length - 4;
  }

  static int type(byte[] frame) {
    return frame[TYPE_AT] & 255;
  }

  static int correlation(byte[] frame) {
    return getInt(frame, CORRELATION_AT);
  }

  /** The varint at a place of the frame, 0 if there is none. */
  static long varint(byte[] frame, int at) {
    long value = 0;
    for (int i = at, shift = 0; i < frame.length && shift < 63; i++, shift += 7) {
      value |= (long) (frame[i] & 127) << shift;
      if (frame[i] >= 0) {
        return value;
      }
    }
    return 0;
  }

  static int getInt(byte[] frame, int at) {
    return ((frame[at] & 255) << 24)
        | ((frame[at + 1] & 255) << 16)
        | ((frame[at + 2] & 255) << 8)
        | (frame[at + 3] & 255);
  }

  static void putInt(byte[] frame, int at, int value) {
    frame[at] = (byte) (value >> 24);
    frame[at + 1] = (byte) (value >> 16);
    frame[at + 2] = (byte) (value >> 8);
    frame[at + 3] = (byte) value;
  }
}

package io.lightmq.tck.golden;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.UUID;

/**
 * A frame of protocol version 1 as docs/protocol.md draws it, written and read field by field. It
 * knows nothing of the product's codec, so that it stays what it was when that changes.
 */
final class RawFrame {
  final int type;
  final int correlation;
  private final ByteArrayOutputStream written = new ByteArrayOutputStream();
  private final DataOutputStream out = new DataOutputStream(written);
  private final ByteBuffer fields;

  private RawFrame(int type, int correlation, byte[] fields) {
    this.type = type;
    this.correlation = correlation;
    this.fields = ByteBuffer.wrap(fields);
  }

  /** A frame to write. */
  static RawFrame of(int type, int correlation) {
    return new RawFrame(type, correlation, new byte[0]);
  }

  static RawFrame read(DataInputStream in) throws IOException {
    int length = in.readInt();
    int type = in.readUnsignedByte();
    in.skipNBytes(3);
    int correlation = in.readInt();
    byte[] fields = new byte[length - 8];
    in.readFully(fields);
    return new RawFrame(type, correlation, fields);
  }

  void sendTo(OutputStream to) throws IOException {
    ByteArrayOutputStream whole = new ByteArrayOutputStream();
    DataOutputStream head = new DataOutputStream(whole);
    head.writeInt(8 + written.size());
    head.writeByte(type);
    head.writeByte(0);
    head.writeShort(0);
    head.writeInt(correlation);
    written.writeTo(head);
    to.write(whole.toByteArray());
    to.flush();
  }

  // ---- writing ----

  private interface Write {
    void run() throws IOException;
  }

  private RawFrame put(Write write) {
    try {
      write.run();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return this;
  }

  RawFrame u8(int value) {
    return put(() -> out.writeByte(value));
  }

  RawFrame i64(long value) {
    return put(() -> out.writeLong(value));
  }

  RawFrame uuid(UUID id) {
    return i64(id.getMostSignificantBits()).i64(id.getLeastSignificantBits());
  }

  RawFrame v(long value) {
    return put(
        () -> {
          long rest = value;
          while (rest > 127) {
            out.writeByte((int) (rest & 127 | 128));
            rest >>>= 7;
          }
          out.writeByte((int) rest);
        });
  }

  RawFrame bytes(byte[] value) {
    v(value.length);
    return put(() -> out.write(value));
  }

  RawFrame text(String value) {
    return bytes(value.getBytes(StandardCharsets.UTF_8));
  }

  RawFrame noText() {
    return v(0);
  }

  // ---- reading ----

  int u8() {
    return fields.get() & 255;
  }

  int i32() {
    return fields.getInt();
  }

  long i64() {
    return fields.getLong();
  }

  UUID uuid() {
    return new UUID(i64(), i64());
  }

  long v() {
    long value = 0;
    int shift = 0;
    int next;
    do {
      next = u8();
      value |= (long) (next & 127) << shift;
      shift += 7;
    } while (next > 127);
    return value;
  }

  byte[] bytes() {
    byte[] value = new byte[(int) v()];
    fields.get(value);
    return value;
  }

  String text() {
    return new String(bytes(), StandardCharsets.UTF_8);
  }

  int remaining() {
    return fields.remaining();
  }
}

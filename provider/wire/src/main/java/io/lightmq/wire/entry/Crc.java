package io.lightmq.wire.entry;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/** CRC32C over absolute places of buffers; positions and limits stay as they are. */
public final class Crc {
  private Crc() {}

  /** The CRC of the bytes {@code from} to {@code to}. */
  public static int of(ByteBuffer buffer, int from, int to) {
    CRC32C crc = new CRC32C();
    update(crc, buffer, from, to);
    return (int) crc.getValue();
  }

  /** The CRC of a piece of one buffer and, behind it, a piece of another. */
  public static int of(
      ByteBuffer first, int from, int to, ByteBuffer second, int secondFrom, int secondTo) {
    CRC32C crc = new CRC32C();
    update(crc, first, from, to);
    update(crc, second, secondFrom, secondTo);
    return (int) crc.getValue();
  }

  private static void update(CRC32C crc, ByteBuffer buffer, int from, int to) {
    if (buffer.hasArray()) {
      crc.update(buffer.array(), buffer.arrayOffset() + from, to - from);
    } else {
      crc.update(buffer.duplicate().limit(to).position(from));
    }
  }
}

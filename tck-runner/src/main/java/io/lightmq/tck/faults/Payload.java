package io.lightmq.tck.faults;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * The body of a test message: its stamp, and bytes that follow from the stamp, so that the receiver
 * can tell a changed body without knowing what was sent.
 */
final class Payload {

  private static final int STAMP_BYTES = 8;

  private Payload() {}

  /** The body of one message, at least 8 bytes long. */
  static byte[] of(Stamp stamp, int bytes) {
    ByteBuffer body = ByteBuffer.allocate(Math.max(STAMP_BYTES, bytes));
    body.putInt(stamp.stream()).putInt(stamp.number());
    SplittableRandom random = new SplittableRandom(((long) stamp.stream() << 32) + stamp.number());
    while (body.remaining() >= Long.BYTES) {
      body.putLong(random.nextLong());
    }
    while (body.hasRemaining()) {
      body.put((byte) random.nextInt());
    }
    return body.array();
  }

  /** The stamp of a received body, or null if it is not the body that belongs to its stamp. */
  static @Nullable Stamp read(byte[] body) {
    if (body.length < STAMP_BYTES) {
      return null;
    }
    ByteBuffer buffer = ByteBuffer.wrap(body);
    Stamp stamp = new Stamp(buffer.getInt(), buffer.getInt());
    return Arrays.equals(body, of(stamp, body.length)) ? stamp : null;
  }
}

package io.lightmq.core.selector;

import io.lightmq.wire.entry.MessageScan;
import java.nio.ByteBuffer;

/**
 * A string as messages hold it: bytes, with the hash and equality of these.
 *
 * @param bytes from 0 to its capacity; never changed
 */
record Text(ByteBuffer bytes) {

  static Text of(String string) {
    return new Text(ByteBuffer.wrap(MessageScan.encode(string)));
  }

  /** A text that is a place of a buffer, as long as that stays as it is. */
  static Text of(ByteBuffer buffer, int at, int length) {
    return new Text(buffer.slice(at, length));
  }

  int length() {
    return bytes.capacity();
  }
}

package io.lightmq.core.selector;

import io.lightmq.wire.entry.MessageScan;
import java.nio.ByteBuffer;

/**
 * A string as messages hold it: bytes, with the hash and equality of these.
 *
 * @param bytes from 0 to its capacity; never changed
 */
record Text(ByteBuffer bytes) implements Comparable<Text> {

  static Text of(String string) {
    return new Text(ByteBuffer.wrap(MessageScan.encode(string)));
  }

  @Override
  public int compareTo(Text other) {
    return compareTo(other.bytes, 0, other.length());
  }

  /** Compares with a place of a buffer: by length first, so that most comparisons read nothing. */
  int compareTo(ByteBuffer buffer, int at, int length) {
    int order = Integer.compare(length(), length);
    for (int i = 0; order == 0 && i < length; i++) {
      order = Byte.compare(bytes.get(i), buffer.get(at + i));
    }
    return order;
  }

  int length() {
    return bytes.capacity();
  }
}

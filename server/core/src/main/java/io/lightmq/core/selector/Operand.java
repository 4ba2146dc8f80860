package io.lightmq.core.selector;

import java.nio.ByteBuffer;

/**
 * A register: one value on its way through an expression, so that evaluating makes no garbage. Text
 * is a place in a buffer, in the encoding of messages.
 */
final class Operand {
  private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

  Kind kind = Kind.NULL;

  /** Of INT and LONG; 1 or 0 of BOOLEAN. */
  long exact;

  /** Of FLOAT and DOUBLE. */
  double approximate;

  ByteBuffer text = NOTHING;
  int textAt;
  int textBytes;

  void none(Kind of) {
    kind = of;
  }

  void exact(Kind of, long value) {
    kind = of;
    exact = of == Kind.INT ? (int) value : value;
  }

  void approximate(Kind of, double value) {
    kind = of;
    approximate = of == Kind.FLOAT ? (float) value : value;
  }

  void text(ByteBuffer buffer, int at, int bytes) {
    kind = Kind.STRING;
    text = buffer;
    textAt = at;
    textBytes = bytes;
  }

  double asDouble() {
    return kind.isExact() ? exact : approximate;
  }

  float asFloat() {
    return kind.isExact() ? exact : (float) approximate;
  }

  boolean sameText(Operand other) {
    if (textBytes != other.textBytes) {
      return false;
    }
    int i = 0;
    if (text.order() == other.text.order()) {
      for (; i <= textBytes - Long.BYTES; i += Long.BYTES) {
        if (text.getLong(textAt + i) != other.text.getLong(other.textAt + i)) {
          return false;
        }
      }
    }
    for (; i < textBytes; i++) {
      if (text.get(textAt + i) != other.text.get(other.textAt + i)) {
        return false;
      }
    }
    return true;
  }
}

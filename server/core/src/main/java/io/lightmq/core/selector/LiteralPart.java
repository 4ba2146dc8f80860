package io.lightmq.core.selector;

import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * A part without {@code _}, looked for byte by byte (Knuth, Morris, Pratt): in UTF-8 the bytes of
 * characters begin nowhere else than characters do.
 */
final class LiteralPart extends Part {
  private final byte[] bytes;

  /**
   * How many of the first bytes still fit if the one behind {@code i} of them does not; -1 if not
   * even the first can be the one that was read.
   */
  private final short[] fallbacks;

  LiteralPart(int[] elements) {
    bytes = utf8(elements);
    fallbacks = fallbacks(bytes);
  }

  private static byte[] utf8(int[] elements) {
    byte[] bytes = new byte[4 * elements.length];
    int at = 0;
    for (int point : elements) {
      if (point < 0x80) {
        bytes[at++] = (byte) point;
        continue;
      }
      int width = point < 0x800 ? 2 : point < 0x1_0000 ? 3 : 4;
      bytes[at] = (byte) ((0xF00 >> width) | (point >> (6 * (width - 1))));
      for (int i = 1; i < width; i++) {
        bytes[at + i] = (byte) (0x80 | ((point >> (6 * (width - 1 - i))) & 0x3F));
      }
      at += width;
    }
    return Arrays.copyOf(bytes, at);
  }

  private static short[] fallbacks(byte[] bytes) {
    short[] fallbacks = new short[bytes.length];
    int fit = -1;
    for (int i = 0; i < bytes.length; i++) {
      fallbacks[i] = fit >= 0 && bytes[i] == bytes[fit] ? fallbacks[fit] : (short) fit;
      while (fit >= 0 && bytes[i] != bytes[fit]) {
        fit = fallbacks[fit];
      }
      fit++;
    }
    return fallbacks;
  }

  @Override
  int steps() {
    return bytes.length == 0 ? 0 : 1;
  }

  @Override
  int begins(ByteBuffer text, int from, int end) {
    return end - from >= bytes.length && isAt(text, from) ? from + bytes.length : -1;
  }

  @Override
  boolean ends(ByteBuffer text, int from, int end) {
    return end - from >= bytes.length && isAt(text, end - bytes.length);
  }

  private boolean isAt(ByteBuffer text, int at) {
    for (int i = 0; i < bytes.length; i++) {
      if (text.get(at + i) != bytes[i]) {
        return false;
      }
    }
    return true;
  }

  @Override
  int find(ByteBuffer text, int from, int end) {
    if (bytes.length == 0) {
      return from;
    }
    byte first = bytes[0];
    int fit = 0;
    for (int at = from; at < end; at++) {
      byte here = text.get(at);
      if (fit == 0) {
        // The loop that most texts are in.
        while (here != first) {
          if (++at == end) {
            return -1;
          }
          here = text.get(at);
        }
      }
      while (fit >= 0 && bytes[fit] != here) {
        fit = fallbacks[fit];
      }
      if (++fit == bytes.length) {
        return at + 1;
      }
    }
    return -1;
  }
}

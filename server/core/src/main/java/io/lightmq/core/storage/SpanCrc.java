package io.lightmq.core.storage;

import io.lightmq.wire.entry.Crc;
import java.nio.ByteBuffer;

/**
 * CRC32C of any part of a span of bytes, at a cost that does not depend on how long the part is:
 * {@value #MOST_BYTES} bytes are read at most. Bodies of messages may hold what looks like
 * thousands of entries that overlap, each of which has a check sum to be compared.
 *
 * <p>The CRC of what lies before each block of {@value #BLOCK} bytes is known. From the CRC of all
 * before a part, and that of all up to its end, follows that of the part: a CRC is a remainder of
 * polynomials over one bit, and bytes behind it multiply it by a power of x. The bytes must not
 * change meanwhile.
 */
final class SpanCrc {
  /** Read for one part at most. */
  static final int MOST_BYTES = 512;

  private static final int BLOCK = MOST_BYTES / 2;

  /** The polynomial of CRC32C, its highest power in the lowest bit as everywhere here. */
  private static final int POLYNOMIAL = 0x82F63B78;

  private static final int ONE = 1 << 31;

  /** The powers of x to 2^3, 2^4 and so on: what 1, 2, 4 and more bytes multiply by. */
  private static final int[] POWERS = powers();

  private final ByteBuffer bytes;

  /** Of all before each block. */
  private final int[] before;

  /** Of the first so many bytes of a buffer, which are read once. */
  SpanCrc(ByteBuffer bytes, int limit) {
    this.bytes = bytes;
    this.before = new int[limit / BLOCK + 1];
    for (int i = 1; i < before.length; i++) {
      int of = Crc.of(bytes, (i - 1) * BLOCK, i * BLOCK);
      before[i] = behind(before[i - 1], BLOCK) ^ of;
    }
  }

  /** The CRC of the bytes {@code from} to {@code to}. */
  int of(int from, int to) {
    return to - from <= MOST_BYTES
        ? Crc.of(bytes, from, to)
        : upTo(to) ^ behind(upTo(from), to - from);
  }

  private int upTo(int end) {
    int block = end / BLOCK;
    return behind(before[block], end - block * BLOCK) ^ Crc.of(bytes, block * BLOCK, end);
  }

  /** What a CRC contributes to that of itself and so many more bytes. */
  private static int behind(int crc, int count) {
    int result = crc;
    for (int bit = 0; count >>> bit != 0; bit++) {
      if ((count >>> bit & 1) != 0) {
        result = times(POWERS[bit], result);
      }
    }
    return result;
  }

  private static int[] powers() {
    int[] powers = new int[31];
    int power = ONE >>> 1;
    for (int i = 0; i < 3; i++) {
      power = times(power, power);
    }
    for (int i = 0; i < powers.length; i++) {
      powers[i] = power;
      power = times(power, power);
    }
    return powers;
  }

  /** The product of two polynomials, modulo that of the CRC. */
  private static int times(int first, int second) {
    int product = 0;
    int shifted = second;
    for (int left = first; left != 0; left <<= 1) {
      if (left < 0) {
        product ^= shifted;
      }
      shifted = (shifted & 1) == 0 ? shifted >>> 1 : shifted >>> 1 ^ POLYNOMIAL;
    }
    return product;
  }
}

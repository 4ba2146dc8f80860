package io.lightmq.tck.hostile;

import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/** Changes of one recorded frame. */
final class Mutation {
  /** Varints at their bounds, and some that are no varints. */
  private static final byte[][] VARINTS = {
    {0},
    {1},
    {127},
    {(byte) 128, 0},
    {(byte) 255, (byte) 255, (byte) 255, (byte) 255, 7},
    {(byte) 255, (byte) 255, (byte) 255, (byte) 255, 8},
    {(byte) 255, (byte) 255, (byte) 255, (byte) 255, 127},
    {-1, -1, -1, -1, -1, -1, -1, -1, 127},
    {-1, -1, -1, -1, -1, -1, -1, -1, -1, 1},
    {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1}
  };

  private static final int[] LENGTHS = {
    Integer.MIN_VALUE,
    -1,
    0,
    1,
    7,
    8,
    9,
    16_384,
    16_385,
    262_144,
    262_145,
    4_259_840,
    4_259_841,
    1 << 30,
    Integer.MAX_VALUE - 4,
    Integer.MAX_VALUE
  };

  private Mutation() {}

  /** A changed copy; the others lend their bytes to splices. */
  static byte[] of(byte[] frame, List<byte[]> others, SplittableRandom random) {
    byte[] changed = once(frame, others, random);
    while (random.nextInt(3) == 0) {
      changed = once(changed, others, random);
    }
    return changed;
  }

  private static byte[] once(byte[] frame, List<byte[]> others, SplittableRandom random) {
    if (frame.length <= FrameBytes.HEADER_BYTES && random.nextBoolean()) {
      return withLength(insert(frame, frame.length, noise(random)));
    }
    byte[] copy = frame.clone();
    int at = random.nextInt(copy.length);
    switch (random.nextInt(10)) {
      case 0 -> copy[at] ^= (byte) (1 << random.nextInt(8));
      case 1 -> copy[at] = (byte) random.nextInt();
      case 2 -> {
        return withLength(
            insert(copy, inFields(copy, random), VARINTS[random.nextInt(VARINTS.length)]));
      }
      case 3 -> {
        int from = inFields(copy, random);
        byte[] value = VARINTS[random.nextInt(VARINTS.length)];
        byte[] front = Arrays.copyOf(copy, from);
        int behind = Math.min(copy.length, from + 1);
        return withLength(
            insert(join(front, Arrays.copyOfRange(copy, behind, copy.length)), from, value));
      }
      case 4 -> {
        byte[] cut = Arrays.copyOf(copy, Math.max(5, at));
        return random.nextInt(4) == 0 ? cut : withLength(cut);
      }
      case 5 -> {
        return withLength(insert(copy, copy.length, noise(random)));
      }
      case 6 -> {
        byte[] other = others.get(random.nextInt(others.size()));
        int from = random.nextInt(other.length);
        return withLength(
            join(
                Arrays.copyOf(copy, Math.max(FrameBytes.HEADER_BYTES, at)),
                Arrays.copyOfRange(other, from, other.length)));
      }
      case 7 -> copy[Math.min(copy.length - 1, FrameBytes.TYPE_AT)] = (byte) random.nextInt(72);
      case 8 -> FrameBytes.putInt(copy, 0, LENGTHS[random.nextInt(LENGTHS.length)]);
      default -> {
        if (copy.length >= FrameBytes.HEADER_BYTES) {
          int[] values = {0, 1, -1, Integer.MAX_VALUE, Integer.MIN_VALUE, random.nextInt(50)};
          FrameBytes.putInt(copy, FrameBytes.CORRELATION_AT, values[random.nextInt(values.length)]);
        }
      }
    }
    return copy;
  }

  private static int inFields(byte[] frame, SplittableRandom random) {
    int fields = frame.length - FrameBytes.HEADER_BYTES;
    return fields <= 0 ? frame.length : FrameBytes.HEADER_BYTES + random.nextInt(fields);
  }

  private static byte[] noise(SplittableRandom random) {
    byte[] bytes = new byte[1 + random.nextInt(random.nextInt(10) == 0 ? 20_000 : 20)];
    random.nextBytes(bytes);
    return bytes;
  }

  private static byte[] insert(byte[] frame, int at, byte[] more) {
    return join(join(Arrays.copyOf(frame, at), more), Arrays.copyOfRange(frame, at, frame.length));
  }

  private static byte[] join(byte[] front, byte[] back) {
    byte[] both = Arrays.copyOf(front, front.length + back.length);
    System.arraycopy(back, 0, both, front.length, back.length);
    return both;
  }

  /** With the length that it has, so that what changed is read and not only its frame. */
  private static byte[] withLength(byte[] frame) {
    FrameBytes.putInt(frame, 0, frame.length - 4);
    return frame;
  }
}

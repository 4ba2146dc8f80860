package io.lightmq.node.connection;

import io.lightmq.core.shard.Command.Acked;
import io.lightmq.wire.FrameType;
import io.lightmq.wire.Protocol;
import java.util.List;

/**
 * What the ranges that frames name take of the heap, much more than their bytes: a range of three
 * bytes becomes one of forty. The frames of one range are counted by their number only.
 */
final class RangesHeap {
  /** Frames up to this length name one range of one consumer, or hardly more. */
  static final int FEW_BYTES = 48;

  private static final int SHARE_OF_HEAP = 8;
  private static final int SHARE_OF_CONNECTION = 4;
  private static final long MOST_BYTES = 32L << 20;
  private static final long LEAST_BYTES = 1L << 20;

  private static final int COMMAND = 64;
  private static final int CONSUMER = 40;
  private static final int LIST = 56;
  private static final int RANGE = 40;

  /** A consumer with a range takes six bytes of a frame and two of its items. */
  private static final int MOST_OF_BYTE = (CONSUMER + LIST + RANGE + 5) / 6;

  private static final int MOST_OF_ITEM = (CONSUMER + LIST + RANGE) / 2;

  private RangesHeap() {}

  /** What all connections may have with the shard on a machine of this heap. */
  static long limit(long heapBytes) {
    return Math.max(LEAST_BYTES, Math.min(MOST_BYTES, heapBytes / SHARE_OF_HEAP));
  }

  /** What one connection may have before it is not read any more. */
  static long share(long limit) {
    return limit / SHARE_OF_CONNECTION;
  }

  /** Whether frames of a type name ranges. */
  static boolean names(int type) {
    return type == FrameType.ACKNOWLEDGE.code()
        || type == FrameType.COMMIT.code()
        || type == FrameType.RETURN.code()
        || type == FrameType.BEGUN.code();
  }

  /** What a frame of this length takes at most once it is decoded. */
  static int most(int frameBytes) {
    return (int)
        Math.min((long) MOST_OF_BYTE * frameBytes, (long) MOST_OF_ITEM * Protocol.MAX_ITEMS);
  }

  /** What is counted for a command that names these; 0 for one range. */
  static int of(List<Acked> named) {
    if (named.isEmpty() || (named.size() == 1 && named.get(0).ranges().size() <= 1)) {
      return 0;
    }
    int bytes = COMMAND + CONSUMER * named.size();
    for (Acked each : named) {
      bytes += each.ranges().isEmpty() ? 0 : LIST + RANGE * each.ranges().size();
    }
    return bytes;
  }
}

package io.lightmq.node.connection;

import io.lightmq.core.door.Command.Acked;
import io.lightmq.wire.FrameType;
import io.lightmq.wire.Protocol;
import java.util.List;

/**
 * What frames take of the heap once they are decoded, which may be much more than their bytes: a
 * range of three bytes becomes one of forty, a pull of five one of 136, a text of ASCII twice its
 * length. It is reckoned twice: at the most that a frame of its length can take, before it is
 * decoded; then what it does take, until it is carried out or answered. Within {@link
 * OpenRequests#REQUEST_BYTES} a frame is counted by its number only.
 */
final class FrameHeap {
  /** Frames up to this length have few parts; one range fits, whatever its numbers are. */
  static final int FEW_BYTES = 40;

  /** Frames up to this length have only short texts. */
  static final int SHORT_BYTES = 128;

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

  /** A run of a commit, with the slice of its messages. */
  private static final long RUN = 256;

  /** One pull, as a part of its frame and as a command. */
  private static final int PULL = 136;

  private static final int FRAME_BYTES_OF_PULL = 5;

  /** An argument of a verb beside its characters, and what it takes while it is decoded. */
  private static final int ARGUMENT = 200;

  private static final int MOST_OF_ARGUMENT = 640;

  private static final int FRAME_BYTES_OF_ARGUMENT = 2;

  /** A character, and the most that a byte of a text takes while it is decoded and checked. */
  private static final int CHAR = 2;

  private static final int MOST_OF_TEXT_BYTE = 3 * CHAR;

  private FrameHeap() {}

  /** What all connections may have on a machine of this heap. */
  static long limit(long heapBytes) {
    return Math.max(LEAST_BYTES, Math.min(MOST_BYTES, heapBytes / SHARE_OF_HEAP));
  }

  /** What one connection may have before it is not read any more. */
  static long share(long limit) {
    return limit / SHARE_OF_CONNECTION;
  }

  /** What a frame of this type and length takes at most once it is decoded; 0 if that is little. */
  static int most(int type, int frameBytes) {
    boolean verb = type == FrameType.ADMIN.code();
    boolean parts = verb || hasParts(type);
    if (type == FrameType.PUBLISH.code()
        || (frameBytes <= FEW_BYTES && !verb)
        || (frameBytes <= SHORT_BYTES && !parts)) {
      return 0;
    }
    long most = (long) MOST_OF_TEXT_BYTE * frameBytes;
    if (type == FrameType.PULL.code()) {
      most = (long) PULL * Math.min(frameBytes / FRAME_BYTES_OF_PULL, Protocol.MAX_PULLS);
    } else if (verb) {
      most +=
          (long) MOST_OF_ARGUMENT
              * Math.min(frameBytes / FRAME_BYTES_OF_ARGUMENT, Protocol.MAX_ARGUMENTS);
    } else if (parts) {
      most = Math.min((long) MOST_OF_BYTE * frameBytes, (long) MOST_OF_ITEM * Protocol.MAX_ITEMS);
    }
    return (int) Math.min(Integer.MAX_VALUE, most);
  }

  /**
   * What a commit of so many runs takes at most, beside the bytes of its messages, which it does
   * not copy; 0 if that is little.
   *
   * @param acknowledgingBytes the length of what follows its runs in the frame
   */
  static int mostOfCommit(long runs, int acknowledgingBytes) {
    long most =
        RUN * runs
            + Math.min(
                (long) MOST_OF_BYTE * acknowledgingBytes, (long) MOST_OF_ITEM * Protocol.MAX_ITEMS);
    return runs <= 1 && acknowledgingBytes <= FEW_BYTES
        ? 0
        : (int) Math.min(Integer.MAX_VALUE, most);
  }

  /** Whether it has the runs and acknowledgements of a transaction, laid out as in a commit. */
  static boolean isCommitLike(int type) {
    return type == FrameType.COMMIT.code()
        || type == FrameType.STAGE.code()
        || type == FrameType.PREPARE.code();
  }

  private static boolean hasParts(int type) {
    return type == FrameType.ACKNOWLEDGE.code()
        || isCommitLike(type)
        || type == FrameType.RETURN.code()
        || type == FrameType.BEGUN.code()
        || type == FrameType.PULL.code();
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

  /** What is counted for so many pulls of one frame; 0 for one. */
  static int ofPulls(int pulls) {
    return pulls <= 1 ? 0 : PULL * pulls;
  }

  /** What is counted for a request with texts of so many characters; 0 for short ones. */
  static int ofTexts(long chars) {
    return chars <= SHORT_BYTES ? 0 : (int) Math.min(Integer.MAX_VALUE, CHAR * chars);
  }

  /** What is counted for a verb with so many arguments, and texts of so many characters. */
  static int ofVerb(int arguments, long chars) {
    return arguments <= 1
        ? ofTexts(chars)
        : (int) Math.min(Integer.MAX_VALUE, (long) ARGUMENT * arguments + CHAR * chars);
  }
}

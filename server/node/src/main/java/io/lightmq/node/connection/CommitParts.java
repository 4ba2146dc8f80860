package io.lightmq.node.connection;

import io.lightmq.wire.FrameType;
import io.lightmq.wire.Protocol;
import io.netty.buffer.ByteBuf;

/**
 * Counts the parts of a commit while its bytes pass, so that it is known before it is decoded what
 * it becomes: its messages stay the bytes that they are, each run is an object or two, and what
 * acknowledges may become 23 times its bytes. Nothing is kept of the bytes. What is no commit is
 * left to the decoder, and counts as the worst that its length allows. Event loop only.
 */
final class CommitParts {
  /** Flags, reserved bytes and correlation, which are behind the type. */
  private static final int HEADER_BYTES = 7;

  private static final int VARINT_BITS = 63;

  /** The fields in their order; those from {@code DESTINATION} on are there for each run. */
  private enum Field {
    SESSION,
    NUMBER,
    RUNS,
    DESTINATION,
    PERSISTENT,
    MESSAGES,
    LENGTH;

    Field next() {
      return switch (this) {
        case SESSION -> NUMBER;
        case NUMBER -> RUNS;
        case RUNS, LENGTH -> DESTINATION;
        case DESTINATION -> PERSISTENT;
        case PERSISTENT -> MESSAGES;
        case MESSAGES -> LENGTH;
      };
    }
  }

  private int frameBytes;
  private int unseen;

  /** Bytes to pass over: of the header, then of each run. */
  private int skip;

  private Field field = Field.SESSION;
  private long value;
  private int shift;
  private long runs;
  private long runsLeft;

  /** What follows the bytes of the run that was met last. */
  private int acknowledgingBytes;

  private boolean complete;
  private boolean bad;

  /** A commit of this length begins; the length field and the type are not among what passes. */
  void begin(int length) {
    frameBytes = length;
    unseen = length - 1;
    skip = HEADER_BYTES;
    field = Field.SESSION;
    value = 0;
    shift = 0;
    runs = 0;
    runsLeft = 0;
    acknowledgingBytes = 0;
    complete = false;
    bad = false;
  }

  /**
   * Looks at what has come of it, each byte once.
   *
   * @param end behind the last byte that is there
   * @param left how many of its bytes are still to come behind that
   */
  void pass(ByteBuf bytes, int end, long left) {
    int at = end - (int) Math.max(0, unseen - left);
    unseen = (int) Math.min(unseen, left);
    while (at < end && !complete && !bad) {
      int skipped = Math.min(skip, end - at);
      skip -= skipped;
      at += skipped;
      if (skip == 0 && at < end) {
        take(bytes.getUnsignedByte(at++));
        acknowledgingBytes = (int) (end - at + left) - skip;
      }
    }
  }

  private void take(int next) {
    value |= (long) (next & 0x7F) << shift;
    shift += 7;
    if ((next & 0x80) != 0) {
      bad = shift >= VARINT_BITS;
      return;
    }
    long number = value;
    value = 0;
    shift = 0;
    if (field == Field.RUNS) {
      runs = number;
      runsLeft = number;
      bad = number > Math.min(frameBytes, Protocol.MAX_ITEMS);
      complete = number == 0;
    } else if (field == Field.LENGTH) {
      bad = number > frameBytes;
      skip = (int) Math.min(number, frameBytes);
      complete = --runsLeft == 0;
    }
    field = field.next();
  }

  /** What it takes of the heap at most when it is decoded, once all of it has passed. */
  int most() {
    return complete && !bad && acknowledgingBytes >= 0
        ? FrameHeap.mostOfCommit(runs, acknowledgingBytes)
        : FrameHeap.most(FrameType.COMMIT.code(), frameBytes);
  }
}

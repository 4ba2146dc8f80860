package io.lightmq.core.storage.segment;

import java.io.IOException;

/** Why a read of a segment failed other than by the device. */
public abstract sealed class SegmentException extends IOException {
  private SegmentException(String message) {
    super(message);
  }

  /**
   * Bytes of a published segment that fail their checks, also when looked up a second time. The
   * entry is neither skipped nor given out.
   */
  public static final class Damaged extends SegmentException {
    private final long sequence;

    Damaged(String message, long sequence) {
      super(message);
      this.sequence = sequence;
    }

    /** The sequence whose entry is damaged, or -1 if the damage is in directory or index. */
    public long sequence() {
      return sequence;
    }
  }

  /** The segment is not in the store any more: look up the sequence again. */
  public static final class Gone extends SegmentException {
    Gone(String message) {
      super(message);
    }
  }

  /** The destage was cancelled; its files are deleted. */
  public static final class Cancelled extends SegmentException {
    Cancelled(String message) {
      super(message);
    }
  }
}

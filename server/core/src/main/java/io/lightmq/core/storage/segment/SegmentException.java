package io.lightmq.core.storage.segment;

import io.lightmq.core.storage.ExplainedFailure;
import java.io.IOException;

/** Why a read of a segment failed other than by the device. */
public abstract sealed class SegmentException extends IOException implements ExplainedFailure {
  private SegmentException(String message) {
    super(message);
  }

  /**
   * Bytes of a published segment that fail their checks, or that the device does not give, also
   * when looked up a second time. The entries are neither skipped nor given out.
   */
  public static final class Damaged extends SegmentException {
    private final long sequence;
    private final long through;

    Damaged(String message, long sequence) {
      this(message, sequence, sequence);
    }

    Damaged(String message, long sequence, long through) {
      super(message);
      this.sequence = sequence;
      this.through = through;
    }

    /** The same by the sequences of a lane that has taken the entries over. */
    Damaged shifted(long by) {
      Damaged shifted =
          new Damaged(
              String.valueOf(getMessage()),
              sequence < 0 ? sequence : sequence + by,
              through < 0 || through == Long.MAX_VALUE ? through : through + by);
      shifted.initCause(this);
      return shifted;
    }

    /** The first sequence whose entry is damaged, or -1 if the damage is in directory or index. */
    public long sequence() {
      return sequence;
    }

    /** The last sequence that cannot be read because of it. */
    public long through() {
      return through;
    }
  }

  /** A segment cannot be rewritten, because something of it that is needed is damaged. */
  public static final class NotRewritable extends SegmentException {
    private final long segmentAddress;

    NotRewritable(long segmentAddress, Damaged cause) {
      super(String.valueOf(cause.getMessage()));
      initCause(cause);
      this.segmentAddress = segmentAddress;
    }

    /** Which one. */
    public long segmentAddress() {
      return segmentAddress;
    }
  }

  /**
   * Something that a destage copies cannot be read now. Nothing is known to be damaged: it is tried
   * again, with all that was to be copied.
   */
  public static final class Unread extends SegmentException {
    private final boolean journalBytes;

    Unread(String message, IOException cause, boolean journalBytes) {
      super(message + ": " + cause.getMessage());
      initCause(cause);
      this.journalBytes = journalBytes;
    }

    /**
     * Whether it is bytes of the journal that the device does not give; if not, a file cannot be
     * opened, or it is a segment that is to be rewritten.
     */
    public boolean isOfJournalBytes() {
      return journalBytes;
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

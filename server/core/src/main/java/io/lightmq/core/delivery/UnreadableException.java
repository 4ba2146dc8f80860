package io.lightmq.core.delivery;

import java.io.IOException;

/** Entries of the journal or of an overflow file that fail their checks, with which these are. */
final class UnreadableException extends IOException {
  private final long from;
  private final long through;

  UnreadableException(String message, long from, long through) {
    super(message);
    this.from = from;
    this.through = through;
  }

  /** The first sequence that cannot be read. */
  long from() {
    return from;
  }

  /** The last one that cannot be read because of the same damage. */
  long through() {
    return through;
  }
}

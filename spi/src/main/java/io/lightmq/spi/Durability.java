package io.lightmq.spi;

/**
 * The durability tier of a destination: which mark a persistent message must reach before its send
 * returns. A changed tier counts from the next message on.
 */
public enum Durability {
  /** Returns when written. A broker crash takes nothing, a machine crash the newest messages. */
  PERFORMANCE(Mark.WRITTEN),
  /** Returns when written; forced within the flush interval. */
  BALANCED(Mark.WRITTEN),
  /** Returns when durable. The default. */
  HIGH(Mark.DURABLE);

  private final Mark mark;

  Durability(Mark mark) {
    this.mark = mark;
  }

  /** The mark that releases a receipt of this tier. */
  public Mark mark() {
    return mark;
  }
}

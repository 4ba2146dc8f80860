package io.lightmq.core.selector;

/** What several selectors cost together, so that nobody has to add them up for each message. */
public final class Weight {
  private long evaluations;
  private long eighths;

  /** One more selector. */
  public void add(Selector selector) {
    evaluations += selector.evaluationSteps();
    eighths += selector.byteEighths();
  }

  /** One selector less. */
  public void remove(Selector selector) {
    evaluations -= selector.evaluationSteps();
    eighths -= selector.byteEighths();
  }

  /** No selector. */
  public void clear() {
    evaluations = 0;
    eighths = 0;
  }

  /** The steps that it takes at most to evaluate all of them on so many messages. */
  public long steps(long messages, long selectableBytes) {
    return messages * evaluations + selectableBytes * eighths / 8;
  }
}

package io.lightmq.core.storage.segment;

import java.util.Arrays;

/** A short rising list of sequences. */
final class PickedSequences implements Wanted {
  private final long[] rising;

  PickedSequences(long[] rising) {
    for (int i = 1; i < rising.length; i++) {
      if (rising[i] <= rising[i - 1]) {
        throw new IllegalArgumentException(
            "sequences must rise: %d follows %d".formatted(rising[i], rising[i - 1]));
      }
    }
    this.rising = rising;
  }

  @Override
  public boolean wants(long sequence) {
    return Arrays.binarySearch(rising, sequence) >= 0;
  }

  @Override
  public long next(long from) {
    int at = Arrays.binarySearch(rising, from);
    int next = at >= 0 ? at : -at - 1;
    return next == rising.length ? Long.MAX_VALUE : rising[next];
  }
}

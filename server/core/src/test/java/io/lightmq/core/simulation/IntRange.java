package io.lightmq.core.simulation;

import java.util.Random;
import org.jspecify.annotations.Nullable;

/** What a consumer wants of the messages' property n, which is their correlation id too. */
record IntRange(int low, int high) {
  static final int VALUES = 7;
  static final IntRange ALL = new IntRange(0, VALUES - 1);

  /** Mostly everything, else a part. */
  static IntRange any(Random random) {
    if (random.nextInt(3) > 0) {
      return ALL;
    }
    int low = random.nextInt(VALUES);
    return new IntRange(low, low + random.nextInt(VALUES - low));
  }

  boolean holds(int n) {
    return n >= low && n <= high;
  }

  /** The selector; none for everything. */
  @Nullable String selector() {
    if (low == high) {
      return "JMSCorrelationID = 'k" + low + "'";
    }
    return equals(ALL) ? null : "n BETWEEN " + low + " AND " + high;
  }
}

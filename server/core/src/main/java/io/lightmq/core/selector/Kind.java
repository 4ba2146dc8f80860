package io.lightmq.core.selector;

/** What a value is when an expression looks at it. */
enum Kind {
  /** Absent, or the result of arithmetic with something absent or of a division by zero. */
  NULL,
  /** The result of arithmetic with what is no number; unlike everything. */
  NO_NUMBER,
  BOOLEAN,
  STRING,
  INT,
  LONG,
  FLOAT,
  DOUBLE;

  boolean isNumber() {
    return compareTo(INT) >= 0;
  }

  boolean isExact() {
    return this == INT || this == LONG;
  }

  /** Binary numeric promotion of the Java language. */
  static Kind promote(Kind left, Kind right) {
    return left.compareTo(right) >= 0 ? left : right;
  }
}

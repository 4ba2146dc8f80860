package io.lightmq.core.selector;

/** A value of three-valued logic: section 3.8.1.2 of the specification. */
enum Truth {
  FALSE,
  UNKNOWN,
  TRUE;

  static Truth of(boolean value) {
    return value ? TRUE : FALSE;
  }

  Truth not() {
    return this == UNKNOWN ? UNKNOWN : this == TRUE ? FALSE : TRUE;
  }

  Truth and(Truth other) {
    return compareTo(other) <= 0 ? this : other;
  }

  Truth or(Truth other) {
    return compareTo(other) >= 0 ? this : other;
  }
}

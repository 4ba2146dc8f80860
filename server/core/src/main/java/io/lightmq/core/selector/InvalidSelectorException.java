package io.lightmq.core.selector;

import io.lightmq.wire.entry.Printable;

/** A selector that does not follow the grammar; says at which column and what was expected. */
public final class InvalidSelectorException extends Exception {
  private static final long serialVersionUID = 1L;

  private final int column;

  InvalidSelectorException(int column, String problem) {
    super("selector, column " + column + ": " + Printable.line(problem));
    this.column = column;
  }

  /** Where it is, from 1. */
  public int column() {
    return column;
  }
}

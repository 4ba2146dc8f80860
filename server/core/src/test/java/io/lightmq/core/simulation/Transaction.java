package io.lightmq.core.simulation;

/** A commit as its client knows it: what it sends and what it acknowledges come together. */
final class Transaction {
  private final int number;

  /** Something that it sends has come to somebody. */
  boolean happened;

  /** Something that it acknowledges has come again. */
  boolean undone;

  /** A power cut takes it only if nothing in it is of a destination with forced receipts. */
  boolean durable;

  Transaction(int number) {
    this.number = number;
  }

  @Override
  public String toString() {
    return "commit " + number;
  }
}

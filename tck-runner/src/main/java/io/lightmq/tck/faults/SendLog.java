package io.lightmq.tck.faults;

import java.util.Arrays;
import java.util.BitSet;

/**
 * What one producer did and was told, message by message.
 *
 * <p>Written by the producer's and the client's threads, read by the checker.
 */
final class SendLog {

  /** What the producer knows about one message. */
  enum State {
    /** The call has not ended. */
    OPEN,
    /** The broker has promised to keep it. */
    CONFIRMED,
    /** The call failed, which says nothing about the message. */
    UNKNOWN,
    /** The transaction was rolled back: nobody may ever see it. */
    ROLLED_BACK
  }

  private final int stream;
  private final String target;
  private final int transaction;
  private State[] states = new State[1 << 10];
  private int count;
  private int open;
  private final BitSet confirmed = new BitSet();
  private int unknown;
  private volatile long lastReceiptNanos;

  /**
   * @param stream the producer's number
   * @param target the destination it sends to
   * @param transaction messages in each transaction, 1 for a producer without transactions
   */
  SendLog(int stream, String target, int transaction) {
    this.stream = stream;
    this.target = target;
    this.transaction = transaction;
  }

  int stream() {
    return stream;
  }

  String target() {
    return target;
  }

  /** Messages in each transaction; they are numbered one after the other. */
  int transaction() {
    return transaction;
  }

  /** The stamp of the message that is about to be sent. */
  synchronized Stamp next() {
    count++;
    open++;
    if (count == states.length) {
      states = Arrays.copyOf(states, 2 * states.length);
    }
    states[count] = State.OPEN;
    return new Stamp(stream, count);
  }

  synchronized void confirmed(Stamp stamp) {
    end(stamp, State.CONFIRMED);
    confirmed.set(stamp.number());
    lastReceiptNanos = System.nanoTime();
  }

  synchronized void unknown(Stamp stamp) {
    end(stamp, State.UNKNOWN);
    unknown++;
  }

  synchronized void rolledBack(Stamp stamp) {
    end(stamp, State.ROLLED_BACK);
  }

  private void end(Stamp stamp, State state) {
    if (stamp.stream() != stream || state(stamp.number()) != State.OPEN) {
      throw new IllegalStateException("message " + stamp + " ended twice: " + state);
    }
    states[stamp.number()] = state;
    open--;
  }

  synchronized State state(int number) {
    return states[number];
  }

  synchronized int count() {
    return count;
  }

  synchronized int open() {
    return open;
  }

  synchronized int confirmedCount() {
    return confirmed.cardinality();
  }

  /** A copy of the set of confirmed numbers. */
  synchronized BitSet confirmedNumbers() {
    return (BitSet) confirmed.clone();
  }

  synchronized int unknownCount() {
    return unknown;
  }

  long lastReceiptNanos() {
    return lastReceiptNanos;
  }
}

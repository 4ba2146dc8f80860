package io.lightmq.core.simulation;

/**
 * What a transaction has acknowledged that is neither committed nor rolled back comes to nobody. A
 * part that is refused rolls back, and what was held may come before the answer does.
 */
final class HeldIsHeld implements Oracle {
  @Override
  public void arrived(Arrival arrival) {
    if (arrival.copy().staged && arrival.isWhereItWas()) {
      if (!arrival.copy().atStake) {
        throw violated(arrival + " comes while a transaction holds it");
      }
      arrival.copy().cameAtStake = arrival.toString();
    }
  }

  /** A part of the transaction that holds a message was sent. */
  static void sent(Copy held) {
    held.atStake = held.staged;
  }

  /** That part is answered. */
  static void answered(Copy held, boolean refused) {
    held.atStake = false;
    String came = held.cameAtStake;
    held.cameAtStake = null;
    if (came != null && !refused) {
      throw new HeldIsHeld().violated(came + " came while a transaction held it");
    }
  }
}

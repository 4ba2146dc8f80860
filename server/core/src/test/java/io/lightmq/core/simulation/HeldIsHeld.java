package io.lightmq.core.simulation;

/**
 * What a transaction has acknowledged that is neither committed nor rolled back comes to nobody.
 */
final class HeldIsHeld implements Oracle {
  @Override
  public void arrived(Arrival arrival) {
    if (arrival.copy().staged && arrival.isWhereItWas()) {
      throw violated(arrival + " comes while a transaction holds it");
    }
  }
}

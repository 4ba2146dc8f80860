package io.lightmq.core.simulation;

/** A confirmed acknowledgement ends a message, and so does a pull that acknowledges. */
final class AcknowledgedForGood implements Oracle {
  @Override
  public void arrived(Arrival arrival) {
    Copy copy = arrival.copy();
    if (!arrival.isWhereItWas()) {
      return;
    }
    if (copy.acknowledged && !copy.acknowledgementMayBeLost) {
      throw violated(arrival + " comes again although its acknowledgement was confirmed");
    }
    if (copy.consumed && !copy.consumedMayComeAgain) {
      throw violated(arrival + " comes again although it was acknowledged before it was sent");
    }
  }
}

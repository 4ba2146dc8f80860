package io.lightmq.core.simulation;

/** Of a commit either all happens or nothing, whether or not its client was told. */
final class AllOrNothing implements Oracle {
  @Override
  public void arrived(Arrival arrival) {
    Transaction sent = arrival.message().transaction;
    if (sent != null && sent.undone) {
      throw violated(arrival + " was sent, but what its commit acknowledged came again");
    }
    Transaction acknowledged = arrival.copy().transaction;
    if (acknowledged != null && acknowledged.happened && arrival.isWhereItWas()) {
      throw violated(arrival + " comes again, but what its commit sent came");
    }
  }
}

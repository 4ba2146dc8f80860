package io.lightmq.core.simulation;

/** What an application may have seen comes again only with its flag. */
final class FlaggedIfSeen implements Oracle {
  @Override
  public void arrived(Arrival arrival) {
    if (arrival.copy().seen
        && arrival.isWhereItWas()
        && !arrival.taker().consumes
        && arrival.received().deliveries() == 0) {
      throw violated(arrival + " was seen before and is not flagged");
    }
  }
}

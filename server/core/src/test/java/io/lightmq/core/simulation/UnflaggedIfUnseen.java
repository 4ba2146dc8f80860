package io.lightmq.core.simulation;

/** What was sent to no consumer has no flag, as long as the broker has ended in order only. */
final class UnflaggedIfUnseen implements Oracle {
  private final World world;

  UnflaggedIfUnseen(World world) {
    this.world = world;
  }

  @Override
  public void arrived(Arrival arrival) {
    if (!world.plant.flagsAll()
        && !arrival.copy().came
        && arrival.received().deliveries() > 0
        && arrival.message().uncleanEnds == world.uncleanEnds()) {
      throw violated(arrival + " was sent to nobody before and is flagged");
    }
  }
}

package io.lightmq.core.simulation;

import io.lightmq.core.simulation.SimulatedPeer.Received;
import org.jspecify.annotations.Nullable;

/** A delayed message is seen by nobody before it is due by the wall clock. */
final class NothingBeforeItsTime implements Oracle {
  private final World world;

  NothingBeforeItsTime(World world) {
    this.world = world;
  }

  @Override
  public void arrived(Arrival arrival) {
    check(arrival.message(), arrival);
  }

  @Override
  public void browsed(SimulatedDestination queue, @Nullable Message message, Received received) {
    if (message != null) {
      check(message, message);
    }
  }

  private void check(Message message, Object what) {
    // A clock that went back at a start makes nothing undone.
    long now = world.latestWallMillis(message.era);
    if (message.isDelayed() && now < message.earliestDue) {
      throw violated(what + " comes " + (message.earliestDue - now) + " ms before it is due");
    }
  }
}

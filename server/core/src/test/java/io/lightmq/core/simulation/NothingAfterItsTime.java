package io.lightmq.core.simulation;

import io.lightmq.core.simulation.SimulatedPeer.Received;
import org.jspecify.annotations.Nullable;

/** Nothing comes when its time to live is over, but for a letter that was sent back. */
final class NothingAfterItsTime implements Oracle {
  private final World world;

  NothingAfterItsTime(World world) {
    this.world = world;
  }

  @Override
  public void arrived(Arrival arrival) {
    if (arrival.alive()) { // else it was on its way, perhaps for longer than the clock's last step
      check(arrival.message(), arrival);
    }
  }

  @Override
  public void browsed(SimulatedDestination queue, @Nullable Message message, Received received) {
    if (message != null) {
      check(message, message);
    }
  }

  private void check(Message message, Object what) {
    // Whether it is over is asked of the beginning of a turn.
    long over = world.turnBeganMillis() - message.latestEnd;
    if (over > 0 && message.latestEnd > 0 && !message.retried) {
      throw violated(what + " comes " + over + " ms after its time to live");
    }
  }
}

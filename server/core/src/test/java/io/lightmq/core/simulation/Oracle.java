package io.lightmq.core.simulation;

import io.lightmq.core.simulation.SimulatedPeer.Received;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A promise of the broker, checked on all that clients see. An oracle is told before the facts are
 * changed by what it is told.
 */
interface Oracle {
  /**
   * A message came to a consumer.
   *
   * @param alive whether anybody looks at that consumer's connection any more
   */
  record Arrival(Message message, Copy copy, Taker taker, Received received, boolean alive) {
    Followed followed() {
      return copy.followed;
    }

    Copy.Place place() {
      return new Copy.Place(received.destinationId(), received.lane(), received.sequence());
    }

    /** Whether it is where it was seen before, or was not seen. */
    boolean isWhereItWas() {
      return copy.place == null || copy.place.equals(place());
    }

    @Override
    public String toString() {
      return received + ", " + copy + ", " + taker;
    }
  }

  /**
   * A message lies among dead or expired letters.
   *
   * @param candidates what it may be the letter of
   * @param hasName whether it says of which subscription it is
   */
  record Letter(
      Message message, List<Copy> candidates, boolean dead, boolean hasName, Received received) {
    @Override
    public String toString() {
      return (dead ? "dead" : "expired") + " letter " + received + ", " + candidates;
    }
  }

  /** A violated oracle. */
  final class Violation extends AssertionError {
    private static final long serialVersionUID = 1;

    final String oracle;

    Violation(String oracle, String facts) {
      super(oracle + " is violated: " + facts);
      this.oracle = oracle;
    }
  }

  default void arrived(Arrival arrival) {}

  /** Messages came together, in this order. */
  default void arrivedTogether(List<Arrival> batch) {}

  /** Something came that nobody knows. */
  default void unknown(Followed followed, Received received) {}

  default void letter(Letter letter) {}

  /** A browser sees a message that waits in a queue. */
  default void browsed(SimulatedDestination queue, @Nullable Message message, Received received) {}

  /** All consumers of a subscription took and acknowledged what there is, until nothing came. */
  default void calm(Followed followed) {}

  /** A browser and then one consumer looked at all that waits in a queue, and nobody else. */
  default void drained(Followed queue, List<Message> browsed, List<Arrival> taken) {}

  /** The process has ended, or the machine. */
  default void crashed(boolean power) {}

  /** All that is left was taken, letters too. */
  default void end() {}

  default Violation violated(String facts) {
    return new Violation(getClass().getSimpleName(), facts);
  }
}

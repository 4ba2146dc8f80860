package io.lightmq.core.simulation;

import java.util.HashMap;
import java.util.Map;

/**
 * A run that is sent again under its number is stored once, and a place names one message for ever:
 * so a message comes from one place, until it was a dead or expired letter and was sent back.
 */
final class OnceByNumber implements Oracle {
  private final Map<Copy.Place, Message> stored = new HashMap<>();

  @Override
  public void arrived(Arrival arrival) {
    Message other = stored.putIfAbsent(arrival.place(), arrival.message());
    if (other != null && other != arrival.message()) {
      throw violated(arrival + " comes from where " + other + " was");
    }
    if (!arrival.isWhereItWas() && !arrival.message().retried && !arrival.copy().mayComeAnew) {
      throw violated(arrival + " comes from another place");
    }
  }

  @Override
  public void letter(Letter letter) {
    long lives = letter.candidates().size();
    long letters = letter.candidates().stream().mapToLong(copy -> copy.letters).sum();
    if (letter.hasName() && letters >= lives) {
      throw violated(letter + " is there " + (letters + 1) + " times");
    }
  }
}

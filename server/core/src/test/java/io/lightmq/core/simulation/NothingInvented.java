package io.lightmq.core.simulation;

import io.lightmq.core.simulation.SimulatedPeer.Received;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What comes was sent there and is unchanged, was not refused, is wanted by who gets it, and its
 * destination was not deleted.
 */
final class NothingInvented implements Oracle {
  @Override
  public void unknown(Followed followed, Received received) {
    throw violated(received + " was never sent to " + followed);
  }

  @Override
  public void arrived(Arrival arrival) {
    Message message = arrival.message();
    Followed followed = arrival.followed();
    if (message.to != followed.destination) {
      throw violated(arrival + " was sent elsewhere");
    }
    if (message.refused) {
      throw violated(arrival + " was refused, the sender knows it");
    }
    if (arrival.copy().gone && !message.retried) {
      throw violated(arrival + " went with its destination");
    }
    if (!followed.wanted.holds(message.content.n())
        || (arrival.alive() && !arrival.taker().range.holds(message.content.n()))) {
      throw violated(arrival + " is not wanted");
    }
    if (message.settledAt < followed.asked && !message.retried) {
      throw violated(arrival + " was confirmed before the subscription was asked for");
    }
    unchanged(message, arrival.received());
  }

  @Override
  public void letter(Letter letter) {
    unchanged(letter.message(), letter.received());
    if (letter.hasName() && letter.candidates().isEmpty()) {
      throw violated(letter + " comes from nowhere");
    }
  }

  @Override
  public void browsed(SimulatedDestination queue, @Nullable Message message, Received received) {
    if (message == null || message.to != queue || message.refused) {
      throw violated(received + " is seen in " + queue.name.name() + ": " + message);
    }
    unchanged(message, received);
  }

  private void unchanged(Message message, Received received) {
    Message.Content content = message.content;
    if ((received.lane() & 0x7F) != content.priority()) {
      throw violated(received + " was sent with priority " + content.priority());
    }
    if (!received.text().equals(message.text())
        || !Objects.equals(received.properties().get("n"), content.n())
        || !Objects.equals(received.properties().get("key"), content.key())
        || !Objects.equals(received.properties().get("JMSXGroupID"), content.group())) {
      throw violated(received + " has " + received.properties() + " and was " + message);
    }
  }
}

package io.lightmq.core.simulation;

import io.lightmq.core.simulation.Oracle.Letter;
import io.lightmq.core.simulation.SimulatedPeer.Received;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.MessageEdit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The queues of dead and expired letters: what lies there, and whose it is. */
final class Letters {
  static final DestinationName DEAD = new DestinationName(DestinationKind.QUEUE, "DLQ");
  static final DestinationName EXPIRED = new DestinationName(DestinationKind.QUEUE, "expired");

  /** A queue that the broker never makes, so whatever is to go there waits. */
  static final String REFUSED = "$lightmq.refused";

  private final World world;

  Letters(World world) {
    this.world = world;
  }

  /** Asks the broker to send all letters back. */
  void retry() {
    DestinationName queue = world.random.nextBoolean() ? DEAD : EXPIRED;
    mayGoBack(queue == DEAD);
    world.administer("dead-letters.retry", Map.of("queue", queue.name(), "rate", "1000"));
    mayGoBack(queue == DEAD); // what came while it looked goes too
  }

  private void mayGoBack(boolean dead) {
    for (Followed followed : world.ledger.allFollowed()) {
      for (Message message : followed.destination.messages) {
        Copy copy = message.known(followed);
        message.retried |=
            dead
                ? copy != null && copy.mayBecomeExhausted()
                : message.to.keepsExpired
                    && world.latestWallMillis(message.era) >= message.earliestEnd;
      }
    }
  }

  /** Takes what lies in both queues. */
  void takeAll() {
    for (DestinationName queue : List.of(DEAD, EXPIRED)) {
      for (Received received : new Visitor(world).takeAll(queue)) {
        took(received, queue == DEAD);
      }
    }
  }

  private void took(Received received, boolean dead) {
    Message message = world.ledger.message(received);
    if (message == null) {
      throw new Oracle.Violation("NothingInvented", received + " was never sent");
    }
    Object name = received.properties().get(MessageEdit.PREFIX + "Subscription");
    Object clientId = received.properties().get(MessageEdit.PREFIX + "SubscriptionClientId");
    List<Copy> candidates = new ArrayList<>();
    for (Followed each : world.ledger.allFollowed()) {
      if (each.destination == message.to && mayBeOf(each, name, clientId, message)) {
        candidates.add(0, message.copy(each)); // the latest life of a name first
      }
    }
    boolean hasName = message.to.isQueue() || name != null;
    world.ledger.letter(new Letter(message, candidates, dead, hasName, received));
    if (hasName) {
      candidates.stream()
          .filter(copy -> copy.letters == 0 && (!dead || copy.mayBeExhausted()))
          .findFirst()
          .ifPresent(copy -> copy.letters++);
    } else {
      // It expired before it was due to anybody, or of subscriptions without a name.
      candidates.forEach(copy -> copy.mayBeLetter = true);
    }
  }

  private static boolean mayBeOf(
      Followed followed, @Nullable Object name, @Nullable Object clientId, Message message) {
    NamedSubscription named = followed.named;
    if (message.to.isQueue() || name == null) {
      return true;
    }
    return followed.wanted.holds(message.content.n())
        && (message.firstSent < followed.ended || message.retried)
        && (message.settledAt > followed.asked || message.retried)
        && Objects.equals(named.name, name)
        && Objects.equals(named.clientId, clientId);
  }
}

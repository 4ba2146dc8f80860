package io.lightmq.core.simulation;

import io.lightmq.core.door.Peer;
import java.util.List;
import java.util.Map;

/** Makes and changes destinations, purges and deletes. */
final class Administrator {
  private final World world;
  private final List<SimulatedDestination> destinations;

  Administrator(World world, List<SimulatedDestination> destinations) {
    this.world = world;
    this.destinations = destinations;
  }

  void createAll() {
    for (SimulatedDestination each : destinations) {
      Map<String, String> arguments = each.creation();
      String suppression = world.plant.suppression(arguments.get("suppress-duplicates"));
      if (suppression != null) {
        arguments.put("suppress-duplicates", suppression);
      }
      world.mustAdminister("destination.create", arguments);
    }
  }

  /** Another way to wait for the next attempt. */
  void changeRedelivery() {
    SimulatedDestination to = world.any(destinations);
    if (to.shortLived) {
      return;
    }
    boolean alone = world.random.nextBoolean();
    to.nonBlocking |= alone;
    world.mustAdminister(
        "destination.set",
        Map.of(
            "name",
            to.name.name(),
            "redelivery-delay",
            world.any(SimulatedDestination.SCHEDULES),
            "redelivery-order",
            alone ? "non-blocking" : "preserving"));
  }

  /** Where letters go to takes nothing for a while, or again. */
  void changeTargets(boolean refuse) {
    for (SimulatedDestination each : destinations) {
      if (each.maxAttempts > 0) {
        set(each, "dead-letter", refuse ? Letters.REFUSED : Letters.DEAD.name());
      }
      if (each.keepsExpired) {
        set(each, "expiry", refuse ? Letters.REFUSED : Letters.EXPIRED.name());
      }
    }
  }

  private void set(SimulatedDestination of, String key, String text) {
    world.mustAdminister("destination.set", Map.of("name", of.name.name(), key, text));
  }

  /** Purges or deletes a queue that has nothing else to do. */
  void purgeOrDelete() {
    SimulatedDestination queue =
        destinations.stream().filter(each -> each.shortLived).findFirst().orElseThrow();
    boolean delete = world.random.nextBoolean();
    List<Message> before = List.copyOf(queue.messages);
    mayBeGone(before);
    Map<String, String> name = Map.of("name", queue.name.name());
    Peer.Reply reply =
        delete
            ? world.administer(
                "destination.delete", Map.of("name", queue.name.name(), "force", "true"))
            : world.administer("destination.purge", name);
    mayBeGone(queue.messages);
    if (delete && reply instanceof Peer.Reply.Json) {
      for (Message message : before) {
        message.copies().forEach(copy -> copy.gone = message.isConfirmed());
      }
    }
  }

  private void mayBeGone(List<Message> messages) {
    for (Followed followed : world.ledger.allFollowed()) {
      for (Message message : messages) {
        if (message.to == followed.destination) {
          message.copy(followed).mayBeGone = true;
        }
      }
    }
  }
}

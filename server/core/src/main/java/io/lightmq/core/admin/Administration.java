package io.lightmq.core.admin;

import io.lightmq.core.door.Command;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.state.Refusal;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.Printable;
import java.util.Collection;
import java.util.List;

/** Knows all admin verbs that the shard carries out, and who carries out which. */
@OwnedBy("shard")
public final class Administration {
  public static final List<String> VERBS =
      List.of(
          "destination.list",
          "destination.show",
          "destination.create",
          "destination.set",
          "destination.delete",
          DestinationAdministration.PURGE,
          "dead-letters.list",
          "dead-letters.show",
          "dead-letters.retry",
          "delayed.list",
          "delayed.cancel",
          "damaged.list",
          "damaged.retry",
          "damaged.drop",
          "subscription.list",
          "subscription.delete",
          "link.list",
          "link.drop",
          "xa.list",
          "xa.commit",
          "xa.rollback",
          "xa.forget");

  private final DestinationAdministration destinations;
  private final DeadLetterAdministration letters;
  private final DelayAdministration delayed;
  private final DamagedAdministration damaged;
  private final SubscriptionAdministration durable;
  private final LinkAdministration links;
  private final BranchAdministration branches;

  public Administration(
      DestinationAdministration destinations,
      DeadLetterAdministration letters,
      DelayAdministration delayed,
      DamagedAdministration damaged,
      SubscriptionAdministration durable,
      LinkAdministration links,
      BranchAdministration branches) {
    this.destinations = destinations;
    this.letters = letters;
    this.delayed = delayed;
    this.damaged = damaged;
    this.durable = durable;
    this.links = links;
    this.branches = branches;
  }

  /** Carries out a verb, which is answered when what it changed is durable. */
  public void execute(Command.Admin command) {
    String verb = command.verb();
    if (!VERBS.contains(verb)) {
      throw new Refusal(
          FaultCode.BAD_REQUEST,
          "verb " + Printable.of(verb) + " is unknown; " + AdminArguments.nearest(verb, VERBS));
    }
    if (verb.startsWith("dead-letters.")) {
      letters.execute(command);
    } else if (verb.startsWith("delayed.")) {
      delayed.execute(command);
    } else if (verb.startsWith("damaged.")) {
      damaged.execute(command);
    } else if (verb.startsWith("subscription.")) {
      durable.execute(command);
    } else if (verb.startsWith("link.")) {
      links.execute(command);
    } else if (verb.startsWith("xa.")) {
      branches.execute(command);
    } else {
      destinations.execute(command);
    }
  }

  /** Whether a verb records so much that it waits for all room there is in the journal. */
  public static boolean recordsMuch(String verb) {
    return verb.equals(DestinationAdministration.PURGE);
  }

  /** The arguments that a verb may have. */
  public static Collection<String> arguments(String verb) {
    if (verb.startsWith("dead-letters.")) {
      return DeadLetterAdministration.ARGUMENTS;
    }
    if (verb.startsWith("delayed.")) {
      return DelayAdministration.ARGUMENTS;
    }
    if (verb.startsWith("damaged.")) {
      return DamagedAdministration.ARGUMENTS;
    }
    if (verb.startsWith("subscription.")) {
      return SubscriptionAdministration.arguments(verb);
    }
    if (verb.startsWith("link.")) {
      return LinkAdministration.arguments(verb);
    }
    if (verb.startsWith("xa.")) {
      return BranchAdministration.arguments(verb);
    }
    if (!verb.startsWith("destination.")) {
      throw new IllegalArgumentException("nobody says which arguments " + verb + " has");
    }
    return DestinationAdministration.arguments();
  }
}

package io.lightmq.core.admin;

import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.DestinationSettings;
import io.lightmq.core.destination.DurableLane;
import io.lightmq.core.destination.LaneCode;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.door.Command;
import io.lightmq.core.door.JsonWriter;
import io.lightmq.core.door.Peer;
import io.lightmq.core.record.ShardRecord.DestinationSet;
import io.lightmq.core.record.ShardRecord.Purged;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.sessions.ClientText;
import io.lightmq.core.sessions.Sessions;
import io.lightmq.core.sessions.Subscribing;
import io.lightmq.core.sessions.Withheld;
import io.lightmq.core.state.Ready;
import io.lightmq.core.state.Recorder;
import io.lightmq.core.state.Refusal;
import io.lightmq.core.state.ShardState;
import io.lightmq.core.transaction.StagedTransaction;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.NearNames;
import io.lightmq.wire.entry.Printable;
import io.lightmq.wire.entry.SequenceRange;
import io.lightmq.wire.entry.TemporaryName;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The admin verbs {@code destination.list|show|create|set|delete|purge}. Arguments: {@code name},
 * {@code kind} (queue or topic), the {@link DestinationSettings#KEYS}, {@code force} (true to
 * delete with consumers attached, or while prepared branches touch it, which are rolled back).
 */
@OwnedBy("shard")
public final class DestinationAdministration {
  static final String PURGE = "destination.purge";

  private static final Set<String> ARGUMENTS = Set.of("name", "kind", "force");

  /** To find a near name costs the shard less than a few milliseconds, however many there are. */
  private static final int MAX_LOOKED_AT = 20_000;

  private static final int MAX_COMPARED = 100;

  private final ShardState state;
  private final Recorder recorder;
  private final Sessions sessions;
  private final Subscribing subscribing;
  private final Withheld withheld;
  private final Ready ready;
  private final TouchedBranches branches;
  private final VerbTurns turns;
  private final DestinationReport report;
  private final long maxBatchBytes;

  public DestinationAdministration(
      Recorder recorder,
      Sessions sessions,
      Subscribing subscribing,
      Withheld withheld,
      Ready ready,
      TouchedBranches branches,
      VerbTurns turns,
      DestinationReport report,
      long maxBatchBytes) {
    this.state = recorder.state();
    this.recorder = recorder;
    this.sessions = sessions;
    this.subscribing = subscribing;
    this.withheld = withheld;
    this.ready = ready;
    this.branches = branches;
    this.turns = turns;
    this.report = report;
    this.maxBatchBytes = maxBatchBytes;
  }

  /** Carries out a verb and answers when what it changed is durable. */
  void execute(Command.Admin command) {
    Collection<String> known = arguments();
    Map<String, String> arguments = command.arguments();
    for (String argument : arguments.keySet()) {
      if (!known.contains(argument)) {
        throw AdminArguments.wrong(
            "argument "
                + Printable.of(argument)
                + " is unknown; "
                + AdminArguments.nearest(argument, known));
      }
    }
    if (command.verb().equals("destination.delete")) {
      delete(command, 0);
      return;
    }
    String json =
        switch (command.verb()) {
          case "destination.list" -> report.list();
          case "destination.show" -> report.show(existing(arguments));
          case "destination.create" -> create(arguments);
          case "destination.set" -> set(existing(arguments), arguments);
          case PURGE -> purge(existing(arguments));
          default ->
              throw new Refusal(
                  FaultCode.BAD_REQUEST, "verb " + command.verb() + " is not carried out here");
        };
    answer(command, json);
  }

  private void answer(Command.Admin command, String json) {
    Peer peer = command.peer();
    recorder.anywhereOnceDurable(
        () -> peer.reply(command.correlation(), new Peer.Reply.Json(json)));
  }

  /** The arguments that its verbs may have. */
  static Collection<String> arguments() {
    List<String> known = new ArrayList<>(ARGUMENTS);
    known.addAll(DestinationSettings.KEYS);
    return known;
  }

  private String create(Map<String, String> arguments) {
    DestinationName name = name(arguments);
    if (TemporaryName.is(name.name())) {
      throw new Refusal(
          FaultCode.BAD_REQUEST, name.shown() + " is a name of a temporary destination");
    }
    if (state.destinations().find(name) != null) {
      throw new Refusal(
          FaultCode.BAD_REQUEST,
          DestinationReport.lower(name.kind()) + " " + name.shown() + " exists already");
    }
    return report.show(subscribing.create(name, changed(subscribing.settingsFor(name), arguments)));
  }

  private String set(Destination destination, Map<String, String> arguments) {
    DestinationSettings settings = changed(destination.settings(), arguments);
    if (DestinationSettings.KEYS.stream().noneMatch(arguments::containsKey)) {
      throw new Refusal(
          FaultCode.BAD_REQUEST,
          "nothing to set; give one of " + String.join(", ", DestinationSettings.KEYS));
    }
    if (destination.kind().isTemporary()) {
      throw new Refusal(FaultCode.BAD_REQUEST, "a temporary destination has no settings");
    }
    DestinationSettings before = destination.settings();
    recorder.record(new DestinationSet(destination.id(), settings));
    recorder.mayBeSentTo(destination);
    if (!settings.redelivery().equals(before.redelivery()) || settings.order() != before.order()) {
      // What waits does so under a schedule that counts no more.
      withheld.release(destination);
    }
    // Duplicates may be free, attempts used up: whoever waits for messages looks again.
    ready.add(destination);
    return report.show(destination);
  }

  /**
   * Deletes a destination, once nothing touches it that is prepared.
   *
   * @param before how many branches were rolled back for it in turns before
   */
  private void delete(Command.Admin command, int before) {
    Map<String, String> arguments = command.arguments();
    Destination destination = existing(arguments);
    boolean force = Boolean.parseBoolean(arguments.getOrDefault("force", "false"));
    checkUnused(destination, force);
    List<StagedTransaction> touching = state.transactions().preparedTouching(destination);
    int rolledBack = before + branches.rollBack(destination.name().shown(), touching, force);
    if (rolledBack - before < touching.size()) {
      turns.later(command, () -> delete(command, rolledBack));
      return;
    }
    long backlog = destination.backlog();
    sessions.delete(destination);
    answer(
        command,
        new JsonWriter()
            .beginObject()
            .text("deleted", destination.name().name())
            .number("backlog", backlog)
            .number("rolledBack", rolledBack)
            .endObject()
            .toString());
  }

  private static void checkUnused(Destination destination, boolean force) {
    int consumers = 0;
    for (Subscription subscription : destination.subscriptions()) {
      consumers += subscription.consumers();
    }
    if (consumers > 0 && !force) {
      throw new Refusal(
          FaultCode.IN_USE,
          destination.name().shown()
              + " has "
              + consumers
              + " consumers; close them or delete with force");
    }
  }

  private String purge(Destination destination) {
    withheld.release(destination);
    Map<Subscription, List<SequenceRange>> inFlight = inFlight(destination);
    long purged = 0;
    for (Subscription subscription : destination.subscriptions()) {
      long before = subscription.backlog();
      purge(destination, subscription, inFlight.getOrDefault(subscription, List.of()));
      purged += before - subscription.backlog();
    }
    return new JsonWriter()
        .beginObject()
        .text("purged", destination.name().name())
        .number("messages", purged)
        .endObject()
        .toString();
  }

  /** What a purge keeps, checked to fit into one batch of the journal before any is recorded. */
  private Map<Subscription, List<SequenceRange>> inFlight(Destination destination) {
    Map<Subscription, List<SequenceRange>> inFlight = new LinkedHashMap<>();
    long bytes = 0;
    for (Subscription subscription : destination.subscriptions()) {
      List<SequenceRange> kept = new ArrayList<>();
      for (DurableLane lane : destination.durableLanes()) {
        subscription.forEachInFlight(
            lane.code(), (code, from, count) -> kept.add(new SequenceRange(code, from, count)));
      }
      inFlight.put(subscription, kept);
      bytes += 64L * destination.durableLanes().size() + 20L * kept.size();
      if (kept.size() > Purged.MAX_RANGES || bytes > maxBatchBytes) {
        throw new Refusal(
            FaultCode.RETRY_LATER,
            kept.size()
                + " ranges of messages are in flight to one subscription, the record of the purge"
                + " would have "
                + bytes
                + " bytes and may have "
                + maxBatchBytes
                + "; purge again when fewer are in flight");
      }
    }
    return inFlight;
  }

  private void purge(Destination destination, Subscription subscription, List<SequenceRange> kept) {
    for (DurableLane lane : destination.durableLanes()) {
      if (lane.last() < 0) {
        continue;
      }
      List<SequenceRange> ofLane =
          kept.stream().filter(range -> range.lane() == lane.code()).toList();
      Purged purged =
          new Purged(destination.id(), subscription.id(), lane.code(), lane.last(), ofLane);
      if (subscription.kind().isDurable()) {
        recorder.record(purged);
      } else {
        ShardState.purge(subscription, purged);
      }
    }
    List<SequenceRange> free = new ArrayList<>();
    subscription.forEachFree(
        (lane, from, count) -> {
          if (!LaneCode.isDurable(lane)) {
            free.add(new SequenceRange(lane, from, count));
          }
        });
    subscription.acknowledge(free);
  }

  // ---- arguments ----

  private Destination existing(Map<String, String> arguments) {
    String text = required(arguments);
    List<Destination> found = new ArrayList<>();
    for (Destination destination : DestinationReport.visible(state)) {
      if (destination.name().name().equals(text)
          && (!arguments.containsKey("kind")
              || DestinationReport.lower(destination.kind())
                  .equals(DestinationReport.lower(kind(arguments))))) {
        found.add(destination);
      }
    }
    if (found.size() != 1) {
      throw new Refusal(
          FaultCode.INVALID_DESTINATION,
          found.isEmpty()
              ? "there is no destination " + Printable.of(text) + nearest(text, arguments)
              : Printable.of(text) + " is a queue and a topic; give the kind");
    }
    return found.get(0);
  }

  /** The existing one that a mistyped name was probably meant to be. */
  private String nearest(String text, Map<String, String> arguments) {
    String kind = arguments.get("kind");
    List<String> near =
        NearNames.ofMany(
            text,
            state.destinations().all().stream()
                .limit(MAX_LOOKED_AT)
                .filter(each -> !each.isHidden() && !each.kind().isTemporary())
                .filter(each -> kind == null || DestinationReport.lower(each.kind()).equals(kind))
                .map(each -> each.name().name()),
            MAX_COMPARED);
    return near.isEmpty() ? "" : "; did you mean " + Printable.of(near.get(0)) + "?";
  }

  private static DestinationName name(Map<String, String> arguments) {
    DestinationName name = ClientText.destination(kind(arguments), required(arguments));
    if (!ClientText.mayName(name.name())) {
      throw new Refusal(
          FaultCode.INVALID_DESTINATION,
          "the broker keeps names that begin with " + Destination.HIDDEN + " for itself");
    }
    return name;
  }

  private static String required(Map<String, String> arguments) {
    String name = arguments.get("name");
    if (name == null || name.isEmpty()) {
      throw new Refusal(FaultCode.BAD_REQUEST, "argument name is missing");
    }
    return name;
  }

  private static DestinationKind kind(Map<String, String> arguments) {
    String kind = arguments.getOrDefault("kind", "queue");
    return switch (kind) {
      case "queue" -> DestinationKind.QUEUE;
      case "topic" -> DestinationKind.TOPIC;
      default ->
          throw new Refusal(
              FaultCode.BAD_REQUEST,
              "kind " + Printable.of(kind) + " is unknown; known are queue and topic");
    };
  }

  /** Settings with what the arguments say of them. */
  private static DestinationSettings changed(
      DestinationSettings from, Map<String, String> arguments) {
    Map<String, String> texts = new LinkedHashMap<>(arguments);
    texts.keySet().retainAll(DestinationSettings.KEYS);
    for (String text : texts.values()) {
      if (!ClientText.isWellFormed(text)) {
        throw new Refusal(FaultCode.BAD_REQUEST, "a setting has half of a surrogate pair");
      }
    }
    try {
      DestinationSettings changed = from.with(texts);
      checkQueue(from.deadLetter(), changed.deadLetter(), "dead-letter");
      checkQueue(from.expiry(), changed.expiry(), "expiry");
      return changed;
    } catch (IllegalArgumentException e) {
      throw new Refusal(FaultCode.BAD_REQUEST, String.valueOf(e.getMessage()));
    }
  }

  /** Refuses a queue of a setting that there can never be; one that was set before stays. */
  private static void checkQueue(@Nullable String before, @Nullable String queue, String key) {
    String wrong = queue == null || queue.equals(before) ? null : DestinationName.problem(queue);
    if (wrong != null) {
      throw new Refusal(FaultCode.BAD_REQUEST, key + ": " + wrong);
    }
  }
}

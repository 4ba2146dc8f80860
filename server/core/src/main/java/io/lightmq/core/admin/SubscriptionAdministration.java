package io.lightmq.core.admin;

import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.door.Command;
import io.lightmq.core.door.JsonWriter;
import io.lightmq.core.door.Peer;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.sessions.Subscribing;
import io.lightmq.core.state.Recorder;
import io.lightmq.core.state.Refusal;
import io.lightmq.core.state.ShardState;
import io.lightmq.core.state.SubscriptionKey;
import io.lightmq.core.transaction.StagedTransaction;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.Printable;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The admin verbs {@code subscription.list|delete} of durable subscriptions, whoever owns them.
 * Arguments: {@code topic} and {@code client-id} (only those), {@code limit} (100, at most 1,000),
 * {@code subscription} (the name of the one to delete; with {@code client-id} if it has one),
 * {@code force} (true to delete with consumers attached, or while prepared branches acknowledge in
 * it, which are rolled back).
 */
@OwnedBy("shard")
public final class SubscriptionAdministration {
  private static final List<String> LIST = List.of("topic", "client-id", "limit");
  private static final List<String> DELETE = List.of("subscription", "client-id", "force");
  private static final int MAX_LIMIT = 1_000;

  private final ShardState state;
  private final Recorder recorder;
  private final Subscribing subscribing;
  private final TouchedBranches branches;
  private final VerbTurns turns;

  public SubscriptionAdministration(
      Recorder recorder, Subscribing subscribing, TouchedBranches branches, VerbTurns turns) {
    this.state = recorder.state();
    this.recorder = recorder;
    this.subscribing = subscribing;
    this.branches = branches;
    this.turns = turns;
  }

  /** The arguments that a verb may have. */
  static List<String> arguments(String verb) {
    return verb.equals("subscription.list") ? LIST : DELETE;
  }

  /** Carries a verb out; answers once what it changed is durable. */
  void execute(Command.Admin command) {
    switch (command.verb()) {
      case "subscription.list" -> answer(command, list(command));
      case "subscription.delete" -> delete(command, 0);
      default ->
          throw AdminArguments.wrong(
              "verb " + command.verb() + " is unknown; known are subscription.list, delete");
    }
  }

  private void answer(Command.Admin command, String json) {
    Peer peer = command.peer();
    recorder.anywhereOnceDurable(
        () -> peer.reply(command.correlation(), new Peer.Reply.Json(json)));
  }

  private String list(Command.Admin command) {
    AdminArguments.check(command, LIST);
    int limit = AdminArguments.number(command, "limit", 100, MAX_LIMIT);
    String topic = command.arguments().get("topic");
    String clientId = command.arguments().get("client-id");
    JsonWriter json = new JsonWriter().beginObject().name("subscriptions").beginArray();
    int found = 0;
    for (Destination destination : state.destinations().all()) {
      if (topic != null && !topic.equals(destination.name().name())) {
        continue;
      }
      for (Subscription each : destination.subscriptions()) {
        if (each.name() != null
            && each.kind().isDurable()
            && (clientId == null || clientId.equals(each.clientId()))
            && found++ < limit) {
          show(each, json.beginObject()).endObject();
        }
      }
    }
    return json.endArray().number("left", Math.max(0, found - limit)).endObject().toString();
  }

  private static JsonWriter show(Subscription each, JsonWriter json) {
    return json.text("name", text(each.name()))
        .text("clientId", text(each.clientId()))
        .text("topic", each.destination().name().name())
        .text("owner", text(each.owner()))
        .text("kind", each.kind().name().toLowerCase(Locale.ROOT).replace('_', '-'))
        .number("consumers", each.consumers())
        .number("backlog", each.backlog());
  }

  private static String text(@Nullable String value) {
    return value == null ? "" : value;
  }

  /**
   * Deletes one, once nothing touches it that is prepared.
   *
   * @param before how many branches were rolled back for it in turns before
   */
  private void delete(Command.Admin command, int before) {
    AdminArguments.check(command, DELETE);
    String name = command.arguments().get("subscription");
    if (name == null || name.isEmpty()) {
      throw AdminArguments.wrong("argument subscription is missing");
    }
    String clientId = command.arguments().get("client-id");
    Subscription known = state.durableSubscription(new SubscriptionKey(clientId, name));
    if (known == null) {
      throw new Refusal(
          FaultCode.INVALID_SUBSCRIPTION,
          "there is no durable subscription \""
              + Printable.of(name)
              + (clientId == null
                  ? "\" without a client id"
                  : "\" of client id " + Printable.of(clientId)));
    }
    boolean force = Boolean.parseBoolean(command.arguments().getOrDefault("force", "false"));
    if (known.consumers() > 0 && !force) {
      throw new Refusal(
          FaultCode.IN_USE,
          "subscription \""
              + Printable.of(name)
              + "\" has "
              + known.consumers()
              + " consumers; close them or delete with force");
    }
    List<StagedTransaction> touching = state.transactions().preparedTouching(known);
    String shown = "subscription \"" + Printable.of(name) + "\"";
    int rolledBack = before + branches.rollBack(shown, touching, force);
    if (rolledBack - before < touching.size()) {
      turns.later(command, () -> delete(command, rolledBack));
      return;
    }
    long backlog = known.backlog();
    subscribing.durable().delete(known);
    answer(
        command,
        new JsonWriter()
            .beginObject()
            .text("deleted", name)
            .number("backlog", backlog)
            .number("rolledBack", rolledBack)
            .endObject()
            .toString());
  }
}

package io.lightmq.core.admin;

import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.GroupUse;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.door.JsonWriter;
import io.lightmq.core.moves.Delays;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.state.Counters;
import io.lightmq.core.state.ShardState;
import io.lightmq.core.transaction.StagedTransaction;
import java.util.List;
import java.util.Locale;

/** What the admin verbs tell of destinations, as JSON. */
@OwnedBy("shard")
public final class DestinationReport {
  private final ShardState state;
  private final Counters counters;
  private final Delays delays;

  public DestinationReport(ShardState state, Counters counters, Delays delays) {
    this.state = state;
    this.counters = counters;
    this.delays = delays;
  }

  /** Those that are no holders of the broker's own. */
  String list() {
    JsonWriter json = new JsonWriter().beginObject().name("destinations").beginArray();
    for (Destination destination : visible(state)) {
      summary(destination, json.beginObject()).endObject();
    }
    return json.endArray().endObject().toString();
  }

  static List<Destination> visible(ShardState state) {
    return state.destinations().all().stream().filter(each -> !each.isHidden()).toList();
  }

  /** One of them, with its settings and subscriptions. */
  String show(Destination destination) {
    JsonWriter json = summary(destination, new JsonWriter().beginObject());
    json.name("settings").beginObject();
    destination.settings().texts().forEach(json::text);
    StagedTransaction.Amount staged = state.transactions().stagedFor(destination);
    json.endObject()
        .number("staged", staged.messages())
        .number("stagedBytes", staged.bytes())
        .number("delayed", delays.waiting(destination))
        .number("damaged", destination.damaged().count())
        .name("subscriptions")
        .beginArray();
    for (Subscription subscription : destination.subscriptions()) {
      json.beginObject();
      if (subscription.name() != null) {
        json.text("name", subscription.name());
      }
      if (subscription.clientId() != null) {
        json.text("clientId", subscription.clientId());
      }
      Counters.Settled settled = counters.settled(destination.id(), subscription.id());
      json.text("kind", lower(subscription.kind()))
          .number("consumers", subscription.consumers())
          .number("backlog", subscription.backlog())
          .number("inFlight", subscription.inFlight() - subscription.held())
          .number("held", subscription.held())
          .number("acknowledged", settled.acknowledged)
          .number("expired", settled.expired);
      showGroups(subscription, json);
      json.endObject();
    }
    return json.endArray().endObject().toString();
  }

  /** How group buckets are spread, in a destination with groups. */
  private static void showGroups(Subscription subscription, JsonWriter json) {
    List<GroupUse> uses = subscription.views().groupUse();
    if (uses.isEmpty()) {
      return;
    }
    json.name("groupBuckets").beginArray();
    for (GroupUse use : uses) {
      json.beginObject();
      if (use.selector() != null) {
        json.text("selector", use.selector());
      }
      json.text("owned", use.owned().toString())
          .number("moving", use.moving())
          .number("moves", use.moves())
          .endObject();
    }
    json.endArray();
  }

  private JsonWriter summary(Destination destination, JsonWriter json) {
    int consumers = 0;
    for (Subscription subscription : destination.subscriptions()) {
      consumers += subscription.consumers();
    }
    return json.text("name", destination.name().name())
        .text("kind", lower(destination.kind()))
        .number("id", destination.id())
        .text("tier", lower(destination.settings().tier()))
        .number("backlog", destination.backlog())
        .number("consumers", consumers)
        .number("publishedSinceStart", counters.published(destination.id()).messages);
  }

  /** A constant as users write it. */
  static String lower(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}

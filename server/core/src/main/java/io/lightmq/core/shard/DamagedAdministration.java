package io.lightmq.core.shard;

import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.LaneCode;
import io.lightmq.core.record.ShardRecord.AsideAction;
import io.lightmq.core.record.ShardRecord.SetAside;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.SequenceRange;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The admin verbs {@code damaged.list|retry|drop}, for messages that could not be read and are set
 * aside. Arguments: {@code destination} (only of that; delayed messages count where they go),
 * {@code kind} (queue or topic), {@code limit} of ranges to list (100, at most 1,000).
 *
 * <p>What is retried is free again, and set aside again if it still cannot be read. What is dropped
 * counts as acknowledged by everybody. Either stops where the journal has no room, and says how far
 * it came.
 */
@OwnedBy("shard")
final class DamagedAdministration {
  static final List<String> ARGUMENTS = List.of("destination", "kind", "limit");
  private static final int MAX_LIMIT = 1_000;
  private static final int RANGES_PER_RECORD = 64;
  private static final int RECORD_BYTES = 128 + 20 * RANGES_PER_RECORD;

  private final ShardState state;
  private final Delays delays;
  private final Recorder recorder;
  private final Publishing.Admission admission;
  private final Ready ready;

  DamagedAdministration(
      ShardState state,
      Delays delays,
      Recorder recorder,
      Publishing.Admission admission,
      Ready ready) {
    this.state = state;
    this.delays = delays;
    this.recorder = recorder;
    this.admission = admission;
    this.ready = ready;
  }

  /** What is set aside in a destination, or under a holder for one. */
  private record Place(Destination where, Destination named, List<SequenceRange> ranges) {}

  /** Carries a verb out; answers when what it changed is durable. */
  void execute(Command.Admin command) {
    AdminArguments.check(command, ARGUMENTS);
    String json =
        switch (command.verb()) {
          case "damaged.list" ->
              list(places(command), AdminArguments.number(command, "limit", 100, MAX_LIMIT));
          case "damaged.retry" -> settle(places(command), AsideAction.GIVEN_BACK, "retried");
          case "damaged.drop" -> settle(places(command), AsideAction.DROPPED, "dropped");
          default ->
              throw AdminArguments.wrong(
                  "verb " + command.verb() + " is unknown; known are damaged.list, retry, drop");
        };
    Peer peer = command.peer();
    recorder.whenDurable(() -> peer.reply(command.correlation(), new Peer.Reply.Json(json)));
  }

  private List<Place> places(Command.Admin command) {
    String name = command.arguments().get("destination");
    String kind = command.arguments().get("kind");
    if (kind != null && !kind.equals("queue") && !kind.equals("topic")) {
      throw AdminArguments.wrong("kind is queue or topic");
    }
    List<Place> places = new ArrayList<>();
    boolean exists = name == null;
    for (Destination each : state.destinations().all()) {
      Destination named = named(each);
      if (named == null
          || (name != null && !name.equals(named.name().name()))
          || (kind != null && !kind.equals(kind(named)))) {
        continue;
      }
      exists = true;
      if (each.damaged().kept() > 0) {
        places.add(new Place(each, named, each.damaged().ranges()));
      }
    }
    if (!exists) {
      throw AdminArguments.wrong("no destination has this name; destination list shows the names");
    }
    return places;
  }

  /** The destination that users know; that of the target for what is delayed. */
  private @Nullable Destination named(Destination where) {
    DueHour hour = where.isHidden() ? DueHour.of(where) : null;
    return hour == null ? where : state.destinations().find(hour.destinationId());
  }

  private static String kind(Destination destination) {
    return destination.kind().isQueue() ? "queue" : "topic";
  }

  private static String list(List<Place> places, int limit) {
    JsonWriter json = new JsonWriter().beginObject().name("damaged").beginArray();
    int left = limit;
    long messages = 0;
    for (Place place : places) {
      for (SequenceRange range : place.ranges()) {
        messages += place.where().damaged().needed(range);
        if (left-- > 0) {
          json.beginObject()
              .text("destination", place.named().name().name())
              .text("kind", kind(place.named()))
              .number("messages", place.where().damaged().needed(range))
              .number("lane", range.lane())
              .number("from", range.from())
              .number("through", range.from() + range.count() - 1)
              .text("delayed", String.valueOf(place.where().isHidden()))
              .endObject();
        }
      }
    }
    return json.endArray().number("messages", messages).endObject().toString();
  }

  private String settle(List<Place> places, AsideAction action, String done) {
    long messages = 0;
    for (Place place : places) {
      try {
        for (int at = 0; at < place.ranges().size(); at += RANGES_PER_RECORD) {
          int to = Math.min(place.ranges().size(), at + RANGES_PER_RECORD);
          messages += settle(place, place.ranges().subList(at, to), action, messages);
        }
      } finally { // also when there is no room for more: what is done is to be given out
        ready.add(place.where());
        if (action == AsideAction.GIVEN_BACK) {
          delays.lookAgain(place.where());
        }
      }
    }
    return new JsonWriter().beginObject().number(done, messages).endObject().toString();
  }

  private long settle(Place place, List<SequenceRange> some, AsideAction action, long before) {
    long messages = 0;
    List<SequenceRange> recorded = new ArrayList<>();
    for (SequenceRange range : some) {
      messages += place.where().damaged().needed(range);
      if (LaneCode.isDurable(range.lane())) {
        recorded.add(range);
      } else if (action == AsideAction.DROPPED) {
        place.where().damaged().drop(List.of(range));
      } else {
        place.where().damaged().giveBack(List.of(range));
      }
    }
    if (!recorded.isEmpty()) {
      if (!admission.admit(RECORD_BYTES, false)) {
        throw new Refusal(
            FaultCode.RETRY_LATER,
            "the journal has no room for the record now, "
                + before
                + " messages are done; call it again");
      }
      recorder.record(new SetAside(place.where().id(), action, recorded, ""));
    }
    return messages;
  }
}

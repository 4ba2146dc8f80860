package io.lightmq.core.admin;

import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.Destinations;
import io.lightmq.core.destination.LaneCode;
import io.lightmq.core.door.Command;
import io.lightmq.core.door.JsonWriter;
import io.lightmq.core.door.Peer;
import io.lightmq.core.intake.DueHour;
import io.lightmq.core.moves.Delays;
import io.lightmq.core.record.ShardRecord.AsideAction;
import io.lightmq.core.record.ShardRecord.SetAside;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.state.Admission;
import io.lightmq.core.state.Ready;
import io.lightmq.core.state.Recorder;
import io.lightmq.core.state.Refusal;
import io.lightmq.core.state.ShardState;
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
 * it came. All of it is done in slices of a turn each, rising by destination, lane and sequence;
 * what is set aside meanwhile behind the place where that is, is left.
 */
@OwnedBy("shard")
public final class DamagedAdministration {
  static final List<String> ARGUMENTS = List.of("destination", "kind", "limit");
  private static final int MAX_LIMIT = 1_000;
  private static final int RECORD_RANGES = 64;
  private static final int RECORD_BYTES = 128 + 20 * RECORD_RANGES;

  /** A slice looks at so many ranges, each for one subscription. */
  private static final int SLICE_RANGES = 1_024;

  private static final int SLICE_DESTINATIONS = 1_024;

  /** So many messages of a range are given back or dropped at a time. */
  private static final int SLICE_MESSAGES = 1 << 16;

  private final ShardState state;
  private final Delays delays;
  private final Recorder recorder;
  private final Admission admission;
  private final Ready ready;
  private final VerbTurns turns;

  public DamagedAdministration(
      Delays delays, Recorder recorder, Admission admission, Ready ready, VerbTurns turns) {
    this.state = recorder.state();
    this.delays = delays;
    this.recorder = recorder;
    this.admission = admission;
    this.ready = ready;
    this.turns = turns;
  }

  /** Carries a verb out; answers when what it changed is durable. */
  void execute(Command.Admin command) {
    AdminArguments.check(command, ARGUMENTS);
    String kind = command.arguments().get("kind");
    if (kind != null && !kind.equals("queue") && !kind.equals("topic")) {
      throw AdminArguments.wrong("kind is queue or topic");
    }
    switch (command.verb()) {
      case "damaged.list" ->
          new Listing(command, AdminArguments.number(command, "limit", 100, MAX_LIMIT)).step();
      case "damaged.retry" -> new Settling(command, AsideAction.GIVEN_BACK, "retried").step();
      case "damaged.drop" -> new Settling(command, AsideAction.DROPPED, "dropped").step();
      default ->
          throw AdminArguments.wrong(
              "verb " + command.verb() + " is unknown; known are damaged.list, retry, drop");
    }
  }

  private static String kind(Destination destination) {
    return destination.kind().isQueue() ? "queue" : "topic";
  }

  /** A walk over all that is set aside, one destination after the other. */
  private abstract class Walk {
    final Command.Admin command;
    private final @Nullable String name;
    private final @Nullable String kind;
    private final int longest;
    private boolean exists;
    long messages;

    // Where it is: a destination is looked at behind this id, from this place on.
    private long lastId = Destinations.BEFORE_ALL;
    private int lane;
    private long from;

    Walk(Command.Admin command, int longest) {
      this.command = command;
      this.name = command.arguments().get("destination");
      this.kind = command.arguments().get("kind");
      this.longest = longest;
      this.exists = name == null;
    }

    /** Takes ranges of a destination, which users know by another one if it is hidden. */
    abstract void take(Destination where, Destination named, List<SequenceRange> ranges);

    /** The answer when all is looked at. */
    abstract JsonWriter end();

    /** Goes on for a slice. */
    final void step() {
      try {
        if (walk()) {
          reply(new Peer.Reply.Json(end().toString()));
        } else {
          turns.later(command, this::step);
        }
      } catch (Refusal refusal) {
        reply(new Peer.Reply.Failed(refusal.code(), refusal.text()));
      }
    }

    private void reply(Peer.Reply reply) {
      recorder.anywhereOnceDurable(() -> command.peer().reply(command.correlation(), reply));
    }

    private boolean walk() {
      int left = SLICE_RANGES;
      for (int looked = 0; looked < SLICE_DESTINATIONS && left > 0; looked++) {
        Destination where = state.destinations().after(lastId);
        if (where == null) {
          if (!exists) {
            throw AdminArguments.wrong(
                "no destination has this name; destination list shows the names");
          }
          return true;
        }
        int subscriptions = Math.max(1, where.subscriptions().size());
        int most = Math.min(RECORD_RANGES, Math.max(1, left / subscriptions));
        List<SequenceRange> some = List.of();
        Destination named = wanted(where);
        if (named != null) {
          exists = true;
          some = where.damaged().next(lane, from, most, longest);
        }
        if (named != null && !some.isEmpty()) {
          take(where, named, some);
          left -= some.size() * subscriptions;
          SequenceRange last = some.get(some.size() - 1);
          lane = last.lane();
          from = last.from() + last.count();
        }
        if (some.size() < most) {
          lastId = where.id();
          lane = 0;
          from = 0;
        }
      }
      return false;
    }

    private @Nullable Destination wanted(Destination where) {
      Destination named = named(where);
      return named == null
              || (name != null && !name.equals(named.name().name()))
              || (kind != null && !kind.equals(kind(named)))
          ? null
          : named;
    }

    /** The destination that users know; that of the target for what is delayed. */
    private @Nullable Destination named(Destination where) {
      DueHour hour = where.isHidden() ? DueHour.of(where) : null;
      return hour == null ? where : state.destinations().find(hour.destinationId());
    }
  }

  private final class Listing extends Walk {
    private final JsonWriter json = new JsonWriter().beginObject().name("damaged").beginArray();
    private int left;

    Listing(Command.Admin command, int limit) {
      super(command, 1 << 30);
      this.left = limit;
    }

    @Override
    void take(Destination where, Destination named, List<SequenceRange> ranges) {
      for (SequenceRange range : ranges) {
        long needed = where.damaged().needed(range);
        messages += needed;
        if (needed > 0 && left-- > 0) {
          json.beginObject()
              .text("destination", named.name().name())
              .text("kind", kind(named))
              .number("messages", needed)
              .number("lane", range.lane())
              .number("from", range.from())
              .number("through", range.from() + range.count() - 1)
              .text("delayed", String.valueOf(where.isHidden()))
              .endObject();
        }
      }
    }

    @Override
    JsonWriter end() {
      return json.endArray().number("messages", messages).endObject();
    }
  }

  private final class Settling extends Walk {
    private final AsideAction action;
    private final String done;

    Settling(Command.Admin command, AsideAction action, String done) {
      super(command, SLICE_MESSAGES);
      this.action = action;
      this.done = done;
    }

    @Override
    void take(Destination where, Destination named, List<SequenceRange> ranges) {
      boolean durable = ranges.stream().anyMatch(range -> LaneCode.isDurable(range.lane()));
      if (durable && !admission.admit(RECORD_BYTES, false)) {
        throw new Refusal(
            FaultCode.RETRY_LATER,
            "the journal has no room for the record now, "
                + messages
                + " messages are done; call it again");
      }
      List<SequenceRange> recorded = new ArrayList<>();
      for (SequenceRange range : ranges) {
        messages += where.damaged().needed(range);
        if (LaneCode.isDurable(range.lane())) {
          recorded.add(range);
          continue;
        }
        recorder.changing();
        if (action == AsideAction.DROPPED) {
          where.damaged().drop(List.of(range));
        } else {
          where.damaged().giveBack(List.of(range));
        }
      }
      if (!recorded.isEmpty()) {
        recorder.record(new SetAside(where.id(), action, recorded, ""));
      }
      ready.add(where);
      if (action == AsideAction.GIVEN_BACK) {
        delays.lookAgain(where);
      }
    }

    @Override
    JsonWriter end() {
      return new JsonWriter().beginObject().number(done, messages).endObject();
    }
  }
}

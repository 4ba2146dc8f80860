package io.lightmq.core.admin;

import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.Lane;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.door.Command;
import io.lightmq.core.door.JsonWriter;
import io.lightmq.core.door.Peer;
import io.lightmq.core.intake.DueHour;
import io.lightmq.core.moves.Delays;
import io.lightmq.core.record.ShardRecord.Acked;
import io.lightmq.core.record.ShardRecord.Reason;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.sessions.Settlements;
import io.lightmq.core.state.Admission;
import io.lightmq.core.state.Recorder;
import io.lightmq.core.state.Refusal;
import io.lightmq.core.state.ShardState;
import io.lightmq.core.state.TurnTime;
import io.lightmq.wire.entry.Entry;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.MessageReader;
import io.lightmq.wire.entry.Printable;
import io.lightmq.wire.entry.SequenceRange;
import java.nio.ByteBuffer;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The admin verbs {@code delayed.list|cancel}. Arguments: {@code destination} (only messages for
 * that), {@code limit} (100, at most 1,000), {@code id} (of the message to cancel).
 *
 * <p>Messages are read hour by hour, in slices, and within an hour as they came. One that is
 * cancelled is never delivered; one that is on its way to its destination cannot be cancelled any
 * more.
 */
@OwnedBy("shard")
public final class DelayAdministration {
  static final List<String> ARGUMENTS = List.of("destination", "limit", "id");
  private static final int MAX_LIMIT = 1_000;
  private static final int RECORD_BYTES = 128;

  private final ShardState state;
  private final Delays delays;
  private final LetterScan scans;
  private final Recorder recorder;
  private final Admission admission;
  private final TurnTime time;
  private final VerbTurns turns;

  public DelayAdministration(
      Delays delays,
      LetterScan scans,
      Recorder recorder,
      Admission admission,
      TurnTime time,
      VerbTurns turns) {
    this.state = recorder.state();
    this.delays = delays;
    this.scans = scans;
    this.recorder = recorder;
    this.admission = admission;
    this.time = time;
    this.turns = turns;
  }

  /** Carries a verb out; answers once all is read. */
  void execute(Command.Admin command) {
    AdminArguments.check(command, ARGUMENTS);
    switch (command.verb()) {
      case "delayed.list" ->
          new Listing(command, AdminArguments.number(command, "limit", 100, MAX_LIMIT)).next();
      case "delayed.cancel" -> {
        String id = command.arguments().get("id");
        if (id == null) {
          throw AdminArguments.wrong("argument id is missing; delayed list shows the ids");
        }
        new Cancelling(command, id).next();
      }
      default ->
          throw AdminArguments.wrong(
              "verb " + command.verb() + " is unknown; known are delayed.list, cancel");
    }
  }

  private static String kind(Destination destination) {
    return destination.kind().isQueue() ? "queue" : "topic";
  }

  /** A delayed message. */
  private record Found(DueHour hour, Destination to, int lane, long sequence, long dueMillis) {}

  /** A look at one hour after the other. */
  private abstract class Look implements LetterScan.Looker {
    final Command.Admin command;
    private final @Nullable String destination;
    private final Iterator<DueHour> hours;
    private @Nullable DueHour hour;
    private boolean enough;

    Look(Command.Admin command) {
      this.command = command;
      this.destination = command.arguments().get("destination");
      this.hours = delays.byTime().iterator();
    }

    /** Takes a message; whether that is enough. */
    abstract boolean take(Found found, MessageReader reader, ByteBuffer entries, int at);

    /** All is looked at, or enough. */
    abstract void end();

    final void next() {
      while (!enough && hours.hasNext()) {
        DueHour next = hours.next();
        if (!next.subscription().isClosed() && wanted(next) != null) {
          hour = next;
          scans.of(next.holder(), command, this);
          return;
        }
      }
      end();
    }

    private @Nullable Destination wanted(DueHour of) {
      Destination to = state.destinations().find(of.destinationId());
      boolean named = to != null && (destination == null || destination.equals(to.name().name()));
      return named ? to : null;
    }

    @Override
    public final boolean look(
        Subscription from, Lane lane, long sequence, ByteBuffer entries, int at) {
      DueHour of = hour;
      Destination to = of == null ? null : wanted(of);
      if (of != null && to != null) {
        Found found = new Found(of, to, lane.code(), sequence, Entry.dueMillis(entries, at));
        enough = take(found, MessageReader.ofEntry(entries, at), entries, at);
      }
      return !enough;
    }

    @Override
    public final void done() {
      turns.later(command, this::next);
    }
  }

  private final class Listing extends Look {
    private final int limit;
    private final JsonWriter json = new JsonWriter().beginObject().name("delayed").beginArray();
    private int count;

    Listing(Command.Admin command, int limit) {
      super(command);
      this.limit = limit;
    }

    @Override
    boolean take(Found found, MessageReader reader, ByteBuffer entries, int at) {
      json.beginObject()
          .text("id", String.valueOf(reader.messageId()))
          .text("destination", found.to().name().name())
          .text("kind", kind(found.to()))
          .number("dueMillis", found.dueMillis())
          .number("dueInSeconds", Math.max(0, found.dueMillis() - time.millis()) / 1_000)
          .number("priority", reader.priority())
          .number("bytes", Entry.messageBytes(entries, at))
          .endObject();
      return ++count >= limit;
    }

    @Override
    void end() {
      Peer.Reply reply = new Peer.Reply.Json(json.endArray().endObject().toString());
      command.peer().reply(command.correlation(), reply);
    }
  }

  private final class Cancelling extends Look {
    private final String id;
    private @Nullable Found found;

    Cancelling(Command.Admin command, String id) {
      super(command);
      this.id = id;
    }

    @Override
    boolean take(Found each, MessageReader reader, ByteBuffer entries, int at) {
      if (id.equals(String.valueOf(reader.messageId()))) {
        found = each;
      }
      return found != null;
    }

    @Override
    void end() {
      Peer peer = command.peer();
      try {
        JsonWriter json = cancel(found, id);
        recorder.anywhereOnceDurable(
            () -> peer.reply(command.correlation(), new Peer.Reply.Json(json.toString())));
      } catch (Refusal refusal) {
        peer.reply(command.correlation(), new Peer.Reply.Failed(refusal.code(), refusal.text()));
      }
    }
  }

  private JsonWriter cancel(@Nullable Found found, String id) {
    Subscription holder = found == null ? null : found.hour().subscription();
    if (found == null || holder == null || holder.isClosed()) {
      throw new Refusal(FaultCode.BAD_REQUEST, "no delayed message has the id " + Printable.of(id));
    }
    boolean free = holder.isFree(found.lane(), found.sequence());
    if (!free
        && holder.isUnacknowledged(found.lane(), found.sequence())
        && !holder.isInFlight(found.lane(), found.sequence())) {
      throw new Refusal(
          FaultCode.RETRY_LATER,
          "message "
              + Printable.of(id)
              + " is so new that it is not confirmed to its sender yet; cancel again");
    }
    if (!free) {
      throw new Refusal(
          FaultCode.BAD_REQUEST,
          "message " + Printable.of(id) + " is due and on its way to " + found.to().name().shown());
    }
    List<SequenceRange> ranges = List.of(new SequenceRange(found.lane(), found.sequence(), 1));
    if (!Settlements.isRecorded(holder, found.lane())) {
      recorder.changing();
      holder.acknowledge(ranges);
    } else if (admission.admit(RECORD_BYTES, false)) {
      recorder.record(
          new Acked(holder.destination().id(), holder.id(), Reason.ACKNOWLEDGED, ranges));
    } else {
      throw new Refusal(
          FaultCode.RETRY_LATER, "the journal has no room for the record now; cancel again");
    }
    return new JsonWriter()
        .beginObject()
        .text("cancelled", id)
        .text("destination", found.to().name().name())
        .text("kind", kind(found.to()))
        .number("dueMillis", found.dueMillis())
        .endObject();
  }
}

package io.lightmq.core.admin;

import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.Lane;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.door.BrokerSettings;
import io.lightmq.core.door.Command;
import io.lightmq.core.door.JsonWriter;
import io.lightmq.core.door.Peer;
import io.lightmq.core.moves.DeadLetters;
import io.lightmq.core.moves.Retries;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.sessions.ClientText;
import io.lightmq.core.state.Refusal;
import io.lightmq.core.state.ShardState;
import io.lightmq.core.state.TurnTime;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.Entry;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.MalformedMessageException;
import io.lightmq.wire.entry.MessageReader;
import io.lightmq.wire.entry.Printable;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The admin verbs {@code dead-letters.list|show|retry}. Arguments: {@code queue} (that of the
 * settings for all, DLQ), {@code destination} (only letters that come from there), {@code limit}
 * (100, at most 1,000), {@code id} (of the one message to show or to retry), {@code rate} (messages
 * a second, 100), {@code dry-run}.
 *
 * <p>A queue of dead letters is made with the first of them. Before that there are none.
 *
 * <p>A retried letter goes back to where it came from, without what the broker wrote on it and with
 * all its attempts before it: to its queue, or to that one subscription of its topic and no other.
 * See {@link Retries} for what becomes of it if that takes nothing. At most 100,000 letters wait to
 * be retried; {@code passedOver} counts those beyond, {@code waitAlready} those that did before.
 */
@OwnedBy("shard")
public final class DeadLetterAdministration {
  static final List<String> ARGUMENTS =
      List.of("queue", "destination", "limit", "id", "rate", "dry-run");
  private static final int MAX_LIMIT = 1_000;
  private static final int MAX_RATE = 100_000;

  private static final int EXCERPT_CHARS = 500;

  private static final String USUAL_QUEUE = "DLQ";

  private final BrokerSettings settings;
  private final ShardState state;
  private final LetterScan scans;
  private final Retries retries;
  private final TurnTime time;

  public DeadLetterAdministration(
      BrokerSettings settings, ShardState state, LetterScan scans, Retries retries, TurnTime time) {
    this.settings = settings;
    this.state = state;
    this.scans = scans;
    this.retries = retries;
    this.time = time;
  }

  /** Carries a verb out; answers once all is read. */
  void execute(Command.Admin command) {
    AdminArguments.check(command, ARGUMENTS);
    DestinationName name =
        ClientText.destination(
            DestinationKind.QUEUE, command.arguments().getOrDefault("queue", usualQueue()));
    Destination queue = state.destinations().find(name);
    boolean known = queue != null && !queue.isHidden();
    if (!known && !takesLetters(name.name())) {
      throw new Refusal(
          FaultCode.INVALID_DESTINATION,
          "there is no queue "
              + name.shown()
              + "; dead letters go to "
              + Printable.of(usualQueue())
              + " where a destination names no other");
    }
    LetterScan.Looker looker =
        switch (command.verb()) {
          case "dead-letters.list" -> list(command);
          case "dead-letters.show" -> show(name, command);
          case "dead-letters.retry" -> retry(name, command);
          default ->
              throw AdminArguments.wrong(
                  "verb "
                      + Printable.of(command.verb())
                      + " is unknown; known are dead-letters.list, show, retry");
        };
    if (queue != null && known) {
      scans.of(queue, command, looker);
    } else {
      looker.done(); // its first letter makes it
    }
  }

  /** Where the dead letters of most destinations go. */
  private String usualQueue() {
    String named = settings.destinations().settings().deadLetter();
    return named == null ? USUAL_QUEUE : named;
  }

  /** Whether the first dead letter of some destination would make this queue. */
  private boolean takesLetters(String name) {
    return name.equals(usualQueue())
        || settings.destinations().rules().stream()
            .anyMatch(rule -> name.equals(rule.settings().deadLetter()))
        || state.destinations().all().stream()
            .anyMatch(each -> name.equals(each.settings().deadLetter()));
  }

  static void answer(Command.Admin command, JsonWriter json) {
    command.peer().reply(command.correlation(), new Peer.Reply.Json(json.toString()));
  }

  /** A letter that is looked at, if its bytes make sense and it comes from the right place. */
  static @Nullable MessageReader letter(ByteBuffer entries, int at, @Nullable String origin) {
    try {
      MessageReader reader = MessageReader.ofEntry(entries, at);
      return origin == null || origin.equals(reader.property(DeadLetters.ORIGIN)) ? reader : null;
    } catch (MalformedMessageException e) {
      return null;
    }
  }

  /** What a letter says of itself, all read before any of it is written; or why it cannot be. */
  private record Facts(
      String id,
      String origin,
      String subscription,
      String reason,
      String attempts,
      String exception,
      String damage) {

    static Facts of(ByteBuffer entries, int at) {
      int messageAt = at + Entry.messageOffset(entries, at);
      try {
        MessageReader.check(entries, messageAt, Entry.messageBytes(entries, at));
        return read(entries, at);
      } catch (MalformedMessageException e) {
        return new Facts(id(entries, at), "", "", "", "", "", String.valueOf(e.getMessage()));
      }
    }

    private static String id(ByteBuffer entries, int at) {
      try {
        return String.valueOf(MessageReader.ofEntry(entries, at).messageId());
      } catch (MalformedMessageException unreadable) {
        return "";
      }
    }

    private static Facts read(ByteBuffer entries, int at) {
      MessageReader reader = MessageReader.ofEntry(entries, at);
      return new Facts(
          String.valueOf(reader.messageId()),
          property(reader, DeadLetters.ORIGIN),
          property(reader, DeadLetters.SUBSCRIPTION),
          property(reader, DeadLetters.REASON),
          property(reader, DeadLetters.ATTEMPTS),
          property(reader, DeadLetters.EXCEPTION),
          "");
    }

    private static String property(MessageReader reader, String name) {
      Object value = reader.property(name);
      return value == null ? "" : value.toString();
    }
  }

  private JsonWriter facts(JsonWriter json, Facts facts, ByteBuffer entries, int at) {
    json.text("id", facts.id());
    json.text("origin", facts.origin());
    json.text("subscription", facts.subscription());
    json.text("reason", facts.reason());
    json.text("attempts", facts.attempts());
    json.number("enqueuedMillis", Entry.enqueuedMillis(entries, at));
    json.number("ageSeconds", (time.millis() - Entry.enqueuedMillis(entries, at)) / 1_000);
    json.number("bytes", Entry.messageBytes(entries, at));
    json.text("exception", facts.exception());
    return json.text("damage", facts.damage());
  }

  private static void text(JsonWriter json, String name, @Nullable Object value) {
    json.text(name, value == null ? "" : value.toString());
  }

  // ---- list, show ----

  private LetterScan.Looker list(Command.Admin command) {
    int limit = AdminArguments.number(command, "limit", 100, MAX_LIMIT);
    String origin = command.arguments().get("destination");
    JsonWriter json = new JsonWriter().beginObject().name("deadLetters").beginArray();
    return new LetterScan.Looker() {
      private int found;

      @Override
      public boolean look(Subscription from, Lane lane, long sequence, ByteBuffer entries, int at) {
        Facts facts = Facts.of(entries, at);
        if (origin == null || origin.equals(facts.origin())) {
          facts(json.beginObject(), facts, entries, at);
          text(json, "retryFails", retries.failure(new Retries.Place(from, lane.code(), sequence)));
          json.endObject();
          found++;
        }
        return found < limit;
      }

      @Override
      public void done() {
        answer(command, json.endArray().endObject());
      }
    };
  }

  private LetterScan.Looker show(DestinationName queue, Command.Admin command) {
    String id = command.arguments().get("id");
    if (id == null) {
      throw AdminArguments.wrong("argument id is missing; dead-letters list shows the ids");
    }
    return new LetterScan.Looker() {
      private @Nullable JsonWriter json;

      @Override
      public boolean look(Subscription from, Lane lane, long sequence, ByteBuffer entries, int at) {
        MessageReader reader = letter(entries, at, null);
        if (reader == null || !id.equals(String.valueOf(reader.messageId()))) {
          return true;
        }
        json = shown(reader, entries, at);
        return false;
      }

      @Override
      public void done() {
        JsonWriter found = json;
        if (found != null) {
          answer(command, found);
        } else {
          unknown(command, queue, id);
        }
      }
    };
  }

  static void unknown(Command.Admin command, DestinationName queue, String id) {
    String text = "no message with id " + Printable.of(id) + " waits in " + queue.shown();
    command.peer().reply(command.correlation(), new Peer.Reply.Failed(FaultCode.BAD_REQUEST, text));
  }

  /** All of a letter, or only the facts of one that is damaged. */
  private JsonWriter shown(MessageReader reader, ByteBuffer entries, int at) {
    try {
      return whole(reader, entries, at);
    } catch (MalformedMessageException e) {
      return facts(new JsonWriter().beginObject(), Facts.of(entries, at), entries, at).endObject();
    }
  }

  private JsonWriter whole(MessageReader reader, ByteBuffer entries, int at) {
    JsonWriter json = facts(new JsonWriter().beginObject(), Facts.of(entries, at), entries, at);
    json.text("body", reader.bodyType().name().toLowerCase(java.util.Locale.ROOT));
    json.number("priority", reader.priority()).flag("persistent", reader.isPersistent());
    text(json, "correlationId", reader.correlationId());
    text(json, "type", reader.type());
    json.text("user", Entry.user(entries, at));
    json.name("properties").beginObject();
    reader.properties().forEach((name, value) -> json.text(name, String.valueOf(value)));
    return json.endObject().text("excerpt", excerpt(reader)).endObject();
  }

  private static String excerpt(MessageReader reader) {
    String text =
        switch (reader.bodyType()) {
          case TEXT -> String.valueOf(reader.textBody());
          case MAP -> reader.mapBody().toString();
          case STREAM -> reader.streamBody().toString();
          case BYTES -> new String(reader.bytesBody(), StandardCharsets.ISO_8859_1);
          default -> reader.bodyBytes() + " bytes";
        };
    return text.length() <= EXCERPT_CHARS ? text : text.substring(0, EXCERPT_CHARS) + " ...";
  }

  // ---- retry ----

  private LetterScan.Looker retry(DestinationName queue, Command.Admin command) {
    int rate = AdminArguments.number(command, "rate", 100, MAX_RATE);
    return new RetryTally(command, queue, retries, rate);
  }
}

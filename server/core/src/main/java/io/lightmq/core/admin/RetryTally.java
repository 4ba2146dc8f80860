package io.lightmq.core.admin;

import io.lightmq.core.destination.Lane;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.door.Command;
import io.lightmq.core.door.JsonWriter;
import io.lightmq.core.moves.Retries;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.Entry;
import io.lightmq.wire.entry.MalformedMessageException;
import io.lightmq.wire.entry.MessageReader;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Marks the dead letters of a queue that are to go back, one after the other as they are read, and
 * counts what becomes of each: the answer to {@code dead-letters.retry}. A dry run marks nothing.
 */
@OwnedBy("shard")
final class RetryTally implements LetterScan.Looker {
  /** So many letters whose origin takes none are named in the answer; all are counted. */
  private static final int MAX_UNRESOLVED = 100;

  private final Command.Admin command;
  private final DestinationName queue;
  private final Retries retries;
  private final int rate;
  private final @Nullable String origin;
  private final @Nullable String id;
  private final boolean dry;
  private final JsonWriter json;

  /** Go back, or would. */
  private int found;

  /** Stay until their origin takes them. */
  private int unresolved;

  /** Marked in this run. */
  private int added;

  /** Were marked before. */
  private int known;

  /** Not marked, because no more can wait. */
  private int passedOver;

  RetryTally(Command.Admin command, DestinationName queue, Retries retries, int rate) {
    this.command = command;
    this.queue = queue;
    this.retries = retries;
    this.rate = rate;
    this.origin = command.arguments().get("destination");
    this.id = command.arguments().get("id");
    this.dry = Boolean.parseBoolean(command.arguments().getOrDefault("dry-run", "false"));
    this.json =
        new JsonWriter()
            .beginObject()
            .text("queue", queue.name())
            .name("unresolvedLetters")
            .beginArray();
  }

  @Override
  public boolean look(Subscription from, Lane lane, long sequence, ByteBuffer entries, int at) {
    MessageReader letter = DeadLetterAdministration.letter(entries, at, origin);
    Retries.Origin comesFrom =
        letter == null || !isIntact(entries, at) ? null : Retries.Origin.of(letter);
    if (letter == null || comesFrom == null) {
      return true;
    }
    if (id != null && !id.equals(String.valueOf(letter.messageId()))) {
      return true;
    }
    count(letter, comesFrom, new Retries.Place(from, lane.code(), sequence));
    return id == null;
  }

  private void count(MessageReader letter, Retries.Origin comesFrom, Retries.Place place) {
    if (retries.knows(place)) {
      known++;
      return;
    }
    if (comesFrom.canBe() && (dry ? added : 0) >= retries.room()) {
      passedOver++;
      return;
    }
    added += comesFrom.canBe() ? 1 : 0;
    String obstacle = retries.obstacle(comesFrom);
    if (obstacle == null) {
      found++;
    } else if (unresolved++ < MAX_UNRESOLVED) {
      json.beginObject().text("id", String.valueOf(letter.messageId()));
      json.text("origin", comesFrom.toString()).text("why", obstacle).endObject();
    }
    if (!dry) {
      retries.add(place, comesFrom, rate, obstacle);
    }
  }

  /**
   * Whether the broker can have written what stands on a letter: it writes on none whose CRC is
   * wrong, and takes from no client what only it may write.
   */
  private static boolean isIntact(ByteBuffer entries, int at) {
    try {
      MessageReader.check(
          entries, at + Entry.messageOffset(entries, at), Entry.messageBytes(entries, at));
      return true;
    } catch (MalformedMessageException e) {
      return false;
    }
  }

  @Override
  public void done() {
    if (id != null && found + unresolved + known + passedOver == 0) {
      DeadLetterAdministration.unknown(command, queue, id);
      return;
    }
    json.endArray()
        .number(dry ? "wouldRetry" : "retrying", found)
        .number("unresolved", unresolved)
        .number("waitAlready", known)
        .number("passedOver", passedOver)
        .number("ratePerSecond", rate)
        .endObject();
    DeadLetterAdministration.answer(command, json);
  }
}

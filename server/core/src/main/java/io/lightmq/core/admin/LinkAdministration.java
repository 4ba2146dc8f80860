package io.lightmq.core.admin;

import io.lightmq.core.destination.TimeSpan;
import io.lightmq.core.door.Command;
import io.lightmq.core.door.JsonWriter;
import io.lightmq.core.door.Peer;
import io.lightmq.core.record.ShardRecord.LinkClosed;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.sessions.Sessions;
import io.lightmq.core.state.Admission;
import io.lightmq.core.state.Recorder;
import io.lightmq.core.state.ShardState;
import io.lightmq.core.state.TurnTime;
import io.lightmq.core.transaction.Link;
import io.lightmq.core.transaction.Links;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.Printable;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * The admin verbs {@code link.list|drop}, for what the broker keeps of clients that may come back.
 * Arguments: {@code owner} (only links of that user; empty for those that have none), {@code
 * older-than} (only those that were not used for so long, 1m or more), {@code limit} (of links and
 * of owners to list, 100, at most 1,000), {@code dry-run}.
 *
 * <p>Dropped links are forgotten as after a day without use: what their clients send again, if they
 * come back, ends as OUTCOME_UNKNOWN, which the answer says. Links that are connected stay. Many
 * are listed or dropped in slices, each in a turn of its own; one that came back meanwhile stays.
 */
@OwnedBy("shard")
public final class LinkAdministration {
  private static final List<String> LIST = List.of("owner", "older-than", "limit");
  private static final List<String> DROP = List.of("owner", "older-than", "dry-run");
  private static final int MAX_LIMIT = 1_000;

  /** Who was away for less is on the way back. */
  private static final long LEAST_MILLIS = 60_000;

  private static final int SLICE = 64;
  private static final int LIST_SLICE = 256;
  private static final int RECORD_BYTES = 40;

  private final ShardState state;
  private final Sessions sessions;
  private final Recorder recorder;
  private final Admission admission;
  private final TurnTime time;
  private final VerbTurns turns;

  public LinkAdministration(
      Sessions sessions, Recorder recorder, Admission admission, TurnTime time, VerbTurns turns) {
    this.state = recorder.state();
    this.sessions = sessions;
    this.recorder = recorder;
    this.admission = admission;
    this.time = time;
    this.turns = turns;
  }

  /** The arguments that a verb may have. */
  static List<String> arguments(String verb) {
    return verb.equals("link.list") ? LIST : DROP;
  }

  /** Carries a verb out; answers once what it changed is durable. */
  void execute(Command.Admin command) {
    switch (command.verb()) {
      case "link.list" -> list(command);
      case "link.drop" -> drop(command);
      default ->
          throw AdminArguments.wrong(
              "verb " + command.verb() + " is unknown; known are link.list, drop");
    }
  }

  /** Which links; a user without a name stands for those that belong to nobody. */
  private record Selection(@Nullable String owner, long olderThanMillis) {
    boolean takes(Link link, long unusedMillis) {
      return (owner == null || owner.equals(ownerOf(link)))
          && (olderThanMillis == 0 || unusedMillis > olderThanMillis);
    }
  }

  private static Selection selection(Command.Admin command) {
    String olderThan = command.arguments().get("older-than");
    return new Selection(
        command.arguments().get("owner"), olderThan == null ? 0 : olderThan(olderThan));
  }

  private static long olderThan(String text) {
    long millis;
    try {
      millis = TimeSpan.millis(text);
    } catch (IllegalArgumentException e) {
      throw AdminArguments.wrong("older-than: " + e.getMessage());
    }
    if (millis < LEAST_MILLIS) {
      throw AdminArguments.wrong(
          "older-than is "
              + Printable.of(text)
              + " but must be 1m or more, for who was away for less is on the way back");
    }
    return millis;
  }

  private static String ownerOf(Link link) {
    String owner = link.owner();
    return owner == null ? "" : owner;
  }

  /** So long a link was not used; 0 for one that is connected. */
  private long unusedMillis(Link link) {
    return sessions.isConnected(link.id()) ? 0 : Math.max(0, time.millis() - link.lastUsedMillis());
  }

  // ---- list ----

  private void list(Command.Admin command) {
    AdminArguments.check(command, LIST);
    int limit = AdminArguments.number(command, "limit", 100, MAX_LIMIT);
    new Listing(command, selection(command), limit).step();
  }

  /** A link that is listed, with how long it was not used when it was looked at. */
  private record Aged(Link link, long unusedMillis) {}

  private record Owner(String name, int links) {}

  /** One call of the verb; it keeps the oldest links and the largest owners only. */
  private final class Listing {
    private final Command.Admin command;
    private final Selection selection;
    private final int limit;
    private final Iterator<Link> links;
    private final Iterator<String> names;
    private final PriorityQueue<Aged> oldest =
        new PriorityQueue<>(Comparator.comparingLong(Aged::unusedMillis));
    private final PriorityQueue<Owner> largest =
        new PriorityQueue<>(
            Comparator.comparingInt(Owner::links)
                .thenComparing(Owner::name, Comparator.reverseOrder()));
    private int selected;

    Listing(Command.Admin command, Selection selection, int limit) {
      this.command = command;
      this.selection = selection;
      this.limit = limit;
      this.links = List.copyOf(state.links().all()).iterator();
      this.names = List.copyOf(state.links().owners().keySet()).iterator();
    }

    void step() {
      for (int i = 0; i < LIST_SLICE && links.hasNext(); i++) {
        look(links.next());
      }
      for (int i = 0; i < LIST_SLICE && names.hasNext(); i++) {
        String name = names.next();
        keep(largest, new Owner(name, state.links().owners().getOrDefault(name, 0)));
      }
      if (links.hasNext() || names.hasNext()) {
        turns.later(command, this::step);
      } else {
        end();
      }
    }

    private void look(Link link) {
      long unused = unusedMillis(link);
      if (!link.isClosed() && selection.takes(link, unused)) {
        selected++;
        keep(oldest, new Aged(link, unused));
      }
    }

    private <T> void keep(PriorityQueue<T> most, T one) {
      most.add(one);
      if (most.size() > limit) {
        most.remove();
      }
    }

    /** From the most to the least. */
    private static <T> List<T> falling(PriorityQueue<T> most) {
      List<T> all = new ArrayList<>(most);
      all.sort(Collections.reverseOrder(most.comparator()));
      return all;
    }

    private void end() {
      JsonWriter json =
          new JsonWriter()
              .beginObject()
              .number("links", state.links().size())
              .number("mostLinks", Links.MAX_LINKS)
              .number("mostOfOwner", Links.MAX_OF_USER)
              .number("selected", selected)
              .name("owners")
              .beginArray();
      for (Owner owner : falling(largest)) {
        json.beginObject().text("owner", owner.name()).number("links", owner.links()).endObject();
      }
      json.endArray().name("oldest").beginArray();
      for (Aged aged : falling(oldest)) {
        Link link = aged.link();
        json.beginObject()
            .text("link", link.id().toString())
            .text("owner", ownerOf(link))
            .text("connected", sessions.isConnected(link.id()) ? "yes" : "no")
            .number("unusedSeconds", aged.unusedMillis() / 1_000)
            .number("keptRefusals", link.outcomeCount())
            .endObject();
      }
      answer(command, json.endArray().endObject());
    }
  }

  // ---- drop ----

  private void drop(Command.Admin command) {
    AdminArguments.check(command, DROP);
    for (String needed : List.of("owner", "older-than")) {
      if (command.arguments().get(needed) == null) {
        throw AdminArguments.wrong(
            "argument " + needed + " is missing; link list shows owners and ages");
      }
    }
    boolean dry = Boolean.parseBoolean(command.arguments().getOrDefault("dry-run", "false"));
    new Dropping(command, selection(command), dry).step();
  }

  /** One call of the verb. */
  private final class Dropping {
    private final Command.Admin command;
    private final Selection selection;
    private final boolean dry;
    private final Iterator<Link> rest;
    private int dropped;
    private int withRefusals;
    private int connected;
    private int younger;

    Dropping(Command.Admin command, Selection selection, boolean dry) {
      this.command = command;
      this.selection = selection;
      this.dry = dry;
      this.rest =
          state.links().all().stream()
              .filter(link -> ownerOf(link).equals(selection.owner()))
              .toList()
              .iterator();
    }

    void step() {
      if (!dry && !admission.admit(SLICE * RECORD_BYTES, false)) {
        noRoom();
        return;
      }
      for (int i = 0; i < SLICE && rest.hasNext(); i++) {
        look(rest.next());
      }
      if (rest.hasNext()) {
        turns.later(command, this::step);
      } else {
        end();
      }
    }

    private void look(Link link) {
      if (link.isClosed()) {
        return; // by its client, meanwhile
      }
      if (sessions.isConnected(link.id())) {
        connected++;
      } else if (!selection.takes(link, unusedMillis(link))) {
        younger++;
      } else {
        dropped++;
        withRefusals += link.outcomeCount() > 0 ? 1 : 0;
        if (!dry) {
          recorder.record(new LinkClosed(link.id()));
        }
      }
    }

    private void noRoom() {
      command
          .peer()
          .reply(
              command.correlation(),
              new Peer.Reply.Failed(
                  FaultCode.RETRY_LATER,
                  "the journal has no room for the records now, "
                      + dropped
                      + " links are dropped; call it again"));
    }

    private void end() {
      JsonWriter json =
          new JsonWriter()
              .beginObject()
              .number(dry ? "wouldDrop" : "dropped", dropped)
              .number("withKeptRefusals", withRefusals)
              .number("stayConnected", connected)
              .number("stayYounger", younger);
      if (dropped > 0) {
        json.text(
            "whoComesBack",
            "what a client of these sends again ends as OUTCOME_UNKNOWN, since the broker cannot"
                + " say any more whether it is stored");
      }
      answer(command, json.endObject());
    }
  }

  private void answer(Command.Admin command, JsonWriter json) {
    Peer peer = command.peer();
    recorder.anywhereOnceDurable(
        () -> peer.reply(command.correlation(), new Peer.Reply.Json(json.toString())));
  }
}

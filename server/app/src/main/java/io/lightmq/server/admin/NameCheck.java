package io.lightmq.server.admin;

import io.lightmq.wire.entry.NearNames;
import io.lightmq.wire.entry.Printable;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Looks at the names in a request that was answered with nothing: a name that does not exist is
 * told with the nearest that does, instead of an empty list. It asks the broker for what there is.
 */
final class NameCheck {
  private static final String MOST = "1000";
  private static final int MAX_COMPARED = 100_000;

  private final AdminLink link;
  private final Map<String, String> asked;

  private NameCheck(AdminLink link, Arguments asked) {
    this.link = link;
    this.asked = asked.all();
  }

  /** What to say about the names of a request whose answer has nothing in it; else null. */
  static @Nullable String afterNothing(AdminLink link, String verb, Arguments asked, Object answer)
      throws AdminException {
    if (!(answer instanceof Map<?, ?> map) || !isNothing(map) || verb.startsWith("user.")) {
      return null;
    }
    NameCheck check = new NameCheck(link, asked);
    String wrong = check.destination(asked.all().get("topic"), "topic");
    if (wrong == null) {
      wrong = check.destination(asked.all().get("queue"), "queue");
    }
    if (wrong == null) {
      wrong = check.destination(asked.all().get("destination"), asked.all().get("kind"));
    }
    if (wrong == null) {
      wrong = check.clientId();
    }
    return wrong == null ? check.owner() : wrong;
  }

  /** More about a refusal: what the name belongs to, or the nearest; null if there is no more. */
  static @Nullable String afterRefusal(
      AdminLink link, String verb, Arguments asked, AdminException refusal) throws AdminException {
    NameCheck check = new NameCheck(link, asked);
    return switch (refusal.code()) {
      case INVALID_DESTINATION -> check.otherKind(asked.all().get("name"));
      case INVALID_SUBSCRIPTION -> verb.equals("subscription.delete") ? check.subscription() : null;
      case BAD_REQUEST ->
          check.destination(asked.all().get("destination"), asked.all().get("kind"));
      default -> null;
    };
  }

  /** Whether all figures are zero and all lists empty; a count of all links is no answer. */
  private static boolean isNothing(Map<?, ?> answer) {
    if (answer.get("selected") instanceof Number selected) {
      return selected.longValue() == 0;
    }
    return answer.values().stream()
        .allMatch(
            value ->
                value == null
                    || (value instanceof Number number && number.longValue() == 0)
                    || (value instanceof List<?> list && list.isEmpty()));
  }

  private List<Map<?, ?>> ask(String verb, String list, Map<String, String> arguments)
      throws AdminException {
    List<Map<?, ?>> rows = new ArrayList<>();
    if (Json.parse(link.run(verb, arguments)) instanceof Map<?, ?> answer
        && answer.get(list) instanceof List<?> found) {
      for (Object each : found) {
        if (each instanceof Map<?, ?> row) {
          rows.add(row);
        }
      }
    }
    return rows;
  }

  private static String text(Map<?, ?> row, String name) {
    return row.get(name) instanceof String text ? text : "";
  }

  private static String nearest(String name, Set<String> known) {
    Stream<String> others = known.stream().filter(other -> !other.isEmpty());
    List<String> near = NearNames.ofMany(name, others, MAX_COMPARED);
    return near.isEmpty() ? "" : "; the nearest is " + Printable.of(near.get(0));
  }

  private @Nullable String destination(@Nullable String name, @Nullable String kind)
      throws AdminException {
    if (name == null) {
      return null;
    }
    Set<String> known = new TreeSet<>();
    String other = null;
    for (Map<?, ?> row : ask("destination.list", "destinations", Map.of())) {
      String itsKind = text(row, "kind");
      boolean fits = kind == null || itsKind.equals(kind);
      if (text(row, "name").equals(name)) {
        if (fits) {
          return null;
        }
        other = itsKind;
      } else if (fits) {
        known.add(text(row, "name"));
      }
    }
    return "there is no "
        + (kind == null ? "destination" : kind)
        + " "
        + Printable.of(name)
        + (other == null ? nearest(name, known) : "; " + Printable.of(name) + " is a " + other);
  }

  private @Nullable String otherKind(@Nullable String name) throws AdminException {
    for (Map<?, ?> row : ask("destination.list", "destinations", Map.of())) {
      if (text(row, "name").equals(name)) {
        return Printable.of(name) + " is a " + text(row, "kind");
      }
    }
    return null;
  }

  private List<Map<?, ?>> subscriptions() throws AdminException {
    return ask("subscription.list", "subscriptions", Map.of("limit", MOST));
  }

  private @Nullable String clientId() throws AdminException {
    String clientId = asked.get("client-id");
    if (clientId == null) {
      return null;
    }
    Set<String> known = new TreeSet<>();
    subscriptions().forEach(row -> known.add(text(row, "clientId")));
    return known.contains(clientId)
        ? null
        : "no subscription has the client id " + Printable.of(clientId) + nearest(clientId, known);
  }

  private @Nullable String subscription() throws AdminException {
    String name = asked.getOrDefault("subscription", "");
    Set<String> names = new TreeSet<>();
    Set<String> clientIds = new LinkedHashSet<>();
    for (Map<?, ?> row : subscriptions()) {
      names.add(text(row, "name"));
      if (text(row, "name").equals(name)) {
        clientIds.add(text(row, "clientId"));
      }
    }
    if (clientIds.isEmpty()) {
      String near = nearest(name, names);
      return near.isEmpty() ? null : near.substring(2);
    }
    String first = clientIds.iterator().next();
    return first.isEmpty()
        ? "there is one without a client id"
        : "there is one of client id " + Printable.of(first);
  }

  private @Nullable String owner() throws AdminException {
    String owner = asked.get("owner");
    if (owner == null) {
      return null;
    }
    Set<String> known = new TreeSet<>();
    ask("link.list", "owners", Map.of("limit", MOST)).forEach(row -> known.add(text(row, "owner")));
    return known.contains(owner)
        ? null
        : "no link belongs to the user " + Printable.of(owner) + nearest(owner, known);
  }
}

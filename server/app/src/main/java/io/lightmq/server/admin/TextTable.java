package io.lightmq.server.admin;

import io.lightmq.wire.entry.Printable;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Shows the values of an answer to people: a list as a table, an object as names and values. A cell
 * of a table is shortened, a value beside its name is not; neither can move the terminal.
 */
final class TextTable {
  private static final String GAP = "  ";
  private static final String MILLIS = "Millis";
  private static final Pattern BOUNDARY = Pattern.compile("(\\p{Lower})(\\p{Upper})");

  /** In 2001: what is less is how long something takes. */
  private static final long EARLIEST_MILLIS = 1_000_000_000_000L;

  private TextTable() {}

  static String of(@Nullable Object value) {
    if (value instanceof List<?> list) {
      return table(list);
    }
    if (value instanceof Map<?, ?> map) {
      return object(map);
    }
    return show(value) + "\n";
  }

  private static String object(Map<?, ?> map) {
    String nothing = nothing(map);
    if (!nothing.isEmpty()) {
      return "no " + nothing + "\n";
    }
    StringBuilder text = new StringBuilder();
    List<List<String>> pairs = new ArrayList<>();
    Map<String, List<?>> tables = new LinkedHashMap<>();
    Map<String, Map<?, ?>> objects = new LinkedHashMap<>();
    map.forEach(
        (key, value) -> {
          String name = show(key);
          if (value instanceof List<?> list && !list.isEmpty() && list.get(0) instanceof Map) {
            tables.put(words(name), list);
          } else if (value instanceof Map<?, ?> object && !object.isEmpty()) {
            objects.put(words(name), object);
          } else {
            pairs.add(List.of(words(named(name, value)), show(name, value)));
          }
        });
    if (pairs.isEmpty() && tables.size() == 1) {
      return table(tables.values().iterator().next());
    }
    lines(pairs, text);
    objects.forEach(
        (name, object) -> {
          List<List<String>> its = new ArrayList<>();
          object.forEach((key, value) -> its.add(List.of(show(key), show(value))));
          lines(its, text.append('\n').append(name).append('\n'));
        });
    tables.forEach((name, list) -> text.append('\n').append(name).append('\n').append(table(list)));
    return text.toString();
  }

  /**
   * What there is none of, in words, if an answer has an empty list and no figure beside it but
   * zeros: {@code deadLetters} are dead letters, {@code delayed} are delayed messages. Otherwise
   * empty.
   */
  private static String nothing(Map<?, ?> map) {
    String name = "";
    for (Map.Entry<?, ?> entry : map.entrySet()) {
      if (entry.getValue() instanceof List<?> list && list.isEmpty() && name.isEmpty()) {
        name = show(entry.getKey());
      } else if (!Long.valueOf(0).equals(entry.getValue())) {
        return "";
      }
    }
    String words = heading(name).replace('-', ' ').toLowerCase(Locale.ROOT);
    return words.isEmpty() || words.endsWith("s") ? words : words + " messages";
  }

  private static String table(List<?> list) {
    Set<String> columns = new LinkedHashSet<>();
    for (Object row : list) {
      if (row instanceof Map<?, ?> map) {
        map.keySet().forEach(name -> columns.add(show(name)));
      }
    }
    List<List<String>> rows = new ArrayList<>();
    if (!columns.isEmpty()) {
      rows.add(columns.stream().map(name -> heading(named(name, first(list, name)))).toList());
    }
    for (Object row : list) {
      rows.add(
          row instanceof Map<?, ?> map
              ? columns.stream().map(name -> Printable.of(show(name, map.get(name)))).toList()
              : List.of(Printable.of(show(row))));
    }
    StringBuilder text = new StringBuilder();
    lines(rows, text);
    return rows.isEmpty() ? "none\n" : text.toString();
  }

  /** {@code unresolvedLetters} is headed {@code UNRESOLVED-LETTERS}. */
  private static String heading(String name) {
    return name.replaceAll("(\\p{Lower})(\\p{Upper})", "$1-$2").toUpperCase(Locale.ROOT);
  }

  /** {@code publishedSinceStart} is {@code published since start}. */
  private static String words(String name) {
    return BOUNDARY
        .matcher(name)
        .replaceAll(found -> found.group(1) + " " + found.group(2).toLowerCase(Locale.ROOT));
  }

  private static @Nullable Object first(List<?> rows, String name) {
    return rows.get(0) instanceof Map<?, ?> row ? row.get(name) : null;
  }

  /** A point in time needs no unit: {@code enqueuedMillis} is {@code enqueued}. */
  private static String named(String name, @Nullable Object value) {
    return isTime(name, value) ? name.substring(0, name.length() - MILLIS.length()) : name;
  }

  private static boolean isTime(String name, @Nullable Object value) {
    return name.endsWith(MILLIS) && value instanceof Long millis && millis >= EARLIEST_MILLIS;
  }

  private static String show(String name, @Nullable Object value) {
    return isTime(name, value) && value instanceof Long millis
        ? Instant.ofEpochMilli(millis).toString()
        : show(value);
  }

  private static void lines(List<List<String>> rows, StringBuilder text) {
    List<Integer> widths = new ArrayList<>();
    for (List<String> row : rows) {
      for (int i = 0; i < row.size(); i++) {
        if (i == widths.size()) {
          widths.add(0);
        }
        widths.set(i, Math.max(widths.get(i), row.get(i).length()));
      }
    }
    for (List<String> row : rows) {
      StringBuilder line = new StringBuilder();
      for (int i = 0; i < row.size(); i++) {
        line.append(row.get(i)).append(" ".repeat(widths.get(i) - row.get(i).length())).append(GAP);
      }
      text.append(line.toString().stripTrailing()).append('\n');
    }
  }

  private static String show(@Nullable Object value) {
    if (value == null) {
      return "-";
    }
    if (value instanceof Map<?, ?> map && map.isEmpty()) {
      return "-";
    }
    if (value instanceof List<?> list) {
      return list.isEmpty() ? "-" : String.join(", ", list.stream().map(TextTable::show).toList());
    }
    return Printable.escaped(value.toString());
  }
}

package io.lightmq.server.admin;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads the JSON of the broker's answers into maps, lists, strings, numbers, booleans and nulls, at
 * most 32 levels deep.
 */
final class Json {
  private static final int MAX_DEPTH = 32;

  private final String text;
  private int at;

  private Json(String text) {
    this.text = text;
  }

  /**
   * The value.
   *
   * @throws IllegalArgumentException if it is no JSON; the message says where
   */
  static @Nullable Object parse(String text) {
    Json json = new Json(text);
    Object value = json.value(0);
    json.space();
    if (json.at < text.length()) {
      throw json.wrong("the end");
    }
    return value;
  }

  private @Nullable Object value(int depth) {
    if (depth > MAX_DEPTH) {
      throw wrong("at most " + MAX_DEPTH + " levels");
    }
    space();
    char next = at < text.length() ? text.charAt(at) : 0;
    return switch (next) {
      case '{' -> object(depth);
      case '[' -> array(depth);
      case '"' -> string();
      case 't' -> word("true", true);
      case 'f' -> word("false", false);
      case 'n' -> word("null", null);
      default -> number();
    };
  }

  private Map<String, @Nullable Object> object(int depth) {
    Map<String, @Nullable Object> members = new LinkedHashMap<>();
    at++;
    space();
    if (taken('}')) {
      return members;
    }
    do {
      space();
      String name = string();
      space();
      need(':');
      members.put(name, value(depth + 1));
      space();
    } while (taken(','));
    need('}');
    return members;
  }

  private List<@Nullable Object> array(int depth) {
    List<@Nullable Object> items = new ArrayList<>();
    at++;
    space();
    if (taken(']')) {
      return items;
    }
    do {
      items.add(value(depth + 1));
      space();
    } while (taken(','));
    need(']');
    return items;
  }

  private String string() {
    need('"');
    StringBuilder result = new StringBuilder();
    while (at < text.length()) {
      char next = text.charAt(at++);
      if (next == '"') {
        return result.toString();
      }
      result.append(next == '\\' ? escaped() : next);
    }
    throw wrong("the end of a string");
  }

  private char escaped() {
    char next = at < text.length() ? text.charAt(at++) : 0;
    return switch (next) {
      case '"', '\\', '/' -> next;
      case 'b' -> '\b';
      case 'f' -> '\f';
      case 'n' -> '\n';
      case 'r' -> '\r';
      case 't' -> '\t';
      case 'u' -> {
        if (at + 4 > text.length()) {
          throw wrong("four digits");
        }
        at += 4;
        yield (char) Integer.parseInt(text.substring(at - 4, at), 16);
      }
      default -> throw wrong("an escape");
    };
  }

  private Object number() {
    int start = at;
    while (at < text.length() && "+-.eE0123456789".indexOf(text.charAt(at)) >= 0) {
      at++;
    }
    String digits = text.substring(start, at);
    try {
      return digits.matches("-?\\d+")
          ? whole(new BigInteger(digits))
          : (Object) Double.valueOf(digits);
    } catch (NumberFormatException e) {
      at = start;
      throw wrong("a value");
    }
  }

  /** A whole number in full, however long: an id beyond 18 digits is no measurement. */
  private static Number whole(BigInteger value) {
    return value.bitLength() < Long.SIZE ? (Number) value.longValue() : value;
  }

  private @Nullable Object word(String word, @Nullable Object value) {
    if (!text.startsWith(word, at)) {
      throw wrong("a value");
    }
    at += word.length();
    return value;
  }

  private boolean taken(char wanted) {
    if (at < text.length() && text.charAt(at) == wanted) {
      at++;
      return true;
    }
    return false;
  }

  private void need(char wanted) {
    if (!taken(wanted)) {
      throw wrong("'" + wanted + "'");
    }
  }

  private void space() {
    while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
      at++;
    }
  }

  private IllegalArgumentException wrong(String wanted) {
    return new IllegalArgumentException("no JSON: expected " + wanted + " at character " + at);
  }
}

package io.lightmq.jndi;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import javax.naming.NamingException;
import org.jspecify.annotations.Nullable;

/**
 * Puts values in the place of {@code ${name}} and {@code ${name:-default}}: of system properties,
 * else of environment variables, else of the naming properties themselves. Values and defaults may
 * have variables too, at most {@value #MAX_DEPTH} deep and {@value #MAX_CHARS} characters in all;
 * beyond that, for a circle and for a name without value and default the property is refused. Two
 * dollar signs before the brace stand for one that begins no variable.
 */
final class Variables {
  static final int MAX_DEPTH = 16;
  static final int MAX_CHARS = 65_536;

  private final Map<String, String> properties;

  Variables(Map<String, String> properties) {
    this.properties = properties;
  }

  /**
   * A property's value with all variables in place.
   *
   * @param key the property, for the message of a failure
   */
  String expand(String key, String value) throws NamingException {
    return expand(key, value, new ArrayDeque<>());
  }

  private String expand(String key, String value, Deque<String> open) throws NamingException {
    StringBuilder result = new StringBuilder();
    int at = 0;
    int start;
    while ((start = value.indexOf("${", at)) >= 0) {
      if (start > at && value.charAt(start - 1) == '$') {
        append(key, result, value.substring(at, start - 1) + "${");
        at = start + 2;
        continue;
      }
      int end = closing(value, start + 2);
      if (end < 0) {
        throw wrong(key, "has a ${ without its }; write $${ for the characters themselves");
      }
      append(key, result, value.substring(at, start));
      append(key, result, resolve(key, value.substring(start + 2, end), open));
      at = end + 1;
    }
    append(key, result, value.substring(at));
    return result.toString();
  }

  private static void append(String key, StringBuilder result, String text) throws NamingException {
    if (result.length() + text.length() > MAX_CHARS) {
      throw wrong(key, "grows beyond " + MAX_CHARS + " characters by its variables");
    }
    result.append(text);
  }

  /** Where the brace closes that was open before; -1 if nowhere. */
  private static int closing(String value, int from) {
    int depth = 1;
    for (int i = from; i < value.length(); i++) {
      if (value.startsWith("${", i)) {
        depth++;
      } else if (value.charAt(i) == '}' && --depth == 0) {
        return i;
      }
    }
    return -1;
  }

  private String resolve(String key, String variable, Deque<String> open) throws NamingException {
    int colon = variable.indexOf(":-");
    String name = colon < 0 ? variable : variable.substring(0, colon);
    if (open.size() >= MAX_DEPTH) {
      throw wrong(key, "has variables in variables beyond a depth of " + MAX_DEPTH);
    }
    String found = value(name);
    if (found == null && colon < 0) {
      throw wrong(
          key,
          "needs the variable '"
              + name
              + "', which is no system property, environment variable or naming property; set it"
              + " or write ${"
              + name
              + ":-default}");
    }
    if (found != null && open.contains(name)) {
      throw wrong(key, "has the variable '" + name + "', whose value needs itself");
    }
    open.push(found == null ? "" : name);
    try {
      return expand(key, found == null ? variable.substring(colon + 2) : found, open);
    } finally {
      open.pop();
    }
  }

  private @Nullable String value(String name) {
    if (name.isEmpty()) {
      return null;
    }
    String property = System.getProperty(name);
    if (property != null) {
      return property;
    }
    String variable = System.getenv(name);
    return variable != null ? variable : properties.get(name);
  }

  private static NamingException wrong(String key, String what) {
    return new NamingException("property " + key + " " + what);
  }
}

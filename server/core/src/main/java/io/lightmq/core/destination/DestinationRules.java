package io.lightmq.core.destination;

import io.lightmq.wire.entry.DestinationName;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Settings by pattern, for destinations at their creation. In a pattern {@code *} is any text
 * within one part of a name, parts being divided by dots; {@code >} as the last part is any one or
 * more parts. The most specific pattern that matches wins: the one with more literal characters,
 * then the one without {@code >}, then the one that was given first.
 */
public final class DestinationRules {
  /** One pattern and what it sets. */
  public record Rule(String pattern, DestinationSettings settings) {
    public Rule {
      int rest = pattern.indexOf('>');
      if (pattern.isEmpty()
          || (rest >= 0
              && !(rest == pattern.length() - 1
                  && (rest == 0 || pattern.charAt(rest - 1) == '.')))) {
        throw new IllegalArgumentException(
            "destination pattern \""
                + pattern
                + "\" is wrong: it may not be empty, and > can only be its last part");
      }
    }

    boolean matches(String name) {
      String[] wanted = pattern.split("\\.", -1);
      String[] parts = name.split("\\.", -1);
      for (int i = 0; i < wanted.length; i++) {
        if (wanted[i].equals(">")) {
          return parts.length > i;
        }
        if (i >= parts.length || !partMatches(wanted[i], 0, parts[i], 0)) {
          return false;
        }
      }
      return parts.length == wanted.length;
    }

    private static boolean partMatches(String wanted, int w, String part, int p) {
      int i = w;
      int j = p;
      int star = -1;
      int retry = 0;
      while (j < part.length()) {
        if (i < wanted.length() && wanted.charAt(i) == '*') {
          star = i++;
          retry = j;
        } else if (i < wanted.length() && wanted.charAt(i) == part.charAt(j)) {
          i++;
          j++;
        } else if (star >= 0) {
          i = star + 1;
          j = ++retry;
        } else {
          return false;
        }
      }
      while (i < wanted.length() && wanted.charAt(i) == '*') {
        i++;
      }
      return i == wanted.length();
    }

    private long literals() {
      return pattern.chars().filter(c -> c != '*' && c != '>').count();
    }
  }

  private final List<Rule> rules;

  /** Rules in the order in which they were given. */
  public DestinationRules(List<Rule> rules) {
    List<Rule> sorted = new ArrayList<>(rules);
    sorted.sort(
        Comparator.comparingLong(Rule::literals)
            .reversed()
            .thenComparing(rule -> rule.pattern().endsWith(">")));
    this.rules = List.copyOf(sorted);
  }

  /** What a destination of this name begins with. */
  public DestinationSettings settingsFor(DestinationName name) {
    for (Rule rule : rules) {
      if (rule.matches(name.name())) {
        return rule.settings();
      }
    }
    return DestinationSettings.DEFAULT;
  }
}

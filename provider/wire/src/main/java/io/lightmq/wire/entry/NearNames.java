package io.lightmq.wire.entry;

import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Finds the known names that a mistyped one may have meant. */
public final class NearNames {
  private static final int MAX_COMPARED = 128;

  private NearNames() {}

  /** At most so many known names, nearest first, none further than a third of the name's length. */
  public static List<String> of(String name, Collection<String> known, int count) {
    String lower = shorten(name.toLowerCase(Locale.ROOT));
    int worst = worst(lower);
    record Near(String name, int distance) {}
    return known.stream()
        .map(other -> new Near(other, difference(lower, shorten(other.toLowerCase(Locale.ROOT)))))
        .filter(near -> near.distance() <= worst)
        .sorted(Comparator.comparingInt(Near::distance).thenComparing(Near::name))
        .limit(count)
        .map(Near::name)
        .collect(Collectors.toList());
  }

  /** In a short word, two other letters make another word. */
  private static int worst(String name) {
    return name.length() <= 4 ? 1 : Math.max(2, name.length() / 3);
  }

  /**
   * The same for many known names: looks only at those of nearly the same length, at most so many.
   */
  public static List<String> ofMany(String name, Stream<String> known, int candidates) {
    int worst = worst(shorten(name));
    List<String> near =
        known
            .filter(other -> Math.abs(other.length() - name.length()) <= worst)
            .limit(candidates)
            .toList();
    return of(name, near, 1);
  }

  /** The distance, but 1 if one is how the other begins. */
  private static int difference(String a, String b) {
    return Math.min(a.length(), b.length()) >= 3 && (a.startsWith(b) || b.startsWith(a))
        ? 1
        : distance(a, b);
  }

  private static String shorten(String text) {
    return text.length() > MAX_COMPARED ? text.substring(0, MAX_COMPARED) : text;
  }

  /** Insertions, deletions, replacements and swaps of neighbours from one to the other. */
  public static int distance(String a, String b) {
    int[][] cost = new int[a.length() + 1][b.length() + 1];
    for (int i = 0; i <= a.length(); i++) {
      for (int j = 0; j <= b.length(); j++) {
        cost[i][j] = i == 0 ? j : j == 0 ? i : cheapest(cost, a, b, i, j);
      }
    }
    return cost[a.length()][b.length()];
  }

  private static int cheapest(int[][] cost, String a, String b, int i, int j) {
    boolean same = a.charAt(i - 1) == b.charAt(j - 1);
    int best =
        Math.min(cost[i - 1][j - 1] + (same ? 0 : 1), Math.min(cost[i - 1][j], cost[i][j - 1]) + 1);
    if (i > 1
        && j > 1
        && a.charAt(i - 1) == b.charAt(j - 2)
        && a.charAt(i - 2) == b.charAt(j - 1)) {
      best = Math.min(best, cost[i - 2][j - 2] + 1);
    }
    return best;
  }
}

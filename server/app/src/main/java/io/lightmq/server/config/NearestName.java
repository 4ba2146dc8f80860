package io.lightmq.server.config;

import java.util.Collection;

/** Finds the name that a mistyped one was probably meant to be. */
final class NearestName {
  private NearestName() {}

  /** The known name with the fewest changed, missing or added characters. */
  static String of(String name, Collection<String> known) {
    String nearest = "";
    int fewest = Integer.MAX_VALUE;
    for (String candidate : known) {
      int distance = distance(name, candidate);
      if (distance < fewest) {
        fewest = distance;
        nearest = candidate;
      }
    }
    return nearest;
  }

  /** How many characters to change, leave out or add. */
  static int distance(String left, String right) {
    int[] row = new int[right.length() + 1];
    for (int j = 0; j < row.length; j++) {
      row[j] = j;
    }
    for (int i = 1; i <= left.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j < row.length; j++) {
        int above = row[j];
        int replaced = diagonal + (left.charAt(i - 1) == right.charAt(j - 1) ? 0 : 1);
        row[j] = Math.min(replaced, Math.min(above, row[j - 1]) + 1);
        diagonal = above;
      }
    }
    return row[right.length()];
  }
}

package io.lightmq.core.simulation;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;

/**
 * Makes a history that fails smaller while it still fails for the same reason: first without one
 * feature after the other, then without steps, a half, a quarter and so on of them at a time.
 * Bounded by the number of histories that it runs.
 */
final class Shrinking {
  private final Supplier<Plant> planted;
  private final String reason;
  private History smallest;
  private int left;

  private Shrinking(History history, Throwable found, Supplier<Plant> planted, int mostRuns) {
    this.planted = planted;
    this.reason = reason(found);
    this.smallest = history;
    this.left = mostRuns;
  }

  /** The smallest history that was found in so many runs. */
  static History shrink(History history, Throwable found, Supplier<Plant> planted, int mostRuns) {
    Shrinking shrinking = new Shrinking(history, found, planted, mostRuns);
    shrinking.features();
    shrinking.steps();
    return shrinking.smallest;
  }

  private void features() {
    for (Feature each : Feature.values()) {
      Set<Feature> fewer = EnumSet.copyOf(smallest.features());
      if (fewer.size() > 1 && fewer.remove(each)) {
        keepIfFails(new History(smallest.seed(), fewer, smallest.steps()));
      }
    }
  }

  private void steps() {
    Set<Integer> present = smallest.steps();
    List<Integer> steps =
        present == null
            ? BrokerSimulation.stepsOf(smallest.seed(), smallest.features())
            : List.copyOf(present);
    for (int part = Math.max(1, steps.size() / 2); ; part = part / 2) {
      for (int from = 0; from < steps.size(); ) {
        List<Integer> fewer = new ArrayList<>(steps.subList(0, from));
        fewer.addAll(steps.subList(Math.min(steps.size(), from + part), steps.size()));
        if (keepIfFails(new History(smallest.seed(), smallest.features(), new TreeSet<>(fewer)))) {
          steps = fewer;
        } else {
          from += part;
        }
      }
      if (part == 1 || left <= 0) {
        return;
      }
    }
  }

  private boolean keepIfFails(History smaller) {
    if (left-- <= 0) {
      return false;
    }
    Throwable found = smaller.run(planted);
    boolean same = found != null && reason(found).equals(reason);
    if (same) {
      smallest = smaller;
    }
    return same;
  }

  /** The oracle, or else the kind and first words of what was thrown. */
  static String reason(Throwable found) {
    if (found instanceof Oracle.Violation violation) {
      return violation.oracle;
    }
    if (!(found instanceof AssertionError)) {
      return found.getClass().getSimpleName();
    }
    String text = String.valueOf(found.getMessage());
    return found.getClass().getSimpleName() + " " + text.substring(0, Math.min(12, text.length()));
  }
}

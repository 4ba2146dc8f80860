package io.lightmq.core.simulation;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What makes a history the same again.
 *
 * @param steps the numbers of those that are done; null for all
 */
record History(long seed, Set<Feature> features, @Nullable Set<Integer> steps) {
  private static final String NONE = "none";

  /** Runs it; what it finds, or null. */
  @Nullable Throwable run(Supplier<Plant> planted) {
    return run(planted, new Tally());
  }

  /** The same, counting what happens. */
  @Nullable Throwable run(Supplier<Plant> planted, Tally tally) {
    BrokerSimulation simulation = new BrokerSimulation(seed, features, planted.get(), steps);
    try {
      simulation.run();
      return null;
    } catch (Exception | AssertionError e) {
      return e;
    } finally {
      tally.add(simulation.world());
    }
  }

  /** The last things that happen in it. */
  List<String> story(Supplier<Plant> planted) {
    BrokerSimulation simulation = new BrokerSimulation(seed, features, planted.get(), steps);
    simulation.world().tellAll();
    try {
      simulation.run();
    } catch (Exception | AssertionError e) {
      // it is what is looked for
    }
    return simulation.world().told();
  }

  /** What repeats it, by a test that plays many. */
  String command(Class<?> test) {
    return "./mvnw -B -pl server/core -am test -Dtest="
        + test.getSimpleName()
        + "#seeds"
        + " -Dsurefire.failIfNoSpecifiedTests=false -Dlightmq.seeds=1 -Dlightmq.seed="
        + seed
        + (features.equals(Feature.all()) ? "" : " -Dlightmq.features=" + Feature.text(features))
        + (steps == null ? "" : " -Dlightmq.steps=" + text(steps));
  }

  /** Reads {@code 1,4-6}; nothing means all. */
  static @Nullable Set<Integer> steps(String text) {
    if (text.isBlank()) {
      return null;
    }
    Set<Integer> steps = new TreeSet<>();
    if (text.equals(NONE)) {
      return steps;
    }
    for (String each : text.split(",")) {
      int dash = each.indexOf('-');
      int from = Integer.parseInt(dash < 0 ? each : each.substring(0, dash));
      int to = dash < 0 ? from : Integer.parseInt(each.substring(dash + 1));
      for (int step = from; step <= to; step++) {
        steps.add(step);
      }
    }
    return steps;
  }

  /** What {@link #steps(String)} reads. */
  static String text(Set<Integer> steps) {
    List<Integer> sorted = new ArrayList<>(new TreeSet<>(steps));
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < sorted.size(); ) {
      int last = i;
      while (last + 1 < sorted.size() && sorted.get(last + 1) == sorted.get(last) + 1) {
        last++;
      }
      text.append(text.isEmpty() ? "" : ",").append(sorted.get(i));
      if (last > i) {
        text.append('-').append(sorted.get(last));
      }
      i = last + 1;
    }
    return text.isEmpty() ? NONE : text.toString();
  }
}

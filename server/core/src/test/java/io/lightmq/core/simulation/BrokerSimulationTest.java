package io.lightmq.core.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Many histories of a broker with everything on. {@code -Dlightmq.seeds}, {@code -Dlightmq.seed},
 * {@code -Dlightmq.features} and {@code -Dlightmq.steps} say which; with {@code -Dlightmq.survey}
 * it goes on behind a failure, and tells each reason once.
 */
class BrokerSimulationTest {
  private static final int SEEDS = Seeds.count(200);
  private static final long FIRST = Seeds.first(1);
  private static final Set<Feature> FEATURES =
      Feature.parse(System.getProperty("lightmq.features", ""));
  private static final @Nullable Set<Integer> STEPS =
      History.steps(System.getProperty("lightmq.steps", ""));
  private static final boolean SURVEY = Boolean.getBoolean("lightmq.survey");

  private final Map<String, List<String>> found = new LinkedHashMap<>();
  private final Tally tally = new Tally();

  @Test
  void seeds() {
    for (long seed = FIRST; seed < FIRST + SEEDS && (SURVEY || found.isEmpty()); seed++) {
      run(new History(seed, FEATURES, STEPS));
    }
    if (Boolean.getBoolean("lightmq.show")) {
      System.out.println(tally);
    }
    assertThat(found).as("what %d histories violate", SEEDS).isEmpty();
    Seeds.held(FIRST, SEEDS);
    if (SEEDS >= 100 && FEATURES.equals(Feature.all())) {
      tally.checkThatMuchHappened();
    }
  }

  private void run(History history) {
    Throwable thrown = history.run(Plant::new, tally);
    if (thrown != null) {
      List<String> same =
          found.computeIfAbsent(Shrinking.reason(thrown), reason -> new ArrayList<>());
      same.add(
          same.isEmpty()
              ? FailureReport.of(history, thrown, Plant::new, getClass())
              : "seed " + history.seed());
      if (SURVEY) {
        System.out.println(same.get(same.size() - 1)); // a soak that is stopped has told it
      }
    }
  }

  @Test
  void aSeedIsAHistory() {
    History history = new History(FIRST, FEATURES, null);
    assertThat(history.story(Plant::new)).isEqualTo(history.story(Plant::new)).isNotEmpty();
  }
}

package io.lightmq.tck.faults;

/**
 * What a scenario ends with, in one line: {@code rounds 5, faults fired 5, confirmed 12034,
 * violations 0}.
 *
 * <p>A run in which no fault fired proves nothing, so it fails like one that broke a promise.
 *
 * @param rounds rounds that were carried out
 * @param faults faults that are known to have hit: kills, power cuts, frozen clients, whatever the
 *     scenario does to the broker
 * @param confirmed messages that the broker has promised to keep
 * @param violations broken promises
 */
record Verdict(long rounds, long faults, long confirmed, long violations) {

  Verdict {
    if (rounds < 0 || faults < 0 || confirmed < 0 || violations < 0) {
      throw new IllegalArgumentException(
          "no figure is negative: "
              + rounds
              + ", "
              + faults
              + ", "
              + confirmed
              + ", "
              + violations);
    }
  }

  static Verdict none() {
    return new Verdict(0, 0, 0, 0);
  }

  /** This and what came of more rounds. */
  Verdict plus(Verdict other) {
    return new Verdict(
        rounds + other.rounds,
        faults + other.faults,
        confirmed + other.confirmed,
        violations + other.violations);
  }

  /** 0: every promise was kept under faults; 1: one was broken, or there was no fault. */
  int exitCode() {
    return violations == 0 && faults > 0 ? 0 : 1;
  }

  String line() {
    return "rounds %d, faults fired %d, confirmed %d, violations %d"
        .formatted(rounds, faults, confirmed, violations);
  }
}

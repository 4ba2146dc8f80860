package io.lightmq.tck.faults;

import java.util.ArrayList;
import java.util.List;

/** The figures of a scenario, each with its limit; prints them as they come. */
final class Findings {

  private final List<String> broken = new ArrayList<>();

  /** A figure that has no limit. */
  void note(String format, Object... arguments) {
    System.out.println("  " + format.formatted(arguments));
  }

  /** A figure that has to hold. */
  void require(boolean holds, String format, Object... arguments) {
    String text = format.formatted(arguments);
    System.out.println((holds ? "  ok      " : "  BROKEN  ") + text);
    if (!holds) {
      broken.add(text);
    }
  }

  /** All the promises that a comparison found broken. */
  void require(Check check) {
    require(
        check.violations().isEmpty(),
        "%,d confirmed, %,d unknown, %,d lost, %d violations",
        check.confirmed(),
        check.unknown(),
        check.lost(),
        check.violations().size());
    check.violations().forEach(text -> System.out.println("          " + text));
  }

  int broken() {
    return broken.size();
  }

  /** The end of a scenario whose broken promises are the figures here. */
  Verdict verdict(long rounds, long faults, long confirmed) {
    return new Verdict(rounds, faults, confirmed, broken.size());
  }
}

package io.lightmq.samples.demo;

import java.util.ArrayList;
import java.util.List;

/**
 * The comparison of what was sent with what one subscription got.
 *
 * @param missing lines that were confirmed and never came
 * @param violations what breaks the promise, in words; empty when it was kept
 */
record Verdict(int missing, List<String> violations) {

  private static final int NAMED_LINES = 5;

  Verdict {
    violations = List.copyOf(violations);
  }

  /** The verdict on a subscription that is promised every confirmed line. */
  static Verdict complete(Sent sent, Arrivals arrivals) {
    List<String> violations = common(sent, arrivals);
    List<Integer> missing = missing(sent, arrivals);
    if (!missing.isEmpty()) {
      violations.add(
          "%s: %,d confirmed lines never came, the first are %s"
              .formatted(arrivals.name(), missing.size(), firstOf(missing)));
    }
    return new Verdict(missing.size(), violations);
  }

  /**
   * The verdict on a plain subscription with one listener, which may miss one stretch of lines:
   * those between the broker's death and its own return.
   */
  static Verdict plain(Sent sent, Arrivals arrivals) {
    List<String> violations = common(sent, arrivals);
    int stretches = 0;
    for (Arrivals.Gap gap : arrivals.gaps()) {
      if (gap.afterKill() && stretches == 0) {
        stretches++;
      } else {
        String when = gap.afterKill() ? "after it was back" : "before the broker was killed";
        violations.add(
            "%s: %,d lines after line %,d were missed %s"
                .formatted(arrivals.name(), gap.lines(), gap.after(), when));
      }
    }
    int tail = sent.count() - arrivals.highest();
    if (tail > 0) {
      violations.add("%s: the last %,d lines were missed".formatted(arrivals.name(), tail));
    }
    return new Verdict(missing(sent, arrivals).size(), violations);
  }

  private static List<String> common(Sent sent, Arrivals arrivals) {
    List<String> violations = new ArrayList<>(sent.failures());
    violations.addAll(arrivals.facts());
    if (sent.failed() > 0) {
      violations.add("%s: %,d sends failed".formatted(arrivals.name(), sent.failed()));
    }
    if (sent.open() > 0) {
      violations.add("%s: %,d sends got no answer".formatted(arrivals.name(), sent.open()));
    }
    count(violations, arrivals.name(), arrivals.unflagged(), "duplicates without JMSRedelivered");
    count(violations, arrivals.name(), arrivals.disordered(), "first deliveries out of order");
    count(violations, arrivals.name(), arrivals.unnumbered(), "messages that nobody sent");
    count(
        violations,
        arrivals.name(),
        arrivals.changed() + different(sent, arrivals),
        "lines with wrong content");
    return violations;
  }

  private static void count(List<String> violations, String name, long count, String what) {
    if (count > 0) {
      violations.add("%s: %,d %s".formatted(name, count, what));
    }
  }

  private static long different(Sent sent, Arrivals arrivals) {
    long different = 0;
    for (int number = 1; number <= arrivals.highest(); number++) {
      boolean strange = number > sent.count() || arrivals.hash(number) != sent.hash(number);
      if (arrivals.hasSeen(number) && strange) {
        different++;
      }
    }
    return different;
  }

  private static List<Integer> missing(Sent sent, Arrivals arrivals) {
    List<Integer> missing = new ArrayList<>();
    for (int number = 1; number <= sent.count(); number++) {
      if (sent.isConfirmed(number) && !arrivals.hasSeen(number)) {
        missing.add(number);
      }
    }
    return missing;
  }

  private static List<Integer> firstOf(List<Integer> lines) {
    return lines.subList(0, Math.min(NAMED_LINES, lines.size()));
  }
}

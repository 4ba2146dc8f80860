package io.lightmq.samples.demo;

import java.util.List;

/** The demo's progress lines and its closing table. */
final class Report {

  private static final String ROW = "%-20s %10s %10s %12s %10s %12s %10s %8s %8s%n";

  private Report() {}

  static void progress(long elapsedMillis, Sent sent, List<Arrivals> subscriptions) {
    StringBuilder line =
        new StringBuilder(
            "%5.1f s  sent %,9d  receipts %,9d"
                .formatted(elapsedMillis / 1000.0, sent.count(), sent.confirmed()));
    for (Arrivals arrivals : subscriptions) {
      line.append("  %s %,9d".formatted(arrivals.name(), arrivals.processed()));
    }
    System.out.println(line);
  }

  static void heading() {
    System.out.printf(
        ROW,
        "subscription",
        "sent",
        "processed",
        "redelivered",
        "missing",
        "out of order",
        "lines/s",
        "p50 ms",
        "p99 ms");
  }

  static void row(Sent sent, Arrivals arrivals, Verdict verdict, long elapsedMillis) {
    System.out.printf(
        ROW,
        arrivals.name(),
        number(sent.confirmed()),
        number(arrivals.processed()),
        number(arrivals.redelivered()),
        number(verdict.missing()),
        number(arrivals.disordered()),
        number(arrivals.deliveries() * 1000 / Math.max(1, elapsedMillis)),
        number(arrivals.percentileMillis(50)),
        number(arrivals.percentileMillis(99)));
  }

  /** What the plain subscription missed, and when. */
  static void gaps(Arrivals plain) {
    for (Arrivals.Gap gap : plain.gaps()) {
      System.out.printf(
          "%s missed lines %,d to %,d: %s%n",
          plain.name(),
          gap.after() + 1,
          gap.at() - 1,
          gap.afterKill()
              ? "what the broker had not given out when it died, and all until its return"
              : "while the broker was up");
    }
    if (plain.gaps().isEmpty()) {
      System.out.printf("%s missed nothing%n", plain.name());
    }
  }

  private static String number(long value) {
    return "%,d".formatted(value);
  }
}

package io.lightmq.tck.faults;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;

/**
 * The comparison of all that producers know with all that consumers saw.
 *
 * @param confirmed messages that the broker has promised to keep
 * @param unknown messages whose send failed without saying what became of them
 * @param lost confirmed messages that did not come, and given back ones that did not come again
 * @param violations each broken promise in words
 */
record Check(long confirmed, long unknown, long lost, List<String> violations) {

  private static final int NAMED = 5;

  Check {
    violations = List.copyOf(violations);
  }

  /** Compares each producer's log with each subscription of its destination. */
  static Check of(List<SendLog> producers, List<DeliveryLog> subscriptions) {
    List<String> violations = new ArrayList<>();
    long lost = 0;
    for (DeliveryLog subscription : subscriptions) {
      violations.addAll(subscription.facts());
      if (subscription.factCount() > subscription.facts().size()) {
        violations.add(
            "%s: %,d more"
                .formatted(
                    subscription.target(), subscription.factCount() - subscription.facts().size()));
      }
      for (SendLog producer : producers) {
        if (producer.target().equals(subscription.target())) {
          lost += lost(producer, subscription, violations);
          phantoms(producer, subscription, violations);
          torn(producer, subscription, violations);
        }
      }
    }
    long confirmed = producers.stream().mapToLong(SendLog::confirmedCount).sum();
    long unknown = producers.stream().mapToLong(SendLog::unknownCount).sum();
    return new Check(confirmed, unknown, lost, violations);
  }

  /**
   * The numbers of messages that one subscription has yet to get: confirmed ones that never came,
   * and ones whose consumer rolled back.
   */
  static BitSet missing(SendLog producer, DeliveryLog subscription) {
    BitSet missing = producer.confirmedNumbers();
    missing.andNot(subscription.seenNumbers(producer.stream()));
    missing.or(subscription.owedNumbers(producer.stream()));
    return missing;
  }

  private static long lost(SendLog producer, DeliveryLog subscription, List<String> violations) {
    BitSet missing = missing(producer, subscription);
    BitSet owed = subscription.owedNumbers(producer.stream());
    BitSet never = (BitSet) missing.clone();
    never.andNot(owed);
    report("%s: %,d confirmed messages of stream %d are lost", producer, subscription, never)
        .ifPresent(violations::add);
    report(
            "%s: %,d messages of stream %d did not come again after their rollback",
            producer, subscription, owed)
        .ifPresent(violations::add);
    return missing.cardinality();
  }

  private static Optional<String> report(
      String format, SendLog producer, DeliveryLog subscription, BitSet numbers) {
    return numbers.isEmpty()
        ? Optional.empty()
        : Optional.of(
            (format + ", the first are %s")
                .formatted(
                    subscription.target(),
                    numbers.cardinality(),
                    producer.stream(),
                    numbers.stream().limit(NAMED).boxed().toList()));
  }

  private static void phantoms(
      SendLog producer, DeliveryLog subscription, List<String> violations) {
    for (int number = 1; number <= subscription.highest(producer.stream()); number++) {
      if (subscription.hasSeen(producer.stream(), number)) {
        Stamp stamp = new Stamp(producer.stream(), number);
        if (number > producer.count()) {
          violations.add("%s: %s came but was never sent".formatted(subscription.target(), stamp));
        } else if (producer.state(number) == SendLog.State.ROLLED_BACK) {
          violations.add(
              "%s: %s came although its transaction was rolled back"
                  .formatted(subscription.target(), stamp));
        }
      }
    }
  }

  private static void torn(SendLog producer, DeliveryLog subscription, List<String> violations) {
    int size = producer.transaction();
    for (int first = 1; size > 1 && first + size - 1 <= producer.count(); first += size) {
      int came = 0;
      boolean ended = true;
      for (int number = first; number < first + size; number++) {
        ended &= producer.state(number) != SendLog.State.OPEN;
        came += subscription.hasSeen(producer.stream(), number) ? 1 : 0;
      }
      if (ended && came > 0 && came < size) {
        violations.add(
            "%s: of the transaction %d/%d to %d only %d of %d messages came"
                .formatted(
                    subscription.target(), producer.stream(), first, first + size - 1, came, size));
      }
    }
  }
}

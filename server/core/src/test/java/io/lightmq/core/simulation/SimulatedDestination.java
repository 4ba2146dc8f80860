package io.lightmq.core.simulation;

import io.lightmq.wire.entry.DestinationName;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;

/** A queue or topic with the settings that its history has drawn for it. */
final class SimulatedDestination {
  /** What selectors its consumers have. */
  enum Selecting {
    NONE,
    /** Each consumer has one of two parts, and both are there. */
    PARTS,
    ANY
  }

  static final int MOST_ATTEMPTS = 3;
  static final IntRange LOW = new IntRange(0, 3);
  static final IntRange HIGH = new IntRange(4, IntRange.VALUES - 1);
  static final List<String> SCHEDULES = List.of("none", "50ms,200ms", "100ms*2..1s");

  final DestinationName name;

  /** Its receipts say that what was sent is forced. */
  final boolean high;

  /** It is purged and deleted now and then, and has no settings of its own. */
  final boolean shortLived;

  final Selecting selecting;
  final boolean suppresses;

  /** Its senders put messages into groups. */
  final boolean takesGroups;

  final int maxAttempts;

  /** What has expired there is kept. */
  final boolean keepsExpired;

  final List<Message> messages = new ArrayList<>();

  /** What was failed with may have waited alone, out of its order. */
  boolean nonBlocking;

  /** A message of a group was sent there. */
  boolean grouped;

  /** The id that was heard of last. */
  long id = 1L << 40;

  private final Map<String, String> settings = new HashMap<>();

  SimulatedDestination(
      DestinationName name,
      boolean high,
      boolean shortLived,
      Set<Feature> features,
      Random random) {
    this.name = name;
    this.high = high;
    this.shortLived = shortLived;
    int selecting = random.nextInt(3);
    int suppresses = random.nextInt(3);
    int limits = random.nextInt(2);
    int expired = random.nextInt(2);
    int schedule = random.nextInt(SCHEDULES.size());
    boolean alone = random.nextInt(3) == 0;
    this.takesGroups = random.nextInt(3) > 0 && features.contains(Feature.GROUPS);
    this.selecting =
        features.contains(Feature.SELECTS) ? Selecting.values()[selecting] : Selecting.NONE;
    this.suppresses = features.contains(Feature.SUPPRESSES) && !shortLived && suppresses == 0;
    this.maxAttempts =
        features.contains(Feature.RETRIES) && !shortLived && limits == 0 ? MOST_ATTEMPTS : 0;
    this.keepsExpired = features.contains(Feature.EXPIRES) && !shortLived && expired == 0;
    settings.put("tier", high ? "high" : "performance");
    settings.put("max-attempts", String.valueOf(maxAttempts));
    if (features.contains(Feature.RETRIES)) {
      nonBlocking = alone;
      settings.put("redelivery-delay", SCHEDULES.get(schedule));
      settings.put("redelivery-order", alone ? "non-blocking" : "preserving");
    }
    settings.put("dead-letter", Letters.DEAD.name());
    if (keepsExpired) {
      settings.put("expiry", Letters.EXPIRED.name());
    }
    if (this.suppresses) {
      settings.put("suppress-duplicates", "property:key");
    }
  }

  boolean isQueue() {
    return name.kind().isQueue();
  }

  /** The arguments that make it. */
  Map<String, String> creation() {
    Map<String, String> arguments = new HashMap<>(settings);
    arguments.put("name", name.name());
    arguments.put("kind", isQueue() ? "queue" : "topic");
    return arguments;
  }

  /** What a consumer of the queue asks for. */
  IntRange anyRange(Random random) {
    return switch (selecting) {
      case NONE -> IntRange.ALL;
      case PARTS -> random.nextBoolean() ? LOW : HIGH;
      case ANY -> IntRange.any(random);
    };
  }

  /** What consumers together cover all. */
  List<IntRange> cover() {
    return selecting == Selecting.PARTS ? List.of(LOW, HIGH) : List.of(IntRange.ALL);
  }

  @Override
  public String toString() {
    return name.name() + " " + new java.util.TreeMap<>(settings) + " selecting " + selecting;
  }
}

package io.lightmq.core.simulation;

import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;

/** What a simulated history may contain. All of it is on unless a run is told otherwise. */
enum Feature {
  /** Runs of messages, with priorities, of several producers. */
  SENDS,
  /** Consumers that come and go, acknowledge and give back. */
  PULLS,
  /** Commits of sends and acknowledgements over several destinations. */
  TRANSACTS,
  /** Selectors of queues and topics. */
  SELECTS,
  /** Messages with a JMSXGroupID. */
  GROUPS,
  /** Delivery delays. */
  DELAYS,
  /** Times to live, and queues of what has expired. */
  EXPIRES,
  /** Attempts that are limited, redelivery schedules, dead letters and their retry. */
  RETRIES,
  /** Destinations that suppress duplicates. */
  SUPPRESSES,
  /** Looks at queues. */
  BROWSES,
  /** Settings that change, purges, deletes, targets that take nothing for a while. */
  ADMINISTERS,
  /** Topics with durable, shared and plain subscriptions. */
  TOPICS,
  /** Non-persistent messages, and overflow files that fail. */
  UNLOGGED,
  /** Connections that are lost and come back, and that close in order. */
  LINKS,
  /** Kills, power cuts and stops, with steps of the wall clock between two starts. */
  CRASHES;

  static Set<Feature> all() {
    return EnumSet.allOf(Feature.class);
  }

  /** Reads {@code sends,pulls}; nothing means all. */
  static Set<Feature> parse(String text) {
    Set<Feature> features = EnumSet.noneOf(Feature.class);
    for (String each : text.split(",")) {
      if (!each.isBlank()) {
        features.add(valueOf(each.trim().toUpperCase(Locale.ROOT)));
      }
    }
    return features.isEmpty() ? all() : features;
  }

  /** What {@link #parse} reads. */
  static String text(Set<Feature> features) {
    return features.stream()
        .map(each -> each.name().toLowerCase(Locale.ROOT))
        .collect(Collectors.joining(","));
  }
}

package io.lightmq.tck.golden;

import jakarta.jms.JMSConsumer;
import jakarta.jms.JMSContext;
import java.util.List;
import java.util.UUID;

/** What a golden store is about: its broker's settings, its queues and its subscriptions. */
final class GoldenContent {
  static final String CONFIGURATION =
      """
      [data]
      ballast = 0
      min-free = 0
      [memory]
      window = "1MiB"
      non-persistent = "1MiB"
      [limits]
      message = "32KiB"
      delivery = "32KiB"
      transaction = "64KiB"
      [journal]
      file = "128KiB"
      min-files = 4
      max-files = 8
      [destination."golden.failing"]
      max-attempts = 2
      dead-letter = "golden.dead"
      [destination."golden.short"]
      expiry = "golden.expired"
      [destination."golden.once"]
      suppress-duplicates = "property:order,keys=100,time=365d"
      [destination."golden.waiting"]
      redelivery-delay = "365d"
      [destination."golden.balanced"]
      tier = "balanced"
      """;

  static final String PLAIN = "golden.plain";
  static final String PRIORITIES = "golden.priorities";
  static final String GROUPS = "golden.groups";
  static final String DEEP = "golden.deep";
  static final String ATTEMPTS = "golden.attempts";
  static final String FAILING = "golden.failing";
  static final String DEAD = "golden.dead";
  static final String SHORT = "golden.short";
  static final String EXPIRED = "golden.expired";
  static final String ONCE = "golden.once";
  static final String WAITING = "golden.waiting";
  static final String BALANCED = "golden.balanced";
  static final String LATER = "golden.later";
  static final String LINKED = "golden.linked";
  static final String OVERFLOW = "golden.overflow";
  static final String TOPIC = "golden.topic";

  /** The queues whose messages come at once, in this order. */
  static final List<String> QUEUES =
      List.of(PLAIN, PRIORITIES, GROUPS, DEEP, ATTEMPTS, FAILING, WAITING, ONCE, BALANCED, LINKED);

  static final String CLIENT_ID = "golden-client";
  static final UUID LINK = new UUID(0x676f6c64656e2d31L, 0x6c696e6b2d310001L);

  /** Fifty years. */
  static final long FAR_MILLIS = 50L * 365 * 86_400_000;

  private GoldenContent() {}

  /** A subscription of the topic. */
  enum Subscription {
    /** Of the client id, all but what its own connections publish. */
    QUIET,
    /** Of the client id, with a selector. */
    CHOOSY,
    /** Shared, with no client id. */
    SHARED,
    /** Shared, with no client id and a selector. */
    SHARED_CHOOSY,
    /** Shared, of the client id. */
    SHARED_OWN;

    static final String SELECTOR = "region = 'EU' AND n > 1";

    String label() {
      return "golden-" + name().toLowerCase(java.util.Locale.ROOT).replace('_', '-');
    }

    boolean hasClientId() {
      return this == QUIET || this == CHOOSY || this == SHARED_OWN;
    }

    /** Whether it gets a message of a region and number, its own client's or another's. */
    boolean wants(String region, int n, boolean own) {
      return switch (this) {
        case QUIET -> !own;
        case CHOOSY, SHARED_CHOOSY -> region.equals("EU") && n > 1;
        case SHARED, SHARED_OWN -> true;
      };
    }

    /** Opens it with a context of the client id, or of none, as it has one or not. */
    JMSConsumer open(JMSContext context) {
      var topic = context.createTopic(TOPIC);
      return switch (this) {
        case QUIET -> context.createDurableConsumer(topic, label(), null, true);
        case CHOOSY -> context.createDurableConsumer(topic, label(), SELECTOR, false);
        case SHARED, SHARED_OWN -> context.createSharedDurableConsumer(topic, label());
        case SHARED_CHOOSY -> context.createSharedDurableConsumer(topic, label(), SELECTOR);
      };
    }
  }
}

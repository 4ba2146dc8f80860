package io.lightmq.client;

import io.lightmq.client.link.ClientUri;
import io.lightmq.client.link.LinkSettings;
import io.lightmq.client.message.Jmsx;
import io.lightmq.client.message.ObjectTrust;
import io.lightmq.wire.entry.NearNames;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * What a connection is made with: parsed once, from a URI with its options.
 *
 * @param messageSizeLimit largest encoded message in bytes
 * @param atMostOnce whether sessions that acknowledge by themselves do so by pulling
 * @param jmsx which properties the provider sets beside the delivery count
 */
record ClientSettings(
    LinkSettings link,
    Prefetch prefetch,
    int messageSizeLimit,
    boolean atMostOnce,
    Jmsx jmsx,
    ObjectTrust trust) {

  /**
   * What a consumer asks for ahead of its application.
   *
   * @param messages at most so many messages wait in a consumer
   * @param bytes at most so many bytes of messages, but at least one message
   * @param parkMillis how long the broker keeps a pull that finds nothing
   */
  record Prefetch(int messages, int bytes, int parkMillis) {}

  /** With other credentials; an empty user is none. */
  ClientSettings withCredentials(@Nullable String user, @Nullable String password) {
    return new ClientSettings(
        link.with(new LinkSettings.Credentials(emptyAsNull(user), password)),
        prefetch,
        messageSizeLimit,
        atMostOnce,
        jmsx,
        trust);
  }

  private static final String AT_LEAST_ONCE = "at-least-once";
  private static final String AT_MOST_ONCE = "at-most-once";
  private static final long MILLIS_MAX = 86_400_000;

  /** An option with the range of its value. */
  private record Range(long least, long most, long standard) {}

  private static final Map<String, Range> NUMBERS = new LinkedHashMap<>();

  static {
    NUMBERS.put("connectTimeoutMillis", new Range(1, MILLIS_MAX, 10_000));
    NUMBERS.put("requestTimeoutMillis", new Range(1, MILLIS_MAX, 30_000));
    NUMBERS.put("sendTimeoutMillis", new Range(0, MILLIS_MAX, 30_000));
    NUMBERS.put("maxUnconfirmedBytes", new Range(1, 1L << 40, 64L << 20));
    NUMBERS.put("batchBytes", new Range(1, 1 << 20, 16 << 10));
    NUMBERS.put("lingerMillis", new Range(0, 10_000, 10));
    NUMBERS.put("prefetchMessages", new Range(0, 20_000, 1_000));
    NUMBERS.put("prefetchBytes", new Range(1, 64 << 20, 2 << 20));
    NUMBERS.put("parkMillis", new Range(1, 60_000, 500));
    NUMBERS.put("messageSizeLimit", new Range(1 << 10, 64 << 20, 4 << 20));
    NUMBERS.put("reconnectDelayMillis", new Range(1, MILLIS_MAX, 50));
    NUMBERS.put("maxReconnectDelayMillis", new Range(1, MILLIS_MAX, 2_000));
    NUMBERS.put("reconnectAttempts", new Range(-1, Integer.MAX_VALUE, -1));
    NUMBERS.put("initialReconnectAttempts", new Range(-1, Integer.MAX_VALUE, 0));
  }

  static final String RANDOMIZE = "randomize";
  static final String MULTIPLIER = "reconnectBackOffMultiplier";
  static final double STANDARD_MULTIPLIER = 2;
  private static final double MOST_MULTIPLIER = 1_000;

  /** Characters of a wrong name or value that are told. */
  private static final int MAX_TOLD = 100;

  /** Names that other providers have for an option. */
  private static final Map<String, String> OTHER_NAMES =
      new TreeMap<>(String.CASE_INSENSITIVE_ORDER);

  static {
    OTHER_NAMES.put("userName", "user");
    OTHER_NAMES.put("initialReconnectDelay", "reconnectDelayMillis");
    OTHER_NAMES.put("maxReconnectDelay", "maxReconnectDelayMillis");
    OTHER_NAMES.put("maxReconnectAttempts", "reconnectAttempts");
    OTHER_NAMES.put("startupMaxReconnectAttempts", "initialReconnectAttempts");
    OTHER_NAMES.put("reconnectDelayExponent", MULTIPLIER);
    OTHER_NAMES.put("backOffMultiplier", MULTIPLIER);
  }

  private static final Set<String> TEXTS =
      Set.of(
          "clientId",
          "user",
          "password",
          "failover",
          "jmsxProperties",
          RANDOMIZE,
          MULTIPLIER,
          "semantics",
          "trustedPackages");

  /** Those whose empty value says that they are not set: containers write it for no value. */
  static final Set<String> ABSENT_IF_EMPTY = Set.of("clientId", "user", "password");

  /** An option of the factory itself: whether its stored forms hold the password. */
  static final String REFERENCE_PASSWORD = "referencePassword";

  /** Options of an embedded broker, which its own module reads. */
  private static final Set<String> EMBEDDED = Set.of("keep");

  /** The names of all options. */
  static Set<String> optionNames() {
    Set<String> names = new TreeSet<>(NUMBERS.keySet());
    names.addAll(TEXTS);
    names.addAll(EMBEDDED);
    names.add(REFERENCE_PASSWORD);
    return names;
  }

  /** The defaults of the options that are numbers, as text. */
  static Map<String, String> numberDefaults() {
    Map<String, String> defaults = new TreeMap<>();
    NUMBERS.forEach((name, range) -> defaults.put(name, String.valueOf(range.standard())));
    return defaults;
  }

  /**
   * The settings of a URI.
   *
   * @throws IllegalArgumentException for an unknown option, naming the nearest known one, and for a
   *     value out of its range
   */
  static ClientSettings of(ClientUri uri) {
    Map<String, String> options = new LinkedHashMap<>();
    for (Map.Entry<String, String> option : uri.options().entrySet()) {
      if (options.containsKey("password") && known(option.getKey()) == null) {
        throw new IllegalArgumentException(
            "an option behind the password is unknown; it may be a part of it and is not shown: in"
                + " a value write & as %26");
      }
      String name = canonical(option.getKey());
      if (options.put(name, option.getValue()) != null) {
        throw new IllegalArgumentException("the option " + name + " is given twice");
      }
    }
    boolean embedded = uri.hosts().isEmpty();
    if (options.containsKey("keep") && !embedded) {
      throw new IllegalArgumentException(
          "the option keep is for lightmq:mem and lightmq:file only");
    }
    for (String name : List.of("keep", REFERENCE_PASSWORD)) {
      bool(name, options.getOrDefault(name, "false"));
    }
    Numbers numbers = new Numbers(options);
    LinkSettings link =
        new LinkSettings(
            uri,
            new LinkSettings.Credentials(emptyAsNull(options.get("user")), options.get("password")),
            emptyAsNull(options.get("clientId")),
            new LinkSettings.Timeouts(
                numbers.whole("connectTimeoutMillis"),
                numbers.whole("requestTimeoutMillis"),
                numbers.whole("sendTimeoutMillis")),
            new LinkSettings.Batching(
                numbers.get("maxUnconfirmedBytes"),
                numbers.whole("batchBytes"),
                numbers.whole("lingerMillis")),
            new LinkSettings.Reconnect(
                bool("failover", options.getOrDefault("failover", "true")),
                bool(RANDOMIZE, options.getOrDefault(RANDOMIZE, "false")),
                numbers.whole("reconnectDelayMillis"),
                multiplier(options.get(MULTIPLIER)),
                numbers.whole("maxReconnectDelayMillis"),
                numbers.whole("reconnectAttempts"),
                numbers.whole("initialReconnectAttempts")));
    return new ClientSettings(
        link,
        new Prefetch(
            numbers.whole("prefetchMessages"),
            numbers.whole("prefetchBytes"),
            numbers.whole("parkMillis")),
        numbers.whole("messageSizeLimit"),
        atMostOnce(options.getOrDefault("semantics", AT_LEAST_ONCE)),
        Jmsx.parse(options.getOrDefault("jmsxProperties", "")),
        new ObjectTrust(packages(options.getOrDefault("trustedPackages", ""))));
  }

  /**
   * Looks at one option alone, whatever the URI.
   *
   * @throws IllegalArgumentException if its value is out of its range
   */
  static void check(String name, String value) {
    String option = canonical(name);
    try {
      of(new ClientUri("mem", List.of(), "default", Map.of(option, value)));
    } catch (IllegalArgumentException e) {
      if (option.equalsIgnoreCase(name)) {
        throw e;
      }
      throw new IllegalArgumentException(
          "the option " + name + " is " + option + " here: " + e.getMessage(), e);
    }
  }

  /** As {@link #check} an option under a name of another provider; others are not looked at. */
  static void checkOtherName(String name, String value) {
    if (OTHER_NAMES.containsKey(name)) {
      check(name, value);
    }
  }

  /** A text to be told, of which the beginning is enough. */
  private static String shortened(String text) {
    return text.length() <= MAX_TOLD
        ? text
        : text.substring(0, MAX_TOLD) + "... (" + text.length() + " characters)";
  }

  /** The value of an option that is a number, or its default. */
  static long number(Map<String, String> options, String name) {
    return new Numbers(options).get(name);
  }

  /** The option's name as written here, if there is one; case makes no difference. */
  static @Nullable String known(String name) {
    for (String option : optionNames()) {
      if (option.equalsIgnoreCase(name)) {
        return option;
      }
    }
    return OTHER_NAMES.get(name);
  }

  /**
   * The option's name as written here.
   *
   * @throws IllegalArgumentException if there is none, naming the nearest
   */
  static String canonical(String name) {
    String known = known(name);
    if (known != null) {
      return known;
    }
    Set<String> names = optionNames();
    names.addAll(OTHER_NAMES.keySet());
    List<String> near = NearNames.of(name, names, 1);
    throw new IllegalArgumentException(
        "the option '"
            + shortened(name)
            + "' is unknown; "
            + (near.isEmpty()
                ? "known are " + String.join(", ", optionNames())
                : "did you mean " + near.get(0) + "?"));
  }

  private static @Nullable String emptyAsNull(@Nullable String text) {
    return text == null || text.isEmpty() ? null : text;
  }

  private static boolean bool(String name, String value) {
    if (value.equalsIgnoreCase("true") || value.equalsIgnoreCase("false")) {
      return value.equalsIgnoreCase("true");
    }
    throw new IllegalArgumentException(
        "the option " + name + " is true or false, not " + shortened(value));
  }

  /** A decimal number. */
  static double multiplier(@Nullable String value) {
    if (value == null) {
      return STANDARD_MULTIPLIER;
    }
    try {
      double number = Double.parseDouble(value.trim());
      if (number >= 1 && number <= MOST_MULTIPLIER) {
        return number;
      }
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(
          "the option " + MULTIPLIER + " is a number, not '" + shortened(value) + "'", e);
    }
    throw new IllegalArgumentException(
        "the option "
            + MULTIPLIER
            + " is 1 to "
            + (int) MOST_MULTIPLIER
            + ", not "
            + shortened(value));
  }

  private static boolean atMostOnce(String value) {
    if (value.equalsIgnoreCase(AT_MOST_ONCE) || value.equalsIgnoreCase(AT_LEAST_ONCE)) {
      return value.equalsIgnoreCase(AT_MOST_ONCE);
    }
    throw new IllegalArgumentException(
        "the option semantics is "
            + AT_LEAST_ONCE
            + " or "
            + AT_MOST_ONCE
            + ", not "
            + shortened(value));
  }

  private static Set<String> packages(String list) {
    Set<String> packages = new TreeSet<>();
    for (String part : list.split(",", -1)) {
      String name = part.trim();
      if (!name.isEmpty()) {
        packages.add(name.endsWith(".*") ? name.substring(0, name.length() - 2) : name);
      }
    }
    return packages;
  }

  private record Numbers(Map<String, String> options) {
    int whole(String name) {
      return (int) get(name);
    }

    long get(String name) {
      Range range = NUMBERS.get(name);
      if (range == null) {
        throw new IllegalArgumentException("the option " + name + " is no number");
      }
      String text = options.get(name);
      if (text == null) {
        return range.standard();
      }
      try {
        long value = Long.parseLong(text.trim());
        if (value >= range.least() && value <= range.most()) {
          return value;
        }
      } catch (NumberFormatException e) {
        if (!text.trim().matches("[+-]?[0-9]+")) {
          throw new IllegalArgumentException(
              "the option " + name + " is a number, not '" + shortened(text) + "'", e);
        }
      }
      throw new IllegalArgumentException(
          "the option "
              + name
              + " is "
              + range.least()
              + " to "
              + range.most()
              + ", not "
              + shortened(text));
    }
  }
}

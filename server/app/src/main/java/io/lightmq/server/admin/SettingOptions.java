package io.lightmq.server.admin;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The settings of a destination as options of a command; the broker checks what they say. */
final class SettingOptions {
  @Option(names = "--tier", paramLabel = "TIER", description = "high, balanced or performance")
  private @Nullable String tier;

  @Option(
      names = "--redelivery-delay",
      paramLabel = "SCHEDULE",
      description = "none, steps such as 1s,10s,1m, or first*factor..maximum such as 1s*2..5m")
  private @Nullable String redeliveryDelay;

  @Option(
      names = "--redelivery-order",
      paramLabel = "ORDER",
      description = "preserving or non-blocking")
  private @Nullable String redeliveryOrder;

  @Option(
      names = "--max-attempts",
      paramLabel = "N",
      description = "failed attempts until a message is a dead letter; 0 for no limit")
  private @Nullable String maxAttempts;

  @Option(
      names = "--dead-letter",
      paramLabel = "QUEUE",
      description = "where dead letters go, or none")
  private @Nullable String deadLetter;

  @Option(
      names = "--expiry",
      paramLabel = "QUEUE",
      description = "where expired messages go, or none")
  private @Nullable String expiry;

  @Option(
      names = "--suppress-duplicates",
      paramLabel = "KEY",
      description = "none, message-id or property:NAME, then if wanted ,keys=N,time=1h")
  private @Nullable String suppressDuplicates;

  /** What was given, by the names that the broker knows. */
  Map<String, String> arguments() {
    Map<String, String> arguments = new LinkedHashMap<>();
    put(arguments, "tier", tier);
    put(arguments, "redelivery-delay", redeliveryDelay);
    put(arguments, "redelivery-order", redeliveryOrder);
    put(arguments, "max-attempts", maxAttempts);
    put(arguments, "dead-letter", deadLetter);
    put(arguments, "expiry", expiry);
    put(arguments, "suppress-duplicates", suppressDuplicates);
    return arguments;
  }

  private static void put(Map<String, String> arguments, String key, @Nullable String value) {
    if (value != null) {
      arguments.put(key, value);
    }
  }
}

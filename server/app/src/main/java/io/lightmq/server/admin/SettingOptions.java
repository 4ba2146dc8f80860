package io.lightmq.server.admin;

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
  Arguments arguments() {
    return new Arguments()
        .with("tier", tier)
        .with("redelivery-delay", redeliveryDelay)
        .with("redelivery-order", redeliveryOrder)
        .with("max-attempts", maxAttempts)
        .with("dead-letter", deadLetter)
        .with("expiry", expiry)
        .with("suppress-duplicates", suppressDuplicates);
  }
}

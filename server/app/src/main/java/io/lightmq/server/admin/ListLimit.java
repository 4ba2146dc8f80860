package io.lightmq.server.admin;

import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** How much a list shows; the option of all verbs that list. */
final class ListLimit {
  @Option(
      names = "--limit",
      paramLabel = "N",
      description = "at most so many, 100 by default, 1000 at most")
  private @Nullable Integer limit;

  /** Puts it into a verb's arguments, where it was given; returns them. */
  Map<String, String> in(Map<String, String> arguments) {
    if (limit != null) {
      arguments.put("limit", limit.toString());
    }
    return arguments;
  }
}

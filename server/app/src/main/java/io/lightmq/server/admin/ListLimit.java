package io.lightmq.server.admin;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** How much a list shows; the option of all verbs that list. */
final class ListLimit {
  @Option(
      names = "--limit",
      paramLabel = "N",
      description = "at most so many, 100 by default, 1000 at most")
  private @Nullable Integer limit;

  /** Adds it to a verb's arguments, where it was given; returns them. */
  Arguments in(Arguments arguments) {
    return arguments.with("limit", limit == null ? null : limit.toString());
  }
}

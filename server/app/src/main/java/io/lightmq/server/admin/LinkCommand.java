package io.lightmq.server.admin;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code lightmq link}: what a running broker keeps of clients that may come back. */
@Command(
    name = "link",
    description = "Lists and drops what the broker keeps of clients' connections.",
    mixinStandardHelpOptions = true)
public final class LinkCommand extends VerbCommand {
  LinkCommand() {
    super("list or drop");
  }

  @Command(
      name = "list",
      description = "Lists links, the longest unused first, and the owners with the most.",
      mixinStandardHelpOptions = true)
  int list(
      @Mixin BrokerOptions broker,
      @Option(names = "--owner", paramLabel = "NAME", description = "only links of that user")
          @Nullable String owner,
      @Option(
              names = "--older-than",
              paramLabel = "TIME",
              description = "only links that were not used for so long, such as 30m or 2h")
          @Nullable String olderThan,
      @Mixin ListLimit limit) {
    return broker.run("link.list", limit.in(arguments(owner, olderThan)));
  }

  @Command(
      name = "drop",
      description =
          "Forgets links whose clients are away. What these send again, if they come back, ends as"
              + " OUTCOME_UNKNOWN.",
      mixinStandardHelpOptions = true)
  int drop(
      @Mixin BrokerOptions broker,
      @Option(
              names = "--owner",
              paramLabel = "NAME",
              required = true,
              description = "whose links; \"\" for those that have no owner")
          String owner,
      @Option(
              names = "--older-than",
              paramLabel = "TIME",
              required = true,
              description = "those that were not used for so long, 1m or more")
          String olderThan,
      @Option(names = "--dry-run", description = "only says how many would be dropped")
          boolean dry) {
    return broker.run("link.drop", arguments(owner, olderThan).with("dry-run", dry));
  }

  private static Arguments arguments(@Nullable String owner, @Nullable String olderThan) {
    return new Arguments().with("owner", owner).with("older-than", olderThan);
  }
}

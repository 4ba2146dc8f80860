package io.lightmq.server.admin;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * {@code lightmq delayed}: looks at messages of a running broker that are not due, and drops them.
 */
@Command(
    name = "delayed",
    description = "Lists messages that wait for their delivery time, and cancels them.",
    mixinStandardHelpOptions = true)
public final class DelayedCommand extends VerbCommand {
  DelayedCommand() {
    super("list or cancel");
  }

  /** Which messages. */
  static final class Selection {
    @Option(
        names = "--destination",
        paramLabel = "NAME",
        description = "only messages for this queue or topic")
    private @Nullable String destination;

    Arguments arguments() {
      return new Arguments().with("destination", destination);
    }
  }

  @Command(
      name = "list",
      description = "Lists delayed messages hour by hour, within an hour as they came.",
      mixinStandardHelpOptions = true)
  int list(@Mixin BrokerOptions broker, @Mixin Selection selection, @Mixin ListLimit limit) {
    return broker.run("delayed.list", limit.in(selection.arguments()));
  }

  @Command(
      name = "cancel",
      description = "Drops a delayed message, which is then never delivered.",
      mixinStandardHelpOptions = true)
  int cancel(
      @Mixin BrokerOptions broker,
      @Mixin Selection selection,
      @Parameters(index = "0", paramLabel = "<id>", description = "its message id") String id) {
    return broker.run("delayed.cancel", selection.arguments().with("id", id));
  }
}

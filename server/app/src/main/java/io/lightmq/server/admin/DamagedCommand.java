package io.lightmq.server.admin;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code lightmq damaged}: what becomes of messages that a running broker could not read. */
@Command(
    name = "damaged",
    description = "Lists messages that could not be read and are set aside, and decides on them.",
    mixinStandardHelpOptions = true)
public final class DamagedCommand extends VerbCommand {
  DamagedCommand() {
    super("list, retry or drop");
  }

  /** Which messages. */
  static final class Selection {
    @Parameters(
        index = "0",
        arity = "0..1",
        paramLabel = "<destination>",
        description = "only messages of this queue or topic, also delayed ones")
    private @Nullable String destination;

    @Option(names = "--kind", paramLabel = "KIND", description = "only of a queue, or of a topic")
    private @Nullable String kind;

    Arguments arguments() {
      return new Arguments().with("destination", destination).with("kind", kind);
    }
  }

  @Command(
      name = "list",
      description = "Lists what is set aside; the broker's log names file and place.",
      mixinStandardHelpOptions = true)
  int list(@Mixin BrokerOptions broker, @Mixin Selection selection, @Mixin ListLimit limit) {
    return broker.run("damaged.list", limit.in(selection.arguments()));
  }

  @Command(
      name = "retry",
      description = "Reads what is set aside once more; what can be read now is delivered.",
      mixinStandardHelpOptions = true)
  int retry(@Mixin BrokerOptions broker, @Mixin Selection selection) {
    return broker.run("damaged.retry", selection.arguments());
  }

  @Command(
      name = "drop",
      description = "Gives up for good what is set aside, as if all had acknowledged it.",
      mixinStandardHelpOptions = true)
  int drop(@Mixin BrokerOptions broker, @Mixin Selection selection) {
    return broker.run("damaged.drop", selection.arguments());
  }
}

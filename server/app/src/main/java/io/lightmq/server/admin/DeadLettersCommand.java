package io.lightmq.server.admin;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;

/** {@code lightmq dead-letters}: looks at dead letters of a running broker and sends them again. */
@Command(
    name = "dead-letters",
    description = "Lists and shows dead letters, and moves them back to where they came from.",
    mixinStandardHelpOptions = true)
public final class DeadLettersCommand extends VerbCommand {
  private static final String RATE = "(\\d+)(/s)?";

  DeadLettersCommand() {
    super("list, show or retry");
  }

  /** Which letters. */
  static final class Selection {
    @Option(
        names = "--queue",
        paramLabel = "QUEUE",
        description =
            "the dead-letter queue; without it that of the configuration's [destinations], DLQ")
    private @Nullable String queue;

    @Option(
        names = "--destination",
        paramLabel = "NAME",
        description = "only letters that come from there")
    private @Nullable String destination;

    Arguments arguments() {
      return new Arguments().with("queue", queue).with("destination", destination);
    }
  }

  @Command(
      name = "list",
      description = "Lists dead letters, oldest first in each priority.",
      mixinStandardHelpOptions = true)
  int list(@Mixin BrokerOptions broker, @Mixin Selection selection, @Mixin ListLimit limit) {
    return broker.run("dead-letters.list", limit.in(selection.arguments()));
  }

  @Command(
      name = "show",
      description =
          "Shows a dead letter with its headers, properties and the beginning of its body.",
      mixinStandardHelpOptions = true)
  int show(
      @Mixin BrokerOptions broker,
      @Mixin Selection selection,
      @Parameters(index = "0", paramLabel = "<id>", description = "its message id") String id) {
    return broker.run("dead-letters.show", selection.arguments().with("id", id));
  }

  @Command(
      name = "retry",
      description = "Moves dead letters back to where they came from, with no attempt counted.",
      mixinStandardHelpOptions = true)
  int retry(
      @Mixin BrokerOptions broker,
      @Mixin Selection selection,
      @Parameters(
              index = "0",
              arity = "0..1",
              paramLabel = "<id>",
              description = "the message id of one letter")
          @Nullable String id,
      @Option(
              names = "--rate",
              paramLabel = "N/s",
              defaultValue = "100/s",
              description = "so many messages a second (${DEFAULT-VALUE})")
          String rate,
      @Option(names = "--all", description = "all that the other options select") boolean all,
      @Option(names = "--dry-run", description = "only says how many would be moved") boolean dry) {
    if (!rate.matches(RATE)) {
      throw wrong("--rate is \"" + rate + "\" but must be a number such as 50/s");
    }
    if (id == null && !all && !dry) {
      throw new ParameterException(
          spec.commandLine(),
          "name the message id of one letter, or --all to move all of them; with --dry-run nothing"
              + " is moved");
    }
    if (id != null && all) {
      throw wrong("give the message id of one letter or --all, not both");
    }
    return broker.run(
        "dead-letters.retry",
        selection
            .arguments()
            .with("rate", rate.replace("/s", ""))
            .with("id", id)
            .with("dry-run", dry));
  }
}

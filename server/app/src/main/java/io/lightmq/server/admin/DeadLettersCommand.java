package io.lightmq.server.admin;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code lightmq dead-letters}: looks at dead letters of a running broker and sends them again. */
@Command(
    name = "dead-letters",
    description = "Lists and shows dead letters, and moves them back to where they came from.",
    mixinStandardHelpOptions = true)
public final class DeadLettersCommand implements Runnable {
  private static final String RATE = "(\\d+)(/s)?";

  @Spec CommandSpec spec = CommandSpec.create();

  /** Which letters. */
  static final class Selection {
    @Option(
        names = "--queue",
        defaultValue = "DLQ",
        paramLabel = "QUEUE",
        description = "the dead-letter queue (${DEFAULT-VALUE})")
    private String queue = "DLQ";

    @Option(
        names = "--destination",
        paramLabel = "NAME",
        description = "only letters that come from there")
    private @Nullable String destination;

    Map<String, String> arguments() {
      Map<String, String> arguments = new LinkedHashMap<>();
      arguments.put("queue", queue);
      if (destination != null) {
        arguments.put("destination", destination);
      }
      return arguments;
    }
  }

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "name a verb: list, show or retry");
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
      description = "Shows one with its headers, properties and the beginning of its body.",
      mixinStandardHelpOptions = true)
  int show(
      @Mixin BrokerOptions broker,
      @Mixin Selection selection,
      @Parameters(index = "0", paramLabel = "<id>", description = "its message id") String id) {
    Map<String, String> arguments = selection.arguments();
    arguments.put("id", id);
    return broker.run("dead-letters.show", arguments);
  }

  @Command(
      name = "retry",
      description = "Moves them back to where they came from, with no attempt counted.",
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
      throw new ParameterException(
          spec.commandLine(), "--rate is \"" + rate + "\" but must be a number such as 50/s");
    }
    if (id == null && !all && !dry) {
      throw new ParameterException(
          spec.commandLine(),
          "name the message id of one letter, or --all to move all of them; with --dry-run nothing"
              + " is moved");
    }
    if (id != null && all) {
      throw new ParameterException(
          spec.commandLine(), "give the message id of one letter or --all, not both");
    }
    Map<String, String> arguments = selection.arguments();
    arguments.put("rate", rate.replace("/s", ""));
    if (id != null) {
      arguments.put("id", id);
    }
    if (dry) {
      arguments.put("dry-run", "true");
    }
    return broker.run("dead-letters.retry", arguments);
  }
}

package io.lightmq.server;

import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code lightmq help user add} and {@code lightmq user help add}: the help of a command. */
@Command(
    name = "help",
    description = "Shows the help of a command.",
    helpCommand = true,
    synopsisHeading = "Usage: ")
final class Help implements Runnable {
  @Spec CommandSpec spec = CommandSpec.create();

  @Parameters(arity = "0..*", paramLabel = "<command>", description = "words of the command")
  String[] words = {};

  @Override
  public void run() {
    CommandLine at = spec.commandLine().getParent();
    for (String word : words) {
      CommandLine next = at.getSubcommands().get(word);
      if (next == null) {
        throw new ParameterException(at, Mistakes.unknown(word, at.getCommandSpec()));
      }
      at = next;
    }
    at.usage(spec.commandLine().getOut(), spec.commandLine().getColorScheme());
  }
}

package io.lightmq.server;

import io.lightmq.server.admin.Environment;
import io.lightmq.wire.entry.NearNames;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.IExecutionExceptionHandler;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * Answers a command line that cannot be understood, or a value of it that cannot be: what is wrong,
 * the nearest name if one is near, and how to get help. A password is never repeated.
 */
final class Mistakes implements IParameterExceptionHandler, IExecutionExceptionHandler {
  /** A value that was understood, and that a command cannot do anything with. */
  @Override
  public int handleExecutionException(Exception failure, CommandLine at, ParseResult parsed)
      throws Exception {
    if (failure instanceof IllegalArgumentException) {
      return handleParseException(
          new ParameterException(at, String.valueOf(failure.getMessage()), failure),
          parsed.originalArgs().toArray(String[]::new));
    }
    throw failure; // an error of this program, with all that tells where it is
  }

  /** Runs a command that was understood, unless a password is among its arguments. */
  int execute(ParseResult parsed) {
    ParseResult last = parsed;
    while (last.hasSubcommand()) {
      last = last.subcommand();
    }
    CommandLine at = last.commandSpec().commandLine();
    if (Secrets.refusal(parsed.originalArgs(), last.commandSpec()) != null) {
      throw new ParameterException(at, "a password is among the arguments");
    }
    Environment.of(last.commandSpec()).strangers().forEach(at.getErr()::println);
    at.getErr().flush();
    return new CommandLine.RunLast().execute(parsed);
  }

  @Override
  public int handleParseException(ParameterException mistake, String[] arguments) {
    CommandLine at = mistake.getCommandLine();
    PrintWriter err = at.getErr();
    String refusal = Secrets.refusal(Arrays.asList(arguments), at.getCommandSpec());
    err.println(refusal == null ? text(mistake) : refusal);
    err.println("Help: " + at.getCommandSpec().qualifiedName() + " --help");
    err.flush();
    return at.getCommandSpec().exitCodeOnInvalidInput();
  }

  private static String text(ParameterException mistake) {
    if (mistake instanceof UnmatchedArgumentException unmatched
        && !unmatched.getUnmatched().isEmpty()) {
      return unknown(unmatched.getUnmatched().get(0), unmatched.getCommandLine().getCommandSpec());
    }
    return String.valueOf(mistake.getMessage());
  }

  /** What to say about a word that is no option, or no command, of a command. */
  static String unknown(String argument, CommandSpec at) {
    boolean option = argument.startsWith("-");
    List<String> known = new ArrayList<>();
    if (option) {
      for (OptionSpec each : at.options()) {
        known.addAll(Arrays.asList(each.names()));
      }
    } else {
      known.addAll(at.subcommands().keySet());
    }
    if (!option && known.isEmpty()) {
      String secret = Secrets.oneTooMany(at);
      return secret != null
          ? secret
          : "'" + argument + "' is one argument too many for " + at.qualifiedName();
    }
    String name = option && argument.indexOf('=') > 0 ? before(argument) : argument;
    return "'"
        + name
        + "' is no "
        + (option ? "option" : "command")
        + " of "
        + at.qualifiedName()
        + suggestion(name, at, option, known);
  }

  private static String suggestion(
      String name, CommandSpec at, boolean option, Collection<String> known) {
    List<String> near = NearNames.of(name, known, 1);
    if (!near.isEmpty()) {
      return ". Did you mean: " + (option ? "" : at.name() + " ") + near.get(0) + "?";
    }
    return option ? "" : "; commands are " + String.join(", ", known);
  }

  private static String before(String argument) {
    return argument.substring(0, argument.indexOf('='));
  }
}

package io.lightmq.server;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * Finds a password among the arguments, in whatever form: everybody on the machine can read it
 * there, so it is refused, and never repeated.
 */
final class Secrets {
  private static final Set<String> TAKE_NEW_PASSWORDS = Set.of("add", "set-password");

  private Secrets() {}

  /**
   * What to say about a password among the arguments; null if there is none.
   *
   * @param at the command that they belong to, as far as it is known
   */
  static @Nullable String refusal(List<String> arguments, CommandSpec at) {
    List<String> options =
        at.options().stream().map(OptionSpec::names).flatMap(Arrays::stream).toList();
    for (int i = 0; i < arguments.size(); i++) {
      String argument = arguments.get(i);
      String next = i + 1 < arguments.size() ? arguments.get(i + 1) : "-";
      if (isForPassword(argument, options)
          && (carriesValue(argument) || !isOption(next, options))) {
        return "A password on the command line can be read by every user of this machine. "
            + (argument.startsWith("--new") ? HOW_TO_GIVE_A_NEW_ONE : HOW_TO_GIVE_IT);
      }
    }
    return null;
  }

  private static final String HOW_TO_GIVE_IT =
      "Give it with --password behind all other arguments, which asks for it, with --password-file"
          + " or in the environment variable LIGHTMQ_PASSWORD.";

  private static final String HOW_TO_GIVE_A_NEW_ONE =
      "Give it with --new-password-file or in the environment variable LIGHTMQ_NEW_PASSWORD;"
          + " without these it is asked for.";

  /** What to say about an argument too many, which may be a new password; null elsewhere. */
  static @Nullable String oneTooMany(CommandSpec at) {
    CommandSpec parent = at.parent();
    return parent != null && parent.name().equals("user") && TAKE_NEW_PASSWORDS.contains(at.name())
        ? "one argument too many for "
            + at.qualifiedName()
            + ". A password does not belong there, since every user of this machine can read it. "
            + HOW_TO_GIVE_A_NEW_ONE
        : null;
  }

  /**
   * {@code --password}, and what was meant to be it: {@code -p}, {@code --pass}, {@code
   * --PASSWORD=}.
   */
  private static boolean isForPassword(String argument, List<String> options) {
    String lower = argument.toLowerCase(Locale.ROOT);
    int equals = argument.indexOf('=');
    String name = equals < 0 ? argument : argument.substring(0, equals);
    if (name.equals("--password")) {
      return true;
    }
    return !options.contains(name)
        && (lower.startsWith("--pass") || lower.startsWith("--new-pass") || isShort(lower))
        && !lower.startsWith("--password-f")
        && !lower.startsWith("--new-password-f");
  }

  private static boolean isShort(String lower) {
    return lower.startsWith("-p") && !lower.startsWith("-po");
  }

  private static boolean carriesValue(String argument) {
    return !argument.equalsIgnoreCase("--password")
        && !argument.equals("-p")
        && !argument.equals("--pass")
        && !argument.equals("--new-password");
  }

  private static boolean isOption(String argument, List<String> options) {
    int equals = argument.indexOf('=');
    return argument.equals("-")
        || options.contains(equals < 0 ? argument : argument.substring(0, equals));
  }
}

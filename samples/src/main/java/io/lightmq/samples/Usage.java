package io.lightmq.samples;

import io.lightmq.wire.entry.NearNames;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a program takes, which it says when it is asked with {@code --help}, or given something
 * else.
 *
 * @param text its usage, in lines of their own
 * @param least so many arguments it needs
 * @param options those that it has besides {@code --help}
 */
public record Usage(String text, int least, List<String> options) {
  private static final String HELP = "--help";
  private static final int WRONG = 2;

  /** What is said instead of running, and the exit code. */
  record Answer(String text, int code) {}

  /** A program without options. */
  public static Usage of(String text, int least) {
    return new Usage(text, least, List.of());
  }

  /** Ends this process with the usage, if that is what the arguments ask for or need. */
  public void check(String... arguments) {
    Answer answer = answer(arguments);
    if (answer != null) {
      (answer.code() == 0 ? System.out : System.err).println(answer.text());
      System.exit(answer.code());
    }
  }

  /** The answer to arguments with which the program is not to run; null if it may. */
  @Nullable Answer answer(String... arguments) {
    for (String each : arguments) {
      if (each.equals(HELP) || each.equals("-h")) {
        return new Answer(text, 0);
      }
      if (each.length() > 1 && each.startsWith("-") && !options.contains(each)) {
        List<String> near = NearNames.of(each, known(), 1);
        return wrong(
            "there is no option "
                + each
                + (near.isEmpty() ? "" : "; the nearest is " + near.get(0)));
      }
    }
    return arguments.length < least
        ? wrong("at least " + least + " arguments are needed, not " + arguments.length)
        : null;
  }

  private List<String> known() {
    return java.util.stream.Stream.concat(options.stream(), java.util.stream.Stream.of(HELP))
        .toList();
  }

  private Answer wrong(String what) {
    return new Answer(what + System.lineSeparator() + text, WRONG);
  }
}

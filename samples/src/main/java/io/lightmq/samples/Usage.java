package io.lightmq.samples;

import io.lightmq.wire.entry.NearNames;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What a program takes, which it says when it is asked with {@code --help}, or given something
 * else. A dash and a letter make an option; a number below 0, a dash alone and a text with blanks
 * are none, and whatever stands behind {@code --} is none either.
 *
 * @param text its usage, in lines of their own
 * @param least so many arguments it needs
 * @param options those that it has besides {@code --help}; each has a value behind it
 */
public record Usage(String text, int least, List<String> options) {
  private static final String HELP = "--help";
  private static final String END_OF_OPTIONS = "--";
  private static final Pattern OPTION = Pattern.compile("--?[A-Za-z][^\\s]*");
  private static final int WRONG = 2;

  /** What is said instead of running, and the exit code. */
  record Answer(String text, int code) {}

  /** A program without options. */
  public static Usage of(String text, int least) {
    return new Usage(text, least, List.of());
  }

  /**
   * Ends this process with the usage, if that is what the arguments ask for or need.
   *
   * @return the arguments without the mark behind which there are no options
   */
  public String[] check(String... arguments) {
    Answer answer = answer(arguments);
    if (answer != null) {
      (answer.code() == 0 ? System.out : System.err).println(answer.text());
      System.exit(answer.code());
    }
    return given(arguments);
  }

  /** The arguments without the mark behind which there are no options. */
  static String[] given(String... arguments) {
    List<String> given = new ArrayList<>(List.of(arguments));
    given.remove(END_OF_OPTIONS); // the first one; others are arguments
    return given.toArray(String[]::new);
  }

  /** The answer to arguments with which the program is not to run; null if it may. */
  @Nullable Answer answer(String... arguments) {
    for (int i = 0; i < arguments.length && !arguments[i].equals(END_OF_OPTIONS); i++) {
      String each = arguments[i];
      if (each.equals(HELP) || each.equals("-h")) {
        return new Answer(text, 0);
      }
      if (options.contains(each)) {
        i++; // its value, whatever that is
      } else if (OPTION.matcher(each).matches()) {
        List<String> near = NearNames.of(each, known(), 1);
        return wrong(
            "there is no option "
                + each
                + (near.isEmpty() ? "" : "; the nearest is " + near.get(0))
                + " (if it is no option, put -- before it)");
      }
    }
    int given = given(arguments).length;
    return given < least
        ? wrong("at least " + least + " arguments are needed, not " + given)
        : null;
  }

  private List<String> known() {
    return Stream.concat(options.stream(), Stream.of(HELP)).toList();
  }

  private Answer wrong(String what) {
    return new Answer(what + System.lineSeparator() + text, WRONG);
  }
}

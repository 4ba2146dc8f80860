package io.lightmq.core.admin;

import io.lightmq.core.door.Command;
import io.lightmq.core.state.Refusal;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.NearNames;
import io.lightmq.wire.entry.Printable;
import java.util.Collection;
import java.util.List;

/** Reads the arguments of admin verbs; what is wrong is refused with what would be right. */
final class AdminArguments {
  private AdminArguments() {}

  /** Refuses arguments that a verb does not know. */
  static void check(Command.Admin command, List<String> known) {
    for (String argument : command.arguments().keySet()) {
      if (!known.contains(argument)) {
        throw wrong(
            "argument "
                + Printable.of(argument)
                + " is unknown; known are "
                + String.join(", ", known));
      }
    }
  }

  /** A number from 1 to a limit, or what counts if none is given. */
  static int number(Command.Admin command, String name, int otherwise, int most) {
    String text = command.arguments().get(name);
    if (text == null) {
      return otherwise;
    }
    try {
      int number = Integer.parseInt(text);
      if (number >= 1 && number <= most) {
        return number;
      }
    } catch (NumberFormatException e) {
      // The same answer.
    }
    throw wrong(name + " is " + Printable.of(text) + " but must be 1 to " + most);
  }

  /** What a mistyped name was probably meant to be; all that are known if none is near. */
  static String nearest(String name, Collection<String> known) {
    List<String> near = NearNames.of(name, known, 1);
    return near.isEmpty()
        ? "known are " + String.join(", ", known)
        : "the nearest is " + near.get(0);
  }

  static Refusal wrong(String text) {
    return new Refusal(FaultCode.BAD_REQUEST, text);
  }
}

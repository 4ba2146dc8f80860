package io.lightmq.tck.faults;

import io.lightmq.samples.broker.BrokerSetup;
import java.util.List;

/**
 * What one run of a scenario works with: where its broker lives, where its clients note what they
 * saw, and the arguments behind the scenario's name.
 */
record Call(BrokerSetup setup, EventLog events, List<String> arguments) {

  Call {
    arguments = List.copyOf(arguments);
  }

  /** The argument at this place, counted from 0 behind the name, with or without commas. */
  int number(int index, int otherwise) throws HarnessException {
    return index < arguments.size() ? number(arguments.get(index)) : otherwise;
  }

  static int number(String text) throws HarnessException {
    long number = whole(text);
    if (number < 1 || number > Integer.MAX_VALUE) {
      throw new HarnessException(
          "expected a number from 1 to %,d, found '%s'".formatted(Integer.MAX_VALUE, text));
    }
    return (int) number;
  }

  /** The moments of the faults follow from the seed; what the machine does in between does not. */
  long seed(int index) throws HarnessException {
    long seed = index < arguments.size() ? whole(arguments.get(index)) : System.nanoTime();
    System.out.println("seed " + seed);
    return seed;
  }

  private static long whole(String text) throws HarnessException {
    try {
      return Long.parseLong(text.replace(",", ""));
    } catch (NumberFormatException e) {
      throw new HarnessException("expected a number, found '" + text + "'", e);
    }
  }
}

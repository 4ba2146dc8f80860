package io.lightmq.tck.faults;

import jakarta.jms.JMSException;
import java.io.IOException;
import java.util.List;

/**
 * One entry of {@link Scenarios}.
 *
 * @param name the words that choose it, {@code --kill} or {@code --powercut ext4}
 * @param arguments what may follow, for the list of scenarios; one that begins with {@code ROUNDS}
 *     repeats itself, any other is repeated from outside, each time with a broker and data of its
 *     own
 * @param summary a few words for the same list
 * @param work carries it out
 */
record Scenario(String name, String arguments, String summary, Work work) {

  /** The scenario itself. */
  interface Work {
    Verdict run(Call call) throws HarnessException, IOException, JMSException, InterruptedException;
  }

  Scenario {
    if (!name.startsWith("--") || summary.isBlank()) {
      throw new IllegalArgumentException("a scenario has a name with -- and a summary: " + name);
    }
  }

  List<String> words() {
    return List.of(name.split(" "));
  }

  boolean repeatsItself() {
    return arguments.startsWith("ROUNDS");
  }

  boolean isNamedBy(List<String> typed) {
    List<String> words = words();
    return typed.size() >= words.size() && typed.subList(0, words.size()).equals(words);
  }
}

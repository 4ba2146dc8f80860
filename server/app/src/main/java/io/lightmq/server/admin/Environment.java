package io.lightmq.server.admin;

import io.lightmq.wire.entry.NearNames;
import io.lightmq.wire.entry.Printable;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;

/** The environment variables of a command; the root command carries it. */
public interface Environment {
  /** All that mean something to LightMQ, its scripts and its samples. */
  List<String> KNOWN =
      List.of(
          "LIGHTMQ_HOST",
          "LIGHTMQ_LOG",
          "LIGHTMQ_LOG_FILE",
          "LIGHTMQ_LOG_LEVEL",
          "LIGHTMQ_NEW_PASSWORD",
          "LIGHTMQ_PASSWORD",
          "LIGHTMQ_PORT",
          "LIGHTMQ_URI",
          "LIGHTMQ_USER");

  /** What Kubernetes sets for a service with the name lightmq. */
  Pattern SERVICE_LINK = Pattern.compile("LIGHTMQ_(SERVICE_.*|PORT_[0-9].*)");

  /** All variables of the process. */
  Map<String, String> variables();

  /** The environment of a command. */
  static Environment of(CommandSpec spec) {
    return spec.root().userObject() instanceof Environment own ? own : System::getenv;
  }

  /** The value; null if the variable is not set or empty. */
  default @Nullable String value(String name) {
    String value = variables().get(name);
    return value == null || value.isEmpty() ? null : value;
  }

  /** A line for each variable that looks like one of LightMQ's and is none, with the nearest. */
  default List<String> strangers() {
    List<String> lines = new ArrayList<>();
    List<String> words = KNOWN.stream().map(Environment::word).toList();
    for (String name : new TreeSet<>(variables().keySet())) {
      if (name.startsWith("LIGHTMQ_")
          && !KNOWN.contains(name)
          && !SERVICE_LINK.matcher(name).matches()) {
        List<String> near = NearNames.of(word(name), words, 1);
        lines.add(
            "The environment variable "
                + Printable.of(name)
                + " means nothing to LightMQ; "
                + (near.isEmpty()
                    ? "known are " + String.join(", ", KNOWN)
                    : "the nearest is LIGHTMQ_" + near.get(0)));
      }
    }
    return lines;
  }

  private static String word(String name) {
    return name.substring("LIGHTMQ_".length());
  }
}

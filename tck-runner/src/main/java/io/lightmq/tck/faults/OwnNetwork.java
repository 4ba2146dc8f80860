package io.lightmq.tck.faults;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Runs a scenario once more, in a process with a network namespace of its own: there is nothing in
 * it but the loopback interface, and its packet filter is nobody else's.
 */
final class OwnNetwork {
  private static final String INSIDE = "lightmq.network";
  private static final String UP = "ip link set lo up && exec \"$@\"";
  private static final Pattern LINE =
      Pattern.compile(
          "rounds ([0-9]+), faults fired ([0-9]+), confirmed ([0-9]+), violations ([0-9]+)");

  private OwnNetwork() {}

  /** Whether this process is in such a network. */
  static boolean isInside() {
    return System.getProperty(INSIDE, "").equals("own");
  }

  /** Whether this machine permits one, with a packet filter: root, unshare, ip, nft. */
  static boolean isPossible() throws InterruptedException {
    try {
      return Shell.tryRun("unshare", "-n", "sh", "-c", UP, "sh", "nft", "list", "ruleset").code()
          == 0;
    } catch (HarnessException e) {
      return false; // there is no unshare
    }
  }

  /** Runs faults.sh with these arguments there; its verdict. */
  static Verdict run(List<String> arguments)
      throws HarnessException, IOException, InterruptedException {
    List<String> command =
        new ArrayList<>(
            List.of(
                "unshare",
                "-n",
                "sh",
                "-c",
                UP,
                "sh",
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx2g",
                "-D" + INSIDE + "=own"));
    for (String property : List.of("lightmq.home", "logback.configurationFile")) {
      command.add("-D" + property + "=" + System.getProperty(property, ""));
    }
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), Faults.class.getName()));
    command.addAll(arguments);
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectInput(ProcessBuilder.Redirect.from(new File("/dev/null")))
            .start();
    Runtime.getRuntime().addShutdownHook(new Thread(process::destroy, "end-inside"));
    Verdict verdict = null;
    try (BufferedReader lines =
        new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        Verdict last = verdict(line);
        if (last == null) {
          System.out.println(line);
        }
        verdict = last;
      }
    }
    int code = process.waitFor();
    if (verdict == null || verdict.exitCode() != code) {
      throw new HarnessException("the run in a network of its own ended with " + code);
    }
    return verdict;
  }

  /** What a line says, if it is the last one of a run. */
  static @Nullable Verdict verdict(String line) {
    Matcher figures = LINE.matcher(line);
    return figures.matches()
        ? new Verdict(
            Long.parseLong(figures.group(1)),
            Long.parseLong(figures.group(2)),
            Long.parseLong(figures.group(3)),
            Long.parseLong(figures.group(4)))
        : null;
  }
}

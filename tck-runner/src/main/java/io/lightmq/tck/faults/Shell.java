package io.lightmq.tck.faults;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Runs a short command of the operating system. */
final class Shell {

  private static final long LIMIT_SECONDS = 120;

  private Shell() {}

  /** The command's output; anything but exit code 0 is a harness failure with its words. */
  static String run(String... command) throws HarnessException, InterruptedException {
    Result result = tryRun(command);
    if (result.code() != 0) {
      throw new HarnessException(
          "%s ended with %d: %s"
              .formatted(String.join(" ", command), result.code(), result.output().strip()));
    }
    return result.output();
  }

  /** The command's exit code and output. */
  static Result tryRun(String... command) throws HarnessException, InterruptedException {
    try {
      Process process =
          new ProcessBuilder(List.of(command))
              .redirectErrorStream(true)
              .redirectInput(ProcessBuilder.Redirect.from(new java.io.File("/dev/null")))
              .start();
      byte[] output = process.getInputStream().readAllBytes();
      if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly();
        throw new HarnessException(
            String.join(" ", command) + " took more than " + LIMIT_SECONDS + " s");
      }
      return new Result(process.exitValue(), new String(output, StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new HarnessException("cannot run " + command[0] + ": " + e.getMessage(), e);
    }
  }

  /**
   * How a command ended.
   *
   * @param code its exit code
   * @param output what it wrote, errors included
   */
  record Result(int code, String output) {}
}

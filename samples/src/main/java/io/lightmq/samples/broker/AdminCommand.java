package io.lightmq.samples.broker;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Runs the broker's own administration commands, as an operator would.
 *
 * @param setup the broker they go to
 * @param password the password of the user admin
 */
public record AdminCommand(BrokerSetup setup, String password) {

  private static final long LIMIT_SECONDS = 60;

  /** The output of {@code bin/lightmq ARGUMENTS}; a failure is an exception with its words. */
  public String run(String... arguments) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(setup.home().resolve("bin/lightmq").toString());
    command.addAll(List.of(arguments));
    command.addAll(
        List.of("--host", "127.0.0.1", "--port", String.valueOf(setup.port()), "--user", "admin"));
    Path output = Files.createTempFile(setup.work(), "admin-", ".out");
    Path errors = Files.createTempFile(setup.work(), "admin-", ".err");
    try {
      ProcessBuilder builder =
          new ProcessBuilder(command)
              .redirectOutput(output.toFile())
              .redirectError(errors.toFile());
      builder.environment().put("LIGHTMQ_PASSWORD", password);
      Process process = builder.start();
      if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly();
        throw new IOException(
            String.join(" ", command) + " took more than " + LIMIT_SECONDS + " s");
      }
      if (process.exitValue() != 0) {
        throw new IOException(
            "%s ended with %d: %s"
                .formatted(
                    String.join(" ", command),
                    process.exitValue(),
                    Files.readString(errors).strip()));
      }
      return Files.readString(output, StandardCharsets.UTF_8);
    } finally {
      Files.delete(output);
      Files.delete(errors);
    }
  }
}

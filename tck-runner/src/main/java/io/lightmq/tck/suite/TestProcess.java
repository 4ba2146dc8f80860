package io.lightmq.tck.suite;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Properties;

/** A Java machine for tests, which never outlives this one; its output goes to a log. */
final class TestProcess {

  private TestProcess() {}

  /** The Java that runs this. */
  static String java() {
    return Path.of(System.getProperty("java.home"), "bin", "java").toString();
  }

  /** Makes a folder for class paths that holds the properties of a naming context. */
  static Path names(Path work, String uri) throws IOException {
    Path folder = Files.createDirectories(work.resolve("jndi")).toAbsolutePath();
    Properties names = new Properties();
    names.putAll(AdministeredObjects.environment(uri));
    try (var out = Files.newBufferedWriter(folder.resolve("jndi.properties"))) {
      names.store(out, null);
    }
    return folder;
  }

  /** Runs a command to its end; its exit code. */
  static int run(List<String> command, Path log) throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
            .start();
    process.getOutputStream().close();
    Thread killer = new Thread(() -> kill(process), "kill-tests");
    Runtime.getRuntime().addShutdownHook(killer);
    try {
      return process.waitFor();
    } finally {
      kill(process);
      removeHook(killer);
    }
  }

  private static void kill(Process process) {
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly();
  }

  private static void removeHook(Thread killer) {
    try {
      Runtime.getRuntime().removeShutdownHook(killer);
    } catch (IllegalStateException machineEnds) {
      // Then the hook runs, and what it kills has ended.
      killer.setName("kill-tests");
    }
  }
}

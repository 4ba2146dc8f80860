package io.lightmq.tck.suite;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Runs tests of one class in Java machines of their own: one for all of them, and a further one for
 * the rest whenever one ended before its tests did.
 */
final class ClassProcess implements Suite.Runner {

  /** What lists and runs tests; it lives beside the tests because it needs their launcher. */
  private static final String MAIN = "io.lightmq.tck.suite.JUnitMain";

  /** What the suite says of its steps goes to the log of the class. */
  private static final String LOGGING =
      """
      handlers=java.util.logging.ConsoleHandler
      java.util.logging.ConsoleHandler.level=FINER
      java.util.logging.SimpleFormatter.format=%1$tT.%1$tL %4$s %5$s%6$s%n
      com.sun.ts.level=FINER
      """;

  private final JUnitSuite suite;
  private final Path work;
  private final Path names;
  private final Map<String, String> properties;

  /**
   * See {@link #run}.
   *
   * @param work folder for the logs
   * @param uri what clients connect to
   * @param timeoutMillis how long each receive of the suite waits
   */
  ClassProcess(JUnitSuite suite, Path work, String uri, long timeoutMillis) throws IOException {
    this.suite = suite;
    this.work = work;
    names = TestProcess.names(work, uri);
    properties = new LinkedHashMap<>();
    // The suite keeps a file of a fixed name there, which runs side by side must not share.
    properties.put("java.io.tmpdir", Files.createDirectories(work.resolve("tmp")).toString());
    Path words = work.resolve("logging.properties");
    Files.writeString(words, LOGGING);
    properties.put("java.util.logging.config.file", words.toString());
    properties.put("jms_timeout", Long.toString(timeoutMillis));
    properties.put("user", AdministeredObjects.USER);
    properties.put("password", AdministeredObjects.USER);
    properties.put("platform.mode", "standalone");
    properties.put("vehicle", "standalone");
  }

  /** All tests of the suite, as {@code class#method} without the common package. */
  static List<String> list(JUnitSuite suite, Path work) throws IOException, InterruptedException {
    ClassProcess process = new ClassProcess(suite, work, "lightmq://127.0.0.1", 1);
    Path classes = Files.write(work.resolve("classes.txt"), suite.classes());
    Path tests = work.resolve("tests.txt");
    int code = process.execute(work.resolve("list.log"), "list", classes, tests);
    if (code != 0) {
      throw new IOException(
          "listing the tests ended with exit code %d; see %s"
              .formatted(code, work.resolve("list.log")));
    }
    return Files.readAllLines(tests);
  }

  @Override
  public List<TestOutcome> run(String className, List<String> tests)
      throws IOException, InterruptedException {
    Map<String, TestOutcome> outcomes = new LinkedHashMap<>();
    Set<String> left = new LinkedHashSet<>(tests);
    Path log = work.resolve(className + ".log");
    Path results = work.resolve(className + ".results");
    while (!left.isEmpty()) {
      Path wanted = Files.write(work.resolve(className + ".tests"), left);
      Files.deleteIfExists(results);
      long began = System.nanoTime();
      int code = execute(log, "run", wanted, results);
      List<TestOutcome> told = read(results);
      told.forEach(outcome -> outcomes.put(outcome.test(), outcome));
      left.removeAll(outcomes.keySet());
      if (told.isEmpty()) {
        long millis = (System.nanoTime() - began) / 1_000_000;
        String test = left.iterator().next();
        left.remove(test);
        outcomes.put(
            test,
            new TestOutcome(
                test,
                TestOutcome.Status.FAILED,
                millis,
                "its process ended with exit code %d before it; see %s".formatted(code, log)));
      }
    }
    return outcomes.values().stream().sorted(Comparator.comparing(TestOutcome::test)).toList();
  }

  private static List<TestOutcome> read(Path results) throws IOException {
    if (!Files.exists(results)) {
      return List.of();
    }
    return Files.readAllLines(results).stream().map(TestOutcome::parse).toList();
  }

  private int execute(Path log, String verb, Path input, Path output)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(TestProcess.java());
    command.addAll(List.of("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
    properties.forEach((key, value) -> command.add("-D" + key + "=" + value));
    String logback = System.getProperty("logback.configurationFile");
    if (logback != null) {
      command.add("-Dlogback.configurationFile=" + logback);
    }
    // Ours first: an early version of the suite's own library gives messages without streams.
    command.add("-cp");
    command.add(
        String.join(
            File.pathSeparator,
            names.toString(),
            System.getProperty("java.class.path"),
            suite.joinedClassPath()));
    command.addAll(List.of(MAIN, verb, input.toString(), output.toString()));
    return TestProcess.run(command, log);
  }
}

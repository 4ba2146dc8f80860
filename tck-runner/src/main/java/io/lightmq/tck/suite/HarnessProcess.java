package io.lightmq.tck.suite;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Runs the JavaTest harness of the published TCK, once for each unit, with the bundle's own
 * settings but for those that name this provider and places for files.
 */
final class HarnessProcess implements Suite.Runner {

  private static final String MAIN = "com.sun.javatest.tool.Main";

  private final JavaTestSuite suite;
  private final Path work;
  private final Path bin;

  HarnessProcess(JavaTestSuite suite, Path work, String uri, long timeoutMillis)
      throws IOException {
    this.suite = suite;
    this.work = work.toAbsolutePath();
    Path names = TestProcess.names(work, uri);
    bin = Files.createDirectories(this.work.resolve("bin"));
    Map<String, String> settings = new LinkedHashMap<>();
    settings.put("jms.home", this.work.toString());
    settings.put("jms.classes", names + File.pathSeparator + System.getProperty("java.class.path"));
    settings.put("jms_timeout", Long.toString(timeoutMillis));
    settings.put("user", AdministeredObjects.USER);
    settings.put("password", AdministeredObjects.USER);
    settings.put("platform.mode", "standalone");
    settings.put("harness.temp.directory", temporary("harness"));
    Files.write(
        bin.resolve("ts.jte"),
        withSettings(Files.readAllLines(suite.settings(), StandardCharsets.ISO_8859_1), settings));
  }

  /** The lines of a settings file with other values; continued lines are none of these settings. */
  static List<String> withSettings(List<String> lines, Map<String, String> settings) {
    Map<String, String> left = new LinkedHashMap<>(settings);
    List<String> result = new ArrayList<>();
    for (String line : lines) {
      int equals = line.indexOf('=');
      String key = equals < 0 ? "" : line.substring(0, equals).strip();
      String value = left.remove(key);
      result.add(value == null ? line : key + "=" + value);
    }
    left.forEach((key, value) -> result.add(key + "=" + value));
    return result;
  }

  @Override
  public List<TestOutcome> run(String unit, List<String> tests)
      throws IOException, InterruptedException {
    Path results = work.resolve("results").resolve(unit);
    Path log = work.resolve(unit + ".log");
    int code = TestProcess.run(command(unit, tests, results), log);
    List<TestOutcome> outcomes = new ArrayList<>();
    Set<String> wanted = new HashSet<>(tests);
    if (Files.isDirectory(results)) {
      for (TestOutcome outcome : outcomes(results)) {
        if (wanted.contains(outcome.test())) {
          outcomes.add(outcome);
        }
      }
    }
    if (outcomes.isEmpty()) {
      throw new IOException(
          "the harness ended with exit code %d and left no result of %s; see %s"
              .formatted(code, unit, log));
    }
    return outcomes;
  }

  private List<String> command(String unit, List<String> tests, Path results) throws IOException {
    Path home = suite.home();
    String javaHome = System.getProperty("java.home");
    List<String> command = new ArrayList<>();
    command.addAll(List.of(TestProcess.java(), "-Xmx256m", "-XX:+UseSerialGC"));
    Map<String, String> properties = new LinkedHashMap<>();
    for (String key : List.of("TS_HOME", "ts_home", "ts.home")) {
      properties.put(key, home.toString());
    }
    properties.put("bin.dir", bin.toString());
    properties.put("deliverable.dir", "jms");
    properties.put("pathsep", File.pathSeparator);
    properties.put("JAVA_HOME", javaHome);
    properties.put("jdk.home", javaHome);
    properties.put("TZ", "UTC");
    properties.put("deliverable.class", "com.sun.ts.lib.deliverable.jms.JMSDeliverable");
    properties.put("harness.executeMode", "2");
    properties.put("cts.jtroutput", "true");
    properties.put("no.binary.finder", "true");
    properties.put("javatest.caseSensetiveJtx", "true");
    properties.put("javatest.security.noSecurityManager", "true");
    properties.put("javatest.security.allowPropertiesAccess", "true");
    properties.put("java.io.tmpdir", temporary("tmp"));
    properties.forEach((key, value) -> command.add("-D" + key + "=" + value));
    command.add("-cp");
    command.add(classPath());
    command.addAll(List.of(MAIN, "-EsysProps", "-batch"));
    command.addAll(List.of("-testsuite", suite.sources().toString()));
    command.addAll(List.of("-workdir", "-create", results.toString()));
    command.addAll(List.of("-envFiles", bin.resolve("ts.jte").toString(), "-env", "ts_unix"));
    command.addAll(List.of("-excludeList", home.resolve("bin/ts.jtx").toString()));
    command.addAll(List.of("-timeoutFactor", "1.0", "-tests"));
    String file = JavaTestSuite.FOLDER + unit.replace('.', '/') + ".java";
    for (String test : tests) {
      command.add(file + test.substring(test.indexOf('#')) + JavaTestSuite.VEHICLE);
    }
    command.add("-runtests");
    return command;
  }

  /** The harness needs its own libraries, and Ant, which the runner brings along. */
  private String classPath() throws IOException {
    try (Stream<Path> jars = Files.list(suite.home().resolve("lib"))) {
      return Stream.concat(
              jars.filter(file -> file.toString().endsWith(".jar")).sorted().map(Path::toString),
              Stream.of(
                  suite.home().resolve("classes").toString(),
                  System.getProperty("java.class.path")))
          .collect(Collectors.joining(File.pathSeparator));
    }
  }

  private String temporary(String name) throws IOException {
    return Files.createDirectories(work.resolve(name)).toString();
  }

  private static List<TestOutcome> outcomes(Path results) throws IOException {
    List<Path> files;
    try (Stream<Path> all = Files.walk(results)) {
      files = all.filter(file -> file.toString().endsWith(".jtr")).sorted().toList();
    }
    List<TestOutcome> outcomes = new ArrayList<>();
    for (Path file : files) {
      outcomes.add(JavaTestResult.parse(Files.readAllLines(file, StandardCharsets.ISO_8859_1)));
    }
    return outcomes;
  }
}

package io.lightmq.tck.suite;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The JavaTest form of the TCK, as it is published: a folder with {@code bin/ts.jte}, {@code lib},
 * {@code classes} and {@code src}. Its harness gives each test a Java machine.
 *
 * @param home that folder
 */
record JavaTestSuite(Path home) implements Suite {

  private static final String SETTINGS = "bin/ts.jte";
  private static final int DEPTH = 3;

  /** Where the tests are, below the folder of sources. */
  static final String FOLDER = "com/sun/ts/tests/jms/";

  /** What the harness adds to the name of a test that runs in a process of its own. */
  static final String VEHICLE = "_from_standalone";

  private static final Pattern TEST = Pattern.compile("@testName:\\s*(\\w+)");

  /** The bundle in a folder or in one below it, if there is one. */
  static Optional<JavaTestSuite> in(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder, DEPTH)) {
      return files
          .filter(file -> file.endsWith(SETTINGS))
          .map(file -> new JavaTestSuite(file.resolve("../..").toAbsolutePath().normalize()))
          .findFirst();
    }
  }

  Path settings() {
    return home.resolve(SETTINGS);
  }

  Path sources() {
    return home.resolve("src");
  }

  /** Reads the tags that the harness reads; one method is commented out and its tag is not. */
  @Override
  public List<String> tests(Path work) throws IOException {
    Path root = sources().resolve(FOLDER);
    List<Path> classes;
    try (Stream<Path> files = Files.walk(root)) {
      classes =
          files
              .filter(file -> root.relativize(file).toString().startsWith("core"))
              .filter(file -> file.toString().endsWith(".java"))
              .sorted()
              .toList();
    }
    List<String> tests = new ArrayList<>();
    for (Path file : classes) {
      String path = root.relativize(file).toString();
      String unit =
          path.substring(0, path.length() - ".java".length()).replace('/', '.').replace('\\', '.');
      String source = Files.readString(file);
      Matcher names = TEST.matcher(source);
      while (names.find()) {
        String test = names.group(1);
        if (Pattern.compile("(?m)^(?! *\\*[^/]).*\\bpublic void " + test + "\\b")
            .matcher(source)
            .find()) {
          tests.add(unit + "#" + test);
        }
      }
    }
    return tests;
  }

  @Override
  public Runner runner(Path work, String uri, long timeoutMillis) throws IOException {
    return new HarnessProcess(this, work, uri, timeoutMillis);
  }
}

package io.lightmq.tck.suite;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The JUnit form of the TCK: a jar, or a folder with jars or classes.
 *
 * @param classPath jars and folders of classes
 * @param classes names of its test classes, those that need an application server left out
 */
record JUnitSuite(List<Path> classPath, List<String> classes) implements Suite {

  /** What all test classes have in common. */
  static final String PACKAGE = "com.sun.ts.tests.jms.";

  private static final String FOLDER = PACKAGE.replace('.', '/');
  private static final String CLASS_END = "IT.class";

  JUnitSuite {
    classPath = List.copyOf(classPath);
    classes = classes.stream().distinct().sorted().toList();
  }

  /**
   * Looks for the suite.
   *
   * @throws IllegalArgumentException if there is no test class
   */
  static JUnitSuite at(Path location) throws IOException {
    List<Path> classPath = new ArrayList<>();
    if (Files.isDirectory(location)) {
      if (Files.isDirectory(location.resolve(FOLDER))) {
        classPath.add(location);
      }
      try (Stream<Path> files = Files.walk(location)) {
        files.filter(file -> file.toString().endsWith(".jar")).sorted().forEach(classPath::add);
      }
    } else {
      classPath.add(location);
    }
    List<String> classes = new ArrayList<>();
    for (Path entry : classPath) {
      classes.addAll(classesIn(entry));
    }
    if (classes.isEmpty()) {
      throw new IllegalArgumentException(
          "no class "
              + FOLDER
              + "core*/**/*"
              + CLASS_END
              + " at "
              + location.toAbsolutePath()
              + "; docs/tck.md says what is expected there");
    }
    return new JUnitSuite(classPath, classes);
  }

  @Override
  public List<String> tests(Path work) throws IOException, InterruptedException {
    return ClassProcess.list(this, work);
  }

  @Override
  public Runner runner(Path work, String uri, long timeoutMillis) throws IOException {
    return new ClassProcess(this, work, uri, timeoutMillis);
  }

  /** The class path for a Java machine. */
  String joinedClassPath() {
    return classPath.stream()
        .map(entry -> entry.toAbsolutePath().toString())
        .collect(Collectors.joining(File.pathSeparator));
  }

  private static List<String> classesIn(Path entry) throws IOException {
    if (Files.isDirectory(entry)) {
      return classesUnder(entry);
    }
    try (FileSystem jar = FileSystems.newFileSystem(URI.create("jar:" + entry.toUri()), Map.of())) {
      return classesUnder(jar.getPath("/"));
    } catch (UncheckedIOException e) {
      throw new IOException("cannot read " + entry, e.getCause());
    }
  }

  private static List<String> classesUnder(Path root) throws IOException {
    Path tests = root.resolve(FOLDER);
    if (!Files.isDirectory(tests)) {
      return List.of();
    }
    try (Stream<Path> files = Files.walk(tests)) {
      return files
          .map(file -> root.relativize(file).toString().replace(File.separatorChar, '/'))
          .filter(name -> name.startsWith(FOLDER + "core") && name.endsWith(CLASS_END))
          .map(name -> name.substring(0, name.length() - ".class".length()).replace('/', '.'))
          .toList();
    }
  }
}

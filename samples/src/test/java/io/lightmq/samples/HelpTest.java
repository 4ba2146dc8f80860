package io.lightmq.samples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Each program of this module says what it takes instead of showing a stack trace. */
class HelpTest {
  private static final Path CLASSES = Path.of("target", "classes").toAbsolutePath();
  private static final long LIMIT_SECONDS = 60;

  /** All classes with a main method. */
  static List<String> programs() throws IOException {
    List<String> programs = new ArrayList<>();
    try (Stream<Path> files = Files.walk(CLASSES)) {
      for (Path file : (Iterable<Path>) files::iterator) {
        String name = CLASSES.relativize(file).toString().replace('/', '.');
        if (name.endsWith(".class")
            && !name.endsWith("-info.class")
            && isProgram(name.substring(0, name.length() - ".class".length()))) {
          programs.add(name.substring(0, name.length() - ".class".length()));
        }
      }
    }
    assertThat(programs).isNotEmpty();
    return programs;
  }

  private static boolean isProgram(String name) {
    try {
      Method main =
          Class.forName(name, false, HelpTest.class.getClassLoader())
              .getDeclaredMethod("main", String[].class);
      return main.getReturnType() == void.class;
    } catch (NoSuchMethodException | LinkageError | ClassNotFoundException none) {
      return false;
    }
  }

  /** Also where a runner of tests has a loader of its own. */
  private static String classPath() {
    StringBuilder path = new StringBuilder(CLASSES.toString());
    if (HelpTest.class.getClassLoader() instanceof URLClassLoader own) {
      for (URL each : own.getURLs()) {
        path.append(File.pathSeparator).append(each.getPath());
      }
    }
    return path + File.pathSeparator + System.getProperty("java.class.path");
  }

  private record Said(int code, String text) {}

  private static Said run(String program, String argument) throws Exception {
    Path out = Files.createTempFile("help", ".txt");
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-cp",
                classPath(),
                program,
                argument)
            .redirectErrorStream(true)
            .redirectOutput(out.toFile())
            .start();
    try {
      assertThat(process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)).as("%s ends", program).isTrue();
      return new Said(process.exitValue(), Files.readString(out, StandardCharsets.UTF_8));
    } finally {
      process.destroyForcibly();
      Files.delete(out);
    }
  }

  @ParameterizedTest
  @MethodSource("programs")
  void helpIsAUsageAndAWrongOptionNamesTheNearest(String program) throws Exception {
    Said help = run(program, "--help");
    assertThat(help.text()).contains("usage:").doesNotContain("Exception", "\tat ");
    assertThat(help.code()).isZero();
    Said wrong = run(program, "--halp");
    assertThat(wrong.text())
        .contains("usage:", "the nearest is --help")
        .doesNotContain("Exception", "\tat ");
    assertThat(wrong.code()).isEqualTo(2);
  }
}

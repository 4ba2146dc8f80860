package io.lightmq.samples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The page on testing says what proves which promise: the tests that it names are there. */
class TestingPageTest {
  /** A test, or one method of it, as in {@code `SlowForceTest`} and {@code `DelayTest.aName`}. */
  private static final Pattern TEST =
      Pattern.compile("`(?:[a-z]+\\.)*([A-Z]\\w*Tests?)(?:\\.(\\w+))?`");

  /** A method by which a planted bug is found; the text before it says of which test. */
  private static final Pattern FOUND = Pattern.compile("`([a-z]\\w+Found)`");

  @Test
  void theTestsThatItNamesAreThere() throws IOException {
    String page = Files.readString(Documents.root().resolve("docs/testing.md"));
    assertThat(TEST.matcher(page).results().count()).isGreaterThan(30);
    assertThat(FOUND.matcher(page).results().count()).isGreaterThan(30);
    assertThat(missing(page)).isEmpty();
  }

  @Test
  void aTestThatIsNotThereIsFound() throws IOException {
    String page =
        "`x.TestingPageTest`, `TestingPageTest.theTestsThatItNamesAreThere`, `GoneTest`,"
            + " `TestingPageTest.gone`, `nothingThatIsFound`, `aTestThatIsNotThereIsFound`";
    assertThat(missing(page))
        .containsExactly("GoneTest", "TestingPageTest.gone", "nothingThatIsFound");
  }

  private static List<String> missing(String page) throws IOException {
    Map<String, String> tests = tests();
    assertThat(tests).hasSizeGreaterThan(100);
    List<String> missing = new ArrayList<>();
    Matcher test = TEST.matcher(page);
    while (test.find()) {
      String source = tests.get(test.group(1));
      if (source == null) {
        missing.add(test.group(1));
      } else if (test.group(2) != null && !declares(source, test.group(2))) {
        missing.add(test.group(1) + "." + test.group(2));
      }
    }
    Matcher found = FOUND.matcher(page);
    while (found.find()) {
      String method = found.group(1);
      if (tests.values().stream().noneMatch(source -> declares(source, method))) {
        missing.add(method);
      }
    }
    return missing;
  }

  private static boolean declares(String source, String method) {
    return source.contains(" void " + method + "(");
  }

  /** The sources of all tests, by name; of two with one name, both. */
  private static Map<String, String> tests() throws IOException {
    Map<String, String> tests = new TreeMap<>();
    for (String module : List.of("spi", "provider", "server", "samples", "tck-runner")) {
      try (Stream<Path> files = Files.walk(Documents.root().resolve(module))) {
        for (Path file : files.filter(TestingPageTest::isTest).toList()) {
          String name = file.getFileName().toString().replace(".java", "");
          tests.merge(name, Files.readString(file), String::concat);
        }
      }
    }
    return tests;
  }

  private static boolean isTest(Path file) {
    return file.toString().contains("/src/test/java/")
        && file.getFileName().toString().matches("\\w+Tests?\\.java");
  }
}

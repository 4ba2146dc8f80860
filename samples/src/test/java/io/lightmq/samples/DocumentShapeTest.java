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

/**
 * Pages stay short enough to be read. The architecture is one page with at most three drawings; a
 * page of {@code docs/internals} is about one subject and has one drawing. What they name of the
 * code is there.
 */
class DocumentShapeTest {
  private static final int ARCHITECTURE_WORDS = 1_500;
  private static final int INTERNALS_WORDS = 600;
  private static final int PARAGRAPH_WORDS = 90;
  private static final int LINE_CHARS = 140;

  /** A constant or method of a class, as in {@code `Work.TURN`}. */
  private static final Pattern MEMBER = Pattern.compile("`([A-Z][A-Za-z]+)\\.([A-Za-z_]+)`");

  private static final Pattern TYPE = Pattern.compile("`(?:[a-z]+\\.)?([A-Z][A-Za-z]+)`");
  private static final String IN_THE_CODE = "In the code:";

  private static List<Path> internals() throws IOException {
    return Documents.in(Documents.root().resolve("docs/internals"), 1);
  }

  private static Path architecture() {
    return Documents.root().resolve("docs/architecture.md");
  }

  @Test
  void theArchitectureIsOnePage() throws IOException {
    String page = Files.readString(architecture());
    assertThat(Documents.words(page)).isLessThanOrEqualTo(ARCHITECTURE_WORDS);
    assertThat(Documents.drawings(page)).isBetween(1, 3);
  }

  @Test
  void eachPageBehindItIsShortAndHasADrawing() throws IOException {
    assertThat(internals()).hasSizeGreaterThan(10);
    for (Path each : internals()) {
      String page = Files.readString(each);
      assertThat(Documents.words(page))
          .as("words of %s; a page with more has two subjects", each)
          .isLessThanOrEqualTo(INTERNALS_WORDS);
      assertThat(Documents.drawings(page)).as("drawings of %s", each).isEqualTo(1);
    }
  }

  @Test
  void paragraphsAndLinesOfPagesForPeopleAreShort() throws IOException {
    List<Path> pages = new ArrayList<>(internals());
    pages.add(architecture());
    for (String name : List.of("README.md", "docs/client.md", "docs/operations.md")) {
      pages.add(Documents.root().resolve(name));
    }
    for (Path each : pages) {
      String page = Files.readString(each);
      for (String paragraph : Documents.paragraphs(page)) {
        assertThat(Documents.words(paragraph))
            .as("words of a paragraph of %s:%n%s", each, paragraph)
            .isLessThanOrEqualTo(PARAGRAPH_WORDS);
      }
      for (String line : Documents.textLines(page)) {
        assertThat(line.length())
            .as("characters of a line of %s:%n%s", each, line)
            .isLessThanOrEqualTo(LINE_CHARS);
      }
    }
  }

  @Test
  void whatThePagesNameOfTheCodeIsThere() throws IOException {
    Map<String, Path> types = types();
    assertThat(types).hasSizeGreaterThan(300);
    for (Path each : internals()) {
      String page = Files.readString(each);
      assertThat(page).as("%s ends with where to look", each).contains(IN_THE_CODE);
      assertThat(missing(page, types))
          .as("names in %s that the code does not have", each)
          .isEmpty();
    }
  }

  @Test
  void aNameThatIsNotThereIsFound() throws IOException {
    String page =
        "A `Work.TURN` of `Work.GONE`, of `Gone.X`.\n\n" + IN_THE_CODE + " `Work`, `link.Nobody`.";
    assertThat(missing(page, types())).containsExactly("Work.GONE", "Gone.X", "Nobody");
  }

  @Test
  void wordsDrawingsAndParagraphsAreCounted() {
    String page = "# A page\n\nOne two\nthree.\n\n- four\n- five six\n\n```\na b\n```\n| t | u |\n";
    assertThat(Documents.words("one  two\n| three |")).isEqualTo(5);
    assertThat(Documents.drawings(page)).isEqualTo(1);
    assertThat(Documents.paragraphs(page).stream().map(Documents::words)).containsExactly(3, 2, 3);
  }

  private static List<String> missing(String page, Map<String, Path> types) throws IOException {
    List<String> missing = new ArrayList<>();
    Matcher member = MEMBER.matcher(page);
    while (member.find()) {
      Path file = types.get(member.group(1));
      if (file == null
          || !Pattern.compile("\\b" + member.group(2) + "\\b")
              .matcher(Files.readString(file))
              .find()) {
        missing.add(member.group(1) + "." + member.group(2));
      }
    }
    int at = page.indexOf(IN_THE_CODE);
    Matcher type = TYPE.matcher(at < 0 ? "" : page.substring(at));
    while (type.find()) {
      if (!types.containsKey(type.group(1))) {
        missing.add(type.group(1));
      }
    }
    return missing;
  }

  /** All top-level types of the product, by name. */
  private static Map<String, Path> types() throws IOException {
    Map<String, Path> types = new TreeMap<>();
    for (String module : List.of("spi", "provider", "server")) {
      try (Stream<Path> files = Files.walk(Documents.root().resolve(module))) {
        files
            .filter(file -> file.toString().endsWith(".java"))
            .filter(file -> file.toString().contains("/src/main/"))
            .forEach(file -> types.put(file.getFileName().toString().replace(".java", ""), file));
      }
    }
    return types;
  }
}

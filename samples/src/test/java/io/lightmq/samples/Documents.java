package io.lightmq.samples;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The pages of this repository, and what is in a page. */
final class Documents {
  private static final Pattern LINK = Pattern.compile("\\]\\(([^)\\s]+)\\)");
  private static final Pattern HEADING = Pattern.compile("(?m)^#+ (.*)$");

  private Documents() {}

  /** The folder of the whole repository. */
  static Path root() {
    Path parent = Path.of("").toAbsolutePath().getParent();
    if (parent == null) {
      throw new IllegalStateException("tests run in the folder of their module");
    }
    return parent;
  }

  /** All pages: of the root, of the documents with all folders below, and of the samples. */
  static List<Path> all() throws IOException {
    List<Path> pages = new ArrayList<>(in(root(), 1));
    pages.addAll(in(root().resolve("docs"), 4));
    pages.addAll(in(root().resolve("samples"), 1));
    return pages;
  }

  /** The pages of a folder, those of its folders too if it is to be looked at so deep. */
  static List<Path> in(Path folder, int depth) throws IOException {
    try (Stream<Path> files = Files.walk(folder, depth)) {
      return files.filter(file -> file.toString().endsWith(".md")).sorted().toList();
    }
  }

  /** Where the links of a page lead, except to other hosts. */
  static List<String> links(Path page) throws IOException {
    List<String> targets = new ArrayList<>();
    Matcher link = LINK.matcher(Files.readString(page));
    while (link.find()) {
      if (!link.group(1).contains(":")) {
        targets.add(link.group(1));
      }
    }
    return targets;
  }

  /** The names by which links lead to the parts of a page, as GitHub makes them of headings. */
  static List<String> anchors(Path page) throws IOException {
    List<String> anchors = new ArrayList<>();
    Matcher heading = HEADING.matcher(Files.readString(page));
    while (heading.find()) {
      anchors.add(
          heading
              .group(1)
              .strip()
              .toLowerCase(Locale.ROOT)
              .replaceAll("[^\\p{L}\\p{N} _-]", "")
              .replace(' ', '-'));
    }
    return anchors;
  }

  /** The words of a text: what stands between blanks, whatever it is. */
  static int words(String text) {
    return text.isBlank() ? 0 : text.strip().split("\\s+").length;
  }

  /** The drawings of a page: what stands between fences. */
  static int drawings(String text) {
    return (int) text.lines().filter(line -> line.startsWith("```")).count() / 2;
  }

  /** The lines of a page that are read as a text: without drawings, code and tables. */
  static List<String> textLines(String text) {
    List<String> lines = new ArrayList<>();
    boolean fenced = false;
    for (String line : text.lines().toList()) {
      boolean fence = line.strip().startsWith("```");
      fenced ^= fence;
      boolean table = line.strip().startsWith("|");
      lines.add(fenced || fence || table ? "" : line);
    }
    return lines;
  }

  /** The paragraphs of a page; each item of a list is one. */
  static List<String> paragraphs(String text) {
    List<String> paragraphs = new ArrayList<>();
    StringBuilder open = new StringBuilder();
    for (String line : textLines(text)) {
      boolean item = line.strip().matches("([-*]|\\d+\\.) .*");
      if (line.isBlank() || item || line.startsWith("#")) {
        paragraphs.add(open.toString());
        open.setLength(0);
      }
      if (!line.startsWith("#")) {
        open.append(line).append('\n');
      }
    }
    paragraphs.add(open.toString());
    paragraphs.removeIf(String::isBlank);
    return paragraphs;
  }
}

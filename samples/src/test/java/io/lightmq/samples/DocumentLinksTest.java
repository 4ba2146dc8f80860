package io.lightmq.samples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The links between the documents of this repository. */
class DocumentLinksTest {
  private static final Pattern LINK = Pattern.compile("\\]\\(([^)#\\s]+)[^)]*\\)");

  @Test
  void everyRelativeLinkLeadsToAFile() throws IOException {
    Path root = Path.of("").toAbsolutePath().getParent();
    List<Path> pages = new ArrayList<>(List.of(root.resolve("README.md")));
    try (Stream<Path> docs = Files.list(root.resolve("docs"))) {
      docs.filter(file -> file.toString().endsWith(".md")).forEach(pages::add);
    }
    assertThat(pages).hasSizeGreaterThan(5);
    for (Path page : pages) {
      assertThat(broken(page)).as("broken links of %s", page).isEmpty();
    }
  }

  @Test
  void aLinkToNothingIsFound(@TempDir Path folder) throws IOException {
    Path page = folder.resolve("page.md");
    Files.writeString(page, "[a](page.md) [b](gone.md#part) [c](https://example.com/x)");
    assertThat(broken(page)).containsExactly("gone.md");
  }

  private static List<String> broken(Path page) throws IOException {
    List<String> broken = new ArrayList<>();
    Matcher link = LINK.matcher(Files.readString(page));
    while (link.find()) {
      String target = link.group(1);
      if (!target.contains(":") && !Files.exists(page.resolveSibling(target))) {
        broken.add(target);
      }
    }
    return broken;
  }
}

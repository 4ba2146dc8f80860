package io.lightmq.samples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The links between the documents of this repository. */
class DocumentLinksTest {

  @Test
  void everyRelativeLinkLeadsToAFileAndAHeadingOfIt() throws IOException {
    List<Path> pages = Documents.all();
    assertThat(pages).hasSizeGreaterThan(30);
    for (Path page : pages) {
      assertThat(broken(page)).as("broken links of %s", page).isEmpty();
    }
  }

  @Test
  void everyPageIsLinkedFromAnotherOne() throws IOException {
    List<Path> pages = Documents.all();
    assertThat(unlinked(pages, Documents.root().resolve("README.md"))).isEmpty();
  }

  @Test
  void aLinkToNothingIsFound(@TempDir Path folder) throws IOException {
    Path page = folder.resolve("page.md");
    Files.writeString(
        page,
        "# One `part`, here\n[a](page.md) [b](gone.md#part) [c](https://example.com/x)"
            + " [d](#one-part-here) [e](page.md#two)");
    assertThat(broken(page)).containsExactly("gone.md#part", "page.md#two");
  }

  @Test
  void aPageThatOnlyLinksToItselfIsFound(@TempDir Path folder) throws IOException {
    Path first = folder.resolve("first.md");
    Path second = folder.resolve("second.md");
    Path lonely = folder.resolve("lonely.md");
    Files.writeString(first, "[second](second.md)");
    Files.writeString(second, "[first](first.md)");
    Files.writeString(lonely, "[lonely](lonely.md) [first](first.md)");
    assertThat(unlinked(List.of(first, second, lonely), first)).containsExactly(lonely);
  }

  private static List<String> broken(Path page) throws IOException {
    List<String> broken = new ArrayList<>();
    for (String target : Documents.links(page)) {
      Path file = target(page, target);
      int part = target.indexOf('#');
      boolean leads =
          Files.exists(file)
              && (part < 0 || Documents.anchors(file).contains(target.substring(part + 1)));
      if (!leads) {
        broken.add(target);
      }
    }
    return broken;
  }

  private static List<Path> unlinked(List<Path> pages, Path first) throws IOException {
    Set<Path> linked = new HashSet<>(Set.of(first));
    for (Path page : pages) {
      for (String target : Documents.links(page)) {
        Path file = target(page, target);
        if (!file.equals(page)) {
          linked.add(file);
        }
      }
    }
    return pages.stream().filter(page -> !linked.contains(page)).toList();
  }

  private static Path target(Path page, String link) {
    int part = link.indexOf('#');
    String file = part < 0 ? link : link.substring(0, part);
    return file.isEmpty() ? page : page.resolveSibling(file).normalize();
  }
}

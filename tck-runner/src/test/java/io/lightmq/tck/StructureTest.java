package io.lightmq.tck;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The picture of the whole product: which module knows which, how large and how open its parts are.
 */
class StructureTest {
  private static final int MAX_LINES = 600;
  private static final double MIN_PACKAGE_PRIVATE = 0.4;

  private static final JavaClasses PRODUCT =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .importPackages("io.lightmq");

  @Test
  void packagesHaveNoCycles() {
    slices().matching("io.lightmq.(**)").should().beFreeOfCycles().check(PRODUCT);
  }

  @Test
  void theClientKnowsNothingOfTheBroker() {
    noClasses()
        .that()
        .resideInAnyPackage("io.lightmq.client..", "io.lightmq.jndi..", "io.lightmq.wire..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(
            "io.lightmq.core..", "io.lightmq.node..", "io.lightmq.server..", "io.lightmq.spi..")
        .check(PRODUCT);
  }

  /** An inbox is made of what takes messages from it; so these know what is unsettled, not it. */
  @Test
  void whoTakesMessagesFromAnInboxDoesNotKnowIt() {
    noClasses()
        .that()
        .haveNameMatching(
            "io\\.lightmq\\.client\\.(Listening|ListenerRunner|Feeding|Receiving|Unsettled|Loaded"
                + "|Returning|Acknowledging|HandedOver|Begun)")
        .should()
        .dependOnClassesThat()
        .haveFullyQualifiedName("io.lightmq.client.Inbox")
        .check(PRODUCT);
  }

  @Test
  void theBrokerKnowsNothingOfTheClientOrTheApi() {
    noClasses()
        .that()
        .resideInAnyPackage(
            "io.lightmq.core..", "io.lightmq.node..", "io.lightmq.server..", "io.lightmq.spi..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("io.lightmq.client..", "io.lightmq.jndi..", "jakarta.jms..")
        .check(PRODUCT);
  }

  @Test
  void theSpiKnowsNothing() {
    noClasses()
        .that()
        .resideInAPackage("io.lightmq.spi..")
        .should()
        .dependOnClassesThat()
        .resideOutsideOfPackages("io.lightmq.spi..", "java..", "org.jspecify..")
        .check(PRODUCT);
  }

  /** The rooms of a shard are public for each other; from outside there is its door. */
  @Test
  void nobodyOutsideTheCoreEntersTheRoomsOfAShard() {
    noClasses()
        .that()
        .resideOutsideOfPackage("io.lightmq.core..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(
            "io.lightmq.core.state..",
            "io.lightmq.core.sessions..",
            "io.lightmq.core.intake..",
            "io.lightmq.core.moves..",
            "io.lightmq.core.admin..",
            "io.lightmq.core.checkpoint..")
        .check(PRODUCT);
  }

  @Test
  void manyTypesAreHiddenInTheirPackages() {
    List<JavaClass> types =
        PRODUCT.stream()
            .filter(type -> type.isTopLevelClass() && !type.getSimpleName().equals("package-info"))
            .toList();
    long hidden =
        types.stream().filter(type -> !type.getModifiers().contains(JavaModifier.PUBLIC)).count();
    assertThat(types).hasSizeGreaterThan(300);
    assertThat((double) hidden / types.size())
        .as("%d of %d top-level types are package-private", hidden, types.size())
        .isGreaterThanOrEqualTo(MIN_PACKAGE_PRIVATE);
  }

  /** Who walks from the client through the frames into the broker meets each name once. */
  @Test
  void noTwoTypesOfClientAndBrokerShareAName() throws IOException {
    Path root = Path.of("..").toAbsolutePath().normalize();
    Map<String, Path> seen = new HashMap<>();
    for (String module : List.of("spi", "provider", "server")) {
      for (Path file : sources(root.resolve(module))) {
        String name = file.getFileName().toString();
        if (file.toString().contains("/src/main/") && !name.equals("package-info.java")) {
          assertThat(seen.put(name, file)).as("another type named as %s", file).isNull();
        }
      }
    }
    assertThat(seen).hasSizeGreaterThan(300);
  }

  @Test
  void noSourceFileIsTooLong() throws IOException {
    Path root = Path.of("..").toAbsolutePath().normalize();
    int seen = 0;
    for (String module : List.of("spi", "provider", "server", "tck-runner", "samples")) {
      for (Path file : sources(root.resolve(module))) {
        seen++;
        try (Stream<String> lines = Files.lines(file)) {
          assertThat(lines.count())
              .as("lines of %s", root.relativize(file))
              .isLessThanOrEqualTo(MAX_LINES);
        }
      }
    }
    assertThat(seen).isGreaterThan(300);
  }

  private static List<Path> sources(Path module) throws IOException {
    try (Stream<Path> files = Files.walk(module)) {
      return files
          .filter(file -> file.toString().endsWith(".java"))
          .filter(file -> !module.relativize(file).toString().contains("target"))
          .toList();
    }
  }
}

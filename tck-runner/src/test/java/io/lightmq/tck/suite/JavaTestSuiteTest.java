package io.lightmq.tck.suite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JavaTestSuiteTest {

  @TempDir Path folder;

  private void write(String file, String text) throws IOException {
    Path path = folder.resolve(file);
    Files.createDirectories(path.getParent());
    Files.writeString(path, text);
  }

  @Test
  void testsAreTheTaggedMethodsOutsideOfComments() throws Exception {
    write("tck/bin/ts.jte", "");
    write(
        "tck/src/com/sun/ts/tests/jms/core/queue/QueueTests.java",
        """
        /*
         * @testName: one
         */
        public void one() throws Fault {
        /*
         * @testName: two
         * public void two() throws Fault {
         */
        /*
         * @testName: three
         */ public void three() throws Fault {
        """);
    write("tck/src/com/sun/ts/tests/jms/ee/Bean.java", "/* @testName: bean */ public void bean()");
    Suite suite = Suite.at(folder, folder);
    assertThat(suite.tests(folder))
        .containsExactly("core.queue.QueueTests#one", "core.queue.QueueTests#three");
  }

  @Test
  void onlyTheNamedSettingsAreReplaced() {
    Map<String, String> settings = new LinkedHashMap<>();
    settings.put("jms_timeout", "4000");
    settings.put("jms.home", "/home");
    assertThat(
            HarnessProcess.withSettings(
                List.of("# jms_timeout=1", "jms_timeout=10000", "user=a \\", "  b"), settings))
        .containsExactly(
            "# jms_timeout=1", "jms_timeout=4000", "user=a \\", "  b", "jms.home=/home");
  }

  @Test
  void aResultTellsTestStatusAndTime() {
    assertThat(JavaTestResult.parse(result("Failed. no message came")))
        .isEqualTo(
            new TestOutcome(
                "core.queue.QueueTests#one",
                TestOutcome.Status.FAILED,
                2427,
                "Failed. no message came"));
    assertThat(JavaTestResult.parse(result("Passed.")).status())
        .isEqualTo(TestOutcome.Status.PASSED);
    assertThat(JavaTestResult.parse(result("Error. no such class")).status())
        .isEqualTo(TestOutcome.Status.FAILED);
    assertThat(JavaTestResult.parse(result("Not run.")).status())
        .isEqualTo(TestOutcome.Status.SKIPPED);
    assertThatThrownBy(() -> JavaTestResult.parse(List.of("execStatus=Passed.")))
        .isInstanceOf(IllegalArgumentException.class);
  }

  private static List<String> result(String status) {
    return List.of(
        "#-----environment-----",
        "execStatus=nothing",
        "",
        "#-----testresult-----",
        "execStatus=" + status,
        "test=com/sun/ts/tests/jms/core/queue/QueueTests.java\\#one_from_standalone",
        "totalTime=2427",
        "",
        "#section:script_messages",
        "test=another");
  }

  @Test
  void aZipIsUnpackedButNotOutsideOfItsFolder() throws Exception {
    Path good = zip("good.zip", "tck/bin/ts.jte");
    assertThat(Suite.at(good, folder)).isInstanceOf(JavaTestSuite.class);
    Path bad = zip("bad.zip", "../outside");
    assertThatThrownBy(() -> Zip.unpack(bad, folder.resolve("to")))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("../outside");
    assertThat(folder.resolve("outside")).doesNotExist();
  }

  private Path zip(String name, String entry) throws IOException {
    Path file = folder.resolve(name);
    try (ZipOutputStream out = new ZipOutputStream(Files.newOutputStream(file))) {
      out.putNextEntry(new ZipEntry(entry));
      out.closeEntry();
    }
    return file;
  }
}

package io.lightmq.tck.suite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TckOptionsTest {

  @TempDir Path folder;

  private TckOptions parse(String... more) {
    return TckOptions.parse(Stream.concat(Stream.of(folder.toString()), Stream.of(more)).toList());
  }

  @Test
  void withoutOptionsTheWholeSuiteRunsWithItsOwnTimeLimit() {
    assertThat(parse()).isEqualTo(new TckOptions(folder, "", 10_000, false, false, 1, false));
    assertThat(parse("--resume").resumes()).isTrue();
    assertThat(parse().wants("core.queuetests.QueueTestsIT#anything")).isTrue();
  }

  @Test
  void aFilterHasPartsOfNames() {
    TckOptions options = parse("queuetests,topictests#two", "--timeout-millis", "4000");
    assertThat(options.timeoutMillis()).isEqualTo(4000);
    assertThat(options.wants("core.queuetests.QueueTestsIT#one")).isTrue();
    assertThat(options.wants("core.topictests#two")).isTrue();
    assertThat(options.wants("core.topictests#one")).isFalse();
  }

  @Test
  void mistakesAreToldInOneSentence() {
    assertThatThrownBy(() -> TckOptions.parse(List.of()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("jar or folder");
    assertThatThrownBy(() -> TckOptions.parse(List.of(folder + "/none")))
        .hasMessageContaining("docs/tck.md");
    assertThatThrownBy(() -> parse("--jobs", "0")).hasMessageContaining("1 to 16");
    assertThatThrownBy(() -> parse("--timeout-millis", "soon")).hasMessageContaining("not soon");
    assertThatThrownBy(() -> parse("--timeout-millis")).hasMessageContaining("not null");
    assertThatThrownBy(() -> parse("--fast")).hasMessageContaining("--fast");
    assertThatThrownBy(() -> parse("a", "b")).hasMessageContaining("unknown argument b");
    assertThatThrownBy(() -> parse("--embedded", "--restart-between-classes"))
        .hasMessageContaining("embedded");
  }
}

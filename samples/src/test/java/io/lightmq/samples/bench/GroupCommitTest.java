package io.lightmq.samples.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GroupCommitTest {

  @TempDir Path directory;

  @Test
  void everyWaiterIsServedAndNothingIsLeftBehind() throws IOException, InterruptedException {
    assertThat(GroupCommit.perSecond(directory, 8, 2_000)).isPositive();
    try (Stream<Path> left = Files.list(directory)) {
      assertThat(left).isEmpty();
    }
  }
}

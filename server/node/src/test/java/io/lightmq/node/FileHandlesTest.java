package io.lightmq.node;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class FileHandlesTest {
  private final NodeSettings settings = NodeSettings.defaults();

  @Test
  void tooFewHandlesAreToldWithWhatIsWanted() {
    assertThat(FileHandles.warning(1_024, settings))
        .contains("may have 1024 file handles", "limits.connections = 1000", "should have 2000");
  }

  @Test
  void enoughHandlesAndSystemsThatDoNotTellGiveNoWarning() {
    assertThat(FileHandles.warning(2_000, settings)).isNull();
    assertThat(FileHandles.warning(Long.MAX_VALUE, settings)).isNull();
    assertThat(FileHandles.warning(-1, settings)).isNull();
  }

  @Test
  void thisProcessHasALimit() {
    assertThat(FileHandles.most()).isPositive();
  }
}

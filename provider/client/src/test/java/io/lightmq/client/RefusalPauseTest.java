package io.lightmq.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.client.link.LinkException;
import io.lightmq.wire.entry.FaultCode;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** How long a session waits after commits for which there was no room. */
class RefusalPauseTest {
  private final List<Long> slept = new ArrayList<>();
  private final RefusalPause pause = new RefusalPause(slept::add);

  @ParameterizedTest
  @EnumSource(
      value = FaultCode.class,
      names = {"DISK_FULL", "MEMORY_FULL", "LIMIT_REACHED", "RETRY_LATER"})
  void itGetsLongerUntilOneSucceeds(FaultCode code) {
    LinkException refusal = new LinkException(code, "no room");
    for (int i = 0; i < 6; i++) {
      pause.failed(new LinkException(FaultCode.TRANSACTION_ROLLED_BACK, "rolled back", refusal));
    }
    assertThat(slept).containsExactly(100L, 200L, 400L, 800L, 1_000L, 1_000L);
    pause.succeeded();
    pause.failed(refusal);
    assertThat(slept).last().isEqualTo(100L);
    assertThat(NoRoom.isOfTheApplication(refusal)).isFalse();
  }

  @ParameterizedTest
  @EnumSource(
      value = FaultCode.class,
      mode = EnumSource.Mode.EXCLUDE,
      names = {"DISK_FULL", "MEMORY_FULL", "LIMIT_REACHED", "RETRY_LATER"})
  void forOtherReasonsItDoesNotWait(FaultCode code) {
    pause.failed(new LinkException(code, "no"));
    pause.failed(null);
    assertThat(slept).isEmpty();
  }

  @Test
  void whatWasLostOrNeverSentIsNoFailureOfTheApplications() {
    LinkException unsent = new LinkException(FaultCode.TRANSACTION_ROLLED_BACK, "was not sent");
    assertThat(NoRoom.isOfTheApplication(unsent)).isFalse();
    LinkException gone = new LinkException(FaultCode.INVALID_DESTINATION, "it is gone");
    assertThat(
            NoRoom.isOfTheApplication(
                new LinkException(FaultCode.TRANSACTION_ROLLED_BACK, "rolled back", gone)))
        .isTrue();
  }
}

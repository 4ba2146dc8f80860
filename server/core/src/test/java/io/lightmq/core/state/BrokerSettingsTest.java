package io.lightmq.core.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.core.door.BrokerSettings;
import io.lightmq.core.storage.journal.JournalSettings;
import io.lightmq.core.storage.segment.SegmentSettings;
import org.junit.jupiter.api.Test;

class BrokerSettingsTest {
  private static final JournalSettings LARGE =
      new JournalSettings(1 << 30, 4, 8, 0, 512 << 20, 1_000_000);

  private static BrokerSettings settings(
      int windowBytes, int maxMessageBytes, JournalSettings journal, SegmentSettings segments) {
    BrokerSettings otherwise = BrokerSettings.defaults();
    return new BrokerSettings(
        otherwise.destinations(),
        otherwise.memory().withWindowBytes(windowBytes),
        otherwise.disk(),
        otherwise.limits().withMaxMessageBytes(maxMessageBytes).withMaxTransactionBytes(1 << 10),
        otherwise.intervals(),
        journal,
        segments);
  }

  @Test
  void aMessageLongerThanALaneCanRememberIsNoSetting() {
    int most = BrokerSettings.MAX_MESSAGE_BYTES;
    assertThat(settings(1 << 30, most, LARGE, SegmentSettings.DEFAULT).limits().maxMessageBytes())
        .isEqualTo(most);
    assertThatThrownBy(() -> settings(1 << 30, most + 1, LARGE, SegmentSettings.DEFAULT))
        .hasMessageContaining("maxMessageBytes is " + (most + 1))
        .hasMessageContaining("64 to " + most);
  }

  @Test
  void aMessageThatFitsIntoNoBatchIsNoSetting() {
    JournalSettings journal = JournalSettings.small(1 << 20);
    int longest = BrokerSettings.longestMessage(1 << 20, journal);
    BrokerSettings fits = settings(1 << 20, longest, journal, SegmentSettings.DEFAULT);
    assertThat(fits.maxBatchBytes()).isGreaterThan(longest);
    assertThat(longest).as("a quarter of the window fits").isGreaterThan(1 << 18);
    assertThatThrownBy(() -> settings(1 << 20, longest + 1, journal, SegmentSettings.DEFAULT))
        .hasMessageContaining("windowBytes 1048576 and maxUnforcedBytes 655360");
  }

  @Test
  void aMessageLongerThanSegmentsBelieveIsNoSetting() {
    SegmentSettings small = new SegmentSettings(1 << 20, 1, 1024, 1024, 0, 1, 1024, 4096);
    assertThatThrownBy(() -> settings(1 << 20, 4096, JournalSettings.small(1 << 20), small))
        .hasMessageContaining("segments.maxEntryBytes is 4096");
  }
}

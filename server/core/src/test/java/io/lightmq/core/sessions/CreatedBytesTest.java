package io.lightmq.core.sessions;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.destination.DestinationSettings;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The record that creates a queue fits into what is asked for, however long its texts are. */
class CreatedBytesTest {
  private static final String WIDE = "\u20ac";

  /** Length, type, version, id, kind and length of the name. */
  private static final int AROUND = 32;

  private final DestinationSettings longest =
      DestinationSettings.DEFAULT.with(
          Map.of(
              "dead-letter",
              WIDE.repeat(512),
              "expiry",
              WIDE.repeat(512),
              "max-attempts",
              "250",
              "redelivery-delay",
              String.join(",", Collections.nCopies(64, "31622399999ms")),
              "redelivery-order",
              "non-blocking",
              "suppress-duplicates",
              "property:" + WIDE.repeat(250) + ",time=365d"));

  private static long written(DestinationName name, DestinationSettings settings)
      throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    settings.encode(new DataOutputStream(bytes));
    return AROUND + name.name().getBytes(StandardCharsets.UTF_8).length + bytes.size();
  }

  @Test
  void aNameAndSettingsAsLongAsTheyMayBe() throws IOException {
    DestinationName name = new DestinationName(DestinationKind.QUEUE, WIDE.repeat(170) + "ab");
    assertThat(written(name, longest))
        .isBetween(1_025L, (long) new MissingQueue(name, longest).recordBytes());
  }

  @Test
  void aShortOneAsksForLittle() throws IOException {
    DestinationName name = new DestinationName(DestinationKind.QUEUE, "DLQ");
    MissingQueue missing = new MissingQueue(name, DestinationSettings.DEFAULT);
    assertThat(written(name, DestinationSettings.DEFAULT))
        .isBetween(missing.recordBytes() / 3L, (long) missing.recordBytes());
  }

  /** Before its texts are known. */
  @Test
  void aHolderOfDelayedMessages() throws IOException {
    DestinationName name =
        new DestinationName(
            DestinationKind.QUEUE, "$lightmq.due." + Long.MAX_VALUE + "." + Long.MAX_VALUE);
    DestinationSettings settings = longest.with(Map.of("max-attempts", "0", "expiry", "none"));
    assertThat(written(name, settings)).isLessThanOrEqualTo(RecordBytes.HOLDER_BYTES);
  }
}

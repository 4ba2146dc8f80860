package io.lightmq.core.destination;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DestinationSettingsTest {
  /** For each setting a text that is not its default. */
  private static final Map<String, String> OTHERS =
      Map.of(
          "tier", "performance",
          "redelivery-delay", "1s*2..5m",
          "redelivery-order", "non-blocking",
          "max-attempts", "3",
          "dead-letter", "none",
          "expiry", "OLD",
          "suppress-duplicates", "property:key,keys=10,time=60000ms");

  @Test
  void everyComponentIsASettingWithATextOfItsOwn() {
    assertThat(DestinationSettings.KEYS)
        .hasSize(DestinationSettings.class.getRecordComponents().length);
    assertThat(OTHERS.keySet()).containsExactlyInAnyOrderElementsOf(DestinationSettings.KEYS);
    for (String key : DestinationSettings.KEYS) {
      DestinationSettings changed =
          DestinationSettings.DEFAULT.with(Map.of(key, OTHERS.getOrDefault(key, "")));
      Map<String, String> expected = new LinkedHashMap<>(DestinationSettings.DEFAULT.texts());
      expected.put(key, OTHERS.getOrDefault(key, ""));
      assertThat(changed).as(key).isNotEqualTo(DestinationSettings.DEFAULT);
      assertThat(changed.texts()).as(key).isEqualTo(expected);
    }
  }

  @Test
  void whatIsWrittenComesBack() throws IOException {
    for (DestinationSettings each :
        List.of(DestinationSettings.DEFAULT, DestinationSettings.DEFAULT.with(OTHERS))) {
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      each.encode(new DataOutputStream(bytes));
      assertThat(
              DestinationSettings.decode(
                  new DataInputStream(new ByteArrayInputStream(bytes.toByteArray()))))
          .isEqualTo(each);
    }
  }

  @Test
  void anUnknownSettingIsToldTheKnownOnes() {
    assertThatThrownBy(() -> DestinationSettings.DEFAULT.with(Map.of("teir", "high")))
        .hasMessage(
            "setting teir is unknown; known are " + String.join(", ", DestinationSettings.KEYS));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "tier|low|tier is \"low\" but must be one of performance, balanced, high",
        "tier|hihg|tier is \"hihg\" but must be one of performance, balanced, high; the nearest is"
            + " 'high'",
        "redelivery-order|any|redelivery-order is \"any\" but must be one of preserving,"
            + " non-blocking",
        "max-attempts|many|max-attempts is \"many\" but must be 0 to 250, 0 for no limit",
        "max-attempts|251|max-attempts is 251 but must be 1 to 250, or 0 for no limit",
      })
  void aWrongTextSaysWhatWouldBeRight(String key, String text, String message) {
    assertThatThrownBy(() -> DestinationSettings.DEFAULT.with(Map.of(key, text)))
        .hasMessage(message);
  }
}

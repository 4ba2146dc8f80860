package io.lightmq.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The table of options that users read. */
class OptionTableTest {
  private static final Pattern ROW = Pattern.compile("(?m)^\\| `(\\w+)` \\| (\\S+) \\| \\S.* \\|$");

  private static Map<String, String> table() throws IOException {
    Path page = Path.of("").toAbsolutePath().resolve("../../docs/client.md");
    Map<String, String> rows = new TreeMap<>();
    Matcher row = ROW.matcher(Files.readString(page));
    while (row.find()) {
      rows.put(row.group(1), row.group(2));
    }
    return rows;
  }

  @Test
  void theTableNamesExactlyTheKnownOptions() throws IOException {
    assertThat(table().keySet()).isEqualTo(ClientSettings.optionNames());
  }

  @Test
  void theDefaultsInTheTableAreThoseOfTheCode() throws IOException {
    Map<String, String> numbers = new TreeMap<>(table());
    numbers.values().removeIf(text -> !text.matches("-?[0-9]+"));
    assertThat(numbers).isEqualTo(ClientSettings.numberDefaults());
  }
}

package io.lightmq.server.admin;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.destination.DestinationSettings;
import java.util.Map;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

class SettingOptionsTest {
  @Test
  void everySettingOfADestinationIsAnOptionOfItsName() {
    Map<String, String> texts = DestinationSettings.DEFAULT.texts();
    Holder holder = new Holder();
    new CommandLine(holder)
        .parseArgs(
            texts.entrySet().stream()
                .map(setting -> "--" + setting.getKey() + "=" + setting.getValue())
                .toArray(String[]::new));
    assertThat(holder.options.arguments().all()).isEqualTo(texts);
  }

  @CommandLine.Command
  private static final class Holder {
    @CommandLine.Mixin private final SettingOptions options = new SettingOptions();
  }
}

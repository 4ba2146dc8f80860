package io.lightmq.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.wire.entry.FaultCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The page about the protocol names every frame and code with its number, and the limits. */
class ProtocolPageTest {
  private String page = "";

  @BeforeEach
  void read() throws IOException {
    page = Files.readString(Path.of("../../docs/protocol.md"));
  }

  @ParameterizedTest
  @EnumSource(FrameType.class)
  void frameIsListed(FrameType type) {
    Class<?> frame = SampleFrames.all().get(type).getClass();
    String sender = type.isFrom(FrameType.Sender.CLIENT) ? "client" : "broker";
    if (type.isFrom(FrameType.Sender.CLIENT) && type.isFrom(FrameType.Sender.BROKER)) {
      sender = "both";
    }
    assertThat(page)
        .contains("| " + type.code() + " | `" + frame.getSimpleName() + "` | " + sender + " |");
  }

  @ParameterizedTest
  @EnumSource(FaultCode.class)
  void codeIsListed(FaultCode code) {
    assertThat(page).contains("| " + code.code() + " | `" + code.name() + "` | ");
  }

  @Test
  void limitsAreListed() {
    assertThat(page)
        .contains(
            String.format(Locale.ROOT, "| messages in a run | %,d |", Protocol.MAX_RUN_MESSAGES))
        .contains(String.format(Locale.ROOT, "| pulls in a frame | %,d |", Protocol.MAX_PULLS))
        .contains(
            String.format(
                Locale.ROOT,
                "| items in all lists of a frame together | %,d |",
                Protocol.MAX_ITEMS))
        .contains("| frame before authentication | " + Protocol.HANDSHAKE_FRAME_BYTES / 1024)
        .contains("port " + Protocol.DEFAULT_PORT);
  }
}

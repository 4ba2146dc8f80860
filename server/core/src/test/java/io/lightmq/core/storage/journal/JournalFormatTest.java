package io.lightmq.core.storage.journal;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

/** The bytes of version 1 do not change; a new layout is a new version with a file of its own. */
class JournalFormatTest {
  private static final String GOLDEN = "/golden/journal-v1.hex";
  private static final int BYTES = 4096 + 3 * 64 + 2 * 64;

  @Test
  void version1LooksAsItAlwaysDid() throws Exception {
    JournalRig rig = new JournalRig(1);
    rig.start();
    rig.loops.runUntilIdle();
    rig.append("golden");
    rig.loops.runUntilIdle();
    rig.loops.advance(100_000_000);
    byte[] bytes = rig.disk.contents(FilePool.name(1));

    assertThat(hex(bytes)).isEqualTo(golden());
  }

  @Test
  void version1IsRead() throws Exception {
    JournalRig rig = new JournalRig(1);
    rig.disk.createFolder(FilePool.FOLDER);
    rig.disk.replace(FilePool.name(1), bytes(golden()));

    rig.recover();

    assertThat(rig.replayed.keySet()).containsExactly(0L, 128L);
    assertThat(new String(rig.replayed.get(128L), 0, 6, StandardCharsets.UTF_8))
        .isEqualTo("golden");
    assertThat(rig.epoch).isEqualTo(2);
  }

  @Test
  void aNewerFileVersionIsRefusedByName() throws Exception {
    JournalRig rig = new JournalRig(1);
    rig.start();
    rig.loops.runUntilIdle();
    rig.kill();
    byte[] bytes = rig.disk.contents(FilePool.name(1));
    bytes[11] = 2;
    rig.disk.replace(FilePool.name(1), bytes);

    org.assertj.core.api.Assertions.assertThatThrownBy(rig::recover)
        .hasMessageContaining("format version 2")
        .hasMessageContaining("newer release");
  }

  /** Lines of 32 bytes; lines of zeros are left out but for their number in front. */
  private static String hex(byte[] bytes) {
    StringBuilder text = new StringBuilder();
    for (int at = 0; at < BYTES; at += 32) {
      String line = HexFormat.of().formatHex(bytes, at, at + 32);
      if (!line.chars().allMatch(c -> c == '0')) {
        text.append(String.format("%06x %s%n", at, line));
      }
    }
    return text.toString();
  }

  private static byte[] bytes(String hex) {
    ByteBuffer bytes = ByteBuffer.allocate(JournalRig.SETTINGS.fileBytes());
    for (String line : hex.lines().toList()) {
      bytes.put(
          Integer.parseInt(line.substring(0, 6), 16), HexFormat.of().parseHex(line.substring(7)));
    }
    return bytes.array();
  }

  private static String golden() throws IOException {
    try (InputStream in = JournalFormatTest.class.getResourceAsStream(GOLDEN)) {
      return new String(in.readAllBytes(), StandardCharsets.US_ASCII);
    }
  }
}

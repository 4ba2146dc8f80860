package io.lightmq.client.message;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The cost that is reckoned is that of the table that Java fills. */
class ProbedTableTest {
  private static byte[] modifiedUtf8(String text) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try {
      new DataOutputStream(bytes).writeUTF(text);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
    return bytes.toByteArray();
  }

  private static long reckoned(List<String> keys) {
    ProbedTable table = new ProbedTable(keys.size());
    for (String key : keys) {
      byte[] bytes = modifiedUtf8(key);
      table.text(bytes, 2, bytes.length - 2);
    }
    return table.steps();
  }

  /** Puts each key into the first free place, and counts those that it looks at in vain. */
  private static long filled(List<String> keys) {
    boolean[] taken = new boolean[2 * keys.size()];
    long steps = 0;
    for (String key : keys) {
      int at = Math.floorMod(key.hashCode(), taken.length);
      while (taken[at]) {
        at = (at + 1) % taken.length;
        steps++;
      }
      taken[at] = true;
    }
    return steps;
  }

  @Test
  void itIsWhatFillingTheTableTakes() {
    Random random = new Random(5);
    for (int round = 0; round < 200; round++) {
      List<String> keys = new ArrayList<>();
      int count = 1 + random.nextInt(300);
      for (int i = 0; i < count; i++) {
        // Some meet, some wrap around the end, some have letters of two and three bytes and none.
        keys.add(
            random.nextInt(3) == 0
                ? "AaBB\u0000\u00fc\u20ac" + random.nextInt(5)
                : "k" + random.nextInt(1_000_000));
      }
      assertThat(reckoned(keys)).as("round %d", round).isEqualTo(filled(keys));
    }
  }

  @Test
  void aKeyOfUnknownHashMayMeetAllOthers() {
    ProbedTable table = new ProbedTable(10);
    for (int i = 0; i < 10; i++) {
      table.other();
    }
    assertThat(table.steps()).isEqualTo(100);
    assertThat(table.keys()).isEqualTo(10);
  }
}

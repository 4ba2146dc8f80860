package io.lightmq.core.destination;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class KeyWindowTest {
  private static Suppression limits(int keys, long millis) {
    return new Suppression("key", keys, millis);
  }

  /** Few different hashes, so that many keys want the same place. */
  private static UUID key(int number) {
    return new UUID(number, number % 5);
  }

  @Property(tries = 100)
  void itKnowsWhatAMapInTheOrderOfComingKnows(@ForAll long seed) throws IOException {
    Random random = new Random(seed);
    int limit = 1 + random.nextInt(100);
    long millis = 1 + random.nextInt(1_000);
    KeyWindow window = new KeyWindow(limits(limit, millis));
    Map<UUID, Long> model = new LinkedHashMap<>();
    long now = 1_000_000;
    for (int i = 0; i < 2_000; i++) {
      long time = now += random.nextInt(4);
      UUID key = key(random.nextInt(300));
      model.values().removeIf(at -> time - at >= millis);
      assertThat(window.contains(key, time)).isEqualTo(model.containsKey(key));
      if (random.nextBoolean()) {
        window.add(key, time);
        if (model.putIfAbsent(key, time) == null && model.size() > limit) {
          model.remove(model.keySet().iterator().next());
        }
      }
      if (random.nextInt(500) == 0) {
        window = copy(window, limits(limit, millis));
      }
    }
    for (int number = 0; number < 300; number++) {
      assertThat(window.contains(key(number), now)).isEqualTo(model.containsKey(key(number)));
    }
  }

  private static KeyWindow copy(KeyWindow window, Suppression limits) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    window.encode(new DataOutputStream(bytes));
    KeyWindow copy = new KeyWindow(limits);
    copy.decode(new DataInputStream(new ByteArrayInputStream(bytes.toByteArray())));
    assertThat(copy.size()).isEqualTo(window.size());
    return copy;
  }

  @Test
  void aLowerLimitForgetsTheOldest() {
    KeyWindow window = new KeyWindow(limits(100, 1_000));
    for (int number = 0; number < 50; number++) {
      window.add(key(number), number);
    }
    window.limit(limits(10, 1_000));
    assertThat(window.size()).isEqualTo(10);
    assertThat(window.contains(key(39), 50)).isFalse();
    assertThat(window.contains(key(40), 50)).isTrue();
  }
}

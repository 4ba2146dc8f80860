package io.lightmq.core.destination;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.runtime.Guard;
import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class DuplicateWindowTest {
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
    DuplicateWindow window = new DuplicateWindow(limits(limit, millis));
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

  private static DuplicateWindow copy(DuplicateWindow window, Suppression limits)
      throws IOException {
    DuplicateWindow copy = new DuplicateWindow(limits);
    DuplicatePicture picture = window.picture(new Guard(), 7, 8);
    for (ByteBuffer piece = picture.next(); piece != null; piece = picture.next()) {
      decode(piece, copy);
    }
    assertThat(copy.size()).isEqualTo(window.size());
    return copy;
  }

  private static void decode(ByteBuffer piece, DuplicateWindow into) throws IOException {
    DataInputStream in = new DataInputStream(new ByteArrayInputStream(piece.array()));
    assertThat(in.readLong()).isEqualTo(7);
    assertThat(in.readLong()).isEqualTo(8);
    into.decode(in);
    assertThat(in.read()).isEqualTo(-1);
  }

  /** Whatever comes and goes meanwhile: the ring comes round, grows, is told a lower limit. */
  @Property(tries = 60)
  void aPictureShowsTheMomentWhenItWasBegun(@ForAll long seed) throws IOException {
    Random random = new Random(seed);
    int limit = random.nextBoolean() ? 16_384 : 5_000 + random.nextInt(20_000);
    DuplicateWindow window = new DuplicateWindow(limits(limit, 1_000_000));
    long next = 0;
    for (int rest = random.nextInt(3 * limit); rest > 0; rest--) {
      window.add(new UUID(next, next * 31), next++);
    }
    long first = next - window.size();
    long end = next;
    DuplicatePicture picture = window.picture(new Guard(), 7, 8);
    DuplicateWindow shown = new DuplicateWindow(limits(limit, 1_000_000));
    boolean more = true;
    while (more) {
      int what = random.nextInt(20);
      if (what == 0) {
        window.limit(limits(1 + random.nextInt(limit), 1_000_000));
        window.limit(limits(limit, 1_000_000));
      }
      for (int rest = random.nextInt(what < 5 ? limit : 50); rest > 0; rest--) {
        window.add(new UUID(next, next * 31), next++);
      }
      ByteBuffer piece = picture.next();
      more = piece != null;
      if (piece != null) {
        assertThat(piece.capacity()).isLessThanOrEqualTo(20 + 24 * DuplicatePicture.PIECE_KEYS);
        decode(piece, shown);
      }
    }
    assertThat(shown.size()).isEqualTo((int) (end - first));
    for (long number = first; number < end; number++) {
      assertThat(shown.contains(new UUID(number, number * 31), number + 999_999)).isTrue();
      assertThat(shown.contains(new UUID(number, number * 31), number + 1_000_000)).isFalse();
    }
    for (int rest = 2 * limit; rest > 0; rest--) {
      window.add(new UUID(next, next * 31), next++);
    }
    assertThat(picture.next()).isNull();
  }

  @Test
  void aLowerLimitForgetsTheOldest() {
    DuplicateWindow window = new DuplicateWindow(limits(100, 1_000));
    for (int number = 0; number < 50; number++) {
      window.add(key(number), number);
    }
    window.limit(limits(10, 1_000));
    assertThat(window.size()).isEqualTo(10);
    assertThat(window.contains(key(39), 50)).isFalse();
    assertThat(window.contains(key(40), 50)).isTrue();
  }
}

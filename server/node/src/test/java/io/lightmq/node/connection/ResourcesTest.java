package io.lightmq.node.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What connections have open takes heap that is counted, bounded and given back. */
class ResourcesTest {
  private static final int MANY = 20_000;
  private static final int DESTINATIONS = 30;
  private static final ConnectionSettings SETTINGS =
      ConnectionHarness.SETTINGS.with(new ConnectionSettings.Counts(8, MANY, MANY, MANY, 16));

  private static Resources open(ConnectionHeap heap) {
    return new Resources(SETTINGS, heap);
  }

  private interface Opening {
    void open(Resources resources, int i) throws ProtocolRefusal;
  }

  private static final List<Opening> OPENINGS =
      List.of(
          (resources, i) -> resources.openSession(i + 1),
          (resources, i) -> resources.openProducer(i, 0),
          (resources, i) -> resources.openConsumer(i, 0),
          (resources, i) -> {
            resources.openProducer(i, 0);
            resources.resolved(i, i);
            resources.closeProducer(i);
          });

  @Test
  void connectionsTogetherHaveALimitAndEachAQuarterOfIt() throws Exception {
    for (Opening opening : OPENINGS.subList(0, 3)) {
      ConnectionHeap heap = new ConnectionHeap(100_000);
      List<Resources> all = new ArrayList<>();
      for (int connection = 0; connection < 5; connection++) {
        Resources resources = open(heap);
        all.add(resources);
        resources.openSession(0);
        if (connection == 4) {
          assertThatThrownBy(() -> fill(resources, opening))
              .hasMessageContaining("of 100000 bytes");
        } else {
          long before = heap.used();
          assertThatThrownBy(() -> fill(resources, opening)).hasMessageContaining("a quarter");
          assertThat(heap.used() - before).isBetween(24_000L - ConnectionHeap.OWN, 25_000L);
        }
      }
      Resources late = open(heap); // others have all, but not what is its own
      late.openSession(0);
      late.openProducer(1, 0);
      late.resolved(1, 1);
      late.openConsumer(2, 0);
      all.add(late);
      all.forEach(Resources::end);
      assertThat(heap.used()).isZero();
    }
  }

  private static void fill(Resources resources, Opening opening) throws ProtocolRefusal {
    resources.openSession(0xFFFF);
    for (int i = 0; i < MANY - 2; i++) {
      opening.open(resources, i);
    }
  }

  @Test
  void destinationsOfClosedProducersMakeRoom() throws Exception {
    ConnectionHeap heap = new ConnectionHeap(100_000);
    Resources resources = open(heap);
    resources.openSession(0);
    resources.openProducer(-1, 0);
    resources.resolved(-1, -1);
    for (int i = 0; i < 1_000; i++) {
      OPENINGS.get(3).open(resources, i);
    }
    assertThat(heap.used()).isLessThanOrEqualTo(25_000);
    assertThat(remembered(resources, 1_000)).isGreaterThan(100);
    assertThat(resources.mayPublish(-1)).as("has an open producer").isTrue();
    assertThat(resources.mayPublish(999)).as("the newest").isTrue();
    assertThat(resources.mayPublish(0)).as("the oldest").isFalse();
  }

  private static long remembered(Resources resources, int of) {
    return IntStream.range(0, of).filter(resources::mayPublish).count();
  }

  @Test
  void whatIsOnlyRememberedTakesHalfAtMost() throws Exception {
    ConnectionHeap heap = new ConnectionHeap(1_000_000);
    List<Resources> idle = new ArrayList<>();
    for (int connection = 0; connection < 20; connection++) {
      Resources resources = open(heap);
      resources.openSession(0);
      for (int i = 0; i < 1_000; i++) {
        OPENINGS.get(3).open(resources, i);
      }
      idle.add(resources);
      assertThat(remembered(resources, 1_000)).isGreaterThanOrEqualTo(16);
    }
    assertThat(heap.used()).isBetween(400_000L, 501_000L);
    Resources late = open(heap);
    late.openSession(0);
    for (int i = 0; i < 1_000; i++) {
      late.openProducer(i, 0);
    }
    idle.forEach(Resources::end);
    late.end();
    assertThat(heap.used()).isZero();
  }

  @Test
  void nothingTakesMoreThanItIsReckonedAt() throws Exception {
    for (Opening opening : OPENINGS) {
      ConnectionHeap heap = new ConnectionHeap(1L << 30);
      Resources warm = open(heap);
      warm.openSession(0);
      opening.open(warm, 1);
      Resources resources = open(heap);
      resources.openSession(0);
      long reckoned = heap.used();
      long before = usedHeap();
      for (int i = 1_000; i < MANY; i++) { // small numbers are shared
        opening.open(resources, i);
      }
      long took = usedHeap() - before;
      reckoned = heap.used() - reckoned + ConnectionHeap.OWN;
      assertThat(took).isLessThanOrEqualTo(reckoned);
      assertThat(resources.mayPublish(0)).isFalse(); // it is still reachable
    }
  }

  private static long usedHeap() {
    for (int i = 0; i < 3; i++) {
      System.gc();
    }
    Runtime runtime = Runtime.getRuntime();
    return runtime.totalMemory() - runtime.freeMemory();
  }

  /** In any order, with answers of the shard that come late or not at all. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void whatIsTakenIsWhatIsThere(long seed) throws Exception {
    Random random = new Random(seed);
    ConnectionHeap heap = new ConnectionHeap(1 << 20);
    Resources resources = open(heap);
    Set<Integer> waiting = new HashSet<>();
    for (int step = 0; step < 20_000; step++) {
      int session = random.nextInt(4);
      int id = random.nextInt(40);
      try {
        switch (random.nextInt(7)) {
          case 0 -> resources.openSession(session);
          case 1 -> resources.openConsumer(id, session);
          case 2 -> resources.closeConsumer(id);
          case 3 -> {
            if (!waiting.contains(id)) { // a client does not use a number again before its answer
              resources.openProducer(id, session);
              waiting.add(id);
            }
          }
          case 4 -> resources.closeProducer(id);
          case 5 -> {
            if (!waiting.remove(id)) {
              resources.closeSession(session);
            } else if (random.nextInt(4) > 0) {
              resources.resolved(id, random.nextInt(DESTINATIONS));
            } else {
              resources.failed(id);
            }
          }
          default -> resources.closeSession(session);
        }
      } catch (ProtocolRefusal refused) {
        assertThat(refused.code()).isNotNull();
      }
    }
    waiting.forEach(resources::failed);
    for (int session = 0; session < 4; session++) {
      resources.closeSession(session);
    }
    long left = IntStream.range(0, DESTINATIONS).filter(resources::mayPublish).count();
    assertThat(left).isPositive();
    assertThat(resources.taken()).isEqualTo(left * ConnectionHeap.DESTINATION);
    resources.end();
    assertThat(heap.used()).isZero();
    resources.resolved(1, 1);
    resources.failed(1);
    assertThat(heap.used()).isZero();
  }
}

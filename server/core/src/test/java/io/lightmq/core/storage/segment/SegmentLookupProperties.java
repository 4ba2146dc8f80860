package io.lightmq.core.storage.segment;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.sim.SimulatedDisk;
import io.lightmq.core.storage.DirectMemory;
import io.lightmq.core.storage.segment.TestLane.TestJournal;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/** Random lanes through random checkpoints and rewrites, read back against a sorted map. */
final class SegmentLookupProperties {
  private static final UUID STORE = new UUID(1, 2);

  @Property(tries = 60)
  void everyLookUpFindsWhatTheModelHas(@ForAll long seed) throws IOException {
    Random random = new Random(seed);
    SimulatedDisk disk = new SimulatedDisk(seed);
    TestJournal journal = new TestJournal();
    SegmentSettings settings =
        new SegmentSettings(
            8_192 + random.nextInt(300_000),
            1 + random.nextInt(200_000),
            1_024 + random.nextInt(9_000),
            1_024 + random.nextInt(9_000),
            random.nextInt(20_000),
            1 + random.nextInt(3),
            2_048 + random.nextInt(20_000),
            1 << 20);
    SegmentStore store = SegmentStore.open(disk, new DirectMemory(), STORE, 0, List.of(), settings);
    List<TestLane> lanes = new ArrayList<>();
    long[] next = new long[1 + random.nextInt(4)];
    for (int i = 0; i < next.length; i++) {
      lanes.add(new TestLane(1 + i / 2, 4 + i % 2, journal));
    }
    for (int checkpoint = 0; checkpoint < 4; checkpoint++) {
      for (int i = 0; i < next.length; i++) {
        next[i] = publish(random, lanes.get(i), next[i]);
        acknowledge(random, lanes.get(i));
      }
      Set<Long> rewrite = new java.util.HashSet<>();
      for (SegmentInfo segment : store.segments()) {
        if (random.nextInt(3) == 0) {
          rewrite.add(segment.address());
        }
      }
      Destaged destaged =
          store.destage(
              new DestagePlan(checkpoint, lanes.stream().map(TestLane::plan).toList(), rewrite),
              journal,
              () -> false);
      lanes.forEach(lane -> lane.switchTo(destaged));
      store.delete(rewrite);
      for (SegmentInfo segment : destaged.segments()) {
        store.verify(segment.address());
      }
    }
    try (SegmentReader reader = store.newReader()) {
      for (TestLane lane : lanes) {
        for (int i = 0; i < 30; i++) {
          lookUp(random, lane, reader);
        }
        TreeMap<Long, byte[]> all = lane.readAll(reader, lane.pieces());
        assertThat(all.keySet()).containsAll(lane.model().keySet());
      }
    }
  }

  private static long publish(Random random, TestLane lane, long from) {
    long next = from;
    for (int run = random.nextInt(12); run > 0; run--) {
      next += random.nextInt(4) == 0 ? random.nextInt(6_000) : 0;
      next = random.nextInt(20) == 0 ? ((next >>> 32) + 1) << 32 : next;
      int[] lengths = new int[1 + random.nextInt(40)];
      for (int i = 0; i < lengths.length; i++) {
        lengths[i] = random.nextInt(60) == 0 ? random.nextInt(70_000) : random.nextInt(300);
      }
      lane.publish(next, lengths);
      next += lengths.length;
    }
    return next;
  }

  private static void acknowledge(Random random, TestLane lane) {
    for (Long sequence : List.copyOf(lane.model().keySet())) {
      if (random.nextInt(3) == 0) {
        lane.acknowledge(sequence, sequence + random.nextInt(3));
      }
    }
  }

  /** A random range with a random filter must give exactly the model's live entries. */
  private static void lookUp(Random random, TestLane lane, SegmentReader reader)
      throws IOException {
    if (lane.pieces().isEmpty()) {
      return;
    }
    Piece piece = lane.pieces().get(random.nextInt(lane.pieces().size()));
    long span = piece.lastSequence() - piece.firstSequence() + 1;
    long from = piece.firstSequence() + Math.floorMod(random.nextLong(), span);
    long to = from + random.nextInt(400);
    int part = 1 + random.nextInt(5);
    TreeMap<Long, byte[]> live = lane.model();
    TreeMap<Long, byte[]> expected = new TreeMap<>();
    live.subMap(from, true, Math.min(to, piece.lastSequence()), true)
        .forEach(
            (sequence, entry) -> {
              if (sequence % part == 0) {
                expected.put(sequence, entry);
              }
            });
    Wanted wanted =
        new Wanted() {
          @Override
          public boolean wants(long sequence) {
            return sequence % part == 0 && live.containsKey(sequence);
          }

          @Override
          public long next(long start) {
            Long key = live.ceilingKey(start);
            return key == null ? Long.MAX_VALUE : key;
          }
        };
    TreeMap<Long, byte[]> found = new TreeMap<>();
    int most = 1 + random.nextInt(50);
    long at = from;
    while (true) {
      int[] taken = {0};
      SegmentReader.Read read =
          reader.scan(
              piece,
              at,
              to,
              wanted,
              (sequence, buffer, place, length) -> {
                if (taken[0]++ == most) {
                  return false;
                }
                byte[] entry = new byte[length];
                buffer.get(place, entry);
                assertThat(found.put(sequence, entry)).isNull();
                return true;
              });
      if (read.complete()) {
        assertThat(read.nextSequence()).isEqualTo(to + 1);
        break;
      }
      at = read.nextSequence();
    }
    SegmentStoreTest.assertSame(found, expected);
  }
}

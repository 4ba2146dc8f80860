package io.lightmq.core.destination;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.core.storage.DirectMemory;
import io.lightmq.core.storage.segment.DestagePlan.JournalRun;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Run list, block table, extents and unlogged store against small models. */
class PlacesTest {
  private final DirectMemory direct = new DirectMemory();
  private final OffHeap memory = new OffHeap(direct);

  record Place(long offset, int bytes) {}

  @Property(tries = 60)
  void runListFindsEveryEntry(@ForAll long seed) {
    Random random = new Random(seed);
    RunList runs = new RunList(memory);
    TreeMap<Long, Place> model = new TreeMap<>();
    List<RunList.Frozen> pictures = new ArrayList<>();
    long sequence = 5L << 32;
    long offset = 1000;
    for (int i = 0; i < 2000; i++) {
      int bytes =
          random.nextInt(20) == 0
              ? 100_000 + random.nextInt(3_000_000)
              : 100 + random.nextInt(2000);
      runs.append(sequence, offset, bytes);
      model.put(sequence, new Place(offset, bytes));
      offset += bytes + (random.nextInt(3) == 0 ? 64 : 0);
      sequence += random.nextInt(200) == 0 ? 1L << 32 : 1;
      if (random.nextInt(400) == 0) {
        RunList.Frozen picture = runs.freeze();
        List<Long> seen = new ArrayList<>();
        long bytesSeen = 0;
        for (JournalRun run : picture) {
          bytesSeen += run.bytes();
          for (int k = 0; k < run.count(); k++) {
            seen.add(run.firstSequence() + k);
          }
        }
        assertThat(seen).isEqualTo(List.copyOf(model.keySet()));
        assertThat(bytesSeen).isEqualTo(picture.bytes());
        pictures.add(picture);
        if (random.nextBoolean()) {
          runs.dropBelow(offset);
          model.clear();
        }
      }
    }
    Location at = new Location();
    model.forEach(
        (key, place) -> {
          assertThat(runs.locate(key, at)).isTrue();
          assertThat(at.firstSequence()).isLessThanOrEqualTo(key);
          assertThat(at.count()).isBetween(1, RunList.MAX_COUNT);
          assertThat(key).isLessThan(at.firstSequence() + at.count());
          long expected = at.journalOffset();
          for (long s = at.firstSequence(); s < key; s++) {
            expected += model.get(s).bytes();
          }
          assertThat(expected).isEqualTo(place.offset());
          assertThat(at.count() == 1 || at.bytes() <= RunList.MAX_BYTES).isTrue();
        });
    assertThat(runs.locate(sequence + 5, at)).isFalse();
    runs.clear();
    pictures.forEach(RunList.Frozen::release);
    assertThat(memory.usedBytes()).isZero();
  }

  @Test
  void runsOfSingleMessagesTakeTwelveBytes() {
    RunList runs = new RunList(memory);
    for (int i = 0; i < 100_000; i++) {
      runs.append(i, i * 1200L, 1100);
    }
    assertThat(memory.usedBytes()).isLessThan(100_000 * 13);
  }

  @Test
  void anEntryOutOfOrderIsRefused() {
    RunList runs = new RunList(memory);
    runs.append(7, 700, 100);
    assertThatThrownBy(() -> runs.append(7, 800, 100)).hasMessageContaining("entry 7");
    assertThatThrownBy(() -> runs.append(8, 799, 100)).hasMessageContaining("ends at 800");
  }

  @Property(tries = 60)
  void blockTableBehavesLikeAMap(@ForAll long seed) {
    Random random = new Random(seed);
    boolean small = random.nextBoolean();
    BlockTable table = new BlockTable(memory, small ? 0 : 2);
    TreeMap<Long, Integer> model = new TreeMap<>();
    for (int i = 0; i < 3000; i++) {
      long sequence = random.nextInt(40_000) + ((long) random.nextInt(2) << 32);
      int value = random.nextInt(3) == 0 ? 0 : 1 + random.nextInt(255);
      int before = table.set(sequence, value);
      assertThat(before).isEqualTo(model.getOrDefault(sequence, 0));
      if (value == 0) {
        model.remove(sequence);
      } else {
        model.put(sequence, value);
      }
      if (i % 100 == 0) {
        Long next = model.ceilingKey(sequence);
        assertThat(table.next(sequence)).isEqualTo(next == null ? -1 : next);
        long to = sequence + random.nextInt(6_000);
        assertThat(table.next(sequence, to)).isEqualTo(next == null || next > to ? to : next);
      }
    }
    model.forEach((key, value) -> assertThat(table.get(key)).isEqualTo(value));
    for (Long key : List.copyOf(model.keySet())) {
      table.set(key, 0);
    }
    assertThat(table.isEmpty()).isTrue();
    assertThat(memory.usedBytes()).isZero();
  }

  /** A scan of the rest of its block for each message would look at 60 billion cells. */
  @Test
  @Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void anAcknowledgementLooksAtNoCountsBeyondIt() {
    UnloggedStore store = new UnloggedStore(direct, 100_000);
    Destination queue =
        new Destinations(memory, store)
            .create(
                1, new DestinationName(DestinationKind.QUEUE, "q"), DestinationSettings.DEFAULT);
    DurableLane lane = queue.durable(4);
    Cursor cursor = new Cursor(lane, memory);
    int blocks = 8_000;
    lane.append(1L << 32, blocks * SequenceSet.BLOCK);
    for (long block = 0; block < blocks; block++) {
      long last = (1L << 32) + block * SequenceSet.BLOCK + SequenceSet.BLOCK - 1;
      cursor.returned(last, last + 1, true);
    }
    for (long at = 1L << 32; at < lane.last(); at++) {
      cursor.acknowledge(at, at + 1);
    }
    assertThat(cursor.backlog()).isOne();
    assertThat(cursor.deliveries(lane.last())).isOne();
  }

  @Property(tries = 60)
  void unloggedStoreKeepsBytesAndBudget(@ForAll long seed) {
    Random random = new Random(seed);
    long budget = 200_000;
    UnloggedStore store = new UnloggedStore(direct, budget);
    Map<Integer, byte[]> model = new HashMap<>();
    Map<Integer, Integer> needs = new HashMap<>();
    boolean refused = false;
    for (int i = 0; i < 2000; i++) {
      if (random.nextInt(5) < 3) {
        byte[] entry = new byte[81 + random.nextInt(random.nextInt(10) == 0 ? 9000 : 600)];
        random.nextBytes(entry);
        if (!store.fits(1, entry.length)) {
          refused = true;
          continue;
        }
        int need = 1 + random.nextInt(3);
        int handle = store.put(0, i, ByteBuffer.wrap(entry), i, need);
        assertThat(model.put(handle, entry)).isNull();
        needs.put(handle, need);
      } else if (!model.isEmpty()) {
        int handle = model.keySet().iterator().next();
        ByteBuffer copy = ByteBuffer.allocate(store.length(handle));
        store.copyTo(handle, copy);
        assertThat(copy.array()).isEqualTo(model.get(handle));
        assertThat(store.getLong(handle, 40)).isEqualTo(ByteBuffer.wrap(copy.array()).getLong(40));
        boolean gone = needs.merge(handle, -1, Integer::sum) == 0;
        assertThat(store.release(handle)).isEqualTo(gone);
        if (gone) {
          model.remove(handle);
        }
      }
      assertThat(store.usedBytes()).isLessThanOrEqualTo(budget);
    }
    assertThat(refused).isTrue();
    model.keySet().forEach(store::drop);
    assertThat(store.usedBytes()).isZero();
    assertThat(direct.used("unlogged messages")).isZero();
  }

  @Test
  void extentsKnowWhatExists() {
    Extents extents = new Extents();
    assertThat(extents.tail(1)).isEqualTo(1L << 32);
    extents.append(1L << 32, 10);
    extents.append((1L << 32) + 10, 5);
    extents.append(4L << 32, 3);
    assertThat(extents.ceiling((1L << 32) + 20)).isEqualTo(4L << 32);
    assertThat(extents.count(0, Long.MAX_VALUE)).isEqualTo(18);
    assertThat(extents.exists((1L << 32) + 15)).isFalse();
    extents.trim((1L << 32) + 12);
    assertThat(extents.start()).isEqualTo((1L << 32) + 12);
    extents.trim((4L << 32) + 3);
    assertThat(extents.exists((4L << 32) + 2)).isFalse();
    assertThat(extents.tail(4)).isEqualTo((4L << 32) + 3);
    assertThatThrownBy(() -> extents.tail(3)).hasMessageContaining("epoch 3 is over");
  }
}

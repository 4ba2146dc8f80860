package io.lightmq.core.destination;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.core.sim.SimulatedLoops;
import io.lightmq.core.storage.DirectMemory;
import io.lightmq.core.storage.MemoryDisk;
import io.lightmq.core.storage.overflow.OverflowFile;
import io.lightmq.core.storage.overflow.OverflowFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class MovedRunsTest {
  private final UnloggedStore store = new UnloggedStore(new DirectMemory(), 1 << 20);
  private final MovedRuns runs = new MovedRuns(store.runs);
  private final OverflowFiles files;
  private OverflowFile file;

  MovedRunsTest() throws IOException {
    SimulatedLoops loops = new SimulatedLoops(1);
    files =
        OverflowFiles.open(
            new MemoryDisk(1 << 20), loops.open("shard"), loops.open("overflow"), 1 << 20, 0);
    files.write(
        ByteBuffer.wrap(new byte[10]),
        new OverflowFiles.Done() {
          @Override
          public void written(OverflowFile into, int position) {
            file = into;
            file.hold();
          }

          @Override
          public void failed(IOException cause) {
            throw new IllegalStateException(cause);
          }
        });
    loops.runUntilIdle();
  }

  private void add(long first, int count, long needs) {
    file.hold();
    runs.add(
        first,
        new MovedRuns.Moved(first + count - 1, first - 1, needs, file.number(), 0, 100, count));
  }

  @Property(tries = 50)
  void itKnowsWhatAMapKnows(@ForAll long seed) {
    Random random = new Random(seed);
    TreeMap<Long, Long> needs = new TreeMap<>();
    long next = 100;
    for (int i = 0; i < 3_000; i++) {
      if (random.nextInt(5) < (i % 1_000 < 500 ? 3 : 2) || needs.isEmpty()) {
        next += random.nextInt(3);
        long need = 1 + random.nextInt(3);
        add(next, 10, need);
        needs.put(next, need);
        next += 10;
      } else {
        Long first = needs.ceilingKey(100 + (long) (random.nextDouble() * (next - 100)));
        first = first == null ? needs.firstKey() : first;
        long sequence = first + random.nextInt(10);
        assertThat(runs.find(sequence).needs()).isEqualTo(needs.get(first));
        assertThat(runs.after(sequence)).isEqualTo(first - 1);
        runs.release(sequence, files);
        if (needs.merge(first, -1L, Long::sum) == 0) {
          needs.remove(first);
          assertThatThrownBy(() -> runs.find(sequence)).hasMessageContaining("in no run");
        }
      }
      assertThat(runs.isEmpty()).isEqualTo(needs.isEmpty());
    }
    needs.forEach((first, need) -> assertThat(runs.find(first + 9).needs()).isEqualTo(need));
    runs.clear(files);
    assertThat(runs.isEmpty()).isTrue();
    assertThat(store.placeBytes()).isZero();
  }

  /** Moving all behind each that goes would move a terabyte. */
  @Test
  @Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void runsThatGoOutOfOrderDoNotMoveAllOthers() {
    List<Long> firsts = new ArrayList<>();
    for (int i = 0; i < 1_000_000; i++) {
      add(i * 2L, 2, 1);
      firsts.add(i * 2L);
    }
    Collections.shuffle(firsts, new Random(7));
    for (long first : firsts) {
      runs.release(first + 1, files);
    }
    assertThat(runs.isEmpty()).isTrue();
    assertThat(store.placeBytes()).isZero();
  }
}

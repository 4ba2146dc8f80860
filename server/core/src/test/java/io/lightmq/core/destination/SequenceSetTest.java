package io.lightmq.core.destination;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.core.storage.DirectMemory;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.List;
import java.util.TreeSet;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;

class SequenceSetTest {
  private static final long EPOCH = 3L << 32;
  private static final int SPAN = 6 * SequenceSet.BLOCK;

  private final OffHeap memory = new OffHeap(new DirectMemory());
  private final SequenceSet set = new SequenceSet(memory);

  record Step(boolean add, long from, int count) {}

  @Provide
  Arbitrary<List<Step>> steps() {
    Arbitrary<Integer> from =
        Arbitraries.oneOf(
            Arbitraries.integers().between(0, SPAN - 1),
            Arbitraries.integers().between(0, 5).map(b -> b * SequenceSet.BLOCK),
            Arbitraries.integers().between(0, SPAN / 64 - 1).map(w -> w * 64));
    Arbitrary<Integer> count =
        Arbitraries.oneOf(
            Arbitraries.integers().between(1, 3),
            Arbitraries.integers().between(1, 200),
            Arbitraries.integers().between(1, 3).map(b -> b * SequenceSet.BLOCK),
            Arbitraries.integers().between(1, SPAN));
    return Combinators.combine(Arbitraries.integers().between(0, 2), from, count)
        .as((kind, f, c) -> new Step(kind > 0, EPOCH + f, Math.min(c, SPAN - f)))
        .list()
        .ofMinSize(1)
        .ofMaxSize(30);
  }

  @Property(tries = 100)
  void behavesLikeATreeSet(@ForAll("steps") List<Step> steps) throws IOException {
    set.clear();
    TreeSet<Long> model = new TreeSet<>();
    for (Step step : steps) {
      long before = model.size();
      for (long s = step.from(); s < step.from() + step.count(); s++) {
        if (step.add()) {
          model.add(s);
        } else {
          model.remove(s);
        }
      }
      long changed =
          step.add() ? set.add(step.from(), step.count()) : set.remove(step.from(), step.count());
      assertThat(changed).isEqualTo(Math.abs(model.size() - before));
      assertThat(set.size()).isEqualTo(model.size());
      check(set, model, step.from());
      check(set, model, step.from() + step.count());
      check(set, model, EPOCH);
    }
    SequenceSet copy = new SequenceSet(memory);
    copy.decode(in(set));
    for (long s = EPOCH; s < EPOCH + SPAN; s++) {
      assertThat(copy.contains(s)).isEqualTo(model.contains(s));
      assertThat((set.wordAt(s) >>> (s & 63) & 1) == 1).isEqualTo(model.contains(s));
    }
    SequenceSet both = new SequenceSet(memory);
    both.addAll(copy);
    assertThat(both.size()).isEqualTo(model.size());
    copy.clear();
    both.clear();
    set.clear();
    assertThat(memory.usedBytes()).isZero();
  }

  private static void check(SequenceSet set, TreeSet<Long> model, long at) {
    Long next = model.ceiling(at);
    assertThat(set.nextPresent(at, Long.MAX_VALUE)).isEqualTo(next == null ? Long.MAX_VALUE : next);
    long absent = at;
    while (model.contains(absent)) {
      absent++;
    }
    assertThat(set.nextAbsent(at)).isEqualTo(absent);
    assertThat(set.contains(at)).isEqualTo(model.contains(at));
    assertThat(set.cardinality(at, at + 5000)).isEqualTo(model.subSet(at, at + 5000).size());
    assertThat(set.cardinality(0, at)).isEqualTo(model.headSet(at).size());
  }

  private static DataInputStream in(SequenceSet set) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    set.encode(new DataOutputStream(bytes));
    return new DataInputStream(new ByteArrayInputStream(bytes.toByteArray()));
  }

  @Test
  void everySecondOfAMillionCostsLittle() {
    for (long s = 0; s < 1_000_000; s += 2) {
      set.add(EPOCH + s);
    }
    assertThat(set.size()).isEqualTo(500_000);
    assertThat(set.offHeapBytes() + set.heapBytes()).isLessThan(200 << 10);
    assertThat(memory.usedBytes()).isLessThan(200 << 10);
  }

  @Test
  void aMillionInARowCostNothing() {
    set.add(EPOCH, 1_000_000);
    assertThat(set.offHeapBytes()).isLessThanOrEqualTo(SequenceSet.BITMAP_BYTES);
    assertThat(set.heapBytes()).isLessThan(200);
    for (long s = 1_000_000; s < 2_000_000; s++) {
      set.add(EPOCH + s);
    }
    assertThat(set.offHeapBytes()).isLessThanOrEqualTo(SequenceSet.BITMAP_BYTES);
    assertThat(set.heapBytes()).isLessThan(200);
  }

  @Test
  void dropBelowForgetsWholeBlocksOnly() {
    set.add(EPOCH, 3L * SequenceSet.BLOCK);
    set.dropBelow(EPOCH + SequenceSet.BLOCK + 10);
    assertThat(set.contains(EPOCH + SequenceSet.BLOCK - 1)).isFalse();
    assertThat(set.contains(EPOCH + SequenceSet.BLOCK)).isTrue();
    assertThat(set.size()).isEqualTo(2L * SequenceSet.BLOCK);
  }

  @Test
  void aLaterVersionIsRefusedByName() {
    assertThatThrownBy(
            () -> set.decode(new DataInputStream(new ByteArrayInputStream(new byte[] {9, 0}))))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("version 9");
  }
}

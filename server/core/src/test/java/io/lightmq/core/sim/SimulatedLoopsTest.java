package io.lightmq.core.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.core.runtime.Loop;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

class SimulatedLoopsTest {

  @Test
  void oneSeedAlwaysGivesOneOrderAndSeedsDiffer() {
    Set<List<String>> orders = new HashSet<>();
    for (int seed = 0; seed < 20; seed++) {
      List<String> order = order(seed);
      assertThat(order(seed)).isEqualTo(order);
      orders.add(order);
    }
    assertThat(orders).hasSizeGreaterThan(5);
  }

  private static List<String> order(long seed) {
    SimulatedLoops loops = new SimulatedLoops(seed);
    List<String> order = new ArrayList<>();
    for (String name : List.of("a", "b", "c")) {
      Loop loop = loops.open(name);
      for (int i = 0; i < 5; i++) {
        int number = i;
        loop.execute(() -> order.add(name + number));
      }
    }
    loops.runUntilIdle();
    assertThat(order).hasSize(15).containsSubsequence("a0", "a1", "a2", "a3", "a4");
    return order;
  }

  @Test
  void timeMovesOnlyWhenAskedTo() {
    SimulatedLoops loops = new SimulatedLoops(1);
    Loop loop = loops.open("a");
    List<Long> times = new ArrayList<>();
    loop.schedule(50, () -> times.add(loops.clock().nanos()));
    loop.schedule(10, () -> times.add(loops.clock().nanos()));
    loops.runUntilIdle();
    assertThat(times).isEmpty();

    loops.advance(40);
    assertThat(times).containsExactly(10L);
    loops.runUntil(() -> times.size() == 2);
    assertThat(loops.clock().nanos()).isEqualTo(50);
  }

  @Test
  void aCrashDropsWhatWaitsAndRefusesMore() {
    SimulatedLoops loops = new SimulatedLoops(1);
    Loop loop = loops.open("a");
    List<String> ran = new ArrayList<>();
    loop.execute(() -> ran.add("lost"));
    loops.crash();
    loops.runUntilIdle();

    assertThat(ran).isEmpty();
    assertThatThrownBy(() -> loop.execute(() -> {})).isInstanceOf(RejectedExecutionException.class);
  }

  @Test
  void whileOneLoopBlocksTheOthersGoOnAndTimePasses() {
    SimulatedLoops loops = new SimulatedLoops(3);
    Loop slow = loops.open("slow");
    Loop quick = loops.open("quick");
    List<String> order = new ArrayList<>();
    slow.execute(
        () -> {
          loops.block(50);
          order.add("slow at " + loops.clock().nanos());
        });
    slow.schedule(10, () -> order.add("behind it at " + loops.clock().nanos()));
    quick.schedule(20, () -> order.add("quick at " + loops.clock().nanos()));

    loops.advance(100);

    assertThat(order).containsExactly("quick at 20", "slow at 50", "behind it at 50");
  }

  @Test
  void whatIsGivenToALoopRunsInItsOrderWhateverTheDelay() {
    for (long seed = 0; seed < 50; seed++) {
      SimulatedLoops loops = new SimulatedLoops(seed);
      Loop loop = loops.open("slow");
      List<Integer> ran = new ArrayList<>();
      long[] delays = {0, 0, 50_000, 1, 7_000, 1, 0, 0, 20};
      for (int i = 0; i < delays.length; i++) {
        int number = i;
        loops.delay("slow", delays[i]);
        loop.execute(() -> ran.add(number));
      }
      loops.advance(100_000);
      assertThat(ran).as("seed %s", seed).containsExactly(0, 1, 2, 3, 4, 5, 6, 7, 8);
    }
  }
}

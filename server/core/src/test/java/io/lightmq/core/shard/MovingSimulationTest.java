package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.destination.Destination;
import io.lightmq.core.record.ShardRecord.Acked;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** {@link MovingSimulation} over many seeds, and the planted bugs that it has to find. */
class MovingSimulationTest {
  private static final int SEEDS = Integer.getInteger("lightmq.seeds", 40);
  private static final long FIRST = Long.getLong("lightmq.seed", 1);
  private static final int PLANTED_SEEDS = 200;

  @Test
  void messagesAreInOnePlaceAndComeNeitherTooEarlyNorTooOften() throws Exception {
    for (long seed = FIRST; seed < FIRST + SEEDS; seed++) {
      try {
        new MovingSimulation(seed, new MovingSimulation.Plant()).run();
      } catch (AssertionError | RuntimeException e) {
        throw new AssertionError(
            "seed "
                + seed
                + "; again with -Dtest=MovingSimulationTest -Dlightmq.seeds=1 -Dlightmq.seed="
                + seed,
            e);
      }
    }
  }

  private static void isFound(Supplier<MovingSimulation.Plant> planted) {
    List<String> found = new ArrayList<>();
    for (long seed = 1; seed <= PLANTED_SEEDS && found.isEmpty(); seed++) {
      try {
        new MovingSimulation(seed, planted.get()).run();
      } catch (Exception | AssertionError e) {
        found.add("seed " + seed + ": " + e);
      }
    }
    assertThat(found).as("a violation in %d seeds", PLANTED_SEEDS).isNotEmpty();
    if (Boolean.getBoolean("lightmq.show")) {
      System.out.println(planted.get().getClass().getName() + " " + found);
    }
  }

  @Test
  void aMessageThatIsReleasedEarlyIsFound() {
    class Planted extends MovingSimulation.Plant {
      private int runs;

      @Override
      long delayMillis(long delayMillis) {
        return ++runs % 10 == 0 ? delayMillis / 2 : delayMillis;
      }
    }
    isFound(Planted::new);
  }

  @Test
  void aMessageThatOutlivesItsTimeIsFound() {
    class Planted extends MovingSimulation.Plant {
      @Override
      long liveMillis(long liveMillis) {
        return liveMillis * 2;
      }
    }
    isFound(Planted::new);
  }

  @Test
  void anAttemptThatIsNotCountedIsFound() {
    class Planted extends MovingSimulation.Plant {
      private int failures;

      @Override
      boolean attempted() {
        return ++failures % 5 != 0;
      }
    }
    isFound(Planted::new);
  }

  /** Writes the two halves of a move as two records, with the turn of another move between them. */
  private static final class TwoRecords extends MoveRecords {
    private final Recorder recorder;
    private final boolean settlesFirst;
    private @Nullable Runnable second;

    TwoRecords(
        Recorder recorder,
        Placing placing,
        Publishing.Admission admission,
        Ready ready,
        Counters counters,
        TurnTime time,
        ClientIds clientIds,
        Matchings matchings,
        boolean settlesFirst) {
      super(recorder, placing, admission, ready, counters, time, clientIds, matchings);
      this.recorder = recorder;
      this.settlesFirst = settlesFirst;
    }

    @Override
    boolean record(Move move, ByteBuffer entry, Mover.Goal goal) {
      if (second != null) {
        second.run();
        second = null;
      }
      return super.record(move, entry, goal);
    }

    @Override
    void recordDurable(
        Destination to,
        ByteBuffer entry,
        Mover.Goal goal,
        Runs.Checked wanted,
        @Nullable Acked acked) {
      Runnable publish = () -> super.recordDurable(to, entry, goal, wanted, null);
      Runnable settle = () -> recorder.record(acked);
      (settlesFirst ? settle : publish).run();
      second = settlesFirst ? publish : settle;
    }
  }

  private static MovingSimulation.Plant twoRecords(boolean settlesFirst) {
    return new MovingSimulation.Plant() {
      @Override
      MoveRecords.Maker moves() {
        return (recorder, placing, admission, ready, counters, time, clientIds, matchings) ->
            new TwoRecords(
                recorder,
                placing,
                admission,
                ready,
                counters,
                time,
                clientIds,
                matchings,
                settlesFirst);
      }
    };
  }

  @Test
  void aMoveThatIsSettledBeforeTheRecordOfItsTargetIsFound() {
    isFound(() -> twoRecords(true));
  }

  @Test
  void aMoveThatIsSettledAfterTheRecordOfItsTargetIsFound() {
    isFound(() -> twoRecords(false));
  }
}

package io.lightmq.core.shard;

import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.record.ShardRecord.Acked;
import io.lightmq.core.storage.segment.DestagePlan;
import io.lightmq.core.storage.segment.Wanted;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Faulty implementations of seams that only this package sees, planted into a harness. */
public final class PlantedSeams {
  private PlantedSeams() {}

  /** Checkpoints write what is needed now and not what was needed at their offset. */
  public static void destageByTheNewestState(BrokerHarness harness) {
    harness.destaging =
        (segments, state) ->
            (plan, bytes) -> {
              List<DestagePlan.LanePlan> lanes = new ArrayList<>();
              for (DestagePlan.LanePlan lane : plan.lanes()) {
                Wanted newest =
                    sequence ->
                        lane.needed().wants(sequence)
                            && isNeededNow(
                                state.destinations().find(lane.destinationId()),
                                lane.lane(),
                                sequence);
                lanes.add(
                    new DestagePlan.LanePlan(
                        lane.destinationId(),
                        lane.lane(),
                        lane.holderId(),
                        lane.pieces(),
                        lane.runs(),
                        lane.expectedBytes(),
                        newest));
              }
              return segments.destage(
                  new DestagePlan(plan.offset(), lanes, plan.rewrite()), bytes, () -> false);
            };
  }

  private static boolean isNeededNow(@Nullable Destination destination, int lane, long sequence) {
    if (destination == null) {
      return false;
    }
    for (Subscription subscription : destination.subscriptions()) {
      if (subscription.isUnacknowledged(lane, sequence)) {
        return true;
      }
    }
    return false;
  }

  /** Moves are two records, with the turn of another move between them. */
  public static void moveInTwoRecords(BrokerHarness harness, boolean settlesFirst) {
    harness.moves =
        (recorder, placing, admission, ready, counters, time, clientIds, matchings) ->
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

  private static final class TwoRecords extends MoveRecords {
    private final Recorder recorder;
    private final boolean settlesFirst;
    private @Nullable Runnable second;

    TwoRecords(
        Recorder recorder,
        Placing placing,
        Admission admission,
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
      Runnable settle =
          () -> {
            if (acked != null) {
              recorder.record(acked);
            }
          };
      (settlesFirst ? settle : publish).run();
      second = settlesFirst ? publish : settle;
    }
  }
}

package io.lightmq.core.shard;

import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.intake.Landing;
import io.lightmq.core.intake.Parcel;
import io.lightmq.core.intake.Plan;
import io.lightmq.core.record.BatchBytes;
import io.lightmq.core.record.ShardRecord;
import io.lightmq.core.record.ShardRecord.Acked;
import io.lightmq.core.record.ShardRecord.Committed;
import io.lightmq.core.record.ShardRecord.LinkAttached;
import io.lightmq.core.record.ShardRecord.Part;
import io.lightmq.core.record.ShardRecord.Published;
import io.lightmq.core.storage.segment.DestagePlan;
import io.lightmq.core.storage.segment.Wanted;
import io.lightmq.spi.Mark;
import io.lightmq.wire.entry.Entry;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Faulty implementations of seams that only this package sees, planted into a harness. */
public final class PlantedSeams {
  private PlantedSeams() {}

  /** Checkpoints write what is needed now and not what was needed at their offset. */
  public static void destageByTheNewestState(BrokerHarness harness) {
    ShardSeams.DestagingMaker planted =
        (segments, state) -> {
          // A slow disk, so that the state has often changed when it is looked at.
          harness.loops.delay("destage", 20_000_000);
          return (plan, bytes) -> {
            List<DestagePlan.LanePlan> lanes = new ArrayList<>();
            for (DestagePlan.LanePlan lane : plan.lanes()) {
              Wanted newest =
                  sequence ->
                      lane.needed().wants(sequence)
                          && isNeededNow(
                              state.get().destinations().find(lane.destinationId()),
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
        };
    harness.seams = harness.seams.with(planted);
  }

  /** One of some messages also makes a link that is in no record. */
  public static void applyWithoutARecord(BrokerHarness harness) {
    Landing.Maker planted =
        parts ->
            new Landing(parts) {
              private int count;

              @Override
              public @Nullable Mark carryOut(Plan plan) {
                Mark mark = super.carryOut(plan);
                if (++count % 10 == 0) {
                  UUID link = new UUID(parts.recorder().state().epoch(), count);
                  parts.recorder().state().apply(new LinkAttached(link, 1), BatchBytes.NONE);
                }
                return mark;
              }
            };
    harness.seams = harness.seams.with(planted);
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
    Landing.Maker planted = parts -> new TwoRecords(parts, settlesFirst);
    harness.seams = harness.seams.with(planted);
  }

  /** No record says that the number of a commit is taken whose messages are in memory only. */
  public static void forgetNumbersOfUnloggedCommits(BrokerHarness harness) {
    harness.seams = harness.seams.with((Landing.Maker) UnloggedNumbers::new);
  }

  /** A replay knows of each run only when its first message expires. */
  public static void replayForgetsExpiries(BrokerHarness harness) {
    harness.replay =
        (state, record, bytes) -> {
          Set<Long> forgotten = new HashSet<>();
          forEachRun(record, run -> forgotten.addAll(expiriesButTheFirst(run)));
          state.apply(record, at -> forgotten.contains(at) ? 0 : bytes.getLong(at));
        };
  }

  private static Set<Long> expiriesButTheFirst(Published run) {
    Set<Long> places = new HashSet<>();
    long at = run.entries().offset();
    for (int length : run.entries().lengths()) {
      places.add(at + Entry.EXPIRY_AT);
      at += length;
    }
    places.remove(run.entries().offset() + Entry.EXPIRY_AT);
    return places;
  }

  /** A replay gives durable subscriptions also what they do not want. */
  public static void replayForgetsWhatIsUnwanted(BrokerHarness harness) {
    harness.replay = (state, record, bytes) -> state.apply(wantedByAll(record), bytes);
  }

  private static ShardRecord wantedByAll(ShardRecord record) {
    if (record instanceof Committed all) {
      return new Committed(
          all.link(), all.number(), all.parts().stream().map(p -> (Part) wantedByAll(p)).toList());
    }
    return record instanceof Published run
        ? new Published(
            run.link(),
            run.number(),
            run.destinationId(),
            run.lane(),
            run.firstSequence(),
            run.entries())
        : record;
  }

  /** A replay applies acknowledgements that stand alone, and not those of transactions. */
  public static void replayForgetsAcknowledgementsOfCommits(BrokerHarness harness) {
    harness.replay =
        (state, record, bytes) ->
            state.apply(
                record instanceof Committed all
                    ? new Committed(
                        all.link(),
                        all.number(),
                        all.parts().stream().filter(part -> !(part instanceof Acked)).toList())
                    : record,
                bytes);
  }

  private static void forEachRun(ShardRecord record, Consumer<Published> taker) {
    if (record instanceof Published run) {
      taker.accept(run);
    } else if (record instanceof Committed all) {
      all.parts().forEach(part -> forEachRun(part, taker));
    }
  }

  private static final class TwoRecords extends Landing {
    private final boolean settlesFirst;
    private @Nullable Plan second;

    TwoRecords(Parts parts, boolean settlesFirst) {
      super(parts);
      this.settlesFirst = settlesFirst;
    }

    @Override
    public @Nullable Mark carryOut(Plan plan) {
      if (plan.isMove() && second != null) {
        super.carryOut(second);
        second = null;
      }
      if (!plan.isMove() || !plan.isPublishing()) {
        return super.carryOut(plan);
      }
      Plan publish = new Plan(null, 0, false, plan.parcels());
      plan.parcels().forEach(each -> publish.place(each, each.placement()));
      Plan settle = new Plan(null, 0, false, List.of());
      settle.settle(plan.settled());
      second = settlesFirst ? publish : settle;
      return super.carryOut(settlesFirst ? settle : publish);
    }
  }

  private static final class UnloggedNumbers extends Landing {
    private final Parts parts;
    private @Nullable UUID link;
    private long number;

    UnloggedNumbers(Parts parts) {
      super(parts);
      this.parts = parts;
    }

    @Override
    public Planned plan(
        @Nullable UUID of, long itsNumber, List<Parcel> parcels, Acknowledging acknowledging) {
      link = null;
      Planned planned = super.plan(of, itsNumber, parcels, acknowledging);
      if (of == null
          || !(planned instanceof Plan plan)
          || plan.isPublishing()
          || !plan.settled().isEmpty()) {
        return planned;
      }
      link = of;
      number = itsNumber;
      return super.plan(of, 0, parcels, acknowledging);
    }

    @Override
    public @Nullable Mark carryOut(Plan plan) {
      Mark mark = super.carryOut(plan);
      if (link != null && !plan.isMove()) {
        parts.recorder().state().links().takenUnlogged(link, number);
        link = null;
      }
      return mark;
    }
  }
}

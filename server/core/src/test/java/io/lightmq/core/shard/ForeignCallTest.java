package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.LaneCode;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.intake.Landing;
import io.lightmq.core.intake.Plan;
import io.lightmq.core.record.BatchBytes;
import io.lightmq.core.record.ShardRecord;
import io.lightmq.core.sim.PairedLog;
import io.lightmq.core.sim.SimulatedDisk;
import io.lightmq.core.sim.SimulatedLoops;
import io.lightmq.core.state.Recorder;
import io.lightmq.core.state.ShardState;
import io.lightmq.spi.Mark;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.SequenceRange;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Calls of the shard's state from where they may not come, planted into a broker. */
class ForeignCallTest {
  private static final ShardRecord FACT = ShardRecord.Stopped.UNCOUNTED;
  private static final DestinationName ORDERS =
      new DestinationName(DestinationKind.QUEUE, "orders");

  private final BrokerHarness h = new BrokerHarness(1);

  @Test
  void anEffectOnTheJournalsThreadThatRecordsSomethingIsFound() {
    h.landings(
        parts ->
            new Planting(
                parts,
                (recorder, state) ->
                    recorder.onJournal(Mark.DURABLE, () -> recorder.record(FACT))));
    assertThatThrownBy(this::publish)
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("Recorder.record was called on")
        .hasMessageContaining("it belongs to loop shard");
  }

  @Test
  void anEffectOnTheJournalsThreadThatWakesConsumersIsFound() {
    h.landings(
        parts ->
            new Planting(
                parts,
                (recorder, state) ->
                    recorder.onJournal(
                        Mark.WRITTEN, () -> parts.ready().add(state.destinations().find(ORDERS)))));
    assertThatThrownBy(this::publish)
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("Ready.add was called on");
  }

  @Test
  void aStrangerWhoHoldsASubscriptionIsFound() {
    isFoundOnTheJournalsThread(
        "Subscription.acknowledge",
        state -> subscription(state).acknowledge(LaneCode.durable(4), 1L << 32, 1));
    isFoundOnTheJournalsThread(
        "Subscription.take",
        state -> subscription(state).take(orders(state).durable(4), 1L << 32, 1));
  }

  @Test
  void aStrangerWhoHoldsWhatASubscriptionHasIsFound() {
    isFoundOnTheJournalsThread("View.refresh", state -> subscription(state).view().refresh());
    isFoundOnTheJournalsThread("Views.lag", state -> subscription(state).views().lag());
    isFoundOnTheJournalsThread(
        "Holding.beginAnew", state -> subscription(state).newHolding().beginAnew());
    isFoundOnTheJournalsThread("Look.next", state -> subscription(state).look().next(1));
  }

  @Test
  void aStrangerWhoHoldsADestinationOrALaneOfItIsFound() {
    isFoundOnTheJournalsThread("Destination.trim", state -> orders(state).trim());
    isFoundOnTheJournalsThread("Destination.durable", state -> orders(state).durable(9));
    isFoundOnTheJournalsThread("Lane.show", state -> orders(state).durable(4).show());
    isFoundOnTheJournalsThread(
        "DamagedMessages.drop",
        state -> orders(state).damaged().drop(List.of(new SequenceRange(4, 1L << 32, 1))));
  }

  @Test
  void aStrangerWhoHoldsALinkIsFound() {
    isFoundOnTheJournalsThread("Link.used", state -> state.links().all().iterator().next().used(1));
    isFoundOnTheJournalsThread("Links.closed", state -> state.links().closed(new UUID(1, 1)));
  }

  private void isFoundOnTheJournalsThread(String door, Consumer<ShardState> call) {
    h.landings(
        parts ->
            new Planting(
                parts,
                (recorder, state) -> recorder.onJournal(Mark.WRITTEN, () -> call.accept(state))));
    assertThatThrownBy(this::publish)
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining(door + " was called on")
        .hasMessageContaining("it belongs to loop shard");
  }

  private static Destination orders(ShardState state) {
    return Objects.requireNonNull(state.destinations().find(ORDERS));
  }

  private static Subscription subscription(ShardState state) {
    return orders(state).queueSubscription();
  }

  @Test
  void aCheckpointThatChangesTheLivingStateIsFound() {
    h.destaging(
        (segments, state) ->
            (plan, bytes) -> {
              state.get().apply(FACT, BatchBytes.NONE);
              return segments.destage(plan, bytes, () -> false);
            });
    assertThatThrownBy(
            () -> {
              publish();
              h.broker.wantCheckpoint();
              h.loops.advance(1_000_000_000);
            })
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("ShardState.apply was called on");
  }

  @Test
  void whatWaitsForTheShardMayRecord() throws IOException {
    boolean[] recorded = new boolean[1];
    h.landings(
        parts ->
            new Planting(
                parts,
                (recorder, state) ->
                    recorder.onShard(
                        Mark.DURABLE,
                        () -> {
                          recorder.changing();
                          recorded[0] = true;
                        })));
    publish();
    assertThat(recorded[0]).isTrue();
    h.close();
  }

  @Test
  void whatAnOwnerHadIsFoundInUseAfterItWasDropped() throws IOException {
    List<Landing.Parts> owners = new ArrayList<>();
    List<PairedLog.Member> members = new ArrayList<>();
    PairedLog log = new PairedLog(1);
    h.loops = new SimulatedLoops(1);
    h.broker =
        Broker.begin(
            h.settings,
            new SimulatedDisk(1),
            h.loops,
            ShardSeams.PRODUCT
                .with(
                    (JournalMaker)
                        (files, loops, settings, store) -> {
                          members.add(log.join(loops));
                          return members.get(0);
                        })
                .with(
                    (Landing.Maker)
                        parts -> {
                          owners.add(parts);
                          return new Landing(parts);
                        }));
    h.loops.advance(1_000_000);
    members.get(0).lead();
    h.loops.runUntil(() -> h.broker.epoch() > 0);
    h.loops.advance(1_000_000);
    Recorder left = owners.get(0).recorder();
    h.loops.within("shard", left::changing);

    members.get(0).resign();
    h.loops.advance(1_000_000);
    assertThat(h.broker.life()).isEqualTo(Life.FOLLOWING);
    assertThatThrownBy(() -> h.loops.within("shard", left::changing))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("Recorder.changing was called on")
        .hasMessageContaining("belongs to nobody any more");
  }

  private void publish() throws IOException {
    h.open();
    FakePeer peer = h.attach();
    long id = h.producer(peer, ORDERS);
    h.publish(peer, id, 1, "one");
    h.loops.advance(1_000_000_000);
  }

  /** Does something with the recorder each time when messages have landed. */
  private static final class Planting extends Landing {
    private final Parts parts;
    private final BiConsumer<Recorder, ShardState> planted;

    Planting(Parts parts, BiConsumer<Recorder, ShardState> planted) {
      super(parts);
      this.parts = parts;
      this.planted = planted;
    }

    @Override
    public @Nullable Mark carryOut(Plan plan) {
      Mark mark = super.carryOut(plan);
      planted.accept(parts.recorder(), parts.recorder().state());
      return mark;
    }
  }
}

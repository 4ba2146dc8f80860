package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.destination.Filter;
import io.lightmq.core.destination.NamedHeap;
import io.lightmq.core.door.Command;
import io.lightmq.core.door.Command.Subscribe;
import io.lightmq.core.intake.Intake;
import io.lightmq.core.intake.Landing;
import io.lightmq.core.intake.LoneRuns;
import io.lightmq.core.intake.Plan;
import io.lightmq.core.intake.Selecting;
import io.lightmq.core.intake.Transactions;
import io.lightmq.core.moves.Move;
import io.lightmq.core.moves.MoveLine;
import io.lightmq.core.moves.MoveRecords;
import io.lightmq.core.moves.Mover;
import io.lightmq.core.selector.Selector;
import io.lightmq.core.selector.Work;
import io.lightmq.core.sessions.PeerSession;
import io.lightmq.core.sessions.Sessions;
import io.lightmq.core.shard.FakePeer.Received;
import io.lightmq.core.state.Recorder;
import io.lightmq.core.state.Refusal;
import io.lightmq.spi.Mark;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** To plan what lands changes nothing of the shard, whoever plans and whatever comes of it. */
class PlanTest {
  private static final DestinationName QUEUE = new DestinationName(DestinationKind.QUEUE, "q");
  private static final DestinationName POISON =
      new DestinationName(DestinationKind.QUEUE, "poison.a");
  private static final DestinationName TOPIC = new DestinationName(DestinationKind.TOPIC, "t");
  private static final int CONSUMERS = 5;

  /** What was planned. */
  private enum Planned {
    RUN,
    DELAYED_RUN,
    COMMIT,
    DEAD_LETTER,
    EXPIRED,
    DUE,
    RETRY,
    WAIT,
    REFUSED,
    CREATING
  }

  private BrokerHarness h = new BrokerHarness(3);
  private final Map<Planned, Integer> planned = new EnumMap<>(Planned.class);
  private FakePeer peer;
  private long number;

  /** What selectors cost is measured, and there is memory to look with that is used again. */
  private static boolean isCostOfLooking(Field field) {
    return field.getName().equals("lone")
        || field.getName().equals("lastSender")
        || field.getType() == Work.class
        || field.getType() == Selector.Evaluator.class
        || (field.getDeclaringClass() == Filter.class && field.getType() == long.class)
        || (field.getDeclaringClass() == Selecting.class && field.getName().equals("runs"));
  }

  private Owner parts() {
    try {
      Field shard = Broker.class.getDeclaredField("shard");
      shard.setAccessible(true);
      Field parts = Shard.class.getDeclaredField("owner");
      parts.setAccessible(true);
      return (Owner) parts.get(shard.get(h.broker));
    } catch (ReflectiveOperationException e) {
      throw new AssertionError(e);
    }
  }

  private static Object field(Object of, String name) {
    try {
      Field field = of.getClass().getDeclaredField(name);
      field.setAccessible(true);
      return field.get(of);
    } catch (ReflectiveOperationException e) {
      throw new AssertionError(e);
    }
  }

  /** Somebody who plans. */
  private interface Planner {
    Landing.@Nullable Planned plan();
  }

  private void changesNothing(Planned what, Planner planner) {
    List<String> before = picture();
    boolean creates = false;
    try {
      Landing.Planned came = planner.plan();
      if (came instanceof Landing.Wait) {
        planned.merge(Planned.WAIT, 1, Integer::sum);
      }
      creates = came instanceof Plan plan && !plan.creates().isEmpty();
    } catch (Refusal refusal) {
      planned.merge(Planned.REFUSED, 1, Integer::sum);
    }
    List<String> changed = picture();
    changed.removeAll(Set.copyOf(before));
    assertThat(changed).as("%s", what).isEmpty();
    planned.merge(what, 1, Integer::sum);
    if (creates) {
      planned.merge(Planned.CREATING, 1, Integer::sum);
    }
  }

  private List<String> picture() {
    try {
      return ObjectPicture.of(parts(), PlanTest::isCostOfLooking);
    } catch (IllegalAccessException e) {
      throw new AssertionError(e);
    }
  }

  /** Whenever a move lands, all moves that could land now are planned before. */
  private final class Watching extends Landing {
    private boolean watching;

    Watching(Parts parts) {
      super(parts);
    }

    @Override
    public @Nullable Mark carryOut(Plan plan) {
      if (plan.isMove() && !watching) {
        watching = true;
        planMoves();
        watching = false;
      }
      return super.carryOut(plan);
    }
  }

  private void planMoves() {
    Object[] parts = (Object[]) field(field(parts(), "order"), "parts");
    Mover mover =
        (Mover) Arrays.stream(parts).filter(Mover.class::isInstance).findAny().orElseThrow();
    MoveRecords records = (MoveRecords) field(mover, "records");
    for (Object each : List.copyOf(((Map<?, ?>) field(mover, "lines")).values())) {
      for (Move move : ((MoveLine) each).batch) {
        ByteBuffer entry = move.entry();
        if (entry != null && move.isValid()) {
          changesNothing(
              kind(move.errand().what()),
              () -> {
                Mover.Goal goal =
                    move.errand().decide(move.from(), move.lane(), move.sequence(), entry);
                return goal == null ? null : records.plan(move, entry, goal);
              });
        }
      }
    }
  }

  private static Planned kind(String errand) {
    return switch (errand) {
      case "dead letters" -> Planned.DEAD_LETTER;
      case "expired" -> Planned.EXPIRED;
      case "due" -> Planned.DUE;
      default -> Planned.RETRY;
    };
  }

  // ---- who lives with the broker ----

  private Command.Publish run(Random random, long to) {
    boolean persistent = random.nextBoolean();
    int count = 1 + random.nextInt(4);
    return new Command.Publish(
        peer, h.nextCorrelation(), to, persistent ? number + 1 : 0, count, bytes(random, count));
  }

  private Command.Bytes bytes(Random random, int count) {
    ByteBuffer all = ByteBuffer.allocate(1 << 16);
    for (int i = 0; i < count; i++) {
      long live = random.nextInt(3) == 0 ? 1 + random.nextInt(3_000) : 0;
      long delay = random.nextInt(4) == 0 ? random.nextInt(20_000_000) : 0;
      delay = random.nextBoolean() ? Math.min(delay, 2_000) : delay;
      String text = "k" + random.nextInt(3) + "#" + "x".repeat(random.nextInt(1_500));
      all.put(h.bytes(random.nextBoolean(), live, delay, text).buffer());
    }
    return h.bytes(all.flip());
  }

  private Command.Commit commit(Random random, long[] destinations) {
    List<Command.StagedRun> runs = new ArrayList<>();
    for (int i = random.nextInt(4); i > 0; i--) {
      int count = 1 + random.nextInt(3);
      long to = random.nextInt(20) == 0 ? 9_999 : destinations[random.nextInt(destinations.length)];
      runs.add(new Command.StagedRun(to, random.nextBoolean(), count, bytes(random, count)));
    }
    List<Command.Acked> acked = new ArrayList<>();
    List<Received> got = peer.received;
    for (int i = random.nextInt(3); i > 0 && !got.isEmpty(); i--) {
      Received one = got.remove(random.nextInt(got.size()));
      acked.add(new Command.Acked(one.consumerId(), one.destinationId(), List.of(one.range())));
    }
    return new Command.Commit(peer, h.nextCorrelation(), 1, number + 1, runs, acked);
  }

  private void publish(Command.Publish command) {
    PeerSession session = ((Sessions) field(parts(), "sessions")).find(peer);
    boolean delayed =
        parts().placing().check(session, command.count(), command.messages().buffer()).delayed();
    LoneRuns runs = (LoneRuns) field((Intake) field(parts(), "intake"), "runs");
    changesNothing(
        delayed ? Planned.DELAYED_RUN : Planned.RUN,
        () -> runs.plan(session, session.link(), command));
    h.broker.submit(command);
    number = Math.max(number, command.number());
  }

  private void commit(Command.Commit command) {
    PeerSession session = ((Sessions) field(parts(), "sessions")).find(peer);
    Transactions transactions =
        (Transactions) field(((Intake) field(parts(), "intake")), "transactions");
    changesNothing(Planned.COMMIT, () -> transactions.plan(session, session.link(), command));
    h.broker.submit(command);
    number = command.number();
  }

  /** All that came from the queue with few attempts fails. */
  private void fail() {
    List<Received> failed = new ArrayList<>(peer.received);
    failed.removeIf(each -> each.consumerId() != CONSUMERS);
    peer.received.removeAll(failed);
    for (Received one : failed) {
      h.broker.submit(
          new Command.Return(
              peer,
              0,
              List.of(new Command.Acked(CONSUMERS, one.destinationId(), List.of(one.range()))),
              true,
              null));
    }
  }

  @Test
  void whatIsPlannedOnARandomStateChangesNothing() throws Exception {
    for (long seed = 1; seed <= 4; seed++) {
      h = new BrokerHarness(seed);
      number = 0;
      live(seed);
    }
    assertThat(planned).containsKeys(Planned.values());
  }

  /**
   * Some clients live with a broker, of which the first two have little heap for what they name.
   */
  private void live(long seed) throws Exception {
    Random random = new Random(seed);
    h.landings(Watching::new);
    h.keepTime = true;
    h.settings = BrokerHarness.settings(64 << 10, 1 << 17, seed % 2 == 0 ? 24 << 10 : 1 << 20, 0);
    h.settings = h.settings.with(h.settings.memory().withNamedBytes(1 << 20));
    h.open();
    if (seed < 3) {
      fillNamed(60_000);
    }
    peer = h.attach(new UUID(1, seed), 1, 1, "reader");
    long[] destinations = {h.producer(peer, QUEUE), h.producer(peer, POISON), 0};
    destinations[2] = h.consumer(peer, 1, TOPIC, Subscribe.DURABLE, "all");
    h.tryConsumer(peer, 2, TOPIC, Subscribe.PLAIN, null, "key = 'k1'", false);
    h.tryConsumer(peer, 3, TOPIC, Subscribe.DURABLE, "some", "key <> 'k2'", false);
    h.consumer(peer, 4, QUEUE, Subscribe.QUEUE, null);
    h.consumer(peer, 5, POISON, Subscribe.QUEUE, null);
    h.admin("destination.set", Map.of("name", "q", "expiry", "gone"));
    for (int step = 0; step < 150; step++) {
      switch (random.nextInt(9)) {
        case 0, 1, 2 ->
            h.loops.within(
                "shard",
                () -> publish(run(random, destinations[random.nextInt(destinations.length)])));
        case 3, 4 -> h.loops.within("shard", () -> commit(commit(random, destinations)));
        case 5 -> fail();
        case 6 -> h.admin("dead-letters.retry", Map.of());
        case 7 -> h.loops.advance(random.nextInt(2_000) * 1_000_000L);
        default ->
            h.broker.submit(
                new Command.Pull(
                    peer,
                    random.nextBoolean() ? CONSUMERS : 1 + random.nextInt(CONSUMERS),
                    h.nextCorrelation(),
                    8,
                    1 << 16,
                    0));
      }
      if (random.nextInt(3) > 0) {
        h.loops.runUntilIdle();
      }
      assertThat(h.broker.failure()).isNotDone();
      if (!peer.disconnects.isEmpty()) {
        assertThat(peer.disconnects.get(0)).contains("a refusal cannot be kept for this link");
        break;
      }
    }
    h.close();
  }

  /** Leaves so many bytes for what clients can name, and a reserve. */
  private void fillNamed(long left) throws ReflectiveOperationException {
    NamedHeap named = h.broker.state().destinations().named();
    Method add = NamedHeap.class.getDeclaredMethod("add", long.class);
    add.setAccessible(true);
    add.invoke(named, (1L << 20) * 7 / 8 - named.bytes() - left);
  }

  // ---- what a refusal leaves behind ----

  private int destinations() {
    return h.broker.state().destinations().all().size();
  }

  @Test
  void aRefusedCommitWithADelayedMessageLeavesNoHolder() throws IOException {
    h.open();
    peer = h.attach();
    long queue = h.producer(peer, QUEUE);
    int before = destinations();
    long epoch = ((Recorder) field(parts(), "recorder")).changes();
    int c = h.nextCorrelation();
    h.broker.submit(
        new Command.Commit(
            peer,
            c,
            1,
            1,
            List.of(
                new Command.StagedRun(queue, true, 1, h.bytes(true, 0, 7_200_000, "later")),
                new Command.StagedRun(9_999, true, 1, h.bytes(true, 0, "nowhere"))),
            List.of()));
    assertThat(h.receipt(peer, c)).isEqualTo(FaultCode.TRANSACTION_ROLLED_BACK);
    assertThat(destinations()).isEqualTo(before);
    assertThat(((Recorder) field(parts(), "recorder")).changes())
        .as("only the refusal")
        .isEqualTo(epoch + 1);
    h.close();
  }
}

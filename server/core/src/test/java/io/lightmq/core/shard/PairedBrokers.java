package io.lightmq.core.shard;

import io.lightmq.core.runtime.Clock;
import io.lightmq.core.runtime.Ids;
import io.lightmq.core.runtime.Loop;
import io.lightmq.core.runtime.Loops;
import io.lightmq.core.sim.PairedLog;
import io.lightmq.core.sim.SimulatedDisk;
import io.lightmq.core.sim.SimulatedLoops;
import io.lightmq.core.storage.Disk;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Two or three brokers in one simulated world on one log, of which one leads. Who does changes when
 * the history says that the broker ends: by stepping down, by losing leadership with batches under
 * way, or because its process dies. Followers lag now and then, and start again.
 */
public final class PairedBrokers {
  private final long seed;
  private final Random random;
  private final PairedLog log;
  private final List<Node> nodes = new ArrayList<>();
  private @Nullable Node leader;

  /** So often something happened, for whoever wants to know whether it does. */
  public int changes;

  public int lostWithBatches;
  public int compared;
  public int restarts;

  /** Members that close in order while others go on. */
  public int closes;

  /** What is wrong with each member's journal; a planted bug. */
  public Consumer<PairedLog.Member> planted = member -> {};

  /** Draws which members close, beside what draws all else. */
  private final Random closing;

  public PairedBrokers(long seed) {
    this.seed = seed;
    this.random = new Random(seed);
    this.closing = new Random(~seed);
    this.log = new PairedLog(seed);
  }

  private final class Node {
    final SimulatedDisk disk;
    OwnLoops loops;
    PairedLog.Member member;
    Broker broker;

    /** By link: what it has taken at most while this node led, of which it may keep some. */
    final Map<String, Long> mostNumbers = new HashMap<>();

    Node(BrokerHarness of, int number) throws IOException {
      this.disk = new SimulatedDisk(seed + number * 1_000_003L);
      start(of);
    }

    void start(BrokerHarness of) throws IOException {
      UnaryOperator<Disk> wrap = of.wrap;
      loops = new OwnLoops(of.loops);
      broker =
          Broker.begin(
              of.settings,
              wrap.apply(disk),
              loops,
              of.seams.with(
                  (JournalMaker)
                      (files, own, settings, store) -> {
                        member = log.join(own);
                        member.leaving = this::noteNumbers;
                        planted.accept(member);
                        return member;
                      }));
    }

    void noteNumbers() {
      if (broker.life() == Life.LEADING || this == leader) { // a leader may be closing
        StatePicture.of(broker.state(), 0)
            .lastNumbers()
            .forEach((link, last) -> mostNumbers.merge(link, last, Math::max));
      }
    }

    /**
     * Numbers of unlogged runs are in no record: only who has taken them knows them, and keeps them
     * when it is followed again. All else is in the log.
     */
    @Nullable String wrongNumber(Map<String, Long> logged) {
      for (Map.Entry<String, Long> each :
          StatePicture.of(broker.state(), 0).lastNumbers().entrySet()) {
        long least = logged.getOrDefault(each.getKey(), 0L);
        long most = Math.max(least, mostNumbers.getOrDefault(each.getKey(), 0L));
        if (each.getValue() < least || each.getValue() > most) {
          return each + " is not in " + least + " to " + most;
        }
      }
      return null;
    }

    /** Ends and starts again, having closed its files in order. */
    void closed(BrokerHarness of, CompletableFuture<Void> stopped) throws IOException {
      of.loops.runUntil(stopped::isDone);
      stopped.join();
      broker.finish();
      loops.crash();
      disk.kill();
      start(of);
    }

    void die(boolean power) {
      noteNumbers();
      log.leave(member);
      loops.crash();
      if (power) {
        disk.crash();
      } else {
        disk.kill();
      }
    }
  }

  /** Sees to it that some broker leads, and says which. */
  Broker open(BrokerHarness of) throws IOException {
    if (nodes.isEmpty()) {
      int count = 2 + random.nextInt(2);
      for (int i = 0; i < count; i++) {
        nodes.add(new Node(of, i));
      }
    }
    Node next = nodes.get(random.nextInt(nodes.size()));
    leader = next;
    if (random.nextBoolean()) {
      next.member.lead();
      of.loops.runUntil(() -> leads(next));
    } else {
      of.loops.runUntilIdle();
      next.member.lead();
      of.loops.runUntil(() -> leads(next) && next.member.pending() == 0);
    }
    for (Node each : nodes) {
      if (each != next) {
        each.member.lags = random.nextInt(4) == 0;
        if (!each.member.lags) {
          each.member.catchUp();
        }
      }
    }
    return next.broker;
  }

  /**
   * Whether a leadership has begun. A shard epoch does not tell: the same one begins again if its
   * record was lost with the leadership before.
   */
  private boolean leads(Node node) {
    Throwable failed = failure();
    if (failed != null) {
      throw new AssertionError("a shard has ended: " + failed, failed);
    }
    if (!node.member.hasHeardThatItLeads()) {
      return false;
    }
    if (node.broker.life() != Life.LEADING) {
      throw new AssertionError(
          "a shard was told that it leads from "
              + log.committed()
              + " on, and is "
              + node.broker.life()
              + " at "
              + node.broker.applied());
    }
    return true;
  }

  /** The leader leads no more, one way or the other. */
  void crash(BrokerHarness of, boolean power) {
    Node leaving = leader();
    changes++;
    Node leaves = closing.nextInt(3) == 0 ? nodes.get(closing.nextInt(nodes.size())) : null;
    leaving.noteNumbers();
    CompletableFuture<Void> stopped = leaves == null ? null : leaves.broker.stop();
    for (int i = leaves == null ? 0 : closing.nextInt(40); i > 0; i--) {
      of.loops.step();
    }
    int pending = leaving.member.pending();
    lostWithBatches += pending > 0 ? 1 : 0;
    leaving.member.lose(random.nextInt(pending + 1), random.nextBoolean());
    leader = null;
    for (Node each : nodes) {
      if (each == leaves && stopped != null) {
        closes++;
        restart(() -> each.closed(of, stopped));
      } else if (random.nextInt(each == leaving ? 3 : 6) == 0) {
        restarts++;
        each.die(power);
        restart(() -> each.start(of));
      }
    }
    if (random.nextBoolean()) {
      of.loops.runUntilIdle();
    }
  }

  private interface Start {
    void run() throws IOException;
  }

  private static void restart(Start start) {
    try {
      start.run();
    } catch (IOException e) {
      throw new AssertionError("a member starts again", e);
    }
  }

  /** The leader steps down in order. */
  void stepDown(BrokerHarness of) {
    changes++;
    leader().member.resign();
    leader = null;
    of.loops.runUntilIdle();
  }

  void checkpoint() {
    for (Node each : nodes) {
      if (random.nextInt(3) > 0) {
        each.broker.wantCheckpoint();
      }
    }
  }

  private Node leader() {
    Node there = leader;
    if (there == null) {
      throw new IllegalStateException("nobody leads");
    }
    return there;
  }

  /** What the state of a follower has otherwise than the leader's at the same offset, or null. */
  @Nullable String differs() {
    Node leading = leader;
    if (leading == null) {
      return null;
    }
    if (leading.member.pending() > 0 || !leading.broker.isWritten()) {
      return null;
    }
    leading.noteNumbers();
    StatePicture leads = StatePicture.of(leading.broker.state(), log.committed());
    Map<String, Long> logged = StatePicture.of(ReplayedState.of(log).state(), 0).lastNumbers();
    String wrong = leading.wrongNumber(logged);
    for (Node each : nodes) {
      if (wrong == null && each != leading && each.broker.applied() == log.committed()) {
        compared++;
        wrong =
            leads.firstDifferenceBesideNumbers(
                StatePicture.of(each.broker.state(), log.committed()));
        wrong = wrong == null ? each.wrongNumber(logged) : wrong;
      }
    }
    return wrong;
  }

  /** Why one of them has ended, or null. */
  public @Nullable Throwable failure() {
    for (Node each : nodes) {
      if (each.broker.failure().isDone()) {
        return each.broker.failure().join();
      }
    }
    return null;
  }

  /** Loops of one process among those of all. */
  private static final class OwnLoops implements Loops {
    private final SimulatedLoops all;
    private final List<Loop> own = new ArrayList<>();

    OwnLoops(SimulatedLoops all) {
      this.all = all;
    }

    @Override
    public Loop open(String name) {
      Loop loop = all.open(name);
      own.add(loop);
      return loop;
    }

    @Override
    public Clock clock() {
      return all.clock();
    }

    @Override
    public Ids ids() {
      return all.ids();
    }

    @Override
    public void run(Loop loop, Runnable task) {
      all.run(loop, task);
    }

    void crash() {
      all.crash(own);
    }

    @Override
    public void close() {}
  }
}

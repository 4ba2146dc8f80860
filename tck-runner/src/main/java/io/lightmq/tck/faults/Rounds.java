package io.lightmq.tck.faults;

import io.lightmq.samples.broker.BrokerMetrics;
import io.lightmq.samples.broker.BrokerProcess;
import io.lightmq.samples.broker.BrokerSetup;
import jakarta.jms.JMSException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Round after round of load, fault, restart and check, over the same data and the same clients.
 *
 * <p>A subclass says what the fault is.
 */
abstract class Rounds {

  private static final int MIN_RECEIPTS = 200;
  private static final long RECEIPTS_LIMIT_MILLIS = 60_000;
  private static final int LOAD_MILLIS = 400;
  private static final int QUIET_MILLIS = 300;
  private static final long AFTERMATH_MILLIS = 100;
  private static final long LOOK_MILLIS = 2;

  /** The metrics are some seconds old. */
  private static final long BACKLOG_LIMIT_MILLIS = 10_000;

  private final BrokerSetup setup;
  private final EventLog events;
  private final Random random;
  private int fired;

  Rounds(BrokerSetup setup, EventLog events, long seed) {
    this.setup = setup;
    this.events = events;
    this.random = new Random(seed);
  }

  /** Takes the broker down; it must be dead when this returns. */
  abstract void fault(BrokerProcess broker, int round)
      throws HarnessException, IOException, InterruptedException;

  /** Whether the fault of this round comes without any traffic, shortly after the last receipt. */
  abstract boolean isQuiet(int round);

  /** So many rounds; stops after the first in which a promise was broken. */
  final Verdict run(int rounds)
      throws HarnessException, IOException, InterruptedException, JMSException {
    BrokerProcess broker = BrokerProcess.start(setup);
    try (Load load = new Load(setup.uri("initialReconnectAttempts=20"), events)) {
      for (int round = 1; round <= rounds; round++) {
        Outcome outcome = round(load, broker, round);
        broker = outcome.broker();
        if (!outcome.check().violations().isEmpty()) {
          return verdict(round, outcome.check().confirmed(), outcome.check().violations());
        }
      }
      return finish(load, rounds);
    } finally {
      broker.kill();
    }
  }

  private Verdict verdict(int rounds, long confirmed, List<String> violations) {
    violations.forEach(text -> System.out.println("  BROKEN: " + text));
    return new Verdict(rounds, fired, confirmed, violations.size());
  }

  private Verdict finish(Load load, int rounds)
      throws HarnessException, IOException, InterruptedException, JMSException {
    List<String> violations = new ArrayList<>(load.finish().violations());
    long deadline = System.nanoTime() + BACKLOG_LIMIT_MILLIS * 1_000_000;
    List<String> left = FinalDrain.leftOver(BrokerMetrics.of(setup), load.targets());
    while (!left.isEmpty() && System.nanoTime() < deadline) {
      Thread.sleep(AFTERMATH_MILLIS);
      left = FinalDrain.leftOver(BrokerMetrics.of(setup), load.targets());
    }
    violations.addAll(left);
    System.out.printf(
        "final drain: again %,d  backlog of %d destinations %s  broken %d%n",
        load.repeated(), load.targets().size(), left.isEmpty() ? "0" : "not 0", violations.size());
    return verdict(rounds, load.receipts(), violations);
  }

  private Outcome round(Load load, BrokerProcess broker, int round)
      throws HarnessException, IOException, InterruptedException {
    long before = load.receipts();
    load.run();
    awaitReceipts(load, before + MIN_RECEIPTS, "before the fault");
    Thread.sleep(random.nextInt(LOAD_MILLIS));
    boolean quiet = isQuiet(round);
    if (quiet) {
      load.pauseAll();
      long waitMillis = random.nextInt(QUIET_MILLIS) - load.millisSinceReceipt();
      Thread.sleep(Math.max(0, waitMillis));
    }
    long open = load.open();
    long sinceMillis = load.millisSinceReceipt();
    long receipts = load.receipts() - before;
    if (!broker.isAlive()) {
      throw new HarnessException("the broker died before the fault:\n" + broker.tail());
    }
    events.note("round %d: fault, %d receipts, %d sends open", round, receipts, open);
    fault(broker, round);
    if (broker.isAlive()) {
      throw new HarnessException("the fault did not fire: the broker lives");
    }
    fired++;
    if (!quiet && open == 0) {
      throw new HarnessException("no send was open at the fault of a round under load");
    }
    BrokerProcess next = BrokerProcess.start(setup);
    events.note("round %d: ready again", round);
    load.run();
    awaitReceipts(load, load.receipts() + 1, "after the restart");
    load.pauseSenders();
    Check check = load.drain();
    if (!load.deaths().isEmpty()) {
      throw new HarnessException(load.deaths().toString());
    }
    System.out.printf(
        "round %3d %s: receipts %,6d  open %,4d  last receipt %,4d ms before  restart %,5d ms "
            + " confirmed %,9d  unknown %,5d  again %,6d  flagged first %,6d  overtaken %,4d  lost"
            + " %d  broken %d%n",
        round,
        quiet ? "quiet" : "load ",
        receipts,
        open,
        sinceMillis,
        next.startMillis(),
        check.confirmed(),
        check.unknown(),
        load.repeated(),
        load.flaggedFirst(),
        load.overtaken(),
        check.lost(),
        check.violations().size());
    return new Outcome(next, check);
  }

  /** Lets a broker that lost its disk say something wrong, if it is going to. */
  final void awaitAftermath() throws InterruptedException {
    Thread.sleep(AFTERMATH_MILLIS);
  }

  final Random random() {
    return random;
  }

  private void awaitReceipts(Load load, long wanted, String when)
      throws HarnessException, InterruptedException {
    long deadline = System.nanoTime() + RECEIPTS_LIMIT_MILLIS * 1_000_000;
    while (load.receipts() < wanted) {
      if (System.nanoTime() > deadline) {
        throw new HarnessException(
            "too few receipts %s: %,d are missing after %,d s %s"
                .formatted(
                    when, wanted - load.receipts(), RECEIPTS_LIMIT_MILLIS / 1000, load.deaths()));
      }
      Thread.sleep(LOOK_MILLIS);
    }
  }

  /**
   * The end of one round.
   *
   * @param broker the broker that runs now
   * @param check the comparison after everything had come
   */
  private record Outcome(BrokerProcess broker, Check check) {}
}

package io.lightmq.tck.faults;

import io.lightmq.client.LightmqConnectionFactory;
import io.lightmq.samples.broker.BrokerMetrics;
import io.lightmq.samples.broker.BrokerProcess;
import io.lightmq.samples.broker.BrokerSetup;
import io.lightmq.wire.FrameType;
import jakarta.jms.Connection;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.Session;
import jakarta.jms.TextMessage;
import jakarta.jms.XAConnection;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import javax.transaction.xa.XAException;
import javax.transaction.xa.XAResource;
import javax.transaction.xa.Xid;
import org.jspecify.annotations.Nullable;

/**
 * Distributed transactions over the broker and a second one, with a crash in each: of the broker
 * (killed, or its disk has lost its power), of the transaction manager, or of both. A round is one
 * crash at each point of {@link XaCrash}. Behind each crash the manager recovers, and then the
 * transaction has happened everywhere or nowhere.
 */
final class XaRounds {
  private static final int FEW_BYTES = 1_000;

  /** With these a transaction does not fit into one frame: a part is sent ahead. */
  private static final int MANY_OUTPUTS = 24;

  private static final int MANY_BYTES = 64 << 10;

  private static final long HELD_LIMIT_MILLIS = 30_000;
  private static final long WAIT_MILLIS = 20_000;
  private static final long SILENCE_MILLIS = 250;
  private static final long COUNTED_MILLIS = 1_500;
  private static final long AFTERMATH_MILLIS = 100;
  private static final long LATE_MILLIS = 200;

  /** Most processes live for one crash: what they would compile for later is of no use. */
  private static final String[] SHORT_LIVED = {"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"};

  /** A client that starts beside others may be slow. */
  private static final String CONFIGURATION = "[limits]\nhandshake-millis = 60000\n";

  private static final String OPTIONS = "?initialReconnectDelay=20&maxReconnectDelay=300";

  private final BrokerSetup setup;
  private final BrokerSetup other;
  private final @Nullable LoopDisk disk;
  private final Random random;
  private final boolean forgetful;
  private final Path log;
  private final FrameLine line;
  private final Findings findings = new Findings();
  private final Map<XaCrash, int[]> outcomes = new EnumMap<>(XaCrash.class);
  private final Map<String, Integer> codes = new TreeMap<>();
  private BrokerProcess broker;
  private XaProcess manager;
  private int transaction;
  private int crashes;
  private int cuts;
  private int answersLost;
  private int recovered;
  private int committed;

  private XaRounds(
      BrokerSetup setup,
      BrokerSetup other,
      @Nullable LoopDisk disk,
      FrameLine line,
      BrokerProcess broker,
      long seed,
      boolean forgetful)
      throws IOException, InterruptedException, HarnessException {
    this.setup = setup;
    this.other = other;
    this.disk = disk;
    this.line = line;
    this.broker = broker;
    this.random = new Random(seed);
    this.forgetful = forgetful;
    this.log = other.work().resolve("manager.log");
    this.manager = startManager();
  }

  /**
   * So many rounds; the word {@code forgetful} behind the seed plants a manager without a memory.
   *
   * @param disk what loses its power instead of a kill; null for kills
   */
  static Verdict run(Call call, BrokerSetup given, @Nullable LoopDisk disk)
      throws HarnessException, IOException, JMSException, InterruptedException {
    BrokerSetup setup = given.withJavaOptions(SHORT_LIVED).withConfiguration(CONFIGURATION);
    int rounds = call.number(0, 5);
    long seed = call.seed(1);
    boolean forgetful =
        call.arguments().size() > 2 && call.arguments().get(2).equals(XaManager.FORGETFUL);
    BrokerSetup other =
        BrokerSetup.in(Files.createDirectories(call.setup().work().resolve("ledger")))
            .withJavaOptions(SHORT_LIVED)
            .withConfiguration(CONFIGURATION);
    try (BrokerProcess second = BrokerProcess.start(other);
        FrameLine line = new FrameLine(setup.port())) {
      XaRounds all =
          new XaRounds(setup, other, disk, line, BrokerProcess.start(setup), seed, forgetful);
      try {
        return all.run(rounds);
      } finally {
        all.manager.kill();
        all.broker.kill();
      }
    }
  }

  private Verdict run(int rounds)
      throws HarnessException, IOException, JMSException, InterruptedException {
    int round = 0;
    while (round < rounds && findings.broken() == 0) {
      round++;
      for (XaCrash point : XaCrash.values()) {
        if (findings.broken() == 0) {
          crashOrGiveUp(point, round);
        }
      }
      System.out.printf(
          "round %d: %d crashes, %d power cuts, %d answers lost, %d transactions committed, %d"
              + " rolled back, recovery found %d branches%n",
          round, crashes, cuts, answersLost, committed, transaction - committed, recovered);
    }
    finish();
    return findings.verdict(round, crashes, transaction);
  }

  private XaProcess startManager() throws IOException, InterruptedException, HarnessException {
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "lightmq://127.0.0.1:" + line.port() + OPTIONS,
                other.uri(OPTIONS.substring(1)),
                log.toString()));
    if (forgetful) {
      arguments.add(XaManager.FORGETFUL);
    }
    return XaProcess.start(other.work().resolve("manager.err"), arguments);
  }

  // ---- one crash ----

  /** A manager that ends by itself was told something that it must never be told. */
  private void crashOrGiveUp(XaCrash point, int round)
      throws HarnessException, IOException, JMSException, InterruptedException {
    try {
      crash(point, round);
    } catch (HarnessException e) {
      if (manager.isAlive()) {
        throw e;
      }
      findings.require(
          false, "round %d, %s: %s; codes %s", round, point.text(), e, manager.takeCodes());
    }
  }

  private void crash(XaCrash point, int round)
      throws HarnessException, IOException, JMSException, InterruptedException {
    transaction++;
    sendOrder();
    boolean large = random.nextInt(3) == 0;
    int outputs = large ? MANY_OUTPUTS : 1 + random.nextInt(3);
    manager.tell(
        XaManager.WORK
            + transaction
            + " "
            + outputs
            + " "
            + (large ? MANY_BYTES + random.nextInt(1_000) : FEW_BYTES));
    manager.goTo(point.losesAnswers() ? XaManager.Step.WORKED : point.step());
    if (point.losesAnswers()) {
      loseAnswer();
      manager.goTo(XaManager.Step.DECIDED);
      loseAnswer();
      manager.goTo(point.step());
    }
    FrameType held = point.held();
    if (held != null) {
      line.hold(held);
      manager.tell(XaManager.GO);
      line.awaitHeld(HELD_LIMIT_MILLIS);
    }
    die(point);
    crashes++;
    if (point.managerDies()) {
      manager = startManager();
    } else if (held != null || point.step() != XaManager.Step.COMMITTED) {
      note(point, held == null ? manager.goToEnd() : manager.untilEnd());
    }
    recover();
    check(point, round, outputs);
  }

  private void loseAnswer() throws IOException, InterruptedException, HarnessException {
    line.hold(FrameType.RECEIPTS);
    manager.tell(XaManager.GO);
    line.awaitHeld(HELD_LIMIT_MILLIS);
    line.drop();
    answersLost++;
  }

  /** The manager first or last; what is on its way then gets lost, or arrives when all are dead. */
  private void die(XaCrash point) throws HarnessException, IOException, InterruptedException {
    boolean managerFirst = random.nextBoolean();
    if (point.managerDies() && managerFirst) {
      manager.kill();
    }
    if (point.brokerDies()) {
      endBroker();
    }
    if (point.managerDies() && !managerFirst) {
      manager.kill();
    }
    if (point.brokerDies() || random.nextBoolean()) {
      line.drop();
    } else {
      line.release();
      Thread.sleep(LATE_MILLIS);
    }
    if (point.brokerDies()) {
      broker = BrokerProcess.start(setup);
    }
  }

  private void endBroker() throws HarnessException, IOException, InterruptedException {
    if (!broker.isAlive()) {
      throw new HarnessException("the broker died before the fault:\n" + broker.tail());
    }
    if (disk == null) {
      broker.kill();
      return;
    }
    disk.cutPower(random.nextInt(4) == 0);
    Thread.sleep(AFTERMATH_MILLIS);
    broker.kill();
    disk.unmount();
    disk.mount();
    cuts++;
  }

  private void note(XaCrash point, String end) throws IOException {
    boolean decided = XaLog.decided(log).contains(transaction);
    if (end.equals("committed") != decided) {
      findings.require(false, "%s: the manager says '%s', its log the contrary", point.text(), end);
    }
  }

  /** Until a scan of both resources finds nothing any more. */
  private void recover() throws IOException, InterruptedException, HarnessException {
    int found;
    long limitNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(WAIT_MILLIS);
    do {
      manager.tell(XaManager.RECOVER);
      found = Integer.parseInt(manager.await(XaManager.RECOVERED));
      recovered += found;
    } while (found > 0 && System.nanoTime() - limitNanos < 0);
    for (String code : manager.takeCodes()) {
      String[] words = code.split(" ", 4);
      codes.merge(words[0] + " " + words[2], 1, Integer::sum);
      if (!XaCodes.isOfFault(words[0], words[2])) {
        findings.require(false, "transaction %d: a wrong code: %s", transaction, code);
      }
    }
  }

  // ---- what came of it ----

  private void sendOrder() throws JMSException {
    try (Connection connection = new LightmqConnectionFactory(setup.uri()).createConnection();
        Session session = connection.createSession()) {
      TextMessage order = session.createTextMessage("order " + transaction);
      order.setIntProperty(XaManager.ORDER, transaction);
      session.createProducer(session.createQueue(XaManager.ORDERS)).send(order);
    }
  }

  private void check(XaCrash point, int round, int outputs) throws IOException, JMSException {
    boolean decided = XaLog.decided(log).contains(transaction);
    Came ledger = take(other, XaManager.LEDGER, decided ? 1 : 0);
    Came output = take(setup, XaManager.OUTPUTS, decided ? outputs : 0);
    Came order = take(setup, XaManager.ORDERS, decided ? 0 : 1);
    List<String> inDoubt = new ArrayList<>();
    inDoubt.addAll(inDoubt(setup));
    inDoubt.addAll(inDoubt(other));
    XaOutcome outcome =
        new XaOutcome(
            decided,
            outputs,
            output.count(),
            ledger.count(),
            order.count(),
            order.unflagged(),
            inDoubt);
    committed += decided ? 1 : 0;
    outcomes.computeIfAbsent(point, any -> new int[2])[decided ? 0 : 1]++;
    for (String violation : outcome.violations()) {
      findings.require(
          false, "round %d, transaction %d, %s: %s", round, transaction, point.text(), violation);
    }
  }

  /**
   * Messages that came from a queue.
   *
   * @param count how many of this transaction; one of another counts as a hundred
   * @param unflagged how many of them were flagged as given for the first time
   */
  private record Came(int count, int unflagged) {}

  /** Waits for what is wanted, and a moment for what is too much. */
  private Came take(BrokerSetup from, String queue, int wanted) throws JMSException {
    try (Connection connection = new LightmqConnectionFactory(from.uri()).createConnection();
        Session session = connection.createSession();
        MessageConsumer consumer = session.createConsumer(session.createQueue(queue))) {
      connection.start();
      int count = 0;
      int unflagged = 0;
      Message message = consumer.receive(wanted > 0 ? WAIT_MILLIS : SILENCE_MILLIS);
      while (message != null) {
        count += message.getIntProperty(XaManager.ORDER) == transaction ? 1 : 100;
        unflagged += message.getJMSRedelivered() ? 0 : 1;
        message = consumer.receive(count < wanted ? WAIT_MILLIS : SILENCE_MILLIS);
      }
      return new Came(count, unflagged);
    }
  }

  private static List<String> inDoubt(BrokerSetup of) throws JMSException {
    try (XAConnection connection = new LightmqConnectionFactory(of.uri()).createXAConnection()) {
      List<String> found = new ArrayList<>();
      for (Xid xid :
          connection
              .createXASession()
              .getXAResource()
              .recover(XAResource.TMSTARTRSCAN | XAResource.TMENDRSCAN)) {
        found.add(String.valueOf(XaName.of(xid)));
      }
      return found;
    } catch (XAException e) {
      return List.of("recover says " + XaCodes.name(e.errorCode) + " " + e.getMessage());
    }
  }

  private void finish() throws IOException, InterruptedException {
    Thread.sleep(COUNTED_MILLIS); // the brokers count once a second
    List<String> left = new ArrayList<>();
    left.addAll(
        FinalDrain.leftOver(BrokerMetrics.of(setup), List.of(XaManager.ORDERS, XaManager.OUTPUTS)));
    left.addAll(FinalDrain.leftOver(BrokerMetrics.of(other), List.of(XaManager.LEDGER)));
    for (BrokerSetup each : List.of(setup, other)) {
      double dead = BrokerMetrics.of(each).sum("lightmq_backlog_messages", "\"DLQ\"");
      if (dead > 0) {
        left.add("%,.0f dead letters".formatted(dead));
      }
    }
    findings.require(left.isEmpty(), "nothing is left in the end %s", left);
    Set<XaCrash> hit = outcomes.keySet();
    for (XaCrash point : hit) {
      int[] both = outcomes.getOrDefault(point, new int[2]);
      findings.note("%-26s %3d committed, %3d rolled back", point.text(), both[0], both[1]);
    }
    findings.note("codes: %s", codes);
  }
}

package io.lightmq.tck.faults;

import io.lightmq.client.LightmqConnectionFactory;
import io.lightmq.samples.broker.BrokerMetrics;
import io.lightmq.samples.broker.BrokerProcess;
import io.lightmq.samples.broker.BrokerSetup;
import jakarta.jms.Connection;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.Session;
import java.io.IOException;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/**
 * Local transactions of a million messages, sent and received, with a small heap on both sides:
 * committed, rolled back, and with a kill of the broker in the midst of each. All or nothing of
 * each is there, in order and once, and the disk has its room back. The kills are the faults.
 */
final class LongTransactions {
  private static final String QUEUE = "long.transactions";
  private static final String BROKER_HEAP = "-Xmx256m";
  private static final String CLIENT_HEAP = "-Xmx128m";

  /** A client that starts beside others may be slow. */
  private static final String CONFIGURATION =
      """
      [limits]
      handshake-millis = 60000
      staged-transaction = "2GiB"
      """;

  private static final int BYTES = 1_024;
  private static final long LIMIT_SECONDS = 900;
  private static final long WAIT_MILLIS = 60_000;
  private static final long SILENCE_MILLIS = 1_000;
  private static final long SHRINK_LIMIT_MILLIS = 120_000;
  private static final long LOOK_MILLIS = 500;
  private static final long COUNTED_MILLIS = 1_500;

  private final BrokerSetup setup;
  private final int messages;
  private final Random random;
  private final Findings findings = new Findings();
  private BrokerProcess broker;
  private TalkingProcess client;
  private long diskAtStart;
  private long commitMillis;
  private long rollbackMillis;
  private int kills;
  private long confirmed;

  private LongTransactions(BrokerSetup setup, BrokerProcess broker, int messages, long seed)
      throws IOException, InterruptedException, HarnessException {
    this.setup = setup;
    this.broker = broker;
    this.messages = messages;
    this.random = new Random(seed);
    this.client = startClient();
    this.diskAtStart = DataFiles.variableBytes(setup.data());
  }

  static Verdict run(Call call)
      throws JMSException, IOException, InterruptedException, HarnessException {
    int rounds = call.number(0, 1);
    int messages = call.number(1, 1_000_000);
    long seed = call.seed(2);
    BrokerSetup setup = call.setup().withJavaOptions(BROKER_HEAP).withConfiguration(CONFIGURATION);
    LongTransactions all = new LongTransactions(setup, BrokerProcess.start(setup), messages, seed);
    try {
      int round = 0;
      while (round < rounds && all.findings.broken() == 0) {
        round++;
        all.round();
      }
      return all.findings.verdict(round, all.kills, all.confirmed);
    } finally {
      all.client.kill();
      all.broker.kill();
    }
  }

  private TalkingProcess startClient() throws IOException, InterruptedException, HarnessException {
    TalkingProcess started =
        TalkingProcess.start(
            setup.work().resolve("client.err"),
            BulkTransactions.class,
            List.of(CLIENT_HEAP),
            List.of(setup.uri("initialReconnectDelay=20", "maxReconnectDelay=300"), QUEUE));
    String said = started.next(LIMIT_SECONDS);
    if (!said.equals(BulkTransactions.READY)) {
      throw new HarnessException("the client says " + said);
    }
    return started;
  }

  private interface Step {
    void run() throws JMSException, IOException, InterruptedException, HarnessException;
  }

  private void round() throws JMSException, IOException, InterruptedException, HarnessException {
    for (Step step :
        List.<Step>of(
            this::sentAndCommitted,
            this::sentAndRolledBack,
            this::killedWhileSending,
            () -> killedAtTheEnd(BulkTransactions.ROLLBACK, rollbackMillis),
            () -> killedAtTheEnd(BulkTransactions.COMMIT, commitMillis),
            this::receivedAndRolledBack,
            this::killedWhileReceivingIsCommitted)) {
      if (findings.broken() == 0) {
        step.run();
      }
    }
  }

  // ---- what the client does ----

  private String answer() throws InterruptedException, HarnessException {
    String line = client.next(LIMIT_SECONDS);
    while (line.startsWith(BulkTransactions.SO_FAR)) {
      line = client.next(LIMIT_SECONDS);
    }
    return line;
  }

  /** Has it do something, which succeeds; how long that took. */
  private long does(String verb, int count)
      throws IOException, InterruptedException, HarnessException {
    long began = System.nanoTime();
    client.tell(verb + " " + count);
    String line = answer();
    long millis = millisSince(began);
    findings.require(
        line.equals(BulkTransactions.DONE + verb),
        "%s %,d: %s after %,d ms",
        verb,
        count,
        line,
        millis);
    return millis;
  }

  private static long millisSince(long nanos) {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - nanos);
  }

  private void figures(String when) throws HarnessException, IOException, InterruptedException {
    findings.note(
        "%s: broker %s; client: heap after GC %,d KiB; disk %,d KiB beside the journal",
        when,
        ProcessFigures.afterCollection(broker),
        ProcessFigures.liveHeap(client.pid()) >> 10,
        DataFiles.variableBytes(setup.data()) >> 10);
  }

  // ---- steps ----

  private void sentAndCommitted()
      throws JMSException, IOException, InterruptedException, HarnessException {
    does(BulkTransactions.SEND, messages);
    figures("sent, not committed");
    drain("before the commit", 0);
    commitMillis = does(BulkTransactions.COMMIT, 0);
    confirmed += messages;
    figures("committed");
    drain("behind the commit", messages);
    roomAgain("committed and consumed");
  }

  private void sentAndRolledBack()
      throws JMSException, IOException, InterruptedException, HarnessException {
    does(BulkTransactions.SEND, messages);
    rollbackMillis = does(BulkTransactions.ROLLBACK, 0);
    drain("behind the rollback", 0);
    roomAgain("rolled back");
  }

  private void killedWhileSending()
      throws JMSException, IOException, InterruptedException, HarnessException {
    client.tell(BulkTransactions.SEND + " " + messages);
    long half = messages / 3L + random.nextInt(messages / 3);
    String line = client.next(LIMIT_SECONDS);
    while (line.startsWith(BulkTransactions.SO_FAR)
        && Long.parseLong(line.substring(BulkTransactions.SO_FAR.length())) < half) {
      line = client.next(LIMIT_SECONDS);
    }
    kill();
    String sent = line.startsWith(BulkTransactions.SO_FAR) ? answer() : line;
    client.tell(BulkTransactions.COMMIT);
    String end = answer();
    findings.require(
        (sent + end).contains("TransactionRolledBack"),
        "killed after %s: the send ends with '%s', the commit with '%s'",
        line,
        sent,
        end);
    if (end.startsWith(BulkTransactions.FAILED)) {
      does(BulkTransactions.ROLLBACK, 0);
    }
    drain("behind a kill while it was sent", 0);
    roomAgain("killed while it was sent");
  }

  /** Somewhere between the request and its answer, and a little behind. */
  private void killedAtTheEnd(String verb, long millis)
      throws JMSException, IOException, InterruptedException, HarnessException {
    does(BulkTransactions.SEND, messages);
    client.tell(verb);
    Thread.sleep(random.nextInt((int) Math.min(5_000, millis + 10)));
    boolean open = client.peek() == null;
    kill();
    String end = answer();
    findings.note("killed with the %s %s: '%s'", verb, open ? "open" : "answered", end);
    boolean done = end.startsWith(BulkTransactions.DONE);
    if (!done) {
      does(BulkTransactions.ROLLBACK, 0);
    }
    if (verb.equals(BulkTransactions.ROLLBACK)) {
      drain("behind a kill at the rollback", 0);
    } else if (done || end.contains("TransactionRolledBack")) {
      confirmed += done ? messages : 0;
      drain("behind a kill at the commit", done ? messages : 0);
    } else {
      allOrNothing("behind a commit with an unknown outcome");
    }
    roomAgain("killed at the " + verb);
  }

  private void receivedAndRolledBack()
      throws JMSException, IOException, InterruptedException, HarnessException {
    does(BulkTransactions.SEND, messages);
    does(BulkTransactions.COMMIT, 0);
    confirmed += messages;
    does(BulkTransactions.RECEIVE, messages);
    figures("received, not committed");
    does(BulkTransactions.ROLLBACK, 0);
  }

  /** They are there from the step before. */
  private void killedWhileReceivingIsCommitted()
      throws JMSException, IOException, InterruptedException, HarnessException {
    does(BulkTransactions.RECEIVE, messages);
    client.tell(BulkTransactions.COMMIT);
    Thread.sleep(random.nextInt(50));
    boolean open = client.peek() == null;
    kill();
    String end = answer();
    findings.note("received, killed with the commit %s: '%s'", open ? "open" : "answered", end);
    boolean done = end.startsWith(BulkTransactions.DONE);
    if (!done) {
      does(BulkTransactions.ROLLBACK, 0);
    }
    if (done || end.contains("TransactionRolledBack")) {
      drain("behind a kill at the commit of what was received", done ? 0 : messages);
    } else {
      allOrNothing("behind a commit with an unknown outcome");
    }
    roomAgain("received");
  }

  private void kill() throws IOException, InterruptedException {
    broker.kill();
    kills++;
    long began = System.nanoTime();
    broker = BrokerProcess.start(setup);
    findings.note("killed; ready again after %,d ms", millisSince(began));
  }

  // ---- looking ----

  /** Takes all that comes: so many, in order, each once; no more. */
  private void drain(String when, int wanted)
      throws JMSException, IOException, InterruptedException {
    long began = System.nanoTime();
    int came = take(wanted);
    findings.require(
        came == wanted, "%s: %,d of %,d came, %,d ms", when, came, wanted, millisSince(began));
    nothingLeft(when);
  }

  private void allOrNothing(String when) throws JMSException, IOException, InterruptedException {
    int came = take(1);
    if (came == 1) {
      came += take(messages - 1, 1);
      confirmed += messages;
    }
    findings.require(came == 0 || came == messages, "%s: %,d came", when, came);
    nothingLeft(when);
  }

  private int take(int wanted) throws JMSException {
    return take(wanted, 0);
  }

  /** How many came; one that is not the next ends it with a broken promise. */
  private int take(int wanted, int from) throws JMSException {
    try (Connection connection = new LightmqConnectionFactory(setup.uri()).createConnection();
        Session session = connection.createSession(Session.DUPS_OK_ACKNOWLEDGE);
        MessageConsumer consumer = session.createConsumer(session.createQueue(QUEUE))) {
      connection.start();
      int came = 0;
      Message message = consumer.receive(wanted > 0 ? WAIT_MILLIS : SILENCE_MILLIS);
      while (message != null) {
        int number = message.getIntProperty(BulkTransactions.NUMBER);
        if (number != from + came) {
          findings.require(false, "%,d came where %,d was due", number, from + came);
          return came;
        }
        came++;
        message = consumer.receive(came < wanted ? WAIT_MILLIS : SILENCE_MILLIS);
      }
      return came;
    }
  }

  private void nothingLeft(String when) throws IOException, InterruptedException {
    Thread.sleep(COUNTED_MILLIS); // the broker counts once a second
    double left = BrokerMetrics.of(setup).sum("lightmq_backlog_messages", '"' + QUEUE + '"');
    findings.require(left == 0, "%s: the broker counts %,.0f messages", when, left);
  }

  /** What is not preallocated goes back to a tenth of what was sent. */
  private void roomAgain(String when) throws IOException, InterruptedException {
    long began = System.nanoTime();
    long most = diskAtStart + (long) messages * BYTES / 10 + (16 << 20);
    long bytes = DataFiles.variableBytes(setup.data());
    while (bytes > most && millisSince(began) < SHRINK_LIMIT_MILLIS) {
      Thread.sleep(LOOK_MILLIS);
      bytes = DataFiles.variableBytes(setup.data());
    }
    findings.require(
        bytes <= most,
        "%s: disk %,d KiB beside the journal, of %,d, after %,d ms",
        when,
        bytes >> 10,
        most >> 10,
        millisSince(began));
  }
}

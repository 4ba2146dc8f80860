package io.lightmq.tck.faults;

import io.lightmq.client.LightmqConnectionFactory;
import io.lightmq.samples.Usage;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageProducer;
import jakarta.jms.TextMessage;
import jakarta.jms.XAConnection;
import jakarta.jms.XASession;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.transaction.xa.XAException;
import javax.transaction.xa.XAResource;
import javax.transaction.xa.Xid;
import org.jspecify.annotations.Nullable;

/**
 * A transaction manager in a process of its own, with two resources: the broker under test, and a
 * second broker, which is left in peace. It takes an order from the first, sends its outputs there,
 * writes into the ledger of the second, and commits both in two phases. It does what it is told to
 * on its standard input, says before each step where it is, and waits for the word to go on.
 * Arguments: URI of the first, URI of the second, log, and the word {@value #FORGETFUL} for one
 * that does not look into its log when it recovers.
 *
 * <p>Presumed abort: what is not in the log is rolled back. A code that tells of an unknown outcome
 * (XAER_RMFAIL) is answered by asking again.
 */
public final class XaManager {
  static final String ORDERS = "xa.orders";
  static final String OUTPUTS = "xa.outputs";
  static final String LEDGER = "xa.ledger";
  static final String ORDER = "order";

  static final String FORGETFUL = "forgetful";
  static final String READY = "ready";
  static final String AT = "at ";
  static final String CODE = "code ";
  static final String DONE = "done ";
  static final String RECOVERED = "recovered ";
  static final String GO = "go";
  static final String WORK = "work ";
  static final String RECOVER = "recover";

  /** Where it stops and waits. */
  enum Step {
    /** The work has ended, nothing is prepared. */
    WORKED,
    /** Both are prepared, nothing is decided. */
    PREPARED,
    /** The log says that it is to be committed, nobody else knows. */
    DECIDED,
    /** Both have committed it, the log does not say so. */
    COMMITTED
  }

  private static final long RECEIVE_MILLIS = 20_000;
  private static final long AGAIN_MILLIS = 50;
  private static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(60);

  private final Part broker;
  private final Part ledger;
  private final XaLog log;
  private final boolean forgetful;
  private final BufferedReader told =
      new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));

  /** One resource of a transaction. */
  private record Part(String name, int number, XAConnection connection, XASession session) {
    static Part of(String name, int number, String uri) throws JMSException {
      XAConnection connection = new LightmqConnectionFactory(uri).createXAConnection();
      XASession session = connection.createXASession();
      connection.start();
      return new Part(name, number, connection, session);
    }

    XAResource resource() {
      return session.getXAResource();
    }
  }

  private XaManager(String brokerUri, String ledgerUri, XaLog log, boolean forgetful)
      throws JMSException {
    this.broker = Part.of("broker", 1, brokerUri);
    this.ledger = Part.of("ledger", 2, ledgerUri);
    this.log = log;
    this.forgetful = forgetful;
  }

  public static void main(String[] arguments)
      throws JMSException, IOException, XAException, InterruptedException {
    Usage.of("usage: XaManager BROKER LEDGER LOG [forgetful]   moves orders as it is told", 3)
        .check(arguments);
    try (XaLog log = XaLog.open(Path.of(arguments[2]))) {
      boolean forgetful = arguments.length > 3 && arguments[3].equals(FORGETFUL);
      XaManager manager = new XaManager(arguments[0], arguments[1], log, forgetful);
      say(READY);
      manager.obey();
      manager.broker.connection().close();
      manager.ledger.connection().close();
    }
  }

  private static void say(String line) {
    System.out.println(line);
    System.out.flush();
  }

  private void obey() throws JMSException, IOException, XAException, InterruptedException {
    for (String line = told.readLine(); line != null; line = told.readLine()) {
      if (line.equals(RECOVER)) {
        recover();
      } else if (line.startsWith(WORK)) {
        String[] words = line.split(" ", -1);
        work(Integer.parseInt(words[1]), Integer.parseInt(words[2]), Integer.parseInt(words[3]));
      } else {
        throw new IOException("what is '" + line + "'?");
      }
    }
  }

  private void stop(Step step) throws IOException {
    say(AT + step);
    String line = told.readLine();
    if (!GO.equals(line)) {
      throw new IOException("waited for the word to go on, found " + line);
    }
  }

  // ---- one transaction ----

  private void work(int transaction, int outputs, int bytes)
      throws JMSException, IOException, XAException, InterruptedException {
    XaName first = new XaName(transaction, broker.number());
    XaName second = new XaName(transaction, ledger.number());
    MessageConsumer consumer =
        broker.session().createConsumer(broker.session().createQueue(ORDERS));
    try {
      broker.resource().start(first, XAResource.TMNOFLAGS);
      ledger.resource().start(second, XAResource.TMNOFLAGS);
      Message order = consumer.receive(RECEIVE_MILLIS);
      if (order == null || order.getIntProperty(ORDER) != transaction) {
        throw new IOException("instead of order " + transaction + " came " + order);
      }
      send(broker, OUTPUTS, transaction, outputs, bytes);
      send(ledger, LEDGER, transaction, 1, 10);
      broker.resource().end(first, XAResource.TMSUCCESS);
      ledger.resource().end(second, XAResource.TMSUCCESS);
      stop(Step.WORKED);
      boolean committed = prepared(first) && prepared(second);
      if (committed) {
        stop(Step.PREPARED);
        log.commit(transaction);
        stop(Step.DECIDED);
        commit(broker, first, false);
        commit(ledger, second, false);
        stop(Step.COMMITTED);
        log.end(transaction);
      } else {
        rollBack(broker, first);
        rollBack(ledger, second);
      }
      say(DONE + (committed ? "committed" : "rolled back"));
    } finally {
      consumer.close();
    }
  }

  private static void send(Part part, String queue, int order, int count, int bytes)
      throws JMSException {
    try (MessageProducer producer =
        part.session().createProducer(part.session().createQueue(queue))) {
      for (int i = 0; i < count; i++) {
        TextMessage message = part.session().createTextMessage("x".repeat(bytes));
        message.setIntProperty(ORDER, order);
        producer.send(message);
      }
    }
  }

  private boolean prepared(XaName name) {
    Part part = name.branch() == broker.number() ? broker : ledger;
    try {
      if (part.resource().prepare(name) == XAResource.XA_OK) {
        return true;
      }
      say(CODE + "prepare " + part.name() + " XA_RDONLY");
    } catch (XAException e) {
      tell("prepare", part, e);
    }
    return false;
  }

  private static void tell(String call, Part part, XAException e) {
    say(CODE + call + " " + part.name() + " " + XaCodes.name(e.errorCode) + " " + e.getMessage());
  }

  /** Asks until it is told. */
  private void commit(Part part, Xid name, boolean recovers)
      throws XAException, InterruptedException {
    decide("commit", part, recovers, () -> part.resource().commit(name, false));
  }

  private void rollBack(Part part, Xid name) throws XAException, InterruptedException {
    decide("rollback", part, true, () -> part.resource().rollback(name));
  }

  private interface Decision {
    void carryOut() throws XAException;
  }

  private static void decide(String call, Part part, boolean mayBeGone, Decision decision)
      throws XAException, InterruptedException {
    long limitNanos = System.nanoTime() + LIMIT_NANOS;
    boolean again = mayBeGone;
    while (true) {
      try {
        decision.carryOut();
        return;
      } catch (XAException e) {
        if (e.errorCode == XAException.XAER_NOTA && again) {
          return; // it was done, and nothing is kept of it
        }
        tell(call, part, e);
        if (e.errorCode != XAException.XAER_RMFAIL || System.nanoTime() - limitNanos > 0) {
          if (XaCodes.isRolledBack(e.errorCode) && call.equals("rollback")) {
            return;
          }
          throw e;
        }
        again = true;
        Thread.sleep(AGAIN_MILLIS);
      }
    }
  }

  // ---- recovery ----

  /** One scan of both: what is prepared is committed if the log says so, else rolled back. */
  private void recover() throws XAException, InterruptedException {
    int found = 0;
    for (Part part : List.of(broker, ledger)) {
      for (Xid xid : scan(part)) {
        XaName name = XaName.of(xid);
        if (name == null) {
          continue; // not ours
        }
        found++;
        if (log.isDecided(name.transaction()) && !forgetful) {
          commit(part, xid, true);
        } else {
          rollBack(part, xid);
        }
      }
    }
    say(RECOVERED + found);
  }

  private static Xid[] scan(Part part) throws XAException, InterruptedException {
    long limitNanos = System.nanoTime() + LIMIT_NANOS;
    @Nullable Xid[] found = null;
    while (found == null) {
      try {
        found = part.resource().recover(XAResource.TMSTARTRSCAN | XAResource.TMENDRSCAN);
      } catch (XAException e) {
        tell("recover", part, e);
        if (e.errorCode != XAException.XAER_RMFAIL || System.nanoTime() - limitNanos > 0) {
          throw e;
        }
        Thread.sleep(AGAIN_MILLIS);
      }
    }
    return found;
  }
}

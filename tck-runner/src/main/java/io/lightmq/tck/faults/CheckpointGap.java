package io.lightmq.tck.faults;

import io.lightmq.client.LightmqConnectionFactory;
import io.lightmq.samples.broker.BrokerMetrics;
import io.lightmq.samples.broker.BrokerProcess;
import io.lightmq.samples.broker.BrokerSetup;
import io.lightmq.tck.faults.ReceiptGaps.Stretch;
import jakarta.jms.BytesMessage;
import jakarta.jms.CompletionListener;
import jakarta.jms.Connection;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageProducer;
import jakarta.jms.Session;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * What senders notice of a checkpoint: 16 synchronous ones and one asynchronous send without a
 * consumer to a broker whose journal is so small that checkpoints come every few seconds. The
 * longest gap between receipts while one runs may be ten times the p99 of the gaps outside.
 *
 * <p>The limit is for the gaps that one sender sees. Those of all receipts as one stream are told
 * too, but the more senders there are the shorter they get, and a limit on them would judge that.
 *
 * <p>The metrics page tells that a checkpoint has ended and how long it took, but looks at the
 * broker only once a second; the stretch of a checkpoint is widened by that.
 */
final class CheckpointGap {

  private static final String CONFIGURATION =
      """
      [journal]
      file = "32MiB"
      min-files = 8
      max-files = 8
      [flush]
      bytes = "24MiB"
      """;

  private static final int SENDERS = 16;
  private static final int BYTES = 1_024;
  private static final int ASYNC_PER_SECOND = 2_000;
  private static final int ASYNC_IN_FLIGHT = 1_000;
  private static final long RECEIPT_LIMIT_SECONDS = 30;
  private static final int WARM_UP_SECONDS = 10;
  private static final long LOOK_MILLIS = 50;
  private static final long METRICS_AGE_NANOS = 1_100_000_000;
  private static final int MIN_CHECKPOINTS = 3;
  private static final int MIN_GAPS = 1_000;
  private static final int MAX_RATIO = 10;

  private final BrokerSetup setup;
  private final int seconds;
  private final Findings findings = new Findings();
  private final List<Receipts> synchronous = new ArrayList<>();
  private final Receipts asynchronous = new Receipts();
  private final List<Stretch> checkpoints = new ArrayList<>();
  private final ConcurrentLinkedQueue<Exception> failures = new ConcurrentLinkedQueue<>();
  private volatile boolean stopped;
  private double checkpointSeconds;
  private int made;

  /**
   * @param seconds to measure, after a warm-up of ten
   */
  CheckpointGap(BrokerSetup setup, int seconds) {
    this.setup = setup.withConfiguration(CONFIGURATION);
    this.seconds = seconds;
  }

  Verdict run() throws JMSException, IOException, InterruptedException, HarnessException {
    BrokerProcess broker = BrokerProcess.start(setup);
    List<Thread> threads = new ArrayList<>();
    try (Connection connection = new LightmqConnectionFactory(setup.uri()).createConnection()) {
      for (int i = 0; i < SENDERS; i++) {
        Receipts receipts = new Receipts();
        synchronous.add(receipts);
        threads.add(thread("sync-" + i, () -> sendAndWait(connection, receipts)));
      }
      threads.add(thread("async", () -> sendSteadily(connection)));
      threads.forEach(Thread::start);
      watch();
      stopped = true;
      for (Thread thread : threads) {
        thread.join();
      }
    } finally {
      stopped = true;
      broker.kill();
    }
    if (!failures.isEmpty()) {
      throw new HarnessException(failures.size() + " senders failed: " + failures.peek());
    }
    judge();
    long receipts = synchronous.stream().mapToLong(each -> each.kept().length).sum();
    // The disturbance is the checkpoint.
    return findings.verdict(1, made, receipts + asynchronous.kept().length);
  }

  /** Notes when checkpoints run until the time is over. */
  private void watch() throws IOException, InterruptedException {
    long began = System.nanoTime();
    long warm = began + TimeUnit.SECONDS.toNanos(WARM_UP_SECONDS);
    long end = warm + TimeUnit.SECONDS.toNanos(seconds);
    double known = checkpointsDone(BrokerMetrics.of(setup));
    long lookedNanos = System.nanoTime();
    while (System.nanoTime() < end && failures.isEmpty()) {
      Thread.sleep(LOOK_MILLIS);
      BrokerMetrics now = BrokerMetrics.of(setup);
      long nowNanos = System.nanoTime();
      double done = checkpointsDone(now);
      if (done > known) {
        double took = now.sum("lightmq_checkpoint_last_seconds", "");
        long tookNanos = (long) (took * 1e9 * (done - known));
        checkpoints.add(new Stretch(lookedNanos - METRICS_AGE_NANOS - tookNanos, nowNanos));
        if (nowNanos > warm) {
          made += (int) (done - known);
          checkpointSeconds = Math.max(checkpointSeconds, took);
        }
        known = done;
      }
      lookedNanos = nowNanos;
    }
    synchronous.forEach(each -> each.keepFrom(warm));
    asynchronous.keepFrom(warm);
  }

  private static double checkpointsDone(BrokerMetrics metrics) throws IOException {
    if (!metrics.has("lightmq_checkpoints_total")) {
      throw new IOException("/metrics has no lightmq_checkpoints_total");
    }
    return metrics.sum("lightmq_checkpoints_total", "");
  }

  private void judge() throws HarnessException {
    List<long[]> each = synchronous.stream().map(Receipts::kept).toList();
    ReceiptGaps own = ReceiptGaps.of(each, checkpoints);
    ReceiptGaps together = ReceiptGaps.of(List.of(ReceiptGaps.merge(each)), checkpoints);
    ReceiptGaps async = ReceiptGaps.of(List.of(asynchronous.kept()), checkpoints);
    findings.note(
        "%d checkpoints in %d s, the longest took %.3f s; %,d receipts of %d synchronous senders,"
            + " %,d of one asynchronous",
        made,
        seconds,
        checkpointSeconds,
        each.stream().mapToInt(times -> times.length).sum(),
        SENDERS,
        asynchronous.kept().length);
    if (made < MIN_CHECKPOINTS || own.outside() < MIN_GAPS || own.during() < MIN_GAPS) {
      throw new HarnessException(
          "%d checkpoints with %,d gaps during and %,d outside say nothing; at least %d and %,d each are needed"
              .formatted(made, own.during(), own.outside(), MIN_CHECKPOINTS, MIN_GAPS));
    }
    findings.note("the asynchronous sender: %s", async);
    findings.note("the synchronous senders as one stream: %s", together);
    findings.require(own.ratio() <= MAX_RATIO, "each synchronous sender: %s", own);
  }

  private static Thread thread(String name, Runnable work) {
    return new Thread(work, name);
  }

  private void sendAndWait(Connection connection, Receipts receipts) {
    try (Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE)) {
      MessageProducer producer = session.createProducer(session.createQueue("gap.sync"));
      while (!stopped) {
        producer.send(message(session));
        receipts.add(System.nanoTime());
      }
    } catch (JMSException e) {
      failures.add(e);
    }
  }

  private void sendSteadily(Connection connection) {
    Semaphore inFlight = new Semaphore(ASYNC_IN_FLIGHT);
    CompletionListener listener =
        new CompletionListener() {
          @Override
          public void onCompletion(Message message) {
            asynchronous.add(System.nanoTime());
            inFlight.release();
          }

          @Override
          public void onException(Message message, Exception exception) {
            failures.add(exception);
            inFlight.release();
          }
        };
    try (Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE)) {
      MessageProducer producer = session.createProducer(session.createQueue("gap.async"));
      long began = System.nanoTime();
      for (long sent = 0; !stopped; sent++) {
        LockSupport.parkNanos(began + sent * 1_000_000_000L / ASYNC_PER_SECOND - System.nanoTime());
        if (!inFlight.tryAcquire(RECEIPT_LIMIT_SECONDS, TimeUnit.SECONDS)) {
          throw new HarnessException("no receipt for " + RECEIPT_LIMIT_SECONDS + " s");
        }
        producer.send(message(session), listener);
      }
    } catch (JMSException | HarnessException e) {
      failures.add(e);
    } catch (InterruptedException e) {
      failures.add(e);
      Thread.currentThread().interrupt();
    }
  }

  private static BytesMessage message(Session session) throws JMSException {
    BytesMessage message = session.createBytesMessage();
    message.writeBytes(new byte[BYTES]);
    return message;
  }

  /** When one sender's receipts came. */
  private static final class Receipts {
    private long[] times = new long[1 << 16];
    private int count;
    private long fromNanos = Long.MIN_VALUE;

    private synchronized void add(long nanos) {
      if (count == times.length) {
        times = Arrays.copyOf(times, 2 * count);
      }
      times[count++] = nanos;
    }

    private synchronized void keepFrom(long nanos) {
      fromNanos = nanos;
    }

    private synchronized long[] kept() {
      return Arrays.stream(times, 0, count).filter(nanos -> nanos >= fromNanos).toArray();
    }
  }
}

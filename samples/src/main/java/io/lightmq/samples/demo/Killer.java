package io.lightmq.samples.demo;

import io.lightmq.samples.broker.BrokerProcess;
import io.lightmq.samples.broker.BrokerSetup;
import java.io.IOException;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * Kills the broker with SIGKILL while receipts are coming in, and starts it again.
 *
 * <p>A thread of its own, so that the sender notices nothing but the pause.
 */
final class Killer extends Thread implements AutoCloseable {

  private static final long LOOK_MILLIS = 5;
  private static final int MOMENT_MILLIS = 50;

  private final BrokerSetup setup;
  private final Sent sent;
  private final List<Arrivals> subscriptions;
  private final int afterReceipts;
  private volatile BrokerProcess broker;
  private volatile int receiptsAtKill = -1;
  private volatile int openAtKill;
  private volatile int receiptsAtRestart = -1;
  private volatile long restartMillis;
  private volatile @Nullable Exception problem;

  Killer(
      BrokerSetup setup,
      BrokerProcess broker,
      Sent sent,
      List<Arrivals> subscriptions,
      int afterReceipts) {
    super("killer");
    this.setup = setup;
    this.broker = broker;
    this.sent = sent;
    this.subscriptions = List.copyOf(subscriptions);
    this.afterReceipts = afterReceipts;
  }

  @Override
  public void run() {
    try {
      while (sent.confirmed() < afterReceipts || !everySubscriptionHasSomething()) {
        Thread.sleep(LOOK_MILLIS);
      }
      Thread.sleep(new Random().nextInt(MOMENT_MILLIS));
      subscriptions.forEach(Arrivals::killed);
      broker.kill();
      receiptsAtKill = sent.confirmed();
      openAtKill = (int) sent.open();
      System.out.printf(
          "--- SIGKILL to the broker after %,d receipts, %,d sends without one ---%n",
          receiptsAtKill, openAtKill);
      broker = BrokerProcess.start(setup);
      restartMillis = broker.startMillis();
      subscriptions.forEach(Arrivals::restarted);
      receiptsAtRestart = sent.confirmed();
      System.out.printf(
          "--- the broker is ready again, %,d ms after its start ---%n", restartMillis);
    } catch (IOException | RuntimeException e) {
      problem = e;
    } catch (InterruptedException e) {
      problem = e;
      Thread.currentThread().interrupt();
    }
  }

  private boolean everySubscriptionHasSomething() {
    return subscriptions.stream().allMatch(arrivals -> arrivals.processed() > 0);
  }

  /** Whether there was a receipt before the kill and one after the restart. */
  boolean isBetweenReceipts() throws IOException {
    Exception failed = problem;
    if (failed != null) {
      throw new IOException(
          "killing and restarting the broker failed: " + failed.getMessage(), failed);
    }
    return receiptsAtKill > 0 && receiptsAtRestart >= 0 && sent.confirmed() > receiptsAtRestart;
  }

  int receiptsAtKill() {
    return receiptsAtKill;
  }

  long restartMillis() {
    return restartMillis;
  }

  @Override
  public void close() throws InterruptedException {
    interrupt();
    join();
    broker.close();
  }
}

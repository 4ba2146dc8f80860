package io.lightmq.tck.faults;

import io.lightmq.client.LightmqConnection;
import jakarta.jms.CompletionListener;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageProducer;
import jakarta.jms.Session;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Sends the inputs of some keys, one of a key after the other. A send whose outcome it does not
 * know it sends again: the queue suppresses by the input's name what came twice.
 */
final class FailoverSource {
  /** The name of an input, by which the queue tells duplicates. */
  static final String INPUT = "input";

  static final String KEY = "key";
  static final String NUMBER = "number";

  private final LightmqConnection connection;
  private final FailoverLedger ledger;
  private final boolean asynchronous;
  private final long pauseMillis;
  private final LinkedBlockingQueue<Input> due = new LinkedBlockingQueue<>();
  private final AtomicInteger again = new AtomicInteger();
  private final AtomicInteger open = new AtomicInteger();
  private final Thread thread;
  private volatile boolean over;
  private volatile @Nullable Throwable death;

  /** One input; sent again under the same name. */
  private record Input(int key, int number) {}

  FailoverSource(
      LightmqConnection connection,
      FailoverLedger ledger,
      int firstKey,
      int keys,
      boolean asynchronous,
      long pauseMillis) {
    this.connection = connection;
    this.ledger = ledger;
    this.asynchronous = asynchronous;
    this.pauseMillis = pauseMillis;
    for (int key = firstKey; key < firstKey + keys; key++) {
      due.add(new Input(key, ledger.next(key)));
    }
    thread = new Thread(this::run, "failover-source");
    thread.setDaemon(true);
  }

  void start() {
    thread.start();
  }

  /** How often it has sent something again. */
  int resent() {
    return again.get();
  }

  /** Begins no new input; what has begun is sent until it is confirmed. */
  void finish(long limitMillis) throws InterruptedException, HarnessException {
    over = true;
    thread.join(limitMillis);
    Throwable died = death;
    if (died != null) {
      throw new HarnessException("a source died: " + died, died);
    }
    if (thread.isAlive()) {
      ledger.broken(
          "%d inputs were not confirmed within %,d ms of calm",
          open.get() + due.size(), limitMillis);
    }
  }

  private void run() {
    try {
      Session session = connection.createSession();
      MessageProducer producer = session.createProducer(session.createQueue(FailoverRounds.IN));
      while (!over || open.get() > 0 || !due.isEmpty()) {
        Input input = due.poll(20, TimeUnit.MILLISECONDS);
        if (input != null) {
          open.incrementAndGet();
          send(session, producer, input);
          if (pauseMillis > 0) {
            Thread.sleep(pauseMillis);
          }
        }
      }
    } catch (JMSException | RuntimeException | Error e) {
      death = e;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void send(Session session, MessageProducer producer, Input input) throws JMSException {
    Message message = session.createTextMessage("input " + input.number());
    message.setStringProperty(INPUT, input.key() + "-" + input.number());
    message.setStringProperty("JMSXGroupID", "key-" + input.key());
    message.setIntProperty(KEY, input.key());
    message.setIntProperty(NUMBER, input.number());
    try {
      if (asynchronous) {
        producer.send(message, new Told(input));
      } else {
        producer.send(message);
        done(input);
      }
    } catch (JMSException e) {
      failed(input);
    }
  }

  private void done(Input input) {
    ledger.confirmed(input.key(), input.number());
    if (!over) {
      due.add(new Input(input.key(), ledger.next(input.key())));
    }
    open.decrementAndGet();
  }

  private void failed(Input input) {
    again.incrementAndGet();
    due.add(input);
    open.decrementAndGet();
  }

  private final class Told implements CompletionListener {
    private final Input input;

    Told(Input input) {
      this.input = input;
    }

    @Override
    public void onCompletion(Message message) {
      done(input);
    }

    @Override
    public void onException(Message message, Exception exception) {
      failed(input);
    }
  }
}

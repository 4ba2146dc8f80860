package io.lightmq.tck.faults;

import io.lightmq.client.LightmqConnectionFactory;
import io.lightmq.samples.broker.BrokerProcess;
import io.lightmq.samples.broker.BrokerSetup;
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
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Many delayed messages beside senders and consumers that keep the broker busy. A message may not
 * be in its consumer's hands before the delivery time that its sender's client has set, none may be
 * missing and none come twice. Sender, broker and consumer have the same clock: it is one machine.
 *
 * <p>Four of five wait for 20 to 40 s, so that most are sent before the first is due; the others
 * wait for 1,500 ms and become due while the sender goes on.
 */
final class DelayedSoak {
  private static final String QUEUE = "delayed.soak";
  private static final String BUSY = "delayed.busy.";
  private static final int BUSY_SENDERS = 3;
  private static final int BUSY_IN_FLIGHT = 300;
  private static final int BUSY_BYTES = 1_024;
  private static final int IN_FLIGHT = 2_000;
  private static final int SHORT_EACH = 5;
  private static final long SHORT_MILLIS = 1_500;
  private static final long LEAST_MILLIS = 20_000;
  private static final long MOST_MILLIS = 40_000;
  private static final long RECEIPT_LIMIT_SECONDS = 60;
  private static final long LATE_LIMIT_MILLIS = 60_000;
  private static final long LOOK_MILLIS = 50;

  /** So long it is looked for messages that come a second time. */
  private static final long QUIET_MILLIS = 2_000;

  private static final int MOST_TOLD = 10;

  private final Findings findings = new Findings();
  private final int messages;
  private final AtomicLongArray due;
  private final AtomicLongArray arrived;
  private final AtomicIntegerArray times;
  private final AtomicLong came = new AtomicLong();
  private final AtomicLong confirmed = new AtomicLong();
  private final AtomicLong busy = new AtomicLong();
  private final ConcurrentLinkedQueue<Exception> failures = new ConcurrentLinkedQueue<>();
  private volatile boolean stopped;

  private DelayedSoak(int messages) {
    this.messages = messages;
    this.due = new AtomicLongArray(messages);
    this.arrived = new AtomicLongArray(messages);
    this.times = new AtomicIntegerArray(messages);
  }

  /** The soak with a broker in a process of its own. */
  static Verdict run(BrokerSetup setup, int messages)
      throws JMSException, IOException, InterruptedException, HarnessException {
    BrokerProcess broker = BrokerProcess.start(setup);
    try {
      return new DelayedSoak(messages).run(setup.uri());
    } finally {
      broker.kill();
    }
  }

  private Verdict run(String uri) throws JMSException, InterruptedException, HarnessException {
    List<Thread> threads = new ArrayList<>();
    LightmqConnectionFactory factory = new LightmqConnectionFactory(uri);
    try (Connection receiving = factory.createConnection();
        Connection sending = factory.createConnection();
        Connection others = factory.createConnection()) {
      receive(receiving);
      others.start();
      for (int i = 0; i < BUSY_SENDERS; i++) {
        String queue = BUSY + i;
        threads.add(new Thread(() -> keepBusy(others, queue), queue));
      }
      threads.forEach(Thread::start);
      send(sending);
      await();
      stopped = true;
      for (Thread thread : threads) {
        thread.join();
      }
    } finally {
      stopped = true;
    }
    if (!failures.isEmpty()) {
      throw new HarnessException(failures.size() + " calls failed: " + failures.peek());
    }
    return judge();
  }

  private void receive(Connection connection) throws JMSException {
    Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
    session
        .createConsumer(session.createQueue(QUEUE))
        .setMessageListener(
            message -> {
              long now = System.currentTimeMillis();
              try {
                int number = ((BytesMessage) message).readInt();
                arrived.compareAndSet(number, 0, now);
                times.incrementAndGet(number);
                came.incrementAndGet();
              } catch (JMSException | RuntimeException e) {
                failures.add(e);
              }
            });
    connection.start();
  }

  private void send(Connection connection)
      throws JMSException, InterruptedException, HarnessException {
    long began = System.nanoTime();
    SplittableRandom random = new SplittableRandom(messages);
    Semaphore window = new Semaphore(IN_FLIGHT);
    try (Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE)) {
      MessageProducer producer = session.createProducer(session.createQueue(QUEUE));
      for (int i = 0; i < messages; i++) {
        acquire(window, 1);
        producer.setDeliveryDelay(
            i % SHORT_EACH == 0 ? SHORT_MILLIS : random.nextLong(LEAST_MILLIS, MOST_MILLIS + 1));
        BytesMessage message = session.createBytesMessage();
        message.writeInt(i);
        producer.send(message, new Receipt(i, window));
      }
      acquire(window, IN_FLIGHT);
    }
    findings.note(
        "%,d delayed messages confirmed after %,d ms, beside %,d others",
        confirmed.get(), (System.nanoTime() - began) / 1_000_000, busy.get());
  }

  private void acquire(Semaphore window, int permits)
      throws InterruptedException, HarnessException {
    if (!failures.isEmpty()) {
      throw new HarnessException("a call failed: " + failures.peek(), failures.peek());
    }
    if (!window.tryAcquire(permits, RECEIPT_LIMIT_SECONDS, TimeUnit.SECONDS)) {
      throw new HarnessException("no receipt for " + RECEIPT_LIMIT_SECONDS + " s");
    }
  }

  /** Notes when a message is due, once its client has said so. */
  private final class Receipt implements CompletionListener {
    private final int number;
    private final Semaphore window;

    private Receipt(int number, Semaphore window) {
      this.number = number;
      this.window = window;
    }

    @Override
    public void onCompletion(Message message) {
      try {
        due.set(number, message.getJMSDeliveryTime());
        confirmed.incrementAndGet();
      } catch (JMSException e) {
        failures.add(e);
      }
      window.release();
    }

    @Override
    public void onException(Message message, Exception exception) {
      failures.add(exception);
      window.release();
    }
  }

  private void await() throws InterruptedException {
    long last = 0;
    for (int i = 0; i < messages; i++) {
      last = Math.max(last, due.get(i));
    }
    while (came.get() < messages
        && failures.isEmpty()
        && System.currentTimeMillis() < last + LATE_LIMIT_MILLIS) {
      Thread.sleep(LOOK_MILLIS);
    }
    Thread.sleep(QUIET_MILLIS);
  }

  private Verdict judge() {
    long early = 0;
    long lost = 0;
    long twice = 0;
    long[] late = new long[messages];
    int lates = 0;
    for (int i = 0; i < messages; i++) {
      if (times.get(i) == 0) {
        lost++;
        continue;
      }
      twice += times.get(i) - 1;
      long after = arrived.get(i) - due.get(i);
      late[lates++] = after;
      if (after < 0 && early++ < MOST_TOLD) {
        findings.note("message %d came %d ms before %d", i, -after, due.get(i));
      }
    }
    Arrays.sort(late, 0, lates);
    if (lates > 0) {
      findings.note(
          "after its time came the first after %,d ms, the median after %,d, p99 %,d, the last %,d",
          late[0], late[lates / 2], late[(int) (lates * 0.99)], late[lates - 1]);
    }
    findings.note("%,d other messages were sent and consumed meanwhile", busy.get());
    findings.require(
        early + lost + twice == 0, "%,d early, %,d lost, %,d twice", early, lost, twice);
    // The disturbance is the delay.
    return new Verdict(1, messages, confirmed.get(), early + lost + twice);
  }

  /** Sends to a queue of its own as fast as a listener takes it off again. */
  private void keepBusy(Connection connection, String queue) {
    Semaphore room = new Semaphore(BUSY_IN_FLIGHT);
    try (Session sending = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
        Session consuming = connection.createSession(false, Session.DUPS_OK_ACKNOWLEDGE)) {
      consuming
          .createConsumer(consuming.createQueue(queue))
          .setMessageListener(
              message -> {
                busy.incrementAndGet();
                room.release();
              });
      MessageProducer producer = sending.createProducer(sending.createQueue(queue));
      CompletionListener listener =
          new CompletionListener() {
            @Override
            public void onCompletion(Message message) {}

            @Override
            public void onException(Message message, Exception exception) {
              failures.add(exception);
            }
          };
      while (!stopped && failures.isEmpty()) {
        if (room.tryAcquire(LOOK_MILLIS, TimeUnit.MILLISECONDS)) {
          BytesMessage message = sending.createBytesMessage();
          message.writeBytes(new byte[BUSY_BYTES]);
          producer.send(message, listener);
        }
      }
    } catch (JMSException e) {
      failures.add(e);
    } catch (InterruptedException e) {
      failures.add(e);
      Thread.currentThread().interrupt();
    }
  }
}

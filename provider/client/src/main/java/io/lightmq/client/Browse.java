package io.lightmq.client;

import io.lightmq.client.fault.JmsFaults;
import io.lightmq.client.link.BrokerLink;
import io.lightmq.client.link.LinkException;
import io.lightmq.client.message.Messages;
import io.lightmq.wire.Frame;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.Entry;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.MalformedMessageException;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Enumeration;
import java.util.HashMap;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * One look at a queue, as an enumeration: fetches when what it has is used up, at most {@code
 * prefetchMessages} and about {@code prefetchBytes} at a time, so a question for more may wait for
 * the broker. What cannot be answered is thrown as the unchecked form of the JMS exception.
 *
 * <p>After a lost connection the broker begins the look anew; sequences only rise within a lane, so
 * what was shown before is known and left out.
 */
@SuppressWarnings("JdkObsolete") // the API asks for an Enumeration
final class Browse implements Enumeration<Message> {
  private static final int FIRST_WINDOW = 16;

  /** A message to show. */
  private record Shown(int deliveries, byte[] entry) {}

  private final int id;
  private final LightmqConnection connection;
  private final BrokerLink link;
  private final ClientSettings settings;
  private final Messages messages;
  private final String queueName;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final ArrayDeque<Shown> waiting = new ArrayDeque<>();

  /** The last sequence that came of each lane. */
  private final Map<Integer, Long> last = new HashMap<>();

  private int window;
  private int pullId;
  private boolean pulling;
  private long pullAtNanos;
  private int answers;
  private boolean linkUp = true;
  private boolean over;
  private boolean closed;
  private @Nullable JMSException failure;

  private Browse(LightmqConnection connection, Messages messages, String queueName) {
    this.connection = connection;
    this.link = connection.link();
    this.settings = connection.settings();
    this.id = link.nextConsumerId();
    this.messages = messages;
    this.queueName = queueName;
    this.window = Math.max(1, Math.min(FIRST_WINDOW, settings.prefetch().messages()));
    this.pullAtNanos = System.nanoTime();
  }

  /** Begins a look at what the queue has now. */
  static Browse open(
      LightmqConnection connection,
      int sessionId,
      Messages messages,
      DestinationName queue,
      @Nullable String selector)
      throws JMSException {
    Browse browse = new Browse(connection, messages, queue.name());
    // What the application is done with is not there any more.
    connection.flushAcknowledgements();
    connection.register(browse);
    try {
      Awaiting.answer(
          browse.link.openConsumer(
              new BrokerLink.ConsumerSpec(
                  browse.id,
                  sessionId,
                  queue,
                  Frame.Subscribe.BROWSE,
                  null,
                  selector,
                  false,
                  false)),
          "browsing " + queue.name());
    } catch (JMSException e) {
      connection.unregister(browse);
      throw e;
    }
    return browse;
  }

  int id() {
    return id;
  }

  /** Ends it; it has no more elements then. */
  void close() {
    lock.lock();
    try {
      if (closed) {
        return;
      }
      forget();
    } finally {
      lock.unlock();
    }
    var unused = link.closeConsumer(id);
  }

  /** Ends it, because the session is closed, which ends it in the broker. */
  void forget() {
    lock.lock();
    try {
      closed = true;
      waiting.clear();
      connection.unregister(this);
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  // ---- the enumeration ----

  @Override
  public boolean hasMoreElements() {
    return Unchecked.get(this::more);
  }

  @Override
  public Message nextElement() {
    return Unchecked.get(this::next);
  }

  private Message next() throws JMSException {
    if (!more()) {
      throw new NoSuchElementException("the queue " + queueName + " has no more messages to show");
    }
    Shown next;
    lock.lock();
    try {
      next = waiting.remove();
    } finally {
      lock.unlock();
    }
    try {
      return messages.received(next.entry(), next.deliveries(), null);
    } catch (MalformedMessageException e) {
      throw Messages.damaged(e);
    }
  }

  private boolean more() throws JMSException {
    boolean found;
    lock.lock();
    try {
      found = awaitMore();
    } finally {
      lock.unlock();
    }
    if (!found) {
      close();
    }
    return found;
  }

  private boolean awaitMore() throws JMSException {
    int timeoutMillis = settings.link().timeouts().requestMillis();
    long timeoutNanos = TimeUnit.MILLISECONDS.toNanos(timeoutMillis);
    int answersBefore = answers;
    long deadlineNanos = System.nanoTime() + timeoutNanos;
    while (waiting.isEmpty() && !over && !closed) {
      if (failure != null) {
        throw failure;
      }
      long now = System.nanoTime();
      if (answers != answersBefore) {
        answersBefore = answers;
        deadlineNanos = now + timeoutNanos;
      } else if (now - deadlineNanos >= 0) {
        throw JmsFaults.of(
            FaultCode.OUTCOME_UNKNOWN,
            "browsing " + queueName + ": the broker has not answered for " + timeoutMillis + " ms",
            null);
      }
      boolean mayPull = linkUp && !pulling;
      if (mayPull && now - pullAtNanos >= 0) {
        pull();
      }
      try {
        var unused =
            changed.awaitNanos(
                mayPull && !pulling
                    ? Math.min(deadlineNanos - now, pullAtNanos - now)
                    : deadlineNanos - now);
      } catch (InterruptedException e) {
        throw JmsFaults.interrupted("browsing " + queueName, e);
      }
    }
    return !waiting.isEmpty();
  }

  private void pull() {
    pullId = pullId == Integer.MAX_VALUE ? 1 : pullId + 1;
    pulling = true;
    link.pull(new Frame.PullOne(id, pullId, window, settings.prefetch().bytes(), 0));
  }

  // ---- from the link, on its thread ----

  void delivered(Frame.Deliver delivery) {
    lock.lock();
    try {
      if (!closed && delivery.pullId() == pullId) {
        answered();
        take(delivery);
        if (delivery.count() >= window) {
          window = Math.max(window, Math.min(settings.prefetch().messages(), 2 * window));
        }
      }
    } catch (MalformedMessageException e) {
      failure = Messages.damaged(e);
    } finally {
      lock.unlock();
    }
  }

  private void take(Frame.Deliver delivery) {
    ByteBuffer bytes = delivery.entries().nioBuffer();
    Arrived.Seen seen = new Arrived.Seen(delivery);
    int at = bytes.position();
    for (int index = 0; index < delivery.count(); index++) {
      int length = Entry.checkFrame(bytes, at, bytes.limit());
      int lane = Entry.lane(bytes, at);
      long sequence = seen.sequence(index, lane, Entry.sequence(bytes, at));
      int deliveries = 1 + seen.deliveries(index);
      if (sequence > last.getOrDefault(lane, -1L)) {
        byte[] entry = new byte[length];
        bytes.get(at, entry);
        waiting.add(new Shown(deliveries, entry));
        last.put(lane, sequence);
      }
      at += length;
    }
  }

  private void answered() {
    pulling = false;
    answers++;
    changed.signalAll();
  }

  void pullEnded(Frame.PullEnd end) {
    lock.lock();
    try {
      switch (end.code()) {
        case OK -> over |= end.pullId() == pullId;
        case RETRY_LATER -> pullAtNanos = System.nanoTime() + end.retryAfterMillis() * 1_000_000L;
        case DESTINATION_GONE -> over = true;
        default ->
            failure =
                JmsFaults.of(
                    end.code(), "browsing " + queueName + ": the broker says " + end.code(), null);
      }
      answered();
    } finally {
      lock.unlock();
    }
  }

  void lost() {
    lock.lock();
    try {
      linkUp = false;
      pulling = false;
    } finally {
      lock.unlock();
    }
  }

  void restored() {
    lock.lock();
    try {
      linkUp = true;
      pulling = false;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  void failed(LinkException cause) {
    lock.lock();
    try {
      failure =
          JmsFaults.of(cause.code(), "the connection has failed: " + cause.getMessage(), cause);
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }
}

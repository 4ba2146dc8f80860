package io.lightmq.client;

import io.lightmq.client.link.BrokerLink;
import io.lightmq.wire.Frame;
import jakarta.jms.JMSException;
import jakarta.jms.MessageListener;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The messages that wait in one consumer, and its pulls. At most {@code prefetchMessages} and about
 * {@code prefetchBytes} wait; with none, one message is asked for when somebody wants it, and goes
 * back if nobody does when it comes. Guarded by its inbox's lock, but for the count of what is not
 * settled.
 */
final class ConsumerQueue {
  private static final int FIRST_WINDOW = 16;

  private final int id;
  private final Inbox inbox;
  private final AckMode mode;
  private final BrokerLink link;
  private final ClientSettings settings;
  private final Consumer<ConsumerQueue> detach;
  private final ArrayDeque<Arrived> waiting = new ArrayDeque<>();
  private long waitingBytes;
  private int window;
  private int lastPullId;
  private int asked;
  private boolean pullOpen;

  /** Whether the broker may keep the last pull until there is something. */
  private boolean parked;

  private int emptyPullId;
  private int putOffs;

  /** How many threads wait for a message of it, for as long as it takes. */
  int waiters;

  /** How many threads are in a receive of it. */
  int receivers;

  /** Whether its listener works on a message; kept only where nothing is prefetched. */
  boolean busy;

  /** Whether something was taken since the last pull: the next ones are asked for meanwhile. */
  private boolean used;

  /** What was taken since the window was widened. */
  private int taken;

  /** Whether the application has closed it. */
  volatile boolean closed;

  /** Messages that were handed over and are not settled; it stays open in the broker for them. */
  private final AtomicInteger unsettled = new AtomicInteger();

  private final AtomicBoolean over = new AtomicBoolean();

  @Nullable MessageListener listener;

  /** How many threads wait to set another listener: meanwhile this one gets nothing new. */
  int settingListener;

  @Nullable JMSException ended;

  /**
   * A consumer's queue.
   *
   * @param inbox whose gate guards it
   * @param mode how its messages are acknowledged
   * @param detach closes it in the broker, once it is closed and its last message is settled
   */
  ConsumerQueue(
      int id,
      Inbox inbox,
      AckMode mode,
      BrokerLink link,
      ClientSettings settings,
      Consumer<ConsumerQueue> detach) {
    this.id = id;
    this.inbox = inbox;
    this.mode = mode;
    this.link = link;
    this.settings = settings;
    this.detach = detach;
    this.window = Math.min(FIRST_WINDOW, settings.prefetch().messages());
  }

  int id() {
    return id;
  }

  /** The inbox whose gate guards it. */
  Inbox inbox() {
    return inbox;
  }

  /** What of its inbox is not settled. */
  Unsettled unsettled() {
    return inbox.unsettled();
  }

  /** A message is given to the application; any thread. */
  void handedOver() {
    unsettled.incrementAndGet();
  }

  /**
   * A message is settled; any thread.
   *
   * @return as {@link #isOver}
   */
  boolean settled() {
    return unsettled.decrementAndGet() == 0 && isOver();
  }

  /** Whether it is closed and all is settled; true only once, for whoever closes it then. */
  boolean isOver() {
    return closed && unsettled.get() == 0 && over.compareAndSet(false, true);
  }

  /** Closes it in the broker, without waiting. */
  void detach() {
    detach.accept(this);
  }

  boolean isEmpty() {
    inbox.checkHeld();
    return waiting.isEmpty();
  }

  @Nullable Arrived peek() {
    inbox.checkHeld();
    return waiting.peek();
  }

  Arrived take() {
    inbox.checkHeld();
    Arrived first = waiting.remove();
    waitingBytes -= first.entry().length;
    used = true;
    taken++;
    return first;
  }

  void putBack(Arrived message) {
    inbox.checkHeld();
    waiting.addFirst(message);
    waitingBytes += message.entry().length;
  }

  /**
   * Takes what came. The window grows when the broker had as much as was asked for and the
   * application has used half of it: whoever takes one message only leaves the rest to others.
   */
  void add(int pullId, List<Arrived> messages) {
    inbox.checkHeld();
    for (Arrived message : messages) {
      waiting.add(message);
      waitingBytes += message.entry().length;
    }
    if (pullId == lastPullId) {
      pullOpen = false;
      if (messages.size() >= asked && taken >= window / 2) {
        window = Math.min(settings.prefetch().messages(), window * 2);
        taken = 0;
      }
    }
  }

  /** A pull has ended without a message. */
  void ended(int pullId) {
    inbox.checkHeld();
    if (pullId == lastPullId) {
      pullOpen = false;
      emptyPullId = pullId;
    }
  }

  /** The broker wants to be asked again later: that pull has no answer. */
  void putOff(int pullId) {
    inbox.checkHeld();
    if (pullId == lastPullId) {
      pullOpen = false;
      putOffs++;
    }
  }

  /**
   * The connection is lost: the broker has everything back that waits here, unless that was
   * acknowledged before it came.
   */
  void lost() {
    inbox.checkHeld();
    if (mode != AckMode.NONE) {
      waiting.clear();
      waitingBytes = 0;
    }
    pullOpen = false;
  }

  /** Takes all that waits, to give it back. */
  List<Arrived> drain() {
    inbox.checkHeld();
    List<Arrived> all = new ArrayList<>(waiting);
    waiting.clear();
    waitingBytes = 0;
    return all;
  }

  /** Whether nothing is prefetched. */
  boolean isOnDemand() {
    return settings.prefetch().messages() == 0;
  }

  /** Whether nobody would get what comes now, so that it goes back; never what cannot go back. */
  boolean isUnwanted(boolean started) {
    boolean wanted =
        started && (waiters > 0 || receivers > 0 || (listener != null && !busy && isEmpty()));
    return isOnDemand() && !wanted && mode != AckMode.NONE;
  }

  /**
   * Asks for more once half of the window is used up. Without a listener this is done only while
   * somebody waits, and once after something was taken: a consumer that nobody asks for messages
   * must not hold any, which others could have.
   */
  void pullIfNeeded() {
    inbox.checkHeld();
    boolean wanted =
        isOnDemand()
            ? waiters > 0 || (listener != null && !busy)
            : listener != null || waiters > 0 || used;
    if (wanted
        && !closed
        && ended == null
        && !pullOpen
        && waiting.size() <= window / 2
        && waitingBytes <= settings.prefetch().bytes() / 2) {
      pull(askFor(), settings.prefetch().parkMillis());
    }
  }

  /** Asks for an answer now; the pull's id for {@link #wasEmpty}. */
  int pullNow() {
    inbox.checkHeld();
    pull(askFor(), 0);
    return lastPullId;
  }

  /**
   * Replaces an open pull by one that is answered at once: after its answer nothing is on its way.
   */
  void endPull() {
    inbox.checkHeld();
    if (isPulling()) {
      pull(1, 0);
      asked = Integer.MAX_VALUE; // its answer does not widen the window
    }
  }

  /** As {@link #endPull}, if the broker may be keeping the pull until something comes. */
  void endPark() {
    inbox.checkHeld();
    if (parked) {
      endPull();
    }
  }

  private int askFor() {
    return Math.max(1, window - waiting.size());
  }

  private void pull(int messages, int parkMillis) {
    lastPullId = lastPullId == Integer.MAX_VALUE ? 1 : lastPullId + 1;
    pullOpen = true;
    parked = parkMillis > 0;
    used = false;
    asked = messages;
    int bytes = (int) Math.max(1, settings.prefetch().bytes() - waitingBytes);
    link.pull(new Frame.PullOne(id, lastPullId, messages, bytes, parkMillis));
  }

  /** Whether nothing more comes, because the broker or the connection has ended it. */
  boolean hasEnded() {
    return ended != null;
  }

  /** Whether a pull is still to be answered. */
  boolean isPulling() {
    return pullOpen && ended == null;
  }

  /** Whether that pull is still to be answered. */
  boolean isOpen(int pullId) {
    return pullOpen && pullId == lastPullId;
  }

  /** How often the broker has put off a pull; it may overflow. */
  int putOffs() {
    return putOffs;
  }

  /** The last pull that found nothing; 0 if none has. */
  int lastEmptyPull() {
    return emptyPullId;
  }

  /** Whether that pull found nothing. */
  boolean wasEmpty(int pullId) {
    return emptyPullId == pullId;
  }

  /** The consumer with a listener whose first message came first, if any has one. */
  static @Nullable ConsumerQueue oldest(List<ConsumerQueue> consumers) {
    ConsumerQueue best = null;
    long number = Long.MAX_VALUE;
    for (ConsumerQueue consumer : consumers) {
      Arrived first = consumer.peek();
      if (first != null
          && consumer.listener != null
          && consumer.settingListener == 0
          && !consumer.closed
          && first.number() < number) {
        best = consumer;
        number = first.number();
      }
    }
    return best;
  }
}

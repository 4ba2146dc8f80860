package io.lightmq.core.delivery;

import io.lightmq.core.destination.DurableLane;
import io.lightmq.core.destination.Lane;
import io.lightmq.core.destination.Location;
import io.lightmq.core.destination.Look;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.destination.UnloggedLane;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.selector.Selector;
import io.lightmq.core.selector.Work;
import io.lightmq.core.storage.journal.Window;
import io.lightmq.wire.entry.Entry;
import io.lightmq.wire.entry.FaultCode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * The looks of browsers at queues (section 4.8 of the specification). Each pull is answered at
 * once: by messages, by OK if the look is over, or by "retry later". Nothing is taken, so nothing
 * is to be acknowledged or given back, and a look that is left behind holds up nobody.
 *
 * <p>How many there are is bounded by the consumers that a connection may have.
 */
@OwnedBy("shard")
public final class Browsers {
  /** At most so many fetches for browsers are under way; further pulls are to be repeated. */
  static final int MAX_UNDER_WAY = 8;

  /** One pull looks at so many messages in memory, or bytes, before the next one has to come. */
  public static final int MAX_LOOKED_AT = 4096;

  static final int MAX_LOOKED_AT_BYTES = 4 << 20;

  private final Window window;
  private final Fetcher fetcher;
  private final Beside beside;
  private final Work work;
  private final Decisions decisions;
  private final Batches batches;
  private final Gather gather = new Gather();
  private final Location location = new Location();
  private final Map<Recipient, Map<Integer, Browser>> open = new LinkedHashMap<>();
  private ByteBuffer scratch = ByteBuffer.allocate(0);
  private int underWay;
  private long nowMillis;

  // Of one pull.
  private int lookedAt;
  private long lookedAtBytes;
  private long share;

  /** The next message, in {@link #scratch}, if it takes too long to be looked at on the shard. */
  private boolean metLong;

  Browsers(Window window, Fetcher fetcher, Beside beside, Decisions decisions, Batches batches) {
    this.window = window;
    this.fetcher = fetcher;
    this.work = beside.work();
    this.beside = beside;
    this.decisions = decisions;
    this.batches = batches;
  }

  void time(long wallMillis) {
    nowMillis = wallMillis;
  }

  // ---- open and close ----

  /**
   * Opens a look at what a queue has now.
   *
   * @param consumerId new on the connection, among consumers too
   * @param selector which messages it wants, null for all
   */
  public void open(
      Recipient recipient,
      int consumerId,
      int sessionId,
      Subscription subscription,
      @Nullable Selector selector) {
    Consumer consumer = new Consumer(recipient, consumerId, sessionId, subscription.view(), false);
    Map<Integer, Browser> of = open.computeIfAbsent(recipient, r -> new LinkedHashMap<>());
    if (of.putIfAbsent(consumerId, new Browser(consumer, subscription.look(), selector)) != null) {
      throw new IllegalStateException(
          "connection %d has a browser %d already"
              .formatted(recipient.outlet().connectionId(), consumerId));
    }
  }

  /** The characters of all browsers' selectors. */
  public long selectorChars() {
    long sum = 0;
    for (Map<Integer, Browser> each : open.values()) {
      for (Browser browser : each.values()) {
        sum += browser.selectorChars();
      }
    }
    return sum;
  }

  /** How many a recipient has open. */
  public int count(Recipient recipient) {
    return open.getOrDefault(recipient, Map.of()).size();
  }

  /** Whether a browser is open. */
  public boolean isOpen(Recipient recipient, int consumerId) {
    return find(recipient, consumerId) != null;
  }

  private @Nullable Browser find(Recipient recipient, int consumerId) {
    return open.getOrDefault(recipient, Map.of()).get(consumerId);
  }

  /** Closes a browser, if it is open; its pull ends without an answer. */
  public void close(Recipient recipient, int consumerId) {
    Browser browser = find(recipient, consumerId);
    if (browser != null) {
      close(browser);
    }
  }

  private void close(Browser browser) {
    Recipient recipient = browser.consumer.recipient();
    browser.closed = true;
    Map<Integer, Browser> of = open.get(recipient);
    if (of != null && of.remove(browser.consumer.consumerId()) != null && of.isEmpty()) {
      open.remove(recipient);
    }
  }

  /** Closes the browsers of a session. */
  public void closeSession(Recipient recipient, int sessionId) {
    for (Browser browser : all(recipient)) {
      if (browser.consumer.sessionId() == sessionId) {
        close(browser);
      }
    }
  }

  /** A connection went. */
  public void disconnect(Recipient recipient) {
    all(recipient).forEach(this::close);
  }

  private List<Browser> all(Recipient recipient) {
    Map<Integer, Browser> of = open.get(recipient);
    return of == null ? List.of() : new ArrayList<>(of.values());
  }

  /** A subscription is about to end: looks at it end, and their open pulls are answered so. */
  void end(Subscription subscription, FaultCode code) {
    for (Recipient recipient : new ArrayList<>(open.keySet())) {
      for (Browser browser : all(recipient)) {
        if (browser.look.subscription() == subscription) {
          answer(browser, code, 0);
          close(browser);
        }
      }
    }
  }

  // ---- pulls ----

  /** Takes a pull, which replaces the one that the browser has open. */
  public void pull(Recipient recipient, int consumerId, int pullId, int messages, int bytes) {
    Browser browser = find(recipient, consumerId);
    if (browser == null) {
      throw new IllegalStateException("browser " + consumerId + " is closed");
    }
    Consumer consumer = browser.consumer;
    consumer.open = true;
    consumer.pullId = pullId;
    consumer.messages = Math.max(1, Math.min(messages, Dispatcher.MAX_PULL_MESSAGES));
    consumer.bytes = Math.max(1, Math.min(bytes, Dispatcher.MAX_PULL_BYTES));
    serve(browser, false);
  }

  void writable(Recipient recipient) {
    for (Browser browser : all(recipient)) {
      serve(browser, false);
    }
  }

  private void answer(Browser browser, FaultCode code, int retryMillis) {
    Consumer consumer = browser.consumer;
    if (consumer.open) {
      consumer.open = false;
      consumer
          .recipient()
          .outlet()
          .pullDone(consumer.consumerId(), consumer.pullId, code, retryMillis);
    }
  }

  private void serve(Browser browser, boolean again) {
    Consumer consumer = browser.consumer;
    if (!consumer.open || consumer.fetching || !consumer.recipient().outlet().writable()) {
      return;
    }
    gather.clear();
    lookedAt = 0;
    lookedAtBytes = 0;
    share = work.ofTurn() + Work.SLICE;
    metLong = false;
    boolean inFiles = gather(browser);
    if (gather.messages() > 0) {
      Outlet.Buffer buffer = consumer.recipient().outlet().allocate(gather.bytes());
      gather.copy(window, buffer.bytes());
      deliver(browser, buffer, gather.bytes());
    } else if (metLong) {
      lookAside(browser);
    } else if (inFiles) {
      fetch(browser, again);
    } else if (lookedAt > 0) {
      answer(browser, FaultCode.RETRY_LATER, 0);
    } else {
      answer(browser, FaultCode.OK, 0);
    }
  }

  private void deliver(Browser browser, Outlet.Buffer buffer, int length) {
    Consumer consumer = browser.consumer;
    consumer.open = false;
    consumer
        .recipient()
        .outlet()
        .deliver(
            new Outlet.Batch(
                consumer.consumerId(),
                consumer.pullId,
                gather.messages(),
                gather.seen(consumer.subscription()),
                buffer,
                length));
  }

  // ---- from memory ----

  /** Gathers what is in memory; whether the next message is not. */
  private boolean gather(Browser browser) {
    Look look = browser.look;
    while (mayLook(browser) && look.next(browser.consumer.messages - gather.messages())) {
      boolean full;
      if (look.lane() instanceof UnloggedLane unlogged) {
        if (!unlogged.isInMemory(look.from())) {
          return true;
        }
        full = gatherUnlogged(browser, unlogged);
      } else {
        DurableLane lane = (DurableLane) look.lane();
        Batches.locate(lane, look.from(), location);
        if (location.piece() != null || !window.contains(location.journalOffset())) {
          return true;
        }
        full = gatherWindow(browser, lane);
      }
      if (full) {
        return false;
      }
    }
    return false;
  }

  private boolean mayLook(Browser browser) {
    return gather.messages() < browser.consumer.messages
        && lookedAt < MAX_LOOKED_AT
        && work.ofTurn() < share
        && lookedAtBytes < MAX_LOOKED_AT_BYTES;
  }

  private boolean gatherUnlogged(Browser browser, UnloggedLane lane) {
    long end = browser.look.from() + browser.look.count();
    for (long sequence = browser.look.from();
        sequence < end && mayLook(browser) && lane.isInMemory(sequence);
        sequence++) {
      int length = lane.length(sequence);
      if (isOver(browser, length)) {
        return true;
      }
      if (browser.isLong(1, length)) {
        lane.copyTo(sequence, scratch(length));
        if (isLong(browser)) {
          metLong = true;
          return true;
        }
      }
      looked(browser, lane, sequence, length);
      if (!isExpired(lane.getLong(sequence, Entry.EXPIRY_AT))
          && isWantedUnlogged(browser, lane, sequence, length)) {
        gather.addUnlogged(lane, sequence, length);
      }
    }
    return false;
  }

  private boolean gatherWindow(Browser browser, DurableLane lane) {
    long offset = location.journalOffset();
    for (long at = location.firstSequence(); at < browser.look.from(); at++) {
      offset += window.getInt(offset);
    }
    long runEnd = location.firstSequence() + location.count();
    long end = Math.min(browser.look.from() + browser.look.count(), runEnd);
    for (long sequence = browser.look.from(); sequence < end && mayLook(browser); sequence++) {
      int length = window.getInt(offset);
      if (isOver(browser, length)) {
        return true;
      }
      if (browser.isLong(1, length)) {
        window.copyTo(offset, length, scratch(length));
        Gather.place(scratch, location, lane, sequence);
        if (isLong(browser)) {
          metLong = true;
          return true;
        }
      }
      looked(browser, lane, sequence, length);
      if (!isExpired(window.getLong(offset + Entry.EXPIRY_AT))
          && isWantedOfWindow(browser, offset, length)) {
        gather.addWindow(lane, sequence, offset, length, location.origin());
      }
      offset += length;
    }
    return false;
  }

  private boolean isOver(Browser browser, int length) {
    return gather.messages() > 0 && gather.bytes() + (long) length > browser.consumer.bytes;
  }

  private void looked(Browser browser, Lane lane, long sequence, int length) {
    lookedAt++;
    lookedAtBytes += length;
    browser.look.moveTo(lane, sequence + 1);
  }

  private boolean isExpired(long expiryMillis) {
    return expiryMillis != 0 && expiryMillis <= nowMillis;
  }

  private boolean isWantedUnlogged(Browser browser, UnloggedLane lane, long sequence, int length) {
    if (browser.wanted == null) {
      return true;
    }
    ByteBuffer entry = scratch(length);
    lane.copyTo(sequence, entry);
    return isWanted(browser, entry, 0);
  }

  private boolean isWantedOfWindow(Browser browser, long offset, int length) {
    if (browser.wanted == null) {
      return true;
    }
    ByteBuffer entry = scratch(length);
    window.copyTo(offset, length, entry);
    return isWanted(browser, entry, 0);
  }

  private ByteBuffer scratch(int length) {
    if (scratch.capacity() < length) {
      scratch = ByteBuffer.allocate(Math.max(length, 4096));
    }
    return scratch.clear();
  }

  private boolean isWanted(Browser browser, ByteBuffer entry, int at) {
    Selector.Evaluator wanted = browser.wanted;
    return wanted == null
        || wanted.matches(
            entry, Entry.messageOffset(entry, at), Entry.messageBytes(entry, at), work);
  }

  // ---- beside the shard ----

  private boolean isLong(Browser browser) {
    return browser.wanted != null
        && browser.wanted.isLong(
            scratch, Entry.messageOffset(scratch, 0), Entry.messageBytes(scratch, 0));
  }

  /** Has the next message looked at beside the shard; it lies in the memory at hand. */
  private void lookAside(Browser browser) {
    if (underWay >= MAX_UNDER_WAY) {
      answer(browser, FaultCode.RETRY_LATER, Dispatcher.RETRY_MILLIS);
      return;
    }
    Consumer consumer = browser.consumer;
    Lane lane = browser.look.lane();
    long sequence = browser.look.from();
    int length = Entry.length(scratch, 0);
    Fetch fetch = new Fetch(consumer, lane, consumer.bytes, false);
    fetch.add(new Fetch.InHand(sequence, 1), length);
    Outlet.Buffer buffer = consumer.recipient().outlet().allocate(length);
    buffer.bytes().put(0, scratch, 0, length);
    fetch.buffer = buffer;
    fetch.taken = 1;
    fetch.length = length;
    browser.look.moveTo(lane, sequence + 1);
    consumer.fetching = true;
    underWay++;
    lookAside(browser, fetch);
  }

  /** Has what was fetched looked at beside the shard. */
  private void lookAside(Browser browser, Fetch fetch) {
    Selector selector = browser.selector;
    Outlet.Buffer buffer = fetch.buffer;
    if (selector == null || buffer == null) {
      arrived(browser, fetch, null);
      return;
    }
    lookAside(browser, fetch, new Aside(selector, buffer.bytes(), fetch.taken));
  }

  private void lookAside(Browser browser, Fetch fetch, Aside aside) {
    try {
      beside.run(
          aside::slice,
          () -> {
            if (aside.isDone() || browser.closed) {
              arrived(browser, fetch, aside.wanted);
            } else {
              lookAside(browser, fetch, aside);
            }
          },
          () -> release(fetch));
    } catch (RejectedExecutionException e) {
      browser.look.moveTo(fetch.lane, fetch.parts.get(0).from());
      underWay--;
      browser.consumer.fetching = false;
      fetch.release();
      release(fetch);
      answer(browser, FaultCode.RETRY_LATER, Dispatcher.RETRY_MILLIS);
    }
  }

  private static void release(Fetch fetch) {
    Outlet.Buffer buffer = fetch.buffer;
    if (buffer != null) {
      buffer.release();
    }
  }

  /** Entries, and which of them are wanted as far as that is known; not touched by two at once. */
  private static final class Aside {
    private final Selector.Evaluator evaluator;
    private final ByteBuffer entries;
    private final int count;
    private final Work work = new Work();
    private final BitSet wanted = new BitSet();
    private int index;
    private int at;

    Aside(Selector selector, ByteBuffer entries, int count) {
      this.evaluator = selector.evaluator();
      this.entries = entries;
      this.count = count;
    }

    boolean isDone() {
      return index == count;
    }

    void slice() {
      work.endTurn();
      while (!isDone() && work.ofTurn() < Work.SLICE) {
        int messageAt = at + Entry.messageOffset(entries, at);
        if (evaluator.matches(entries, messageAt, Entry.messageBytes(entries, at), work)) {
          wanted.set(index);
        }
        at += Entry.length(entries, at);
        index++;
      }
    }
  }

  // ---- from files ----

  private void fetch(Browser browser, boolean again) {
    if (underWay >= MAX_UNDER_WAY) {
      answer(browser, FaultCode.RETRY_LATER, Dispatcher.RETRY_MILLIS);
      return;
    }
    Consumer consumer = browser.consumer;
    Look look = browser.look;
    Fetch fetch = new Fetch(consumer, look.lane(), consumer.bytes, again);
    while (fetch.messages < consumer.messages
        && fetch.estimatedBytes < consumer.bytes
        && look.next(consumer.messages - fetch.messages)
        && look.lane() == fetch.lane
        && batches.addPart(fetch, look.from(), look.count())) {
      Fetch.Part part = fetch.parts.get(fetch.parts.size() - 1);
      look.moveTo(fetch.lane, part.from() + part.count());
    }
    consumer.fetching = true;
    underWay++;
    try {
      fetcher.fetch(fetch, done -> fetched(browser, done));
    } catch (RejectedExecutionException e) {
      underWay--;
      consumer.fetching = false;
      fetch.release();
      look.moveTo(fetch.lane, fetch.parts.get(0).from());
      answer(browser, FaultCode.RETRY_LATER, Dispatcher.RETRY_MILLIS);
    }
  }

  private void fetched(Browser browser, Fetch fetch) {
    if (!browser.closed && browser.isLong(fetch.taken, fetch.length)) {
      lookAside(browser, fetch);
    } else {
      arrived(browser, fetch, null);
    }
  }

  /** What was fetched is here. */
  private void arrived(Browser browser, Fetch fetch, @Nullable BitSet wanted) {
    underWay--;
    browser.consumer.fetching = false;
    fetch.release();
    Outlet.Buffer buffer = fetch.buffer;
    if (browser.closed || buffer == null || fetch.taken == 0) {
      if (buffer != null) {
        buffer.release();
      }
      if (!browser.closed) {
        missed(browser, fetch);
      }
      return;
    }
    int length = keepWanted(browser, fetch, buffer.bytes(), wanted);
    if (length > 0) {
      deliver(browser, buffer, length);
    } else {
      buffer.release();
      serve(browser, false);
    }
  }

  /** A fetch that brought nothing: what it wanted may have moved or gone, so it is tried again. */
  private void missed(Browser browser, Fetch fetch) {
    browser.look.moveTo(fetch.lane, fetch.parts.get(0).from());
    IOException failure = fetch.failure;
    Damage damage = fetch.again ? Damage.of(fetch) : null;
    Subscription subscription = browser.consumer.subscription();
    if (damage != null) {
      // Nothing is taken by a look: if it cannot be set aside now, who consumes it will see to it.
      boolean unused = decisions.setAside(subscription, fetch.lane, damage);
      browser.look.moveTo(fetch.lane, damage.through() + 1);
      serve(browser, false);
    } else if (failure != null && fetch.again) {
      decisions.unreadable(subscription, failure);
      answer(browser, FaultCode.RETRY_LATER, Dispatcher.UNREADABLE_RETRY_MILLIS);
    } else {
      serve(browser, failure != null);
    }
  }

  /** Moves together what of a fetch is to be shown; the look goes on behind it. */
  private int keepWanted(Browser browser, Fetch fetch, ByteBuffer bytes, @Nullable BitSet wanted) {
    Consumer consumer = browser.consumer;
    Subscription subscription = consumer.subscription();
    gather.clear();
    int at = 0;
    int kept = 0;
    int index = 0;
    for (Fetch.Part part : fetch.parts) {
      for (long sequence = part.from(); sequence < part.from() + part.count(); sequence++) {
        int length = index < fetch.taken ? Entry.length(bytes, at) : 0;
        if (index++ >= fetch.taken
            || gather.messages() == consumer.messages
            || (gather.messages() > 0 && kept + (long) length > consumer.bytes)) {
          browser.look.moveTo(fetch.lane, sequence);
          return kept;
        }
        if (subscription.isUnacknowledged(fetch.lane.code(), sequence)
            && !isExpired(Entry.expiryMillis(bytes, at))
            && (wanted == null ? isWanted(browser, bytes, at) : wanted.get(index - 1))) {
          if (kept != at) {
            bytes.put(kept, bytes, at, length);
          }
          gather.addMessage(fetch.lane, sequence);
          kept += length;
        }
        at += length;
      }
    }
    return kept;
  }
}

package io.lightmq.node.connection;

import io.lightmq.core.door.Command;
import io.lightmq.core.door.Peer;
import io.lightmq.core.door.Peer.Reply;
import io.lightmq.node.credit.CreditLine;
import io.lightmq.spi.Authorizer.Action;
import io.lightmq.wire.Frame;
import io.lightmq.wire.FrameCodec;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Turns the frames of an authenticated client into commands for the shard, after limits and rights
 * were checked. Event loop only.
 */
final class ClientFrames {
  /** From so many held runs on, the shard has fallen behind and small runs are copied. */
  private static final int RUNS_BEFORE_COPY = 16;

  private static final int SMALL_RUN_BYTES = 4 << 10;

  private static final int MAX_PARK_MILLIS = 60_000;

  private final ConnectionSettings settings;
  private final Rights rights;
  private final Peer peer;
  private final CreditLine credit;
  private final TransactionFrames transactions;
  private final FrameBudget decoded;
  private final ByteBufAllocator allocator;
  private final Consumer<Command> shard;
  private final NodeVerbs verbs;
  private final Wakes wakes;
  private final Resources resources;
  private final AtomicInteger heldRuns = new AtomicInteger();

  /** What this connection has of {@link #decoded}. */
  private final AtomicLong heldHeapBytes = new AtomicLong();

  /** Attaches, and requests with long texts, without an answer yet; bounded as {@link #open} is. */
  private final Map<Integer, Asked> asked = new HashMap<>();

  /** What takes heap of what wants no answer, in order; bounded as {@link #unanswered} is. */
  private final Queue<Unasked> unasked = new ConcurrentLinkedQueue<>();

  /**
   * How many commands that want no answer were handed to the shard since the connection is open.
   */
  private long submitted;

  /** And how many of them it has carried out. */
  private final AtomicLong carried = new AtomicLong();

  /** Pulls and commands without a correlation that the shard has not carried out. */
  private final AtomicInteger unanswered = new AtomicInteger();

  /** Requests that are not answered. */
  private int open;

  /** The correlation of the verb that is not answered, 0 if none is. */
  private int verb;

  /** What all connections have of both. */
  private final OpenRequests all;

  private final int share;
  private final int floor;
  private boolean ended;

  /** What a request opens. */
  private enum Opens {
    NOTHING,
    PRODUCER,
    CONSUMER
  }

  private record Asked(Opens opens, int id, int heapBytes) {}

  /** Heap until so many commands are carried out: the shard keeps their order. */
  private record Unasked(long submitted, int heapBytes) {}

  /** Told on the shard's thread that held bytes are free again. */
  interface Wakes {
    void creditReturned();
  }

  ClientFrames(
      Door door,
      Rights rights,
      Peer peer,
      CreditLine credit,
      ByteBufAllocator allocator,
      boolean keepsTransactions,
      Wakes wakes) {
    this.settings = door.settings();
    this.rights = rights;
    this.peer = peer;
    this.credit = credit;
    this.decoded = door.decoded();
    this.allocator = allocator;
    this.shard = door.shard();
    this.verbs = door.verbs();
    this.wakes = wakes;
    this.resources = new Resources(settings, door.heap());
    this.transactions =
        new TransactionFrames(
            peer,
            allocator,
            door.commits(),
            keepsTransactions,
            this::attached,
            this::acked,
            this::submit);
    this.all = door.open();
    this.share = all.share(settings.counts().openRequests());
    this.floor = Math.min(share, OpenRequests.FLOOR);
  }

  /** Whether so much is under way that nothing more is to be read. */
  boolean full() {
    return ownFull() || waitsForOthers();
  }

  private boolean ownFull() {
    return open >= share
        || unanswered.get() >= share
        || verb != 0
        || transactions.heldBytes() > 2 * settings.sizes().maxTransactionBytes()
        || heldHeapBytes.get() > FrameHeap.share(decoded.limitBytes());
  }

  /** Whether nothing more is to be read because of what all connections have under way. */
  boolean waitsForOthers() {
    return open + unanswered.get() >= floor && all.full();
  }

  /** Notes the answer of a request other than a run or commit, before it is written. */
  void answered(int correlation, Reply reply) {
    receipted(1);
    if (correlation == verb) {
      verb = 0;
    }
    Asked request = asked.remove(correlation);
    if (request == null) {
      return;
    }
    giveBack(request.heapBytes());
    if (reply instanceof Reply.ProducerAttached attached) {
      resources.resolved(request.id(), attached.destinationId());
    } else if (reply instanceof Reply.Failed) {
      switch (request.opens()) {
        case PRODUCER -> resources.failed(request.id());
        case CONSUMER -> resources.closeConsumer(request.id());
        case NOTHING -> {}
      }
    }
  }

  /**
   * Notes that a command which wants no answer is carried out; on the shard's thread.
   *
   * @return whether half of them are, or their heap is free, so that a pause for them may end
   */
  boolean carriedOut() {
    all.add(-1);
    long done = carried.incrementAndGet();
    boolean free = false;
    Unasked next = unasked.peek();
    while (next != null && next.submitted() <= done) {
      unasked.remove();
      free |= giveBack(next.heapBytes());
      next = unasked.peek();
    }
    int left = unanswered.decrementAndGet();
    return free || left == share / 2 || left == floor / 2;
  }

  /**
   * Notes that ranges which a command named are not kept any more; any thread.
   *
   * @return whether a pause for them may end
   */
  boolean letGo(List<Command.Acked> ranges) {
    return giveBack(FrameHeap.of(ranges));
  }

  private void keep(int bytes) {
    if (bytes > 0) {
      decoded.keep(bytes);
      heldHeapBytes.addAndGet(bytes);
    }
  }

  /** Gives heap back; whether a pause for it may end. */
  private boolean giveBack(int bytes) {
    if (bytes == 0) {
      return false;
    }
    long held = heldHeapBytes.addAndGet(-bytes);
    decoded.giveBack(bytes);
    long most = FrameHeap.share(decoded.limitBytes());
    return held <= most && held + bytes > most;
  }

  /** The connection has ended. */
  void end() {
    resources.end();
    receipted(open);
    asked.values().forEach(request -> giveBack(request.heapBytes()));
    asked.clear();
    ended = true;
  }

  void receipted(int count) {
    if (!ended) {
      open -= count;
      all.add(-count);
    }
  }

  private void opened() {
    open++;
    all.add(1);
  }

  /**
   * Binds the connection to its link; the shard answers.
   *
   * @param learnsSince whether the client learns since when the link is known
   */
  void attach(Frame.Attach attach, boolean learnsSince) throws ProtocolRefusal {
    note(attach.correlation(), Opens.NOTHING, 0, FrameHeap.ofTexts(chars(attach.clientId())));
    submit(
        attach.correlation(),
        new Command.Attach(
            peer,
            attach.correlation(),
            attach.linkId(),
            attach.linkEpoch(),
            attach.answersFrom(),
            attach.clientId(),
            learnsSince));
  }

  /**
   * Takes a frame. Owns its buffers from now on.
   *
   * @return an answer to write at once, or null if the shard answers or nobody does
   */
  @Nullable Frame take(Frame frame) throws ProtocolRefusal {
    if (frame instanceof Frame.Publish publish) {
      publish(publish);
    } else if (frame instanceof Frame.Acknowledge ack) {
      submit(
          ack.correlation(), new Command.Acknowledge(peer, ack.correlation(), acked(ack.acked())));
    } else if (frame instanceof Frame.Pull pull) {
      pull(pull);
    } else if (transactions.take(frame)) {
      return null;
    } else if (frame instanceof Frame.Return back) {
      noteText(back.correlation(), back.cause());
      submit(
          back.correlation(),
          new Command.Return(
              peer, back.correlation(), acked(back.returned()), back.attempted(), back.cause()));
    } else if (frame instanceof Frame.Begun begun) {
      if (resources.isOpen(begun.sessionId())) {
        submit(
            0, new Command.Begun(peer, begun.sessionId(), begun.alone(), acked(begun.messages())));
      }
    } else if (frame instanceof Frame.OpenSession session) {
      resources.openSession(session.sessionId());
      return new Frame.Ok(session.correlation());
    } else if (frame instanceof Frame.CloseSession session) {
      resources.closeSession(session.sessionId());
      submit(
          session.correlation(),
          new Command.CloseSession(peer, session.correlation(), session.sessionId()));
    } else if (frame instanceof Frame.AttachProducer attach) {
      attachProducer(attach);
    } else if (frame instanceof Frame.DetachProducer detach) {
      resources.closeProducer(detach.producerId());
    } else if (frame instanceof Frame.AttachConsumer attach) {
      attachConsumer(attach);
    } else if (frame instanceof Frame.DetachConsumer detach) {
      resources.closeConsumer(detach.consumerId());
      submit(
          detach.correlation(),
          new Command.DetachConsumer(peer, detach.correlation(), detach.consumerId()));
    } else {
      takeRare(frame);
    }
    return null;
  }

  private void takeRare(Frame frame) throws ProtocolRefusal {
    int correlation = frame.correlation();
    if (frame instanceof Frame.SetClientId set) {
      noteText(correlation, set.clientId());
      submit(correlation, new Command.SetClientId(peer, correlation, set.clientId()));
    } else if (frame instanceof Frame.Unsubscribe unsubscribe) {
      rights.demand(Action.CONSUME, Rights.BROKER);
      noteText(correlation, unsubscribe.subscription());
      submit(correlation, new Command.Unsubscribe(peer, correlation, unsubscribe.subscription()));
    } else if (frame instanceof Frame.CreateTemporary create) {
      rights.demand(Action.CREATE, Rights.BROKER);
      if (!create.kind().isTemporary()) {
        throw ProtocolRefusal.protocol(create.kind() + " is not a kind of temporary destination");
      }
      submit(
          correlation,
          new Command.CreateTemporary(peer, correlation, create.kind(), create.number()));
    } else if (frame instanceof Frame.DeleteTemporary delete) {
      noteText(correlation, delete.destination().name());
      submit(correlation, new Command.DeleteTemporary(peer, correlation, delete.destination()));
    } else if (frame instanceof Frame.Admin admin) {
      rights.demand(Action.MANAGE, managed(admin));
      noteVerb(admin);
      verb = correlation; // its answer may be long: the next one waits for it
      if (verbs.has(admin.verb())) {
        opened();
        verbs.execute(peer, correlation, admin.verb(), admin.arguments());
      } else {
        submit(correlation, new Command.Admin(peer, correlation, admin.verb(), admin.arguments()));
      }
    } else {
      FrameCodec.release(frame);
      throw ProtocolRefusal.protocol(
          "a client may not send " + frame.getClass().getSimpleName() + " at this point");
    }
  }

  /**
   * What a verb manages: one destination if it names one as its subject, else the broker as a
   * whole. What other verbs call a name is that of a user or of nothing; what they call a queue,
   * topic or destination only narrows what they look at.
   */
  private static String managed(Frame.Admin admin) {
    String verb = admin.verb();
    return verb.startsWith("destination.") && !verb.equals("destination.list")
        ? admin.arguments().getOrDefault("name", Rights.BROKER)
        : Rights.BROKER;
  }

  private void submit(int correlation, Command command) {
    if (correlation > 0) {
      opened();
    } else if (!(command instanceof Command.Publish)) {
      submitted++;
      unanswered.incrementAndGet();
      all.add(1);
    }
    shard.accept(command);
  }

  private static long chars(@Nullable String text) {
    return text == null ? 0 : text.length();
  }

  /** Counts a text of a request, or of a command that wants no answer and is submitted next. */
  private void noteText(int correlation, @Nullable String text) throws ProtocolRefusal {
    int bytes = FrameHeap.ofTexts(chars(text));
    if (bytes > 0 && correlation > 0) {
      note(correlation, Opens.NOTHING, 0, bytes);
    } else if (bytes > 0) {
      noteUnasked(1, bytes);
    }
  }

  private void noteVerb(Frame.Admin admin) throws ProtocolRefusal {
    long chars = chars(admin.verb());
    for (Map.Entry<String, String> each : admin.arguments().entrySet()) {
      chars += chars(each.getKey()) + chars(each.getValue());
    }
    int bytes = FrameHeap.ofVerb(admin.arguments().size(), chars);
    if (bytes > 0) {
      note(admin.correlation(), Opens.NOTHING, 0, bytes);
    }
  }

  /** Notes a request until {@link #answered}. */
  private void note(int correlation, Opens opens, int id, int heapBytes) throws ProtocolRefusal {
    checkUnused(correlation);
    asked.put(correlation, new Asked(opens, id, heapBytes));
    keep(heapBytes);
  }

  /** Notes heap until so many commands more are {@link #carriedOut}. */
  private void noteUnasked(int commands, int heapBytes) {
    keep(heapBytes);
    unasked.add(new Unasked(submitted + commands, heapBytes));
  }

  private void attachProducer(Frame.AttachProducer attach) throws ProtocolRefusal {
    String name = attach.destination().name();
    rights.demand(Action.SEND, name);
    checkUnused(attach.correlation());
    resources.openProducer(attach.producerId(), attach.sessionId());
    int bytes = FrameHeap.ofTexts(chars(name));
    note(attach.correlation(), Opens.PRODUCER, attach.producerId(), bytes);
    submit(
        attach.correlation(),
        new Command.AttachProducer(
            peer, attach.correlation(), attach.destination(), rights.permits(Action.CREATE, name)));
  }

  private void attachConsumer(Frame.AttachConsumer attach) throws ProtocolRefusal {
    String name = attach.destination().name();
    rights.demand(Action.CONSUME, name);
    checkUnused(attach.correlation());
    resources.openConsumer(attach.consumerId(), attach.sessionId());
    int bytes =
        FrameHeap.ofTexts(chars(name) + chars(attach.subscription()) + chars(attach.selector()));
    note(attach.correlation(), Opens.CONSUMER, attach.consumerId(), bytes);
    submit(
        attach.correlation(),
        new Command.AttachConsumer(
            peer,
            attach.correlation(),
            attach.consumerId(),
            attach.sessionId(),
            attach.destination(),
            Command.Subscribe.valueOf(attach.subscribe().name()),
            attach.subscription(),
            attach.selector(),
            attach.noLocal(),
            attach.noAcknowledge(),
            rights.permits(Action.CREATE, name)));
  }

  private void checkUnused(int correlation) throws ProtocolRefusal {
    if (correlation <= 0 || asked.containsKey(correlation)) {
      throw ProtocolRefusal.protocol("correlation " + correlation + " is in use or not above 0");
    }
  }

  private void publish(Frame.Publish publish) throws ProtocolRefusal {
    ByteBuf messages = publish.messages();
    int bytes = messages.readableBytes();
    try {
      if (publish.correlation() <= 0) {
        throw ProtocolRefusal.protocol("a run needs a correlation above 0");
      }
      credit.received(bytes);
    } catch (ProtocolRefusal | RuntimeException e) {
      messages.release();
      throw e;
    }
    try {
      messages = SentMessages.of(messages, publish.count(), allocator);
      if (heldRuns.get() >= RUNS_BEFORE_COPY && bytes < SMALL_RUN_BYTES) {
        messages = ownCopy(messages);
      }
    } catch (RuntimeException | Error e) { // there may be no memory for a copy
      messages.release();
      credit.returned(bytes);
      throw e;
    }
    heldRuns.incrementAndGet();
    HeldBytes held =
        new HeldBytes(
            messages,
            () -> {
              heldRuns.decrementAndGet();
              credit.returned(bytes);
              wakes.creditReturned();
            });
    submit(
        publish.correlation(),
        new Command.Publish(
            peer,
            publish.correlation(),
            attached(publish.destinationId()),
            publish.number(),
            publish.count(),
            held));
  }

  /**
   * The destination as the shard is told of it. One that is not attached here is named as none, so
   * that the shard answers with the outcome that is kept for the number, or refuses and spends it.
   */
  private long attached(long destinationId) {
    return resources.mayPublish(destinationId) ? destinationId : Command.NO_DESTINATION;
  }

  /** A small slice would keep the whole buffer that it was read with. */
  private ByteBuf ownCopy(ByteBuf slice) {
    ByteBuf copy = allocator.directBuffer(slice.readableBytes(), slice.readableBytes());
    copy.writeBytes(slice);
    slice.release();
    return copy;
  }

  private void pull(Frame.Pull pull) throws ProtocolRefusal {
    for (Frame.PullOne one : pull.pulls()) {
      if (one.messages() <= 0 || one.bytes() <= 0 || one.parkMillis() < 0) {
        throw ProtocolRefusal.protocol(
            "a pull of "
                + one.messages()
                + " messages, "
                + one.bytes()
                + " bytes and "
                + one.parkMillis()
                + " ms");
      }
    }
    int bytes = FrameHeap.ofPulls(pull.pulls().size());
    if (bytes > 0) {
      noteUnasked(pull.pulls().size(), bytes);
    }
    for (Frame.PullOne one : pull.pulls()) {
      submit(
          0,
          new Command.Pull(
              peer,
              one.consumerId(),
              one.pullId(),
              one.messages(),
              Math.min(one.bytes(), settings.sizes().maxDeliveryBytes()),
              Math.min(one.parkMillis(), MAX_PARK_MILLIS)));
    }
  }

  /** As the shard knows them, counted until {@link #letGo}: the command is to be submitted. */
  private List<Command.Acked> acked(List<Frame.Acked> frames) {
    List<Command.Acked> acked = new ArrayList<>(frames.size());
    for (Frame.Acked one : frames) {
      acked.add(new Command.Acked(one.consumerId(), one.destinationId(), one.ranges()));
    }
    keep(FrameHeap.of(acked));
    return acked;
  }
}

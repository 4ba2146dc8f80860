package io.lightmq.node.connection;

import io.lightmq.core.door.Command;
import io.lightmq.core.door.Peer;
import io.lightmq.wire.Frame;
import io.lightmq.wire.entry.FaultCode;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelOutboundBuffer;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What goes out to one client. The shard and its journal call the {@link Peer} methods on their own
 * threads; one task per turn of the connection's event loop takes all that has gathered, joins
 * receipts into ranges and pulls that ended into one frame, writes, and flushes once.
 *
 * <p>The queue is bounded by what the client may ask for: each open request, credited run and pull
 * has one answer. Deliveries stop when {@code outboundBytes} wait here or in the channel. Of other
 * frames {@value #MOST_ANSWER_BYTES} bytes and one frame more wait in the channel: then nothing is
 * written, and nothing read, until the client has read its answers. Long answers count among the
 * deliveries of all clients.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a write that fails closes the channel
final class Outbound implements Peer {
  private static final int ITEMS_PER_TURN = 4_096;
  private static final int RETRY_AFTER_MILLIS = 500;
  private static final int LOOK_AGAIN_MILLIS = 20;

  /**
   * While so many bytes of frames that are no deliveries wait in the channel, no more are written.
   */
  static final int MOST_ANSWER_BYTES = 16 << 10;

  /** And so few are left when it goes on. */
  static final int FEW_ANSWER_BYTES = MOST_ANSWER_BYTES / 2;

  /** Ends of pulls in one frame. */
  private static final int PULL_ENDS = 1_024;

  /** What a frame has beside a text. */
  private static final int FRAME_BYTES = 64;

  private final Channel channel;
  private final long connectionId;
  private final String userName;
  private final boolean manages;
  private final int outboundBytes;
  private final int maxFrameBytes;
  private final DeliveryBudget budget;
  private final Events events;
  private final Queue<Item> queue = new ConcurrentLinkedQueue<>();
  private final AtomicBoolean scheduled = new AtomicBoolean();
  private final AtomicBoolean lookingAgain = new AtomicBoolean();
  private final AtomicLong queuedBytes = new AtomicLong();
  private final ReceiptBatch receipts = new ReceiptBatch();
  private final List<Frame.PullEnd> pullEnds = new ArrayList<>();
  private final Runnable turn = this::turn;
  private final Runnable lookWhetherRead = this::lookWhetherRead;
  private volatile boolean wantsRoom;

  /** What of the channel's waiting bytes are deliveries. */
  private long deliveryBytes;

  /** Whether the client does not read its answers. */
  private boolean unread;

  /** What the connection must know of; called on its event loop. */
  interface Events {
    /** An answer to a request other than a run is about to be written. */
    void answered(int correlation, Reply reply);

    /** So many runs and commits were answered. */
    void receipted(int count);

    /** All answers of a turn are written. */
    void turnEnded();

    /** Whether there is credit to announce. Any thread. */
    boolean creditDue();

    /** How much credit is to be announced now; 0 for none. */
    long creditToAnnounce();

    /** A command that wants no answer is carried out. On the shard's thread. */
    void carriedOut();

    /** What a command named is not kept any more. Any thread. */
    void letGo(List<Command.Acked> named);

    /** Deliveries may go on. */
    void writableAgain();

    /** The client does not read its answers, or does again. */
    void answersUnread(boolean unread);

    /** Runs a task once, after the next write that is done. */
    void whenWritten(Runnable task);

    /** The broker ends the connection. */
    void end(FaultCode code, String text);

    /** The frame that answers an attach. */
    Frame attached(int correlation, Reply.Attached reply);
  }

  private sealed interface Item {}

  private record Receipt(int correlation, FaultCode code, String text) implements Item {}

  private record Answer(int correlation, Reply reply) implements Item {}

  private record Messages(Delivery delivery) implements Item {}

  private record PullEnd(Frame.PullEnd end) implements Item {}

  private record Disconnect(FaultCode code, String text) implements Item {}

  /**
   * A buffer that counts from the moment it exists: many may be filled at the same time. It lies in
   * the heap if there is no direct memory: the shard goes on, and if there is none when it is
   * written either, the connection ends.
   */
  private final class Room implements OutBuffer {
    private final ByteBuf buffer;
    private final ByteBuffer bytes;

    Room(int roomBytes) {
      buffer = room(roomBytes);
      bytes = buffer.nioBuffer(0, roomBytes);
      queuedBytes.addAndGet(roomBytes);
      budget.take(roomBytes);
    }

    private ByteBuf room(int roomBytes) {
      try {
        return channel.alloc().directBuffer(roomBytes, roomBytes);
      } catch (OutOfMemoryError noDirectMemory) {
        return channel.alloc().heapBuffer(roomBytes, roomBytes);
      }
    }

    @Override
    public ByteBuffer bytes() {
      return bytes;
    }

    @Override
    public void release() {
      int roomBytes = buffer.capacity();
      buffer.release();
      queuedBytes.addAndGet(-roomBytes);
      budget.giveBack(roomBytes);
      if (wantsRoom) {
        wake();
      }
    }
  }

  Outbound(
      Channel channel,
      long connectionId,
      String userName,
      boolean manages,
      ConnectionSettings settings,
      DeliveryBudget budget,
      Events events) {
    this.channel = channel;
    this.connectionId = connectionId;
    this.userName = userName;
    this.manages = manages;
    this.outboundBytes = settings.sizes().outboundBytes();
    this.maxFrameBytes = settings.maxFrameBytes();
    this.budget = budget;
    this.events = events;
  }

  @Override
  public long connectionId() {
    return connectionId;
  }

  @Override
  public String address() {
    String text = String.valueOf(channel.remoteAddress());
    return text.startsWith("/") ? text.substring(1) : text;
  }

  @Override
  public String userName() {
    return userName;
  }

  @Override
  public boolean manages() {
    return manages;
  }

  @Override
  public void receipt(int correlation, FaultCode code, String text) {
    add(new Receipt(correlation, code, text));
  }

  @Override
  public void reply(int correlation, Reply reply) {
    add(new Answer(correlation, reply));
  }

  /** If not, the shard is told once there is room again; the second look closes the gap between. */
  @Override
  public boolean writable() {
    if (hasRoom()) {
      return true;
    }
    wantsRoom = true;
    if (hasRoom()) {
      return true;
    }
    if (hasOwnRoom()) {
      lookAgainSoon();
    }
    return false;
  }

  private boolean hasRoom() {
    return hasOwnRoom() && budget.hasRoom();
  }

  private boolean hasOwnRoom() {
    return queuedBytes.get() < outboundBytes && channel.isWritable();
  }

  /** Nothing of this connection may be under way that would tell of room in the shared budget. */
  private void lookAgainSoon() {
    if (lookingAgain.compareAndSet(false, true)) {
      try {
        channel.eventLoop().schedule(this::lookAgain, LOOK_AGAIN_MILLIS, TimeUnit.MILLISECONDS);
      } catch (RejectedExecutionException loopHasEnded) {
        discard();
      }
    }
  }

  private void lookAgain() {
    lookingAgain.set(false);
    if (channel.isActive()) {
      roomChanged();
    }
  }

  @Override
  public OutBuffer allocate(int bytes) {
    return new Room(bytes);
  }

  @Override
  public void deliver(Delivery delivery) {
    add(new Messages(delivery));
  }

  @Override
  public void pullDone(int consumerId, int pullId, FaultCode code, int retryAfterMillis) {
    add(new PullEnd(new Frame.PullEnd(consumerId, pullId, code, retryAfterMillis)));
  }

  /** The figures are kept where the bytes are released; this only makes the client know soon. */
  @Override
  public void credit(long bytes) {
    if (events.creditDue()) {
      wake();
    }
  }

  @Override
  public void carriedOut() {
    events.carriedOut();
  }

  @Override
  public void letGo(List<Command.Acked> named) {
    events.letGo(named);
  }

  @Override
  public void disconnect(FaultCode code, String text) {
    add(new Disconnect(code, text));
  }

  private void add(Item item) {
    queue.add(item);
    wake();
  }

  /** Makes a turn happen soon. Any thread. */
  void wake() {
    if (scheduled.compareAndSet(false, true)) {
      try {
        channel.eventLoop().execute(turn);
      } catch (RejectedExecutionException loopHasEnded) {
        discard();
      }
    }
  }

  private void turn() {
    scheduled.set(false);
    if (!channel.isActive()) {
      discard();
      return;
    }
    for (int taken = 0; taken < ITEMS_PER_TURN && !unread; taken++) {
      Item item = queue.poll();
      if (item == null) {
        break;
      }
      write(item);
    }
    if (!unread) {
      writeGathered();
    }
    channel.flush();
    events.turnEnded();
    roomChanged();
    if (!unread && !queue.isEmpty()) {
      wake();
    }
  }

  private void write(Item item) {
    if (item instanceof Receipt receipt) {
      receipts.add(receipt.correlation(), receipt.code(), receipt.text());
      if (receipts.isFull()) {
        writeGathered();
      }
    } else if (item instanceof Messages messages) {
      write(messages.delivery());
    } else if (item instanceof PullEnd end) {
      pullEnds.add(end.end());
      if (pullEnds.size() >= PULL_ENDS) {
        writeGathered();
      }
    } else if (item instanceof Answer answer) {
      events.answered(answer.correlation(), answer.reply());
      Frame frame = frame(answer.correlation(), answer.reply());
      if (frame instanceof Frame.AdminResult || frame instanceof Frame.Attached) {
        writeLong(frame);
      } else {
        write(frame);
      }
    } else if (item instanceof Disconnect end) {
      writeGathered();
      events.end(end.code(), end.text());
    }
  }

  private void write(Delivery delivery) {
    ByteBuf entries = ((Room) delivery.entries()).buffer.setIndex(0, delivery.length());
    int roomBytes = entries.capacity();
    queuedBytes.addAndGet(-roomBytes);
    List<Frame.Seen> seen = new ArrayList<>(delivery.seen().size());
    for (Seen one : delivery.seen()) {
      seen.add(new Frame.Seen(one.index(), one.count(), one.deliveries()));
    }
    long before = waitingBytes();
    ChannelFuture written =
        channel.write(
            new Frame.Deliver(
                delivery.consumerId(),
                delivery.pullId(),
                delivery.count(),
                seen,
                List.of(),
                entries));
    long added = waitingBytes() - before;
    deliveryBytes += added;
    written.addListener(
        done -> {
          deliveryBytes -= added;
          budget.giveBack(roomBytes);
        });
    written.addListener(ChannelFutureListener.FIRE_EXCEPTION_ON_FAILURE);
  }

  /** Writes an answer that may be long. */
  private void writeLong(Frame frame) {
    long before = waitingBytes();
    ChannelFuture written = channel.write(frame);
    int added = Math.toIntExact(waitingBytes() - before);
    budget.take(added);
    written.addListener(done -> budget.giveBack(added));
    written.addListener(ChannelFutureListener.FIRE_EXCEPTION_ON_FAILURE);
    lookWhetherUnread();
  }

  private void writeGathered() {
    if (!receipts.isEmpty()) {
      events.receipted(receipts.size());
      write(receipts.take());
    }
    if (!pullEnds.isEmpty()) {
      write(new Frame.PullDone(List.copyOf(pullEnds)));
      pullEnds.clear();
    }
    long credit = events.creditToAnnounce();
    if (credit > 0) {
      write(new Frame.Credit(credit));
    }
  }

  private Frame frame(int correlation, Reply reply) {
    if (reply instanceof Reply.Ok) {
      return new Frame.Ok(correlation);
    }
    if (reply instanceof Reply.Failed failed) {
      return fault(correlation, failed.code(), failed.text());
    }
    if (reply instanceof Reply.Attached attached) {
      return events.attached(correlation, attached);
    }
    if (reply instanceof Reply.ProducerAttached attached) {
      return new Frame.ProducerAttached(correlation, attached.destinationId());
    }
    if (reply instanceof Reply.ConsumerAttached attached) {
      return new Frame.ConsumerAttached(correlation, attached.destinationId());
    }
    if (reply instanceof Reply.TemporaryCreated created) {
      return new Frame.TemporaryCreated(correlation, created.destination());
    }
    if (reply instanceof Reply.Staged staged) {
      return new Frame.Staged(correlation, staged.transaction());
    }
    if (reply instanceof Reply.Recovered recovered) {
      return new Frame.Recovered(
          correlation,
          recovered.branches().stream()
              .map(branch -> new Frame.RecoveredBranch(branch.xid(), branch.state()))
              .toList(),
          recovered.more());
    }
    if (reply instanceof Reply.Json json) {
      return admin(correlation, json.json());
    }
    throw new AssertionError("no frame for a reply of " + reply.getClass());
  }

  /** An answer that the client would take for a bad frame is told to be too long. */
  private Frame admin(int correlation, String json) {
    int bytes = ByteBufUtil.utf8Bytes(json);
    if (bytes <= maxFrameBytes - FRAME_BYTES) {
      return new Frame.AdminResult(correlation, json);
    }
    return fault(
        correlation,
        FaultCode.TOO_LARGE,
        "the answer has "
            + bytes
            + " bytes, a frame "
            + maxFrameBytes
            + " at most; ask for less of it, or raise the broker's setting limits.message");
  }

  static Frame.Fault fault(int correlation, FaultCode code, String text) {
    int retry = code == FaultCode.RETRY_LATER ? RETRY_AFTER_MILLIS : 0;
    return new Frame.Fault(correlation, code, text, retry);
  }

  /** Writes a frame behind what was written; on the event loop only. */
  void write(Frame frame) {
    OnEventLoop.check(channel);
    channel.write(frame, channel.voidPromise());
    lookWhetherUnread();
  }

  private void lookWhetherUnread() {
    if (!unread && waitingBytes() - deliveryBytes >= MOST_ANSWER_BYTES) {
      unread = true;
      events.answersUnread(true);
      events.whenWritten(lookWhetherRead);
    }
  }

  private void lookWhetherRead() {
    if (!channel.isActive()) {
      return;
    }
    if (waitingBytes() - deliveryBytes > FEW_ANSWER_BYTES) {
      events.whenWritten(lookWhetherRead);
      return;
    }
    unread = false;
    events.answersUnread(false);
    wake();
  }

  /** What waits in the channel, with what it takes for each write. */
  private long waitingBytes() {
    ChannelOutboundBuffer buffer = channel.unsafe().outboundBuffer();
    return buffer == null ? 0 : buffer.totalPendingWriteBytes();
  }

  /** Tells the shard if it waits for room and there is some; on the event loop only. */
  void roomChanged() {
    OnEventLoop.check(channel);
    if (!wantsRoom) {
      return;
    }
    if (hasRoom()) {
      wantsRoom = false;
      events.writableAgain();
    } else if (hasOwnRoom()) {
      lookAgainSoon();
    }
  }

  /** Releases what will not be written any more. */
  void discard() {
    for (Item item = queue.poll(); item != null; item = queue.poll()) {
      if (item instanceof Messages messages) {
        messages.delivery().entries().release();
      }
    }
  }
}

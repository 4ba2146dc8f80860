package io.lightmq.client.link;

import io.lightmq.wire.Frame;
import io.lightmq.wire.FrameCodec;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.SequenceRange;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Writes frames to the link's channel of the moment; pulls and acknowledgements of one turn of the
 * loop share a frame each, at most {@value #MAX_GATHERED} pulls or {@value #MAX_ITEMS} items of
 * acknowledgements in one. Belongs to the link's loop.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a write that fails closes the channel
final class LinkWriter {
  private static final int MAX_GATHERED = 1_000;

  /** The most consumers and ranges that one acknowledgement or return names. */
  static final int MAX_ITEMS = 10_000;

  private final EventLoop loop;
  private @Nullable Channel channel;
  private List<Frame.PullOne> pulls = new ArrayList<>();
  private List<Frame.Acked> acks = new ArrayList<>();
  private List<Frame.Begun> begun = new ArrayList<>();
  private int ackItems;
  private boolean turnEndScheduled;

  LinkWriter(EventLoop loop) {
    this.loop = loop;
  }

  void use(Channel opened) {
    OnLoop.check(loop);
    channel = opened;
  }

  boolean uses(Channel candidate) {
    return candidate == channel;
  }

  boolean isIdle() {
    return channel == null;
  }

  /** Closes the channel, if any; what was gathered is lost with it. */
  void drop() {
    OnLoop.check(loop);
    Channel current = channel;
    channel = null;
    pulls = new ArrayList<>();
    acks = new ArrayList<>();
    begun = new ArrayList<>();
    ackItems = 0;
    if (current != null) {
      current.close();
    }
  }

  /** Writes a frame behind what was gathered; without a channel it is released. */
  void write(Frame frame) {
    OnLoop.check(loop);
    flushTurn();
    writeNow(frame);
  }

  private void writeNow(Frame frame) {
    Channel current = channel;
    if (current == null) {
      FrameCodec.release(frame);
    } else {
      current.writeAndFlush(frame, current.voidPromise());
    }
  }

  void pull(Frame.PullOne pull) {
    OnLoop.check(loop);
    pulls.add(pull);
    endTurnLater(pulls.size());
  }

  void acknowledge(List<Frame.Acked> acked) {
    OnLoop.check(loop);
    for (List<Frame.Acked> piece : AckedPieces.of(acked, MAX_ITEMS)) {
      for (Frame.Acked next : piece) {
        gather(next);
      }
    }
    endTurnLater(acks.size());
  }

  void begun(int sessionId, boolean alone, List<Frame.Acked> told) {
    OnLoop.check(loop);
    boolean later = false;
    for (List<Frame.Acked> piece : AckedPieces.of(told, MAX_ITEMS)) {
      begun.add(new Frame.Begun(sessionId, alone && !later, piece));
      later = true;
    }
    if (told.isEmpty()) {
      begun.add(new Frame.Begun(sessionId, alone, told));
    }
    endTurnLater(begun.size());
  }

  private void gather(Frame.Acked next) {
    Frame.Acked joined = acks.isEmpty() ? null : join(acks.get(acks.size() - 1), next);
    if (joined != null) {
      acks.set(acks.size() - 1, joined);
      return;
    }
    int items = 1 + next.ranges().size();
    if (ackItems + items > MAX_ITEMS) {
      flushTurn();
    }
    acks.add(next);
    ackItems += items;
  }

  /** Two acknowledgements as one, if the second follows the first directly; else null. */
  private static Frame.@Nullable Acked join(Frame.Acked first, Frame.Acked second) {
    if (first.consumerId() != second.consumerId()
        || first.destinationId() != second.destinationId()
        || first.ranges().size() != 1
        || second.ranges().size() != 1) {
      return null;
    }
    SequenceRange a = first.ranges().get(0);
    SequenceRange b = second.ranges().get(0);
    if (a.lane() != b.lane()
        || a.from() + a.count() != b.from()
        || a.from() >>> 32 != (b.from() + b.count() - 1) >>> 32) {
      return null;
    }
    return new Frame.Acked(
        first.consumerId(),
        first.destinationId(),
        List.of(new SequenceRange(a.lane(), a.from(), a.count() + b.count())));
  }

  private void endTurnLater(int gathered) {
    if (gathered >= MAX_GATHERED) {
      flushTurn();
    } else if (!turnEndScheduled) {
      turnEndScheduled = true;
      loop.execute(
          () -> {
            turnEndScheduled = false;
            flushTurn();
          });
    }
  }

  private void flushTurn() {
    if (!acks.isEmpty()) {
      List<Frame.Acked> now = acks;
      acks = new ArrayList<>();
      ackItems = 0;
      writeNow(new Frame.Acknowledge(0, now));
    }
    if (!begun.isEmpty()) {
      List<Frame.Begun> now = begun;
      begun = new ArrayList<>();
      now.forEach(this::writeNow);
    }
    if (!pulls.isEmpty()) {
      List<Frame.PullOne> now = pulls;
      pulls = new ArrayList<>();
      writeNow(new Frame.Pull(now));
    }
  }

  /** Ends the connection cleanly, then runs a task. */
  void sayGoodbye(Runnable then) {
    OnLoop.check(loop);
    flushTurn();
    Channel current = channel;
    channel = null;
    if (current == null) {
      then.run();
      return;
    }
    current
        .writeAndFlush(new Frame.Goodbye(FaultCode.OK, "closed by the application"))
        .addListener(written -> current.close().addListener(closed -> then.run()));
  }
}

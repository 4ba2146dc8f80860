package io.lightmq.node.connection;

import io.lightmq.node.credit.CreditLine;
import io.lightmq.wire.FrameType;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks for room when the first five bytes of a frame have arrived, before memory is spent on the
 * rest: what is not admitted stays in the socket. Runs need credit, commits and other frames above
 * {@value #SMALL_BYTES} bytes a part of their budgets. Follows frame boundaries and changes
 * nothing; a length that makes no sense is left to the decoder behind it, which ends the
 * connection.
 *
 * <p>Before the last byte of a frame that may become much in the heap, it asks for that, and then
 * for a part of the event loop's turn: a frame is decoded only once there is room for it, however
 * slowly it has come, and only when other connections have been looked at.
 *
 * <p>At most one read's worth of buffers is held while a frame waits, and while a pause keeps the
 * decoder from what it has: runs that the decoder keeps back are not counted yet, so nothing may be
 * let through behind them.
 */
final class InboundGate extends ChannelInboundHandlerAdapter {
  private static final Logger log = LoggerFactory.getLogger(InboundGate.class);
  private static final int LENGTH_BYTES = 4;

  /** Of a frame's length, what is not message bytes at the least: type, flags, correlation. */
  private static final int FRAME_BYTES = 8;

  /** Other frames up to this length need no room: each connection's own share covers them. */
  static final int SMALL_BYTES = FrameBudget.SMALL_BYTES;

  /** So long, or twice, a frame that has room may take to arrive if others wait for it. */
  static final int ARRIVAL_MILLIS = 30_000;

  private static final int AGAIN_MILLIS = 1_000;

  private final int maxFrameBytes;
  private final FrameBudget commits;
  private final FrameBudget requests;
  private final FrameBudget decoded;
  private final DecodeTurns turns;
  private final Deque<ByteBuf> held = new ArrayDeque<>();
  private @Nullable CreditLine credit;
  private @Nullable ReadPause pause;
  private Consumer<String> refusing = reason -> {};
  private boolean off;
  private boolean waiting;

  /** The first frame of what is held has begun and has not asked for room yet. */
  private boolean unasked;

  private boolean watching;
  private int headBytes;
  private int length;
  private long bodyLeft;

  /** Of the frame under way, 0 if it is no run. */
  private int runBytes;

  /** What the frame under way or waiting has of its budget, and how it is told of it. */
  private @Nullable Reserved reserved;

  private record Reserved(FrameBudget budget, int bytes, Runnable admitted) {}

  /** Whether the frame under way is a commit that asks for room, and what was seen of it. */
  private boolean commit;

  private final CommitParts parts = new CommitParts();

  /** What the frame under way takes of the heap at most when it is decoded; 0 if that is little. */
  private int heapBytes;

  /** What is taken for frames that are complete and not handed on, or wait for their last byte. */
  private int heapTaken;

  /** The frame under way has its heap. */
  private boolean hasHeap;

  /** And its part of the turn. */
  private boolean hasTurn;

  private @Nullable Runnable waitingForHeap;

  /** Of runs that have begun and were not counted as received; never too low. */
  private long unreceivedBytes;

  InboundGate(
      int maxFrameBytes,
      FrameBudget commits,
      FrameBudget requests,
      FrameBudget decoded,
      DecodeTurns turns) {
    this.maxFrameBytes = maxFrameBytes;
    this.commits = commits;
    this.requests = requests;
    this.decoded = decoded;
    this.turns = turns;
  }

  /**
   * Begins to ask; before, a client may not send runs at all.
   *
   * @param refusing ends the connection, with the reason
   */
  void open(CreditLine line, ReadPause reading, Consumer<String> refusing) {
    this.credit = line;
    this.pause = reading;
    this.refusing = refusing;
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) {
    if (off || !(message instanceof ByteBuf bytes)) {
      ctx.fireChannelRead(message);
    } else if (waiting || stopped() || !held.isEmpty()) {
      held.add(bytes);
    } else {
      pass(ctx, bytes);
    }
  }

  private void pass(ChannelHandlerContext ctx, ByteBuf bytes) {
    int at = bytes.readerIndex();
    int end = bytes.writerIndex();
    while (at < end && !off) {
      if (bodyLeft > 0) {
        int skipped = (int) Math.min(bodyLeft, end - at);
        if (commit) {
          parts.pass(bytes, at + skipped, bodyLeft - skipped);
          heapBytes = skipped == bodyLeft && !hasHeap ? parts.most() : heapBytes;
        }
        if (skipped == bodyLeft && heapBytes > 0 && !mayDecode(ctx, bytes, at + skipped)) {
          bodyLeft = 1;
          held.addFirst(bytes);
          return;
        }
        at += skipped;
        bodyLeft -= skipped;
        if (bodyLeft == 0 && reserved != null) {
          forward(ctx, bytes, at);
          giveBack();
          if (stopped()) {
            held.addFirst(bytes);
            return;
          }
        }
        continue;
      }
      int value = bytes.getUnsignedByte(at++);
      headBytes++;
      if (headBytes <= LENGTH_BYTES) {
        length = length << 8 | value;
      } else if (frameBegins(ctx, value)) {
        forward(ctx, bytes, at);
        unasked = stopped();
        if (unasked || !admitted(ctx)) {
          held.addFirst(bytes);
          return;
        }
      }
    }
    unreceivedBytes = bodyLeft > 0 ? runBytes : 0;
    ctx.fireChannelRead(bytes);
    giveHeapBack();
  }

  /** Whether a frame that ends at a place may be decoded; if not, all but its last byte is read. */
  private boolean mayDecode(ChannelHandlerContext ctx, ByteBuf bytes, int end) {
    if (!hasHeap) {
      if (heapTaken > 0) {
        forward(ctx, bytes, end - 1); // what was complete counts as what it is from now on
      }
      if (off) {
        return true;
      }
      if (stopped()) {
        forward(ctx, bytes, end - 1);
        return false;
      }
      Runnable admitted = () -> heapAdmitted(ctx);
      if (!decoded.take(heapBytes, admitted)) {
        waitingForHeap = admitted;
        return waitAt(ctx, bytes, end - 1);
      }
      hasHeap = true;
      if (!takesTurn(ctx)) {
        boolean goesOn = waitAt(ctx, bytes, end - 1);
        heapTaken += heapBytes;
        return goesOn;
      }
      heapTaken += heapBytes;
    } else if (!hasTurn && !takesTurn(ctx)) {
      return waitAt(ctx, bytes, end - 1);
    }
    hasHeap = false;
    hasTurn = false;
    heapBytes = 0;
    return true;
  }

  private boolean takesTurn(ChannelHandlerContext ctx) {
    hasTurn = turns.take(heapBytes, () -> turnCame(ctx));
    return hasTurn;
  }

  /** Reads nothing more, and hands on what lies before a place; whether the connection is over. */
  private boolean waitAt(ChannelHandlerContext ctx, ByteBuf bytes, int at) {
    waiting = true;
    pauseReading(true);
    forward(ctx, bytes, at);
    return off;
  }

  private void turnCame(ChannelHandlerContext ctx) {
    hasTurn = true;
    resume(ctx);
  }

  private void heapAdmitted(ChannelHandlerContext ctx) {
    try {
      ctx.executor()
          .execute(
              () -> {
                waitingForHeap = null;
                heapTaken += heapBytes;
                hasHeap = true;
                if (ctx.isRemoved()) {
                  giveHeapBack();
                } else {
                  resume(ctx);
                }
              });
    } catch (RejectedExecutionException loopHasEnded) {
      log.debug("A frame was admitted after its connection's loop had ended");
    }
  }

  private void giveHeapBack() {
    int taken = heapTaken;
    heapTaken = 0;
    if (taken > 0) {
      decoded.giveBack(taken);
    }
  }

  /** Hands on what lies before a place, so that all frames that end there are counted. */
  private void forward(ChannelHandlerContext ctx, ByteBuf bytes, int at) {
    int first = at - bytes.readerIndex();
    if (first > 0) {
      ctx.fireChannelRead(bytes.readRetainedSlice(first));
      giveHeapBack();
    }
  }

  /** Notes a frame's first five bytes; whether it has to ask for room. */
  private boolean frameBegins(ChannelHandlerContext ctx, int type) {
    int frameLength = length;
    headBytes = 0;
    length = 0;
    runBytes = 0;
    heapBytes = 0;
    commit = false;
    if (frameLength < FRAME_BYTES || frameLength > maxFrameBytes - LENGTH_BYTES) {
      off = true;
      return false;
    }
    bodyLeft = frameLength - 1L;
    if (credit == null) {
      return false;
    }
    heapBytes = FrameHeap.most(type, frameLength);
    if (type == FrameType.PUBLISH.code()) {
      runBytes = frameLength - FRAME_BYTES;
      return !covered();
    }
    commit = FrameHeap.isCommitLike(type);
    if (commit) {
      parts.begin(frameLength);
    }
    if (!commit && frameLength > ConnectionSettings.MAX_REQUEST_BYTES) {
      off = true;
      refusing.accept(
          "a frame of type "
              + type
              + " has "
              + frameLength
              + " bytes; what is no run or commit has at most "
              + ConnectionSettings.MAX_REQUEST_BYTES);
      return false;
    }
    if (commit || frameLength > SMALL_BYTES) {
      reserved = new Reserved(commit ? commits : requests, frameLength, () -> resumeSoon(ctx));
    }
    return reserved != null;
  }

  private void giveBack() {
    Reserved over = reserved;
    reserved = null;
    if (over != null) {
      over.budget().giveBack(over.bytes());
    }
  }

  /** Whether the credit is enough for all runs that have begun and are not counted yet. */
  private boolean covered() {
    CreditLine line = credit;
    if (line == null || !line.covers(unreceivedBytes + runBytes)) {
      return false;
    }
    unreceivedBytes += runBytes;
    return true;
  }

  /** Whether the frame that has just begun may be read on. */
  private boolean admitted(ChannelHandlerContext ctx) {
    Reserved wanted = reserved;
    if (wanted != null) {
      waiting = !wanted.budget().take(wanted.bytes(), wanted.admitted());
      if (waiting) {
        pauseReading(true);
      } else {
        watchArrival(ctx);
      }
      return !waiting;
    }
    CreditLine line = credit;
    if (off || line == null) {
      return true;
    }
    return switch (line.admit(runBytes, () -> resumeSoon(ctx))) {
      case NOW -> {
        unreceivedBytes = runBytes;
        yield true;
      }
      case LATER -> {
        waiting = true;
        pauseReading(true);
        yield false;
      }
      case EXCEEDED -> {
        off = true;
        refusing.accept("a run was sent without any publish credit left");
        yield true;
      }
    };
  }

  /** Looks from time to time at the frame that has room; one timer, while there is any. */
  private void watchArrival(ChannelHandlerContext ctx) {
    if (!watching) {
      watching = true;
      lookAgain(ctx, null, ARRIVAL_MILLIS);
    }
  }

  @SuppressWarnings("FutureReturnValueIgnored") // it ends by itself
  private void lookAgain(ChannelHandlerContext ctx, @Nullable Reserved last, int millis) {
    ctx.executor().schedule(() -> look(ctx, last), millis, TimeUnit.MILLISECONDS);
  }

  /** Ends the connection if a frame that was arriving before still is, and others wait. */
  @SuppressWarnings("ReferenceEquality") // the same frame, not one as long
  private void look(ChannelHandlerContext ctx, @Nullable Reserved last) {
    Reserved arriving = reserved;
    if (arriving == null || off) {
      watching = false;
    } else if (arriving != last || waiting) {
      lookAgain(ctx, arriving, ARRIVAL_MILLIS);
    } else if (arriving.budget().isWanted()) {
      off = true;
      refusing.accept(
          "a frame of "
              + arriving.bytes()
              + " bytes has not arrived within "
              + ARRIVAL_MILLIS
              + " ms, "
              + bodyLeft
              + " are missing, and others wait for its room");
    } else {
      lookAgain(ctx, arriving, AGAIN_MILLIS);
    }
  }

  private void resumeSoon(ChannelHandlerContext ctx) {
    try {
      ctx.executor().execute(() -> resume(ctx));
    } catch (RejectedExecutionException loopHasEnded) {
      log.debug("A run was admitted after its connection's loop had ended");
    }
  }

  private void resume(ChannelHandlerContext ctx) {
    if (ctx.isRemoved()) {
      return;
    }
    waiting = false;
    if (reserved != null) {
      watchArrival(ctx);
    }
    passHeld(ctx);
  }

  /** Goes on with what was read before a pause that stopped frames, until there is another one. */
  void goOn(ChannelHandlerContext ctx) {
    ctx.fireChannelRead(Unpooled.EMPTY_BUFFER); // the decoder has the first of it
    if (unasked && !stopped()) {
      unasked = false;
      admitted(ctx);
    }
    passHeld(ctx);
  }

  private void passHeld(ChannelHandlerContext ctx) {
    while (!waiting && !stopped()) {
      ByteBuf next = held.poll();
      if (next == null) {
        break;
      }
      pass(ctx, next);
    }
    if (!waiting) {
      pauseReading(false);
    }
    ctx.fireChannelReadComplete();
  }

  private boolean stopped() {
    ReadPause reading = pause;
    return reading != null && reading.stopsFrames();
  }

  private void pauseReading(boolean pausing) {
    ReadPause reading = pause;
    if (reading != null) {
      reading.set(ReadPause.Reason.CREDIT, pausing);
    }
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext ctx) {
    off = true;
    Reserved open = reserved;
    if (open != null && waiting && open.budget().cancel(open.admitted())) {
      reserved = null;
    }
    giveBack();
    Runnable forHeap = waitingForHeap;
    if (forHeap != null) {
      decoded.cancel(forHeap); // if it was admitted meanwhile, its task gives that back
    }
    giveHeapBack();
    held.forEach(ByteBuf::release);
    held.clear();
  }
}

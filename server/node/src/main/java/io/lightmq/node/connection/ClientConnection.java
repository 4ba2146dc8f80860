package io.lightmq.node.connection;

import io.lightmq.core.door.Command;
import io.lightmq.core.door.Peer;
import io.lightmq.core.door.Peer.Reply;
import io.lightmq.node.credit.CreditLine;
import io.lightmq.spi.Authorizer.Action;
import io.lightmq.spi.Principal;
import io.lightmq.wire.Frame;
import io.lightmq.wire.FrameCodec;
import io.lightmq.wire.FrameDecoder;
import io.lightmq.wire.Protocol;
import io.lightmq.wire.ProtocolException;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.Printable;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * One client's connection, from accept to close, on its event loop: handshake, then attach, then
 * requests. Whatever ends it, the client is told why in one {@code Goodbye}, and the shard once.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a write that fails closes the channel
final class ClientConnection extends ChannelInboundHandlerAdapter
    implements Outbound.Events, ClientFrames.Wakes, Handshake.Events {
  private static final Logger log = LoggerFactory.getLogger(ClientConnection.class);
  private static final int CREDIT_STEPS = 4;
  private static final int LOOK_AGAIN_MILLIS = 20;

  /**
   * So late whoever is put out for what it wanted is told, and nothing is read until then: a login
   * that is refused, and who is beyond a limit. Guessing takes time, and so does coming back.
   */
  static final int REFUSED_MILLIS = 100;

  /** What an attach's answer takes beside its outcomes, each of these beside its text, a char. */
  private static final int ATTACHED_BYTES = 64;

  private static final int OUTCOME_BYTES = 16;
  private static final int CHAR_BYTES = 3;

  private final Channel channel;
  private final String address;
  private final Door door;
  private final ConnectionPlaces places;
  private final FrameDecoder decoder;
  private final InboundGate gate;
  private final PeerLog peerLog;
  private final ReadPause pause;
  private final Handshake handshake;
  private final StallWatch stallWatch;
  private State state = State.HANDSHAKE;

  /** Set once, on the event loop, before the shard knows of the connection. */
  private volatile @Nullable Session session;

  /** Written on the event loop only. */
  private volatile long announcedCredit;

  private boolean cleanClose;
  private boolean looksAgain;

  /** When the handshake is to be over; what is due keeps the connection in the heap until then. */
  private @Nullable Future<?> handshakeTimer;

  private @Nullable Future<?> stallTimer;

  /** The goodbye that is said late, while it waits. */
  private Frame.@Nullable Goodbye lateGoodbye;

  private enum State {
    /** Hello and authentication. */
    HANDSHAKE,
    /** Authenticated; the next frame is the attach. */
    AUTHENTICATED,
    /** The shard has not answered the attach; no runs may come. */
    ATTACHING,
    OPEN,
    /** Goodbye is on its way. */
    ENDING
  }

  /** What exists once the user is known. */
  private record Session(
      Outbound outbound, CreditLine credit, ClientFrames requests, long features) {
    boolean agreed(long feature) {
      return (features & feature) != 0;
    }
  }

  ClientConnection(
      Channel channel,
      String address,
      Door door,
      ConnectionPlaces places,
      FrameDecoder decoder,
      InboundGate gate,
      PeerLog peerLog,
      long connectionId) {
    this.channel = channel;
    this.address = address;
    this.door = door;
    this.places = places;
    this.decoder = decoder;
    this.gate = gate;
    this.peerLog = peerLog;
    this.pause = new ReadPause(channel, this::carryOutRest);
    decoder.holdWhile(pause::stopsFrames);
    this.stallWatch = new StallWatch(channel);
    this.handshake = new Handshake(door, connectionId, channel, peerLog, this);
  }

  /** Counts what goes out; belongs directly above the socket. */
  StallWatch stallWatch() {
    return stallWatch;
  }

  @Override
  public void channelActive(ChannelHandlerContext ctx) {
    handshakeTimer = later(this::handshakeDue, door.settings().patience().handshakeMillis());
    stallTimer = later(this::checkStall, door.settings().patience().stallMillis());
    ctx.fireChannelActive();
  }

  private Future<?> later(Runnable task, int millis) {
    return channel.eventLoop().schedule(task, millis, TimeUnit.MILLISECONDS);
  }

  /** Nothing is read for a while. */
  void readLater() {
    pause.set(ReadPause.Reason.NEWCOMER, true);
    channel.eventLoop().schedule(this::readNow, REFUSED_MILLIS, TimeUnit.MILLISECONDS);
  }

  /** It has waited enough to be read. */
  void readNow() {
    places.read(channel);
    pause.set(ReadPause.Reason.NEWCOMER, false);
  }

  private void handshakeDue() {
    if (state == State.HANDSHAKE || state == State.AUTHENTICATED) {
      end(
          FaultCode.PROTOCOL_ERROR,
          "the handshake took longer than "
              + door.settings().patience().handshakeMillis()
              + " ms, the setting limits.handshake-millis; connect again",
          false);
    }
  }

  private void checkStall() {
    if (!channel.isActive()) {
      return;
    }
    if (stallWatch.stalled()) {
      peerLog.write(
          Level.WARN,
          channel,
          "Closing {}: nothing went out for {} ms",
          describe(),
          door.settings().patience().stallMillis());
      channel.close();
      return;
    }
    stallTimer = later(this::checkStall, door.settings().patience().stallMillis());
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) {
    Frame frame = (Frame) message;
    if (state == State.ENDING) {
      FrameCodec.release(frame);
      return;
    }
    try {
      read(frame);
    } catch (ProtocolRefusal refusal) {
      refuse(frame.correlation(), refusal);
    }
  }

  private void read(Frame frame) throws ProtocolRefusal {
    if (frame instanceof Frame.Heartbeat) {
      return;
    }
    if (frame instanceof Frame.Goodbye bye) {
      cleanClose = bye.code() == FaultCode.OK;
      channel.close();
      return;
    }
    if (state == State.HANDSHAKE) {
      handshake.read(frame);
      return;
    }
    Session open = session;
    if (open == null) {
      throw new AssertionError("a connection is authenticated without a session");
    }
    if (state == State.AUTHENTICATED) {
      attach(frame, open);
      return;
    }
    if (state == State.ATTACHING && frame instanceof Frame.Publish publish) {
      publish.messages().release();
      throw ProtocolRefusal.protocol("a run was sent before the attach was answered");
    }
    Frame answer = open.requests().take(frame);
    if (answer != null) {
      open.outbound().write(answer);
      open.outbound().wake();
    }
    lookWhetherFull(open);
  }

  /** Carries out what was read before a pause. */
  private void carryOutRest() {
    ChannelHandlerContext context = channel.pipeline().context(gate);
    if (context != null) {
      gate.goOn(context);
    }
  }

  private void lookWhetherFull(Session open) {
    ClientFrames requests = open.requests();
    pause.set(ReadPause.Reason.REQUESTS, requests.full());
    if (requests.waitsForOthers() && !looksAgain) {
      looksAgain = true; // nobody tells this connection when others have had their answers
      channel
          .eventLoop()
          .schedule(
              () -> {
                looksAgain = false;
                if (channel.isActive()) {
                  lookWhetherFull(open);
                }
              },
              LOOK_AGAIN_MILLIS,
              TimeUnit.MILLISECONDS);
    }
  }

  private void attach(Frame frame, Session open) throws ProtocolRefusal {
    if (!(frame instanceof Frame.Attach attach)) {
      FrameCodec.release(frame);
      throw ProtocolRefusal.protocol(
          "the first frame after authentication must be Attach, not "
              + frame.getClass().getSimpleName());
    }
    state = State.ATTACHING;
    open.requests().attach(attach, open.agreed(Protocol.LINK_KNOWN));
  }

  private void refuse(int correlation, ProtocolRefusal refusal) {
    Session open = session;
    if (refusal.fatal() || correlation <= 0 || open == null) {
      end(refusal.code(), refusal.text());
    } else {
      open.outbound().write(Outbound.fault(correlation, refusal.code(), refusal.text()));
      open.outbound().wake();
    }
  }

  @Override
  public boolean authenticated(Principal principal, long connectionId, long features) {
    if (state == State.ENDING) {
      return false; // his time was over before he was checked
    }
    Rights rights = new Rights(principal, door.security().authorizer());
    boolean manages = rights.permits(Action.MANAGE, Rights.BROKER);
    if (!places.take(channel, manages)) {
      end(
          FaultCode.LIMIT_REACHED,
          "this broker has at most "
              + door.settings().counts().connections()
              + " connections open at once, the setting limits.connections; close some, or raise"
              + " it");
      return false;
    }
    Outbound outbound =
        new Outbound(
            channel,
            connectionId,
            principal.name(),
            manages,
            door.settings(),
            door.deliveries(),
            this);
    CreditLine credit = door.credit().open();
    ClientFrames requests =
        new ClientFrames(
            door,
            rights,
            outbound,
            credit,
            channel.alloc(),
            (features & Protocol.TRANSACTIONS) != 0,
            this);
    gate.open(credit, pause, reason -> end(FaultCode.PROTOCOL_ERROR, reason));
    decoder.authenticated(door.settings().maxFrameBytes());
    session = new Session(outbound, credit, requests, features);
    state = State.AUTHENTICATED;
    return true;
  }

  @Override
  public void answered(int correlation, Reply reply) {
    Session open = session;
    if (open == null) {
      return;
    }
    if (state == State.ATTACHING && reply instanceof Reply.Failed failed) {
      channel.eventLoop().execute(() -> end(failed.code(), failed.text()));
    }
    open.requests().answered(correlation, reply);
  }

  @Override
  public void receipted(int count) {
    Session open = session;
    if (open != null) {
      open.requests().receipted(count);
    }
  }

  @Override
  public void turnEnded() {
    Session open = session;
    if (open != null) {
      lookWhetherFull(open);
    }
  }

  @Override
  public Frame attached(int correlation, Reply.Attached reply) {
    List<Frame.NumberedOutcome> outcomes = new ArrayList<>(reply.outcomes().size());
    int chars = outcomeChars(reply.outcomes().size());
    for (Peer.Outcome outcome : reply.outcomes()) {
      String text = outcome.text();
      outcomes.add(
          new Frame.NumberedOutcome(
              outcome.number(),
              outcome.code(),
              text.length() <= chars ? text : text.substring(0, chars)));
    }
    Session open = session;
    announcedCredit = open == null ? 0 : open.credit().granted();
    state = State.OPEN;
    boolean told = open != null && open.agreed(Protocol.LINK_KNOWN);
    return new Frame.Attached(
        correlation,
        reply.last(),
        outcomes,
        announcedCredit,
        told ? reply.knownSince() : Frame.Attached.UNTOLD);
  }

  /** How long the texts of so many outcomes may be, so that all of them fit into one frame. */
  private int outcomeChars(int count) {
    int bytes = door.settings().maxFrameBytes() - ATTACHED_BYTES - count * OUTCOME_BYTES;
    return Math.max(0, bytes / CHAR_BYTES / Math.max(1, count));
  }

  @Override
  public boolean creditDue() {
    Session open = session;
    return open != null
        && open.credit().granted() - announcedCredit
            >= Math.max(1, open.credit().window() / CREDIT_STEPS);
  }

  @Override
  public long creditToAnnounce() {
    Session open = session;
    if (open == null || state != State.OPEN || !creditDue()) {
      return 0;
    }
    announcedCredit = open.credit().granted();
    return announcedCredit;
  }

  @Override
  public void writableAgain() {
    Session open = session;
    if (open != null) {
      door.shard().accept(new Command.Writable(open.outbound()));
    }
  }

  @Override
  public void carriedOut() {
    Session open = session;
    if (open != null && open.requests().carriedOut()) {
      readOnSoon(open);
    }
  }

  @Override
  public void letGo(List<Command.Acked> named) {
    Session open = session;
    if (open != null && open.requests().letGo(named)) {
      readOnSoon(open);
    }
  }

  private void readOnSoon(Session open) {
    try {
      channel.eventLoop().execute(() -> lookWhetherFull(open));
    } catch (RejectedExecutionException loopHasEnded) {
      log.debug("Commands were carried out after their connection's loop had ended");
    }
  }

  @Override
  public void creditReturned() {
    Session open = session;
    if (open != null && creditDue()) {
      open.outbound().wake();
    }
  }

  @Override
  public void answersUnread(boolean unread) {
    pause.set(ReadPause.Reason.ANSWERS, unread);
  }

  @Override
  public void whenWritten(Runnable task) {
    stallWatch.whenWritten(task);
  }

  /** Says why and closes once that is written; what comes in meanwhile is dropped. */
  @Override
  public void end(FaultCode code, String text) {
    boolean refusedLogin =
        session == null
            && (code == FaultCode.AUTHENTICATION_FAILED || code == FaultCode.PROTOCOL_ERROR);
    if (refusedLogin && state != State.ENDING) {
      places.refusedLogin(address);
    }
    boolean late = refusedLogin || code == FaultCode.LIMIT_REACHED || code == FaultCode.RETRY_LATER;
    end(code, text, late);
  }

  private void end(FaultCode code, String text, boolean late) {
    OnEventLoop.check(channel);
    if (state == State.ENDING) {
      return;
    }
    state = State.ENDING;
    Frame.Goodbye bye = new Frame.Goodbye(code, text);
    if (code != FaultCode.OK && code != FaultCode.CLOSING) {
      peerLog.write(Level.INFO, channel, "Closing {}: {} {}", describe(), code, bye.text());
    }
    if (late) {
      pause.set(ReadPause.Reason.REFUSED, true);
      lateGoodbye = bye;
      channel.eventLoop().schedule(this::sayGoodbye, REFUSED_MILLIS, TimeUnit.MILLISECONDS);
    } else {
      bye(bye);
    }
  }

  private void sayGoodbye() {
    Frame.Goodbye bye = lateGoodbye;
    if (bye != null) {
      lateGoodbye = null;
      bye(bye);
    }
  }

  /**
   * Its place among the handshakes is a newcomer's: it ends, also while it waits to be told why.
   */
  void makeRoom(String text) {
    end(FaultCode.LIMIT_REACHED, text, false);
    sayGoodbye();
  }

  private void bye(Frame.Goodbye bye) {
    channel.writeAndFlush(bye).addListener(ChannelFutureListener.CLOSE);
  }

  /** Ends the connection if it belongs to a user. On the event loop. */
  void endOf(String userName, String why) {
    OnEventLoop.check(channel);
    Session open = session;
    if (open != null && open.outbound().userName().equals(userName)) {
      end(FaultCode.NOT_AUTHORIZED, why);
    }
  }

  long id() {
    return handshake.connectionId();
  }

  private String describe() {
    Session open = session;
    return "connection "
        + id()
        + " of "
        + (open == null ? "an unknown user" : Printable.of(open.outbound().userName()))
        + " from "
        + channel.remoteAddress();
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext ctx) {
    Session open = session;
    if (open != null) {
      open.outbound().roomChanged();
    }
    ctx.fireChannelWritabilityChanged();
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) {
    Session open = session;
    if (open != null) {
      if (state != State.AUTHENTICATED) {
        door.shard().accept(new Command.Detach(open.outbound(), cleanClose));
      }
      open.credit().close();
      open.requests().end();
      open.outbound().discard();
    }
    state = State.ENDING;
    lateGoodbye = null;
    cancel(handshakeTimer);
    cancel(stallTimer);
    ctx.fireChannelInactive();
  }

  private static void cancel(@Nullable Future<?> timer) {
    if (timer != null) {
      timer.cancel(false);
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    if (cause instanceof ProtocolException fault) {
      end(fault.code(), String.valueOf(fault.getMessage()));
    } else if (cause instanceof IOException) {
      log.debug("Lost {}", describe(), cause);
      channel.close();
    } else if (cause instanceof OutOfMemoryError) {
      // Of direct memory: bin/lightmq ends when the heap is used up. A goodbye would need some,
      // too.
      peerLog.write(
          Level.ERROR, channel, "Closing {}: no memory: {}", describe(), cause.getMessage());
      channel.close();
    } else {
      peerLog.write(
          Level.ERROR, channel, "Closing {} after an unexpected error", describe(), cause);
      end(FaultCode.BROKER_FAILED, "unexpected error in the connection; the broker's log has it");
    }
  }
}

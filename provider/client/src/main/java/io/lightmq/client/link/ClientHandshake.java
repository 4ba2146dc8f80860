package io.lightmq.client.link;

import io.lightmq.wire.Frame;
import io.lightmq.wire.FrameCodec;
import io.lightmq.wire.FrameDecoder;
import io.lightmq.wire.Heartbeats;
import io.lightmq.wire.Protocol;
import io.lightmq.wire.ProtocolException;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.scram.ScramClient;
import io.lightmq.wire.scram.ScramException;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.security.SecureRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Says hello and authenticates on a fresh channel, then makes way for another handler. The answer
 * to a challenge takes up to some tenths of a second to compute, as many as the broker asks for:
 * that is done once, on a thread of its own, since all links of a JVM share their loop.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a write that fails closes the channel
final class ClientHandshake extends ChannelInboundHandlerAdapter {
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final byte[] NOTHING = {};

  /** What the broker told. */
  record Greeting(Frame.Welcome welcome, long connectionId, String userName) {}

  private final LinkSettings settings;
  private final FrameDecoder decoder;
  private final CompletableFuture<Greeting> result = new CompletableFuture<>();
  private Frame.@Nullable Welcome welcome;
  private @Nullable ScramClient scram;
  private final Consumer<Thread> computing;
  private boolean challenged;
  private boolean responded;

  /**
   * A handshake.
   *
   * @param computing told of the thread that computes the answer to the broker's challenge
   */
  ClientHandshake(LinkSettings settings, FrameDecoder decoder, Consumer<Thread> computing) {
    this.settings = settings;
    this.decoder = decoder;
    this.computing = computing;
  }

  /** Ends with the greeting or a LinkException; the channel is then open or about to close. */
  CompletableFuture<Greeting> result() {
    return result;
  }

  @Override
  public void channelActive(ChannelHandlerContext context) {
    context.writeAndFlush(Protocol.hello("lightmq-client"));
    context.fireChannelActive();
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    Frame frame = (Frame) message;
    if (result.isDone()) {
      context.fireChannelRead(frame);
      return;
    }
    try {
      take(context, frame);
    } catch (ScramException e) {
      fail(context, refused(e));
    } catch (ProtocolException e) {
      fail(context, new LinkException(e.code(), String.valueOf(e.getMessage()), e));
    }
  }

  private void take(ChannelHandlerContext context, Frame frame) throws ScramException {
    if (frame instanceof Frame.Welcome greeting && welcome == null) {
      Protocol.check(greeting);
      welcome = greeting;
      context.pipeline().addFirst(new Heartbeats(greeting.heartbeatMillis()));
      authenticate(context);
    } else if (frame instanceof Frame.AuthChallenge challenge && scram != null && !challenged) {
      challenged = true;
      respond(context, scram, challenge.data());
    } else if (frame instanceof Frame.AuthDone done && welcome != null && challenged == responded) {
      if (scram != null) {
        scram.verify(done.data());
      }
      decoder.authenticated(welcome.maxFrameBytes());
      result.complete(new Greeting(welcome, done.connectionId(), done.userName()));
      context.pipeline().remove(this);
    } else if (frame instanceof Frame.Fault fault) {
      fail(context, new LinkException(fault.code(), fault.text()));
    } else if (frame instanceof Frame.Goodbye bye) {
      fail(context, new LinkException(bye.code(), bye.text()));
    } else if (!(frame instanceof Frame.Heartbeat)) {
      String name = FrameCodec.typeOf(frame).toString();
      FrameCodec.release(frame);
      fail(
          context,
          new LinkException(FaultCode.PROTOCOL_ERROR, name + " came during the handshake"));
    }
  }

  private void respond(ChannelHandlerContext context, ScramClient client, byte[] challenge) {
    Thread thread =
        new Thread(
            () -> {
              try {
                byte[] answer = client.respond(challenge);
                onLoop(context, () -> responded(context, answer));
              } catch (ScramException e) {
                onLoop(context, () -> fail(context, refused(e)));
              } catch (RuntimeException | Error e) {
                onLoop(context, () -> fail(context, Connector.failure("the handshake failed", e)));
              }
            },
            "link-auth");
    thread.setDaemon(true);
    computing.accept(thread);
    thread.start();
  }

  private static void onLoop(ChannelHandlerContext context, Runnable task) {
    try {
      context.executor().execute(task);
    } catch (RejectedExecutionException e) {
      context.close(); // the last link was closed meanwhile, and the loop with it
    }
  }

  private void responded(ChannelHandlerContext context, byte[] answer) {
    if (!result.isDone()) {
      responded = true;
      context.writeAndFlush(new Frame.AuthResponse(answer));
    }
  }

  private static LinkException refused(ScramException e) {
    return new LinkException(FaultCode.AUTHENTICATION_FAILED, String.valueOf(e.getMessage()), e);
  }

  private void authenticate(ChannelHandlerContext context) {
    String user = settings.credentials().user();
    if (user == null) {
      context.writeAndFlush(new Frame.AuthStart("ANONYMOUS", NOTHING));
      return;
    }
    String password = settings.credentials().password();
    if (password == null || password.isEmpty()) {
      fail(
          context,
          new LinkException(
              FaultCode.AUTHENTICATION_FAILED,
              "the user " + user + " is given without a password; give both or none"));
      return;
    }
    scram = new ScramClient(user, password, RANDOM);
    context.writeAndFlush(new Frame.AuthStart(ScramClient.MECHANISM, scram.first()));
  }

  private void fail(ChannelHandlerContext context, LinkException cause) {
    result.completeExceptionally(cause);
    context.close();
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    result.completeExceptionally(
        new LinkException(FaultCode.CLOSING, "the broker closed the connection in the handshake"));
    context.fireChannelInactive();
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    fail(
        context,
        welcome == null && cause instanceof ProtocolException
            ? new LinkException(
                FaultCode.PROTOCOL_ERROR,
                cause.getMessage() + ": this is not a LightMQ broker's port",
                cause)
            : Connector.failure("the handshake failed", cause));
  }
}

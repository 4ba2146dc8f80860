package io.lightmq.client.link;

import io.lightmq.wire.Frame;
import io.lightmq.wire.FrameDecoder;
import io.lightmq.wire.FrameEncoder;
import io.lightmq.wire.FrameGatherer;
import io.lightmq.wire.FrameType;
import io.lightmq.wire.ProtocolException;
import io.lightmq.wire.entry.FaultCode;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.ConnectTimeoutException;
import io.netty.channel.EventLoop;
import io.netty.channel.socket.SocketChannel;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Makes one authenticated connection to one address. */
@SuppressWarnings("FutureReturnValueIgnored") // the outcome is in the future that connect returns
final class Connector {
  /** What an open connection tells, on its loop. */
  interface Events {
    /** A connection is being made; closing the channel gives it up. */
    void connecting(Channel channel);

    /** A thread computes a part of the handshake; it ends by itself soon. */
    void computing(Thread thread);

    /** A frame came; its payload now belongs to the receiver. */
    void frame(Channel channel, Frame frame);

    /** The connection is over; may be told more than once. */
    void ended(Channel channel, LinkException cause);
  }

  /** A connection that is ready to attach. */
  record Connected(Channel channel, ClientHandshake.Greeting greeting) {}

  private Connector() {}

  static CompletableFuture<Connected> connect(
      LinkSettings settings,
      EventLoop loop,
      Class<? extends Channel> channelType,
      SocketAddress address,
      Events events) {
    if (address instanceof InetSocketAddress inet && inet.isUnresolved()) {
      return CompletableFuture.failedFuture(
          new LinkException(
              FaultCode.CLOSING,
              "the host "
                  + inet.getHostString()
                  + " is unknown; check its spelling in the connection URI"));
    }
    FrameDecoder decoder = new FrameDecoder(FrameType.Sender.BROKER);
    ClientHandshake handshake = new ClientHandshake(settings, decoder, events::computing);
    Bootstrap bootstrap = bootstrap(loop, channelType, settings.timeouts().connectMillis());
    bootstrap.handler(
        new ChannelInitializer<Channel>() {
          @Override
          protected void initChannel(Channel channel) {
            channel
                .pipeline()
                .addLast(
                    new FrameGatherer(),
                    decoder,
                    FrameEncoder.INSTANCE,
                    handshake,
                    new Inbound(events));
          }
        });
    CompletableFuture<Connected> result = new CompletableFuture<>();
    ChannelFuture connect = bootstrap.connect(address);
    events.connecting(connect.channel());
    connect.addListener(
        (ChannelFuture opened) -> {
          if (opened.isSuccess()) {
            greet(opened.channel(), address, settings, handshake, result);
          } else {
            result.completeExceptionally(notConnected(address, opened.cause()));
          }
        });
    return result;
  }

  private static Bootstrap bootstrap(
      EventLoop loop, Class<? extends Channel> channelType, int connectMillis) {
    Bootstrap bootstrap =
        new Bootstrap()
            .group(loop)
            .channelFactory(
                () -> {
                  try {
                    return channelType.getDeclaredConstructor().newInstance();
                  } catch (ReflectiveOperationException e) {
                    throw new IllegalStateException(channelType + " has no default constructor", e);
                  }
                })
            .disableResolver()
            .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, connectMillis);
    if (SocketChannel.class.isAssignableFrom(channelType)) {
      bootstrap.option(ChannelOption.TCP_NODELAY, true);
    }
    return bootstrap;
  }

  /** Waits for the broker's greeting, as long as a connect may take. */
  private static void greet(
      Channel channel,
      SocketAddress address,
      LinkSettings settings,
      ClientHandshake handshake,
      CompletableFuture<Connected> result) {
    int millis = settings.timeouts().connectMillis();
    Future<?> deadline =
        channel
            .eventLoop()
            .schedule(
                () -> {
                  handshake
                      .result()
                      .completeExceptionally(
                          new LinkException(
                              FaultCode.HEARTBEAT_LOST,
                              text(address)
                                  + " did not greet within "
                                  + millis
                                  + " ms (option connectTimeoutMillis)"));
                  channel.close();
                },
                millis,
                TimeUnit.MILLISECONDS);
    handshake
        .result()
        .whenComplete(
            (greeting, failed) -> {
              deadline.cancel(false);
              if (failed != null) {
                result.completeExceptionally(failed);
              } else {
                result.complete(new Connected(channel, greeting));
              }
            });
  }

  /** Netty says the address once more behind the reason. */
  private static LinkException notConnected(SocketAddress address, Throwable cause) {
    String reason = String.valueOf(cause.getMessage());
    String again = ": " + address;
    String text =
        "cannot connect to "
            + text(address)
            + ": "
            + (reason.endsWith(again)
                ? reason.substring(0, reason.length() - again.length())
                : reason)
            + (isRefused(cause) ? "; is a broker running there?" : "");
    return new LinkException(FaultCode.CLOSING, text, cause);
  }

  /** Somebody is at the address, but nobody at the port. */
  private static boolean isRefused(Throwable cause) {
    return cause instanceof ConnectException && !(cause instanceof ConnectTimeoutException);
  }

  /** Without the slash before an address that was not looked up; a closed channel has none. */
  static String text(@Nullable SocketAddress address) {
    String text = String.valueOf(address);
    return text.startsWith("/") ? text.substring(1) : text;
  }

  /** The cause behind the wrappers of futures. */
  static Throwable unwrap(@Nullable Throwable failure) {
    Throwable cause = failure == null ? new IllegalStateException("no answer") : failure;
    while ((cause instanceof ExecutionException || cause instanceof CompletionException)
        && cause.getCause() != null) {
      cause = cause.getCause();
    }
    return cause;
  }

  /** A failure of the network as one of the link. */
  static LinkException failure(String what, Throwable cause) {
    if (cause instanceof LinkException known) {
      return known;
    }
    FaultCode code = cause instanceof ProtocolException broken ? broken.code() : FaultCode.CLOSING;
    return new LinkException(code, what + ": " + cause.getMessage(), cause);
  }

  private static final class Inbound extends ChannelInboundHandlerAdapter {
    private final Events events;

    Inbound(Events events) {
      this.events = events;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      events.frame(context.channel(), (Frame) message);
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
      events.ended(
          context.channel(),
          new LinkException(FaultCode.CLOSING, "the connection to the broker was closed"));
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      if (cause instanceof ProtocolException broken) {
        context.writeAndFlush(broken.goodbye());
      }
      events.ended(context.channel(), failure("the connection failed", cause));
      context.close();
    }
  }
}

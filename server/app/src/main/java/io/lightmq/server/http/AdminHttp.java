package io.lightmq.server.http;

import io.lightmq.node.CannotListenException;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.timeout.WriteTimeoutHandler;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/**
 * The admin port. It answers {@code GET} and {@code HEAD} of the pages that it was given and
 * nothing else, takes requests of at most 8 KiB, and has limits of connections and time, see {@link
 * HttpSettings}. Short pages are answered on its event loop; long ones are written on another
 * thread, so that they never delay these.
 */
@SuppressWarnings("FutureReturnValueIgnored") // what is closed tells nobody
public final class AdminHttp implements AutoCloseable {
  private static final int MAX_LINE_BYTES = 4 << 10;
  private static final int MAX_REQUEST_BYTES = 8 << 10;

  private final Channel listener;
  private final Seats seats;
  private final Streams streams;

  private AdminHttp(Channel listener, Seats seats, Streams streams) {
    this.listener = listener;
    this.seats = seats;
    this.streams = streams;
  }

  /**
   * Listens.
   *
   * @param pages by path
   * @param streams pages that take long, by path
   * @param writers writes them
   * @throws CannotListenException if the address cannot be bound
   */
  public static AdminHttp start(
      EventLoopGroup group,
      Class<? extends ServerChannel> channelType,
      InetSocketAddress address,
      HttpSettings settings,
      Map<String, Page> pages,
      Map<String, StreamPage> streams,
      Executor writers)
      throws CannotListenException {
    Seats seats = new Seats(settings.connections(), settings.perAddress());
    Streams streaming =
        new Streams(Map.copyOf(streams), writers, settings.writeMillis(), System::nanoTime);
    Hosts hosts = new Hosts(settings.hosts());
    Map<String, Page> known = Map.copyOf(pages);
    ChannelFuture bound =
        new ServerBootstrap()
            .group(group)
            .channel(channelType)
            .childHandler(
                new ChannelInitializer<Channel>() {
                  @Override
                  protected void initChannel(Channel channel) {
                    enter(seats, channel);
                    RequestTime time = new RequestTime(settings, seats);
                    channel
                        .pipeline()
                        .addLast(
                            time,
                            new WriteTimeoutHandler(settings.writeMillis(), TimeUnit.MILLISECONDS),
                            new HttpServerCodec(MAX_LINE_BYTES, MAX_REQUEST_BYTES, 8 << 10),
                            new HttpObjectAggregator(MAX_REQUEST_BYTES),
                            new PageHandler(known, streaming, hosts, time));
                  }
                })
            .bind(address)
            .awaitUninterruptibly();
    if (!bound.isSuccess()) {
      throw new CannotListenException(address, bound.cause());
    }
    return new AdminHttp(bound.channel(), seats, streaming);
  }

  private static void enter(Seats seats, Channel channel) {
    String from =
        channel.remoteAddress() instanceof InetSocketAddress inet && inet.getAddress() != null
            ? inet.getAddress().getHostAddress()
            : "";
    Channel gone = seats.enter(channel, from);
    channel.closeFuture().addListener(closed -> seats.leave(channel));
    if (gone != null) {
      gone.close();
    }
  }

  /** Where it listens. */
  public InetSocketAddress address() {
    return (InetSocketAddress) listener.localAddress();
  }

  /** Connections that were closed for want of room or for taking too long, since start. */
  public long refused() {
    return seats.refused();
  }

  /** Connections that are open. */
  int count() {
    return seats.count();
  }

  /** Requests for long pages that wait or are under way. */
  int waiting() {
    return streams.waiting();
  }

  @Override
  public void close() {
    listener.close().awaitUninterruptibly();
  }
}

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
import io.netty.handler.timeout.ReadTimeoutHandler;
import java.net.InetSocketAddress;
import java.util.Map;

/**
 * The admin port. It answers {@code GET} and {@code HEAD} of the pages that it was given and
 * nothing else, takes requests of at most 8 KiB, and closes connections that are silent for 30 s.
 */
public final class AdminHttp implements AutoCloseable {
  private static final int MAX_REQUEST_BYTES = 8 << 10;
  private static final int SILENCE_SECONDS = 30;

  private final Channel listener;

  private AdminHttp(Channel listener) {
    this.listener = listener;
  }

  /**
   * Listens.
   *
   * @param pages by path
   * @throws CannotListenException if the address cannot be bound
   */
  public static AdminHttp start(
      EventLoopGroup group,
      Class<? extends ServerChannel> channelType,
      InetSocketAddress address,
      Map<String, Page> pages)
      throws CannotListenException {
    PageHandler handler = new PageHandler(Map.copyOf(pages));
    ChannelFuture bound =
        new ServerBootstrap()
            .group(group)
            .channel(channelType)
            .childHandler(
                new ChannelInitializer<Channel>() {
                  @Override
                  protected void initChannel(Channel channel) {
                    channel
                        .pipeline()
                        .addLast(
                            new ReadTimeoutHandler(SILENCE_SECONDS),
                            new HttpServerCodec(),
                            new HttpObjectAggregator(MAX_REQUEST_BYTES),
                            handler);
                  }
                })
            .bind(address)
            .awaitUninterruptibly();
    if (!bound.isSuccess()) {
      throw new CannotListenException(address, bound.cause());
    }
    return new AdminHttp(bound.channel());
  }

  /** Where it listens. */
  public InetSocketAddress address() {
    return (InetSocketAddress) listener.localAddress();
  }

  @Override
  public void close() {
    listener.close().awaitUninterruptibly();
  }
}

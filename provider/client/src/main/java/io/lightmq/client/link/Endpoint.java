package io.lightmq.client.link;

import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import java.net.SocketAddress;
import java.util.List;

/** Where and how to connect: held by one connection, which closes it last. */
public interface Endpoint extends AutoCloseable {
  /**
   * The addresses to try, in order; asked again before each attempt. None if there will never be
   * one again: a lost connection fails then.
   */
  List<SocketAddress> addresses();

  /** The event loops for the connection's channels. */
  EventLoopGroup group();

  /** The kind of channel that fits group and addresses. */
  Class<? extends Channel> channelType();

  /** Gives up the share in group and broker. May block. */
  @Override
  void close();
}

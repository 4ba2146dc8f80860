package io.lightmq.node;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.ServerChannel;
import java.net.SocketAddress;
import java.util.List;

/**
 * How clients reach a node: event loops, the kind of channel that fits them, and where to listen.
 *
 * @param tcp whether TCP options apply to its channels
 */
public record Transport(
    EventLoopGroup group,
    Class<? extends ServerChannel> channelType,
    List<SocketAddress> addresses,
    boolean tcp) {
  public Transport {
    addresses = List.copyOf(addresses);
    if (addresses.isEmpty()) {
      throw new IllegalArgumentException("a node needs at least one address to listen on");
    }
  }
}

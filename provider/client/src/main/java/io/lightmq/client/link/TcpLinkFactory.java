package io.lightmq.client.link;

import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;

/** Links over TCP. */
final class TcpLinkFactory implements LinkFactory {
  @Override
  public boolean handles(String scheme) {
    return scheme.equals("lightmq");
  }

  @Override
  public Endpoint open(ClientUri uri) {
    return new Tcp(uri, LinkLoop.acquire());
  }

  private static final class Tcp implements Endpoint {
    private final ClientUri uri;
    private final EventLoop loop;
    private boolean closed;

    Tcp(ClientUri uri, EventLoop loop) {
      this.uri = uri;
      this.loop = loop;
    }

    /** All addresses of all hosts; a host that is unknown now stays unresolved and so fails. */
    @Override
    public List<SocketAddress> addresses() {
      List<SocketAddress> addresses = new ArrayList<>();
      for (ClientUri.HostPort host : uri.hosts()) {
        try {
          for (InetAddress address : InetAddress.getAllByName(host.host())) {
            addresses.add(new InetSocketAddress(address, host.port()));
          }
        } catch (UnknownHostException e) {
          addresses.add(InetSocketAddress.createUnresolved(host.host(), host.port()));
        }
      }
      return addresses;
    }

    @Override
    public EventLoopGroup group() {
      return loop;
    }

    @Override
    public Class<? extends Channel> channelType() {
      return NioSocketChannel.class;
    }

    @Override
    public synchronized void close() {
      if (!closed) {
        closed = true;
        LinkLoop.release();
      }
    }
  }
}

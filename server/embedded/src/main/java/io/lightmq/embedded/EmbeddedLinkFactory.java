package io.lightmq.embedded;

import io.lightmq.client.link.ClientUri;
import io.lightmq.client.link.Endpoint;
import io.lightmq.client.link.LinkFactory;
import io.lightmq.core.storage.FileFaults;
import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.local.LocalChannel;
import java.io.IOException;
import java.net.SocketAddress;
import java.nio.file.FileSystemException;
import java.util.List;

/**
 * Links to brokers in this Java machine: {@code lightmq:mem[:name]} keeps everything in memory,
 * {@code lightmq:file:<dir>} in a directory. The first connection of a URI starts its broker, the
 * last one closes it, unless a connection had the option {@code keep=true}.
 */
public final class EmbeddedLinkFactory implements LinkFactory {
  /** For {@link java.util.ServiceLoader}. */
  public EmbeddedLinkFactory() {}

  @Override
  public boolean handles(String scheme) {
    return scheme.equals("mem") || scheme.equals("file");
  }

  @Override
  public Endpoint open(ClientUri uri) throws IOException {
    try {
      return new Local(EmbeddedBrokers.share(uri));
    } catch (FileSystemException e) {
      throw new IOException("the broker cannot start: " + FileFaults.text(e), e);
    }
  }

  private static final class Local implements Endpoint {
    private final RunningBroker broker;
    private boolean closed;

    Local(RunningBroker broker) {
      this.broker = broker;
    }

    @Override
    public List<SocketAddress> addresses() {
      return broker.failed() ? List.of() : List.of(broker.address());
    }

    @Override
    public EventLoopGroup group() {
      return broker.group();
    }

    @Override
    public Class<? extends Channel> channelType() {
      return LocalChannel.class;
    }

    @Override
    public synchronized void close() {
      if (!closed) {
        closed = true;
        EmbeddedBrokers.giveUp(broker);
      }
    }
  }
}

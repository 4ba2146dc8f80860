package io.lightmq.tck.golden;

import io.lightmq.core.runtime.Clock;
import io.lightmq.core.runtime.Ids;
import io.lightmq.core.runtime.Loop;
import io.lightmq.core.runtime.Loops;
import io.lightmq.core.runtime.ThreadLoops;
import io.lightmq.core.storage.NioDisk;
import io.lightmq.node.Node;
import io.lightmq.node.Transport;
import io.lightmq.node.security.RoleAuthorizer;
import io.lightmq.node.security.Security;
import io.lightmq.server.config.ConfigException;
import io.lightmq.server.config.ServerConfig;
import io.lightmq.spi.Authenticator;
import io.lightmq.spi.Principal;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/** Today's broker over a data directory, with a listener on this machine; everybody is admin. */
final class GoldenNode implements AutoCloseable {
  private static final long HEAP_BYTES = 256L << 20;

  private final Node node;

  private GoldenNode(Node node) {
    this.node = node;
  }

  /**
   * Opens a store with the settings that it was written with.
   *
   * @param nowMillis what its clock shows at the start, so that a golden store does not grow old
   */
  static GoldenNode open(Path data, long nowMillis) throws IOException, ConfigException {
    Path file = Files.writeString(data.resolveSibling("golden.toml"), GoldenContent.CONFIGURATION);
    EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    return new GoldenNode(
        Node.start(
            ServerConfig.read(file, HEAP_BYTES).node(),
            NioDisk.open(data),
            new ShiftedLoops(nowMillis),
            new Security(new EverybodyIsAdmin(), new RoleAuthorizer(), new byte[32]),
            new Transport(
                group,
                NioServerSocketChannel.class,
                List.of(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)),
                true)));
  }

  int port() {
    return ((InetSocketAddress) node.addresses().get(0)).getPort();
  }

  String uri() {
    return "lightmq://127.0.0.1:" + port();
  }

  @Override
  public void close() throws IOException {
    node.close();
  }

  private static final class EverybodyIsAdmin implements Authenticator {
    @Override
    public Optional<Credential> find(String userName) {
      return Optional.empty();
    }

    @Override
    public Optional<Principal> anonymous(boolean loopback) {
      return Optional.of(new Principal("anonymous", Set.of(RoleAuthorizer.ADMIN)));
    }
  }

  /** Real loops whose wall clock began elsewhere. */
  private static final class ShiftedLoops implements Loops {
    private final ThreadLoops loops =
        new ThreadLoops((name, cause) -> System.err.println(name + " died: " + cause), true);
    private final long shiftMillis;

    ShiftedLoops(long nowMillis) {
      shiftMillis = nowMillis - loops.clock().wallMillis();
    }

    @Override
    public Loop open(String name) {
      return loops.open(name);
    }

    @Override
    public Clock clock() {
      Clock clock = loops.clock();
      return new Clock() {
        @Override
        public long wallMillis() {
          return clock.wallMillis() + shiftMillis;
        }

        @Override
        public long arrivalMillis() {
          return clock.arrivalMillis() + shiftMillis;
        }

        @Override
        public long nanos() {
          return clock.nanos();
        }
      };
    }

    @Override
    public Ids ids() {
      return loops.ids();
    }

    @Override
    public void run(Loop loop, Runnable task) {
      loops.run(loop, task);
    }

    @Override
    public void whenOneDies(Consumer<IOException> listener) {
      loops.whenOneDies(listener);
    }

    @Override
    public void close() {
      loops.close();
    }
  }
}

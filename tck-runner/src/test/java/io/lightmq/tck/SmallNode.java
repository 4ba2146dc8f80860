package io.lightmq.tck;

import io.lightmq.core.runtime.ThreadLoops;
import io.lightmq.core.storage.MemoryDisk;
import io.lightmq.node.Node;
import io.lightmq.node.Transport;
import io.lightmq.node.security.RoleAuthorizer;
import io.lightmq.node.security.Security;
import io.lightmq.node.security.UserStore;
import io.lightmq.server.config.ConfigException;
import io.lightmq.server.config.ServerConfig;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** A small broker in this process whose disk is memory, with a listener on this machine. */
public final class SmallNode implements AutoCloseable {
  private static final long HEAP_BYTES = 128L << 20;
  private static final long DISK_BYTES = 256L << 20;
  private static final String SMALL =
      """
      [memory]
      window = "16MiB"
      [journal]
      file = "8MiB"
      [data]
      ballast = 0
      min-free = 0
      """;

  private final Node node;

  private SmallNode(Node node) {
    this.node = node;
  }

  /**
   * Starts one.
   *
   * @param directory of its users and its configuration
   * @param more lines of the configuration
   */
  public static SmallNode start(Path directory, String more) throws IOException, ConfigException {
    Path file = Files.writeString(directory.resolve("small.toml"), SMALL + more);
    UserStore users = UserStore.open(directory, true, false);
    return new SmallNode(
        Node.start(
            ServerConfig.read(file, HEAP_BYTES).node(),
            new MemoryDisk(DISK_BYTES),
            new ThreadLoops((loop, cause) -> cause.printStackTrace()),
            new Security(users, new RoleAuthorizer(), users.unknownUserKey()),
            new Transport(
                new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory()),
                NioServerSocketChannel.class,
                List.of(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)),
                true)));
  }

  /** Where clients reach it. */
  public String uri() {
    return "lightmq://127.0.0.1:" + ((InetSocketAddress) node.addresses().get(0)).getPort();
  }

  @Override
  public void close() throws IOException {
    node.close();
  }
}

package io.lightmq.server;

import io.lightmq.core.runtime.FatalHandler;
import io.lightmq.core.runtime.ThreadLoops;
import io.lightmq.core.storage.NioDisk;
import io.lightmq.node.CannotListenException;
import io.lightmq.node.Node;
import io.lightmq.node.Transport;
import io.lightmq.node.security.RoleAuthorizer;
import io.lightmq.node.security.Security;
import io.lightmq.node.security.UserStore;
import io.lightmq.server.config.ServerConfig;
import io.lightmq.server.http.AdminHttp;
import io.lightmq.server.http.StreamPage;
import io.lightmq.server.metrics.NodeMeters;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A broker with everything that a process has around it: users, admin port, metrics. */
@SuppressWarnings("FutureReturnValueIgnored") // the sampler ends with its loop
final class Server implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Server.class);
  private static final int MAX_IO_THREADS = 8;
  private static final int SAMPLE_SECONDS = 10;
  private static final String METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

  private final ServerConfig config;
  private final Node node;
  private final NodeMeters meters;
  private final EventLoopGroup httpLoops;
  private final @Nullable AdminHttp http;
  private final ScheduledExecutorService writers;
  private final Health health;

  private Server(
      ServerConfig config,
      Node node,
      NodeMeters meters,
      EventLoopGroup httpLoops,
      ScheduledExecutorService writers,
      AtomicReference<@Nullable AdminHttp> admin)
      throws IOException {
    this.config = config;
    this.health = new Health(() -> node.failure().isDone(), node::turnNanos);
    this.node = node;
    this.meters = meters;
    this.httpLoops = httpLoops;
    this.writers = writers;
    InetSocketAddress address = config.http();
    this.http =
        address == null
            ? null
            : AdminHttp.start(
                httpLoops,
                serverChannel(),
                address,
                config.httpSettings(),
                Map.of("/healthz", health::health, "/readyz", health::readiness),
                Map.of("/metrics", new MetricsPage(meters)),
                writers);
    admin.set(http);
  }

  /**
   * Locks the data directory, replays, listens. Blocks.
   *
   * @param newUsers whether a lost file of users is replaced by a new one
   * @param newPassword told the password of the user {@code admin} if it was created just now,
   *     which is when nothing else can fail any more
   * @throws IOException if any of it fails; nothing stays open then
   */
  static Server start(ServerConfig config, boolean newUsers, Consumer<String> newPassword)
      throws IOException {
    try {
      return listen(config, newUsers, newPassword);
    } catch (CannotListenException e) {
      throw new IOException(text(e) + "; the address is set by " + config.keysOf(e.address()), e);
    }
  }

  private static String text(CannotListenException failure) {
    return String.valueOf(failure.getMessage()).contains("in use")
            && failure.address() instanceof InetSocketAddress address
        ? "port "
            + address.getPort()
            + " on "
            + address.getHostString()
            + " is in use by another process"
        : String.valueOf(failure.getMessage());
  }

  private static Server listen(ServerConfig config, boolean newUsers, Consumer<String> newPassword)
      throws IOException {
    NioDisk disk = NioDisk.open(config.dataDirectory());
    UserStore users;
    try {
      users = UserStore.open(disk.root(), config.anonymous(), newUsers);
    } catch (IOException | RuntimeException e) {
      disk.close();
      throw e;
    }
    Security security = new Security(users, new RoleAuthorizer(), users.unknownUserKey());
    Node node =
        Node.start(
            config.node(),
            disk,
            new ThreadLoops(FatalHandler.halt()),
            security,
            new Transport(
                loops("io", ioThreads()),
                serverChannel(),
                List.<SocketAddress>copyOf(config.listeners()),
                true));
    node.showDestinations(config.shownDestinations());
    EventLoopGroup httpLoops = loops("http", 1);
    ScheduledExecutorService writers =
        Executors.newSingleThreadScheduledExecutor(new DefaultThreadFactory("metrics"));
    AtomicReference<@Nullable AdminHttp> admin = new AtomicReference<>();
    NodeMeters meters =
        new NodeMeters(node::metrics, node::takeLongestTurnNanos, () -> refused(admin.get()));
    try {
      Server server = new Server(config, node, meters, httpLoops, writers, admin);
      writers.scheduleAtFixedRate(meters::sample, SAMPLE_SECONDS, SAMPLE_SECONDS, TimeUnit.SECONDS);
      users.makeFirst().ifPresent(newPassword);
      warnOfPlainText(server.addresses());
      return server;
    } catch (IOException | RuntimeException e) {
      end(httpLoops);
      writers.shutdownNow();
      meters.close();
      node.close();
      throw e;
    }
  }

  private static void warnOfPlainText(List<SocketAddress> addresses) {
    for (SocketAddress address : addresses) {
      if (address instanceof InetSocketAddress inet && !inet.getAddress().isLoopbackAddress()) {
        log.warn(
            "Others can reach {}, and nothing there is encrypted: messages and all but passwords"
                + " can be read and changed on the way; keep it to a network that you trust",
            CannotListenException.show(address));
      }
    }
  }

  private static long refused(@Nullable AdminHttp admin) {
    return admin == null ? 0 : admin.refused();
  }

  /** All figures, written piece by piece on the metrics thread. */
  private record MetricsPage(NodeMeters meters) implements StreamPage {
    @Override
    public String contentType() {
      return METRICS_TYPE;
    }

    @Override
    public void write(Appendable out) throws IOException {
      meters.write(out);
    }
  }

  private static int ioThreads() {
    return Math.min(MAX_IO_THREADS, Math.max(1, Runtime.getRuntime().availableProcessors() / 2));
  }

  private static EventLoopGroup loops(String name, int threads) {
    IoHandlerFactory handlers =
        Epoll.isAvailable() ? EpollIoHandler.newFactory() : NioIoHandler.newFactory();
    return new MultiThreadIoEventLoopGroup(threads, new DefaultThreadFactory(name), handlers);
  }

  private static Class<? extends ServerChannel> serverChannel() {
    return Epoll.isAvailable() ? EpollServerSocketChannel.class : NioServerSocketChannel.class;
  }

  /** What is printed once clients can come. */
  String readyLine() {
    String addresses =
        node.addresses().stream()
            .map(CannotListenException::show)
            .collect(Collectors.joining(", "));
    AdminHttp admin = http;
    return "LightMQ ready on "
        + addresses
        + (admin == null ? "" : ", admin on http://" + CannotListenException.show(admin.address()))
        + ", data in "
        + config.dataDirectory().toAbsolutePath().normalize();
  }

  /** Where clients connect. */
  List<SocketAddress> addresses() {
    return node.addresses();
  }

  /** Where the admin port is, if there is one. */
  Optional<InetSocketAddress> httpAddress() {
    return Optional.ofNullable(http).map(AdminHttp::address);
  }

  /** Says what is to happen when {@code lightmq stop} asks for the end. */
  void whenStopIsAsked(Runnable action) {
    node.whenStopIsAsked(action);
  }

  /** Completes with the cause when the broker has ended after a failure. */
  CompletableFuture<Throwable> failure() {
    return node.failure();
  }

  /** Ends the broker first, so that the admin port can tell how that goes. Blocks. */
  @Override
  public void close() throws IOException {
    health.closing();
    try {
      node.close();
    } finally {
      AdminHttp admin = http;
      if (admin != null) {
        admin.close();
      }
      end(httpLoops);
      writers.shutdownNow();
      meters.close();
    }
  }

  private static void end(EventLoopGroup loops) {
    loops.shutdownGracefully(0, SAMPLE_SECONDS, TimeUnit.SECONDS).awaitUninterruptibly();
  }
}

package io.lightmq.node;

import io.lightmq.core.runtime.Loop;
import io.lightmq.core.runtime.Loops;
import io.lightmq.core.shard.Broker;
import io.lightmq.core.storage.Disk;
import io.lightmq.node.connection.ConnectionHeap;
import io.lightmq.node.connection.Connections;
import io.lightmq.node.connection.DeliveryBudget;
import io.lightmq.node.connection.Door;
import io.lightmq.node.connection.FrameBudget;
import io.lightmq.node.connection.OpenRequests;
import io.lightmq.node.credit.CreditLedger;
import io.lightmq.node.security.Security;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelOption;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A broker with its listeners. It takes over the disk, the loops and the event loops that it is
 * given: they end with it, also when it cannot start.
 */
public final class Node implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Node.class);
  private static final int BACKLOG = 1_024;
  private static final int LOOPS_END_SECONDS = 10;

  private final NodeSettings settings;
  private final NetworkMemory memory;
  private final CreditLedger credit;
  private final Broker broker;
  private final Connections connections;
  private final List<Channel> listeners;
  private final Verbs verbs;
  private final Owned owned;

  /** What ends last, in this order. */
  private record Owned(Transport transport, Loops loops, Disk disk) {
    void close() throws IOException {
      Future<?> ended =
          transport.group().shutdownGracefully(0, LOOPS_END_SECONDS, TimeUnit.SECONDS);
      ended.awaitUninterruptibly();
      loops.close();
      if (disk instanceof AutoCloseable closeable) {
        try {
          closeable.close();
        } catch (IOException | RuntimeException e) {
          throw e;
        } catch (Exception e) {
          throw new IOException("the data directory could not be closed", e);
        }
      }
    }
  }

  private Node(
      NodeSettings settings,
      NetworkMemory memory,
      CreditLedger credit,
      Broker broker,
      Connections connections,
      List<Channel> listeners,
      Verbs verbs,
      Owned owned) {
    this.settings = settings;
    this.memory = memory;
    this.credit = credit;
    this.broker = broker;
    this.connections = connections;
    this.listeners = listeners;
    this.verbs = verbs;
    this.owned = owned;
  }

  /**
   * Opens the broker, replays its journal and listens. Blocks.
   *
   * @throws CannotListenException if an address cannot be bound
   * @throws IOException if the data is damaged or locked
   */
  public static Node start(
      NodeSettings settings, Disk disk, Loops loops, Security security, Transport transport)
      throws IOException {
    String handles = transport.tcp() ? FileHandles.warning(FileHandles.most(), settings) : null;
    if (handles != null) {
      log.warn(handles);
    }
    Owned owned = new Owned(transport, loops, disk);
    List<Channel> listeners = new ArrayList<>();
    Broker broker = null;
    try {
      broker = Broker.open(settings.broker(), disk, loops);
      Loop admin = loops.open("admin");
      NetworkMemory memory = new NetworkMemory(settings);
      CreditLedger credit = new CreditLedger(settings.credit());
      Verbs verbs = new Verbs(security.authenticator(), admin::execute);
      Connections connections =
          new Connections(
              new Door(
                  settings.connections(),
                  broker.storeId(),
                  broker::epoch,
                  broker::submit,
                  admin::execute,
                  security,
                  credit,
                  new DeliveryBudget(settings.deliveryBytes()),
                  new FrameBudget(settings.commitBytes()),
                  new FrameBudget(settings.requestBytes()),
                  FrameBudget.ofDecoded(Runtime.getRuntime().maxMemory()),
                  verbs,
                  ConnectionHeap.of(Runtime.getRuntime().maxMemory()),
                  OpenRequests.of(Runtime.getRuntime().maxMemory())));
      for (SocketAddress address : transport.addresses()) {
        listeners.add(listen(transport, memory, connections, address));
      }
      Node node = new Node(settings, memory, credit, broker, connections, listeners, verbs, owned);
      verbs.begin(node);
      return node;
    } catch (IOException | RuntimeException e) {
      closeAfterFailure(broker, listeners, owned, e);
      throw e;
    } catch (OutOfMemoryError e) { // also direct memory: a start may be refused, a process not hang
      IOException refusal =
          new IOException(
              "there is too little memory to start ("
                  + e.getMessage()
                  + "); give this Java machine more with -Xmx, or with -XX:MaxDirectMemorySize if"
                  + " it is direct memory",
              e);
      closeAfterFailure(broker, listeners, owned, refusal);
      throw refusal;
    }
  }

  private static void closeAfterFailure(
      @Nullable Broker broker, List<Channel> listeners, Owned owned, Exception cause) {
    listeners.forEach(listener -> listener.close().awaitUninterruptibly());
    try {
      if (broker != null) {
        broker.close();
      }
    } catch (IOException | RuntimeException e) {
      cause.addSuppressed(e);
    }
    try {
      owned.close();
    } catch (IOException | RuntimeException e) {
      cause.addSuppressed(e);
    }
  }

  @SuppressWarnings("deprecation") // the newer name is not in Netty 4.1
  private static Channel listen(
      Transport transport, NetworkMemory memory, Connections connections, SocketAddress address)
      throws IOException {
    ServerBootstrap bootstrap =
        new ServerBootstrap()
            .group(transport.group())
            .channel(transport.channelType())
            .childOption(ChannelOption.ALLOCATOR, memory.allocator())
            .childOption(ChannelOption.RCVBUF_ALLOCATOR, memory.reads())
            .childHandler(connections);
    if (transport.tcp()) {
      bootstrap
          .option(ChannelOption.SO_REUSEADDR, true)
          .option(ChannelOption.SO_BACKLOG, BACKLOG)
          .childOption(ChannelOption.TCP_NODELAY, true)
          .childOption(ChannelOption.SO_KEEPALIVE, true);
    }
    ChannelFuture bound = bootstrap.bind(address).awaitUninterruptibly();
    if (!bound.isSuccess()) {
      throw new CannotListenException(address, bound.cause());
    }
    return bound.channel();
  }

  /** Where it listens; with the real ports where port 0 was asked for. */
  public List<SocketAddress> addresses() {
    return listeners.stream().map(Channel::localAddress).toList();
  }

  /** What it was told at start. */
  public NodeSettings settings() {
    return settings;
  }

  /** What it counts. Any thread. */
  public NodeMetrics metrics() {
    int open = connections.count();
    return new NodeMetrics(
        broker.metrics(),
        new NodeMetrics.ConnectionUse(open, connections.halfOpen(), connections.refused()),
        new NodeMetrics.ByteUse(memory.usedBytes(), memory.boundBytes(open)),
        new NodeMetrics.ByteUse(credit.exposedBytes(), credit.settings().budgetBytes()));
  }

  /**
   * How long the broker's turn lasts that is under way, in nanoseconds; 0 if none is. Any thread.
   */
  public long turnNanos() {
    return broker.turnNanos();
  }

  /** The broker's longest turn since the last call, in nanoseconds. Any thread. */
  public long takeLongestTurnNanos() {
    return broker.takeLongestTurnNanos();
  }

  /** Sets how many destinations the metrics show one by one, and about as many subscriptions. */
  public void showDestinations(int most) {
    broker.showDestinations(most);
  }

  /** Completes with the cause when the broker has ended after a failure. */
  public CompletableFuture<Throwable> failure() {
    return broker.failure();
  }

  /**
   * Says what is to happen when somebody who may manage asks the broker to stop; without it such a
   * request is refused. Told on a thread of the broker's, so it must not wait for its end.
   */
  public void whenStopIsAsked(Runnable action) {
    verbs.whenStopIsAsked(action);
  }

  /** Ends the connections of a user. Any thread; returns at once. */
  void endOf(String userName, String why) {
    connections.endOf(userName, why);
  }

  /** Ends all connections because the broker cannot go on. Any thread; returns at once. */
  public void abandon(String why) {
    connections.abandon(why);
  }

  /**
   * Stops listening, says goodbye to the clients, writes a last checkpoint and ends all threads.
   * Blocks.
   *
   * @throws IOException if what was appended could not be made durable
   */
  @Override
  public void close() throws IOException {
    listeners.forEach(listener -> listener.close().awaitUninterruptibly());
    connections.close("the broker is shutting down");
    try {
      broker.close();
    } finally {
      owned.close();
    }
  }
}

package io.lightmq.embedded;

import io.lightmq.core.runtime.FatalHandler;
import io.lightmq.core.runtime.ThreadLoops;
import io.lightmq.core.storage.Disk;
import io.lightmq.core.storage.MemoryDisk;
import io.lightmq.core.storage.NioDisk;
import io.lightmq.node.Node;
import io.lightmq.node.NodeSettings;
import io.lightmq.node.Transport;
import io.lightmq.node.security.RoleAuthorizer;
import io.lightmq.node.security.Security;
import io.lightmq.node.security.UserStore;
import io.netty.channel.DefaultEventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.local.LocalAddress;
import io.netty.channel.local.LocalServerChannel;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.net.SocketAddress;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One broker in this Java machine. Its threads are daemons, and a bug in it ends the broker, never
 * the application.
 */
final class RunningBroker implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(RunningBroker.class);
  private static final int KEY_BYTES = 32;

  private final String key;
  private final LocalAddress address;
  private final EventLoopGroup group;
  private final LoopDeath death;
  private final Node node;
  private volatile boolean closed;

  /** Connections that use it; guarded by the map of running brokers. */
  int shares;

  /** Whether it outlives its connections; guarded likewise. */
  boolean kept;

  /** Ends the connections when a loop has died of a bug. */
  private static final class LoopDeath implements FatalHandler {
    private volatile boolean happened;
    private volatile Runnable then = () -> {};

    @Override
    public void fatal(String loopName, Throwable cause) {
      happened = true;
      log.error("Loop {} of an embedded broker died of an unexpected error", loopName, cause);
      then.run();
    }
  }

  private RunningBroker(
      String key, LocalAddress address, EventLoopGroup group, LoopDeath death, Node node) {
    this.key = key;
    this.address = address;
    this.group = group;
    this.death = death;
    this.node = node;
    death.then = () -> node.abandon("the broker ended after an unexpected error; see the log");
  }

  static RunningBroker inMemory(String key) throws IOException {
    long heapBytes = Runtime.getRuntime().maxMemory();
    return start(
        key, EmbeddedSettings.inMemory(heapBytes), new MemoryDisk(heapBytes / 2), Optional.empty());
  }

  static RunningBroker inDirectory(String key, Path directory) throws IOException {
    NodeSettings settings = EmbeddedSettings.inDirectory(Runtime.getRuntime().maxMemory());
    Optional<UserStore> users = UserStore.find(directory);
    return start(key, settings, NioDisk.open(directory), users);
  }

  private static RunningBroker start(
      String key, NodeSettings settings, Disk disk, Optional<UserStore> users) throws IOException {
    byte[] unknownUserKey = users.map(UserStore::unknownUserKey).orElseGet(RunningBroker::newKey);
    Security security = new Security(new OwnProcess(users), new RoleAuthorizer(), unknownUserKey);
    LocalAddress address = new LocalAddress("lightmq:" + key);
    // A loop, not a group of one: a group's end starts Netty's global executor for a second or two.
    EventLoopGroup group = new DefaultEventLoop(new DefaultThreadFactory("lightmq-io", true));
    LoopDeath death = new LoopDeath();
    Node node =
        Node.start(
            settings,
            disk,
            new ThreadLoops(death, true),
            security,
            new Transport(group, LocalServerChannel.class, List.<SocketAddress>of(address), false));
    return new RunningBroker(key, address, group, death, node);
  }

  private static byte[] newKey() {
    byte[] key = new byte[KEY_BYTES];
    new SecureRandom().nextBytes(key);
    return key;
  }

  String key() {
    return key;
  }

  SocketAddress address() {
    return address;
  }

  EventLoopGroup group() {
    return group;
  }

  /** Whether it cannot be used any more: failed or closed. */
  boolean failed() {
    return closed || death.happened || node.failure().isDone();
  }

  /** What its loops call when they die. */
  FatalHandler death() {
    return death;
  }

  @Override
  public void close() throws IOException {
    closed = true;
    node.close();
  }
}

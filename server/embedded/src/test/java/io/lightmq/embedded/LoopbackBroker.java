package io.lightmq.embedded;

import io.lightmq.core.door.BrokerSettings;
import io.lightmq.core.runtime.ThreadLoops;
import io.lightmq.core.storage.Disk;
import io.lightmq.core.storage.NioDisk;
import io.lightmq.node.Node;
import io.lightmq.node.NodeSettings;
import io.lightmq.node.Transport;
import io.lightmq.node.security.RoleAuthorizer;
import io.lightmq.node.security.Security;
import io.lightmq.wire.Frame;
import io.lightmq.wire.FrameCodec;
import io.lightmq.wire.Protocol;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.DataInputStream;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * A broker over TCP in this process that goes away and comes again on its port, and whose disk may
 * fill up. Whoever connects may do everything.
 */
final class LoopbackBroker implements AutoCloseable {
  private static final long MIN_FREE_BYTES = 1 << 20;

  private final Path directory;
  private final int port;
  private volatile boolean diskFull;
  private Node node;

  LoopbackBroker(Path directory) throws IOException {
    this.directory = directory;
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      this.port = free.getLocalPort();
    }
    start();
  }

  int port() {
    return port;
  }

  void start() throws IOException {
    NodeSettings otherwise = EmbeddedSettings.inDirectory(256L << 20);
    BrokerSettings broker = otherwise.broker();
    NodeSettings settings =
        new NodeSettings(
            broker.with(broker.disk().withBallastBytes(0).withMinFreeBytes(MIN_FREE_BYTES)),
            otherwise.connections(),
            16 << 20,
            1 << 20,
            8 << 20,
            8 << 20);
    node =
        Node.start(
            settings,
            disk(NioDisk.open(directory)),
            new ThreadLoops((loop, cause) -> cause.printStackTrace(), true),
            new Security(new OwnProcess(Optional.empty()), new RoleAuthorizer(), new byte[32]),
            new Transport(
                new MultiThreadIoEventLoopGroup(
                    1, new DefaultThreadFactory("loopback-io", true), NioIoHandler.newFactory()),
                NioServerSocketChannel.class,
                List.of(new InetSocketAddress(InetAddress.getLoopbackAddress(), port)),
                true));
  }

  /** A disk that says that it is full when it is to. */
  private Disk disk(NioDisk real) {
    return (Disk)
        Proxy.newProxyInstance(
            LoopbackBroker.class.getClassLoader(),
            new Class<?>[] {Disk.class, AutoCloseable.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("usableBytes") && diskFull) {
                return MIN_FREE_BYTES / 2;
              }
              try {
                return method.invoke(real, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  /** From now on the disk has no room, or has it again; seen a moment later. */
  void diskFull(boolean full) {
    diskFull = full;
  }

  void stop() throws IOException {
    node.close();
  }

  @Override
  public void close() throws IOException {
    stop();
  }

  /** What an administrator does; the answer as JSON. */
  String admin(String verb, Map<String, String> arguments) throws IOException {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      DataInputStream in = new DataInputStream(socket.getInputStream());
      write(socket, Protocol.hello("test"));
      expect(in, Frame.Welcome.class);
      write(socket, new Frame.AuthStart("ANONYMOUS", new byte[0]));
      expect(in, Frame.AuthDone.class);
      write(socket, new Frame.Attach(1, UUID.randomUUID(), 1, 1, null));
      expect(in, Frame.Attached.class);
      write(socket, new Frame.Admin(2, verb, arguments));
      return expect(in, Frame.AdminResult.class).json();
    }
  }

  private static <F extends Frame> F expect(DataInputStream in, Class<F> type) throws IOException {
    while (true) {
      Frame frame = FrameCodec.decode(Unpooled.wrappedBuffer(in.readNBytes(in.readInt())));
      if (type.isInstance(frame)) {
        return type.cast(frame);
      }
      if (frame instanceof Frame.Fault fault) {
        throw new IOException(fault.code() + " " + fault.text());
      }
    }
  }

  private static void write(Socket socket, Frame frame) throws IOException {
    ByteBuf bytes = FrameCodec.encode(frame, UnpooledByteBufAllocator.DEFAULT);
    bytes.readBytes(socket.getOutputStream(), bytes.readableBytes());
    bytes.release();
  }
}

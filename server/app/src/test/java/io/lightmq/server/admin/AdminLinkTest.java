package io.lightmq.server.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.wire.Frame;
import io.lightmq.wire.FrameCodec;
import io.lightmq.wire.Protocol;
import io.lightmq.wire.entry.FaultCode;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The command line's connection against a broker that takes long. */
@Timeout(60)
class AdminLinkTest {
  private final ExecutorService threads = Executors.newFixedThreadPool(2);

  @AfterEach
  void end() {
    threads.shutdownNow();
  }

  private static Frame read(DataInputStream in) throws IOException {
    return FrameCodec.decode(Unpooled.wrappedBuffer(in.readNBytes(in.readInt())));
  }

  private static void send(Socket socket, Frame frame) throws IOException {
    ByteBuf bytes = FrameCodec.encode(frame, UnpooledByteBufAllocator.DEFAULT);
    bytes.readBytes(socket.getOutputStream(), bytes.readableBytes());
    bytes.release();
  }

  /** Lets a client in; then sends signs of life and returns what comes back to each of them. */
  private static int serve(ServerSocket listener) throws IOException {
    try (Socket socket = listener.accept()) {
      socket.setSoTimeout(20_000);
      DataInputStream in = new DataInputStream(socket.getInputStream());
      Frame.Hello hello = (Frame.Hello) read(in);
      send(
          socket,
          new Frame.Welcome(
              Protocol.negotiate(hello),
              Protocol.features(hello),
              new UUID(1, 1),
              1 << 20,
              1 << 20,
              1 << 20,
              10_000));
      read(in);
      send(socket, new Frame.AuthDone(new byte[0], 1, "anonymous"));
      Frame.Attach attach = (Frame.Attach) read(in);
      send(socket, new Frame.Attached(attach.correlation(), 0, List.of(), 1 << 20));
      Frame.Admin admin = (Frame.Admin) read(in);
      int alive = 0;
      for (int i = 0; i < 5; i++) {
        send(socket, new Frame.Heartbeat());
        alive += read(in) instanceof Frame.Heartbeat ? 1 : 0;
      }
      send(socket, new Frame.AdminResult(admin.correlation(), "{}"));
      return alive;
    }
  }

  @Test
  void itIsAliveHoweverLongTheBrokerTakes() throws Exception {
    try (ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      CompletableFuture<Integer> alive = new CompletableFuture<>();
      threads.execute(
          () -> {
            try {
              alive.complete(serve(listener));
            } catch (IOException | RuntimeException e) {
              alive.completeExceptionally(e);
            }
          });
      try (AdminLink link = AdminLink.open("127.0.0.1", listener.getLocalPort(), null, null)) {
        CompletableFuture<String> answer =
            CompletableFuture.supplyAsync(() -> run(link), threads::execute);
        assertThat(alive.get(40, TimeUnit.SECONDS)).isEqualTo(5);
        assertThat(answer.get(20, TimeUnit.SECONDS)).isEqualTo("{}");
      }
    }
  }

  /** What a broker does to a client whose handshake takes too long. */
  private static void hangUp(ServerSocket listener) throws IOException {
    try (Socket socket = listener.accept()) {
      socket.setSoTimeout(20_000);
      read(new DataInputStream(socket.getInputStream()));
      send(
          socket,
          new Frame.Goodbye(FaultCode.PROTOCOL_ERROR, "the handshake took longer than 5000 ms"));
    }
  }

  private interface Script {
    void play() throws IOException;
  }

  private CompletableFuture<Void> play(Script... scripts) {
    CompletableFuture<Void> played = new CompletableFuture<>();
    threads.execute(
        () -> {
          try {
            for (Script script : scripts) {
              script.play();
            }
            played.complete(null);
          } catch (IOException | RuntimeException e) {
            played.completeExceptionally(e);
          }
        });
    return played;
  }

  @Test
  void aHandshakeThatABusyBrokerCutsOffIsTriedOnceMore() throws Exception {
    try (ServerSocket listener = new ServerSocket(0, 2, InetAddress.getLoopbackAddress())) {
      CompletableFuture<Void> played = play(() -> hangUp(listener), () -> serve(listener));
      try (AdminLink link = AdminLink.open("127.0.0.1", listener.getLocalPort(), null, null)) {
        assertThat(run(link)).isEqualTo("{}");
      }
      played.get(20, TimeUnit.SECONDS);
    }
  }

  @Test
  void aBrokerThatHangsUpTwiceIsSaidToHaveAnsweredAndWhichSettingCounts() throws Exception {
    try (ServerSocket listener = new ServerSocket(0, 2, InetAddress.getLoopbackAddress())) {
      CompletableFuture<Void> played = play(() -> hangUp(listener), () -> hangUp(listener));
      String at = "127.0.0.1:" + listener.getLocalPort();
      assertThatThrownBy(
              () -> AdminLink.open("127.0.0.1", listener.getLocalPort(), "admin", "secret"))
          .hasMessageContaining(at + " took the connection and hung up")
          .hasMessageContaining("the handshake took longer than 5000 ms")
          .hasMessageContaining("limits.handshake-millis")
          .hasMessageNotContaining("no answer");
      played.get(20, TimeUnit.SECONDS);
      played = play(() -> listener.accept().close(), () -> listener.accept().close());
      assertThatThrownBy(() -> AdminLink.open("127.0.0.1", listener.getLocalPort(), null, null))
          .hasMessageContaining(at + " took the connection and hung up")
          .hasMessageContaining("limits.handshake-millis");
      played.get(20, TimeUnit.SECONDS);
    }
  }

  private static String run(AdminLink link) {
    try {
      return link.run("destination.list", Map.of());
    } catch (AdminException e) {
      throw new AssertionError(e);
    }
  }
}

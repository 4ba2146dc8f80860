package io.lightmq.tck.hostile;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * A broker that answers as it should for a while, and then sends changed or structured frames in
 * place of an answer, beside it, or none. A connection follows from its seed and from what the
 * client asks.
 */
final class HostileBroker implements AutoCloseable {
  private static final int IDLE_MILLIS = 60_000;
  private static final int BURST = 20;

  private final ServerSocket server;
  private final @Nullable Recording recording;
  private final long seed;
  private final boolean harmless;
  private final AtomicLong frames = new AtomicLong();
  private final AtomicLong connections = new AtomicLong();

  HostileBroker(Recording recording, long seed) throws IOException {
    this(recording, seed, false);
  }

  private HostileBroker(@Nullable Recording recording, long seed, boolean harmless)
      throws IOException {
    this.recording = recording;
    this.seed = seed;
    this.harmless = harmless;
    server = new ServerSocket(0, 200, InetAddress.getLoopbackAddress());
    Thread acceptor = new Thread(this::accept, "hostile-accept");
    acceptor.setDaemon(true);
    acceptor.start();
  }

  /** One that reads, gives the stock answers and keeps nothing. */
  static HostileBroker harmless() throws IOException {
    return new HostileBroker(null, 0, true);
  }

  int port() {
    return server.getLocalPort();
  }

  long frames() {
    return frames.get();
  }

  @Override
  public void close() throws IOException {
    server.close();
  }

  private void accept() {
    try {
      while (true) {
        Socket socket = server.accept();
        long number = connections.incrementAndGet();
        Thread thread = new Thread(() -> play(socket, seed + number), "hostile-broker-" + number);
        thread.setDaemon(true);
        thread.start();
      }
    } catch (IOException e) {
      // Closed.
    }
  }

  private void play(Socket socket, long connectionSeed) {
    SplittableRandom random = new SplittableRandom(connectionSeed);
    try (socket) {
      socket.setSoTimeout(IDLE_MILLIS);
      socket.setTcpNoDelay(true);
      new Play(random, socket).run();
    } catch (IOException e) {
      // The client has gone, as it should.
    }
  }

  /** One connection. */
  private final class Play {
    private final SplittableRandom random;
    private final Hostile any;
    private final BrokerFrames structured;
    private final DataInputStream in;
    private final OutputStream out;
    private int peaceful;

    private Play(SplittableRandom random, Socket socket) throws IOException {
      this.random = random;
      any = new Hostile(random);
      structured = new BrokerFrames(any);
      in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
      out = socket.getOutputStream();
      peaceful = random.nextInt(8) == 0 ? random.nextInt(3) : 3 + random.nextInt(12);
    }

    private void run() throws IOException {
      while (true) {
        byte[] asked = FrameBytes.read(in);
        if (FrameBytes.type(asked) == 15) {
          return;
        }
        if (harmless || peaceful > 0) {
          peaceful--;
          answer(asked);
        } else {
          attack(asked);
          peaceful = random.nextInt(3);
        }
      }
    }

    private void attack(byte[] asked) throws IOException {
      int way = random.nextInt(12);
      if (way == 0) {
        return;
      }
      int count = 1 + random.nextInt(BURST);
      for (int i = 0; i < count; i++) {
        byte[] frame;
        if (way < 4) {
          List<byte[]> all = Objects.requireNonNull(recording).fromBroker();
          frame = Mutation.of(all.get(random.nextInt(all.size())), all, random);
        } else {
          frame = structured.next(FrameBytes.correlation(asked));
        }
        out.write(frame);
        frames.incrementAndGet();
      }
      if (random.nextInt(4) > 0) {
        answer(asked);
      }
    }

    private void answer(byte[] asked) throws IOException {
      int id = FrameBytes.correlation(asked);
      switch (FrameBytes.type(asked)) {
        case 1 ->
            out.write(
                new FrameBytes(2, 0)
                    .v(1)
                    .i64(0)
                    .i64(1)
                    .i64(2)
                    .v(4_259_840)
                    .v(4 << 20)
                    .v(1 << 20)
                    .v(10_000)
                    .done());
        case 3 -> out.write(new FrameBytes(6, 0).none().v(7).text("anonymous").done());
        case 10 -> out.write(new FrameBytes(11, id).v(0).v(0).v(1 << 20).done());
        case 22 -> out.write(new FrameBytes(23, id).v(1).done());
        case 25 -> out.write(new FrameBytes(26, id).v(1).done());
        case 29 ->
            out.write(
                new FrameBytes(30, id)
                    .u8(asked[FrameBytes.HEADER_BYTES])
                    .text("temp." + any.below(9))
                    .done());
        case 40, 43 -> out.write(new FrameBytes(41, 0).v(1).v(id).v(1).v(0).done());
        case 12, 20, 21, 27, 28, 31, 53, 54 -> {
          if (id > 0) {
            out.write(new FrameBytes(13, id).done());
          }
        }
        default -> {}
      }
    }
  }
}

package io.lightmq.node;

import io.lightmq.wire.Frame;
import io.lightmq.wire.FrameCodec;
import io.lightmq.wire.Protocol;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** A client that speaks frames over a plain socket and waits for one answer at a time. */
final class TestClient implements AutoCloseable {
  private static final int ANSWER_MILLIS = 20_000;

  final Socket socket = new Socket();
  private final DataInputStream in;
  private final Deque<Frame> kept = new ArrayDeque<>();
  private int correlation = 100;
  long credit;
  long sentBytes;

  TestClient(SocketAddress address) throws IOException {
    socket.connect(address, ANSWER_MILLIS);
    socket.setSoTimeout(ANSWER_MILLIS);
    socket.setTcpNoDelay(true);
    in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
  }

  static TestClient attached(InetSocketAddress address, UUID link, long epoch) throws IOException {
    TestClient client = authenticated(address, Protocol.FEATURES);
    client.send(new Frame.Attach(1, link, epoch, 1, null));
    client.credit = client.expect(Frame.Attached.class).creditBytes();
    client.send(new Frame.OpenSession(2, 1));
    client.expect(Frame.Ok.class);
    return client;
  }

  static TestClient authenticated(InetSocketAddress address, long features) throws IOException {
    TestClient client = new TestClient(address);
    client.send(new Frame.Hello(1, 1, features, "test"));
    client.expect(Frame.Welcome.class);
    client.send(new Frame.AuthStart("ANONYMOUS", new byte[0]));
    client.expect(Frame.AuthDone.class);
    return client;
  }

  long producer(String queue) throws IOException {
    int id = ++correlation;
    send(new Frame.AttachProducer(id, id, 1, new DestinationName(DestinationKind.QUEUE, queue)));
    return expect(Frame.ProducerAttached.class).destinationId();
  }

  long consumer(int consumerId, String queue) throws IOException {
    send(
        new Frame.AttachConsumer(
            ++correlation,
            consumerId,
            1,
            new DestinationName(DestinationKind.QUEUE, queue),
            Frame.Subscribe.QUEUE,
            null,
            null,
            false,
            false));
    return expect(Frame.ConsumerAttached.class).destinationId();
  }

  int publish(long destination, long number, ByteBuf messages, int count) throws IOException {
    int id = ++correlation;
    sentBytes += messages.readableBytes();
    send(new Frame.Publish(id, destination, number, count, messages));
    return id;
  }

  void send(Frame frame) throws IOException {
    ByteBuf bytes = FrameCodec.encode(frame, UnpooledByteBufAllocator.DEFAULT);
    try {
      bytes.readBytes(socket.getOutputStream(), bytes.readableBytes());
    } finally {
      bytes.release();
    }
  }

  /** The next frame of a type; credit is taken note of, other frames are kept for later. */
  <T extends Frame> T expect(Class<T> type) throws IOException {
    for (Frame frame : kept) {
      if (type.isInstance(frame)) {
        kept.remove(frame);
        return type.cast(frame);
      }
    }
    while (true) {
      Frame frame = read();
      if (type.isInstance(frame)) {
        return type.cast(frame);
      }
      if (frame instanceof Frame.Credit more) {
        credit = more.totalBytes();
      } else if (frame instanceof Frame.Goodbye || frame instanceof Frame.Fault) {
        throw new IOException("instead of " + type.getSimpleName() + " came " + frame);
      } else if (!(frame instanceof Frame.Heartbeat)) {
        kept.add(frame);
      }
    }
  }

  /** Reads frames until so much credit was announced; the socket's timeout ends it otherwise. */
  void awaitCredit(long totalBytes) throws IOException {
    while (credit <= totalBytes) {
      Frame frame = read();
      if (frame instanceof Frame.Credit more) {
        credit = more.totalBytes();
      } else {
        kept.add(frame);
      }
    }
  }

  /** Reads one frame, takes note of credit, and counts the runs that it confirms. */
  int receiptsInNextFrame() throws IOException {
    Frame frame = read();
    if (frame instanceof Frame.Credit more) {
      credit = more.totalBytes();
    } else if (frame instanceof Frame.Receipts receipts) {
      return receipts.done().stream().mapToInt(Frame.Done::count).sum();
    } else if (!(frame instanceof Frame.Heartbeat)) {
      throw new IOException("instead of receipts or credit came " + frame);
    }
    return 0;
  }

  private Frame read() throws IOException {
    int length = in.readInt();
    byte[] bytes = in.readNBytes(length);
    if (bytes.length < length) {
      throw new IOException("the broker closed the connection within a frame");
    }
    return FrameCodec.decode(Unpooled.wrappedBuffer(bytes));
  }

  /** The broker's last frame, or null if the connection ended without one. */
  Frame.@Nullable Goodbye goodbye() throws IOException {
    try {
      while (true) {
        if (read() instanceof Frame.Goodbye bye) {
          return bye;
        }
      }
    } catch (java.io.EOFException e) {
      return null;
    }
  }

  @Override
  public void close() throws IOException {
    if (!socket.isClosed()) {
      send(new Frame.Goodbye(FaultCode.OK, ""));
      socket.close();
    }
  }
}

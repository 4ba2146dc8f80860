package io.lightmq.tck.faults;

import io.lightmq.wire.FrameType;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A way to a broker that knows frames: it holds the next one of a kind, and all that comes behind
 * it in that direction, and says when it has it. So a fault meets a request that is on its way, or
 * an answer that the broker has given and nobody has read.
 */
final class FrameLine implements AutoCloseable {
  private static final int MAX_FRAME_BYTES = 32 << 20;
  private static final int LEAST_BYTES = 8;

  private final ServerSocket door;
  private final int brokerPort;
  private final List<Socket> sockets = new ArrayList<>();
  private @Nullable FrameType wanted;
  private boolean holds;
  private long drops;

  FrameLine(int brokerPort) throws IOException {
    this.brokerPort = brokerPort;
    this.door = new ServerSocket(0, 8, InetAddress.getLoopbackAddress());
    daemon("frame-line-door", this::accept);
  }

  int port() {
    return door.getLocalPort();
  }

  /** The next frame of this kind stays on its way. */
  synchronized void hold(FrameType type) {
    wanted = type;
    holds = false;
  }

  /** Waits until it has the frame. */
  synchronized void awaitHeld(long limitMillis) throws InterruptedException, HarnessException {
    long limitNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(limitMillis);
    while (!holds) {
      long leftMillis = TimeUnit.NANOSECONDS.toMillis(limitNanos - System.nanoTime());
      if (leftMillis <= 0) {
        throw new HarnessException("no frame " + wanted + " came within " + limitMillis + " ms");
      }
      wait(leftMillis);
    }
  }

  /** What is held arrives, and all goes on. */
  synchronized void release() {
    wanted = null;
    holds = false;
    notifyAll();
  }

  /** What is held is lost with its connection, which is reset; the next one goes through. */
  synchronized void drop() {
    drops++;
    for (Socket each : sockets) {
      reset(each);
    }
    sockets.clear();
    release();
  }

  private static void reset(Socket socket) {
    try {
      socket.setSoLinger(true, 0);
      socket.close();
    } catch (IOException e) {
      // It is closed already.
    }
  }

  @Override
  public synchronized void close() throws IOException {
    door.close();
    drop();
  }

  private void accept() {
    try {
      while (true) {
        Socket client = door.accept();
        try {
          connect(client, new Socket(InetAddress.getLoopbackAddress(), brokerPort));
        } catch (IOException e) {
          client.close(); // there is no broker at the moment
        }
      }
    } catch (IOException e) {
      // The door is closed.
    }
  }

  private synchronized void connect(Socket client, Socket broker) throws IOException {
    client.setTcpNoDelay(true);
    broker.setTcpNoDelay(true);
    sockets.removeIf(Socket::isClosed);
    sockets.add(client);
    sockets.add(broker);
    daemon("frame-line-to-broker", () -> pump(client, broker));
    daemon("frame-line-to-client", () -> pump(broker, client));
  }

  private void pump(Socket from, Socket to) {
    try (from;
        to;
        DataInputStream in = new DataInputStream(new BufferedInputStream(from.getInputStream()));
        DataOutputStream out = new DataOutputStream(to.getOutputStream())) {
      while (true) {
        byte[] frame = read(in);
        pass(frame[4] & 255);
        out.write(frame);
      }
    } catch (IOException e) {
      // One end has gone; so does the other.
    }
  }

  private static byte[] read(DataInputStream in) throws IOException {
    int length = in.readInt();
    if (length < LEAST_BYTES || length > MAX_FRAME_BYTES) {
      throw new IOException("a frame of " + length + " bytes");
    }
    byte[] frame = new byte[4 + length];
    for (int i = 0; i < 4; i++) {
      frame[i] = (byte) (length >>> (24 - 8 * i));
    }
    in.readFully(frame, 4, length);
    return frame;
  }

  private synchronized void pass(int code) throws IOException {
    if (holds || wanted == null || code != wanted.code()) {
      return;
    }
    holds = true;
    notifyAll();
    long before = drops;
    try {
      while (holds) {
        wait();
      }
    } catch (InterruptedException e) {
      throw new IOException("interrupted", e);
    }
    if (drops != before) {
      throw new IOException("the frame is lost");
    }
  }

  private static void daemon(String name, Runnable task) {
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    thread.start();
  }
}

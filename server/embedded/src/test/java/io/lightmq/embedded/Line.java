package io.lightmq.embedded;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;

/** A way to a broker that can be cut, and on which answers can be lost. */
final class Line implements AutoCloseable {
  private final ServerSocket door;
  private final int brokerPort;
  private final List<Socket> sockets = new ArrayList<>();
  private volatile boolean mute;
  private volatile boolean closed;
  private volatile long swallowed;

  Line(int brokerPort) throws IOException {
    this.brokerPort = brokerPort;
    this.door = new ServerSocket(0, 8, InetAddress.getLoopbackAddress());
    daemon(this::accept);
  }

  int port() {
    return door.getLocalPort();
  }

  /** From now on nothing that the broker says arrives, and nothing of it comes later. */
  void loseAnswers() {
    swallowed = 0;
    mute = true;
  }

  /** How many bytes of answers were lost. */
  long lostBytes() {
    return swallowed;
  }

  /** Ends what is connected; new connections work again. */
  synchronized void cut() {
    mute = false;
    sockets.forEach(Line::end);
    sockets.clear();
  }

  private static void end(Socket socket) {
    try {
      socket.close();
    } catch (IOException e) {
      // It is closed.
    }
  }

  @Override
  public void close() throws IOException {
    closed = true;
    door.close();
    cut();
  }

  private static void daemon(Runnable work) {
    Thread thread = new Thread(work, "line");
    thread.setDaemon(true);
    thread.start();
  }

  private void accept() {
    while (!closed) {
      try {
        Socket client = door.accept();
        try {
          Socket broker = new Socket(InetAddress.getLoopbackAddress(), brokerPort);
          synchronized (this) {
            sockets.add(client);
            sockets.add(broker);
          }
          daemon(() -> pass(client, broker, false));
          daemon(() -> pass(broker, client, true));
        } catch (IOException e) {
          end(client); // the broker is away
        }
      } catch (IOException e) {
        return;
      }
    }
  }

  private void pass(Socket from, Socket to, boolean answers) {
    byte[] bytes = new byte[8_192];
    try {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      for (int read = in.read(bytes); read >= 0; read = in.read(bytes)) {
        if (answers && mute) {
          swallowed += read;
        } else {
          out.write(bytes, 0, read);
        }
      }
    } catch (IOException e) {
      // One side has gone, and takes the other along.
    }
    end(from);
    end(to);
  }
}

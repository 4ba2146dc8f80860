package io.lightmq.tck.faults;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A way to the broker for one connection, which can be cut as a network does it: at once, or so
 * that what is sent stays on its way and neither side hears of it.
 */
final class CutLine implements AutoCloseable {
  private final ServerSocket door;
  private final int brokerPort;
  private final boolean lasting;
  private final List<Socket> sockets = new ArrayList<>();
  private boolean cut;
  private boolean silentToBroker;
  private boolean silentToClient;
  private boolean heldSomething;

  /** Listens for a connection to be passed on to a port of this machine. */
  CutLine(int brokerPort) throws IOException {
    this(brokerPort, false);
  }

  /** One that stays while its connections are reset and the broker comes and goes. */
  static CutLine lasting(int brokerPort) throws IOException {
    return new CutLine(brokerPort, true);
  }

  private CutLine(int brokerPort, boolean lasting) throws IOException {
    this.lasting = lasting;
    this.brokerPort = brokerPort;
    this.door = new ServerSocket(0, 8, InetAddress.getLoopbackAddress());
    daemon("cut-line-door", this::accept);
  }

  /** Where clients connect to. */
  int port() {
    return door.getLocalPort();
  }

  /** Ends what is connected; nobody connects again. */
  synchronized void cut() {
    cut = true;
    notifyAll();
    closed(door);
    sockets.forEach(CutLine::closed);
    sockets.clear();
  }

  @Override
  public void close() {
    cut();
  }

  private static void closed(AutoCloseable each) {
    try {
      each.close();
    } catch (Exception e) {
      // It is closed.
    }
  }

  private void accept() {
    try {
      while (true) {
        Socket client = door.accept();
        Socket broker = broker(client);
        if (broker != null) {
          connect(client, broker);
        }
      }
    } catch (IOException e) {
      cut(); // the door is closed, or the broker has gone
    }
  }

  private @Nullable Socket broker(Socket client) throws IOException {
    try {
      return new Socket(InetAddress.getLoopbackAddress(), brokerPort);
    } catch (IOException e) {
      if (!lasting) {
        throw e;
      }
      closed(client);
      return null;
    }
  }

  /** Resets what is connected, as a router does that has forgotten it; how many there were. */
  synchronized int reset() {
    int connections = sockets.size() / 2;
    for (Socket each : sockets) {
      try {
        each.setSoLinger(true, 0);
      } catch (IOException e) {
        // It is closed already.
      }
      closed(each);
    }
    sockets.clear();
    return connections;
  }

  /**
   * From now on what goes in these directions stays on its way, until {@link #heal}; then it
   * arrives, late, if the other side has not given up.
   */
  synchronized void silence(boolean toBroker, boolean toClient) {
    silentToBroker = toBroker;
    silentToClient = toClient;
    heldSomething = false;
  }

  /** Everything goes on; whether something was held. */
  synchronized boolean heal() {
    silentToBroker = false;
    silentToClient = false;
    notifyAll();
    return heldSomething;
  }

  private synchronized void pass(boolean toBroker) throws IOException {
    try {
      while ((toBroker ? silentToBroker : silentToClient) && !cut) {
        heldSomething = true;
        wait();
      }
    } catch (InterruptedException e) {
      throw new IOException("interrupted", e);
    }
  }

  private synchronized void connect(Socket client, Socket broker) throws IOException {
    if (cut) {
      client.close();
      broker.close();
      return;
    }
    sockets.add(client);
    sockets.add(broker);
    client.setTcpNoDelay(true);
    broker.setTcpNoDelay(true);
    daemon("cut-line-to-broker", () -> pump(client, broker, true));
    daemon("cut-line-to-client", () -> pump(broker, client, false));
  }

  private void pump(Socket from, Socket to, boolean toBroker) {
    try (from;
        to) {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      byte[] bytes = new byte[64 << 10];
      for (int count = in.read(bytes); count >= 0; count = in.read(bytes)) {
        pass(toBroker);
        out.write(bytes, 0, count);
      }
    } catch (IOException e) {
      // One end has gone; so does the other.
    }
  }

  private static void daemon(String name, Runnable task) {
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    thread.start();
  }
}

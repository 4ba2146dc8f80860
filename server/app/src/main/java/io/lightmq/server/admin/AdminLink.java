package io.lightmq.server.admin;

import io.lightmq.core.storage.FileFaults;
import io.lightmq.wire.Frame;
import io.lightmq.wire.FrameCodec;
import io.lightmq.wire.Protocol;
import io.lightmq.wire.ProtocolException;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.scram.ScramClient;
import io.lightmq.wire.scram.ScramException;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.security.SecureRandom;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A connection of the command line to a broker: blocking, one request at a time. A broker that says
 * nothing for 30 s is given up, a handshake that was cut off is tried once more; one that shows
 * signs of life is waited for, however long it takes, and each of them is answered by one.
 */
final class AdminLink implements AutoCloseable {
  private static final int CONNECT_MILLIS = 10_000;
  private static final int ANSWER_MILLIS = 30_000;
  private static final int MAX_ANSWER_BYTES = 256 << 20;

  private final Socket socket;
  private final DataInputStream in;
  private final OutputStream out;
  private int correlation;

  private AdminLink(Socket socket) throws IOException {
    this.socket = socket;
    this.in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
    this.out = socket.getOutputStream();
  }

  /**
   * Connects and authenticates; once more if the handshake is cut off.
   *
   * @param user null to come without one
   * @throws AdminException if there is no broker, or it does not let this user in
   */
  static AdminLink open(String host, int port, @Nullable String user, @Nullable String password)
      throws AdminException {
    String at = host + ":" + port;
    for (int left = 1; ; left--) {
      AdminLink link = connect(host, port, at);
      try {
        link.handshake(user, password);
        return link;
      } catch (SocketException | EOFException e) {
        link.closeSocket();
        if (left == 0) {
          throw hungUp(at, FileFaults.text(e));
        }
      } catch (IOException e) {
        link.closeSocket();
        throw noAnswer(at, e);
      } catch (ScramException | ProtocolException e) {
        link.closeSocket();
        throw new AdminException(FaultCode.PROTOCOL_ERROR, String.valueOf(e.getMessage()));
      } catch (AdminException e) {
        link.closeSocket();
        if (!tookTooLong(e)) {
          throw e;
        }
        if (left == 0) {
          throw hungUp(at, String.valueOf(e.getMessage()));
        }
      }
    }
  }

  private static AdminLink connect(String host, int port, String at) throws AdminException {
    Socket socket = new Socket();
    try {
      socket.connect(new InetSocketAddress(host, port), CONNECT_MILLIS);
      socket.setSoTimeout(ANSWER_MILLIS);
      socket.setTcpNoDelay(true);
      return new AdminLink(socket);
    } catch (UnknownHostException e) {
      closeQuietly(socket);
      throw new AdminException(
          FaultCode.CLOSING, "the host " + host + " is unknown; check --host for its spelling");
    } catch (IOException e) {
      closeQuietly(socket);
      throw noAnswer(at, e);
    }
  }

  private static AdminException noAnswer(String at, IOException why) {
    return new AdminException(
        FaultCode.CLOSING, "no answer from a broker at " + at + ": " + FileFaults.text(why));
  }

  /** On a busy machine a broker, or this program, may take longer than a handshake has time for. */
  private static boolean tookTooLong(AdminException end) {
    return end.code() == FaultCode.PROTOCOL_ERROR
        && String.valueOf(end.getMessage()).contains("handshake took longer");
  }

  private static AdminException hungUp(String at, String why) {
    return new AdminException(
        FaultCode.CLOSING,
        at
            + " took the connection and hung up before the handshake was done, twice: "
            + why
            + ". A broker on a busy machine does so after limits.handshake-millis of its"
            + " configuration, 5000 by default; try again, or raise it");
  }

  private void closeSocket() {
    closeQuietly(socket);
  }

  private void handshake(@Nullable String user, @Nullable String password)
      throws IOException, AdminException, ScramException {
    send(Protocol.hello("lightmq command line"));
    Protocol.check(expect(Frame.Welcome.class));
    if (user == null || password == null) {
      send(new Frame.AuthStart("ANONYMOUS", new byte[0]));
      expect(Frame.AuthDone.class);
    } else {
      ScramClient scram = new ScramClient(user, password, new SecureRandom());
      send(new Frame.AuthStart(ScramClient.MECHANISM, scram.first()));
      send(new Frame.AuthResponse(scram.respond(expect(Frame.AuthChallenge.class).data())));
      scram.verify(expect(Frame.AuthDone.class).data());
    }
    send(new Frame.Attach(++correlation, UUID.randomUUID(), 1, 1, null));
    expect(Frame.Attached.class);
  }

  /** Runs a verb and returns its result, which is JSON. */
  String run(String verb, Map<String, String> arguments) throws AdminException {
    try {
      send(new Frame.Admin(++correlation, verb, arguments));
      return expect(Frame.AdminResult.class).json();
    } catch (SocketTimeoutException e) {
      throw new AdminException(
          FaultCode.OUTCOME_UNKNOWN,
          "the broker gave no sign of life within " + ANSWER_MILLIS + " ms");
    } catch (IOException e) {
      throw new AdminException(FaultCode.OUTCOME_UNKNOWN, "the connection was lost: " + e);
    }
  }

  private void send(Frame frame) throws IOException {
    ByteBuf bytes = FrameCodec.encode(frame, UnpooledByteBufAllocator.DEFAULT);
    try {
      bytes.readBytes(out, bytes.readableBytes());
      out.flush();
    } finally {
      bytes.release();
    }
  }

  private <T extends Frame> T expect(Class<T> type) throws IOException, AdminException {
    while (true) {
      Frame frame = read();
      if (type.isInstance(frame)) {
        return type.cast(frame);
      }
      if (frame instanceof Frame.Fault fault) {
        throw new AdminException(fault.code(), fault.text());
      }
      if (frame instanceof Frame.Goodbye bye) {
        throw new AdminException(bye.code(), bye.text());
      }
      if (frame instanceof Frame.Heartbeat) {
        send(frame); // a broker that takes long asks whether anybody still waits
      }
      FrameCodec.release(frame);
    }
  }

  private Frame read() throws IOException {
    int length = in.readInt();
    if (length < 0 || length > MAX_ANSWER_BYTES) {
      throw new IOException(
          "the answer says it has " + length + " bytes: this is not a LightMQ broker's port");
    }
    byte[] bytes = in.readNBytes(length);
    if (bytes.length < length) {
      throw new EOFException("the answer ended after " + bytes.length + " of " + length + " bytes");
    }
    return FrameCodec.decode(Unpooled.wrappedBuffer(bytes));
  }

  @Override
  public void close() {
    try {
      send(new Frame.Goodbye(FaultCode.OK, ""));
    } catch (IOException e) {
      // The broker has gone first, which is as good.
    }
    closeQuietly(socket);
  }

  private static void closeQuietly(Socket socket) {
    try {
      socket.close();
    } catch (IOException e) {
      // Nothing was left to lose.
    }
  }
}

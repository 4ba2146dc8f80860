package io.lightmq.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.wire.Frame;
import io.lightmq.wire.FrameCodec;
import io.lightmq.wire.Protocol;
import io.lightmq.wire.scram.ScramClient;
import io.lightmq.wire.scram.ScramException;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.UUID;

/** A connection to a broker whose frames can hold bytes that no encoder would write. */
final class RawLink implements AutoCloseable {
  private static final int WAIT_MILLIS = 5_000;

  /** How far a connection is. */
  enum At {
    HELLO,
    AUTH,
    ATTACH,
    OPEN
  }

  private final Socket socket = new Socket();
  private final DataInputStream in;

  private RawLink(SocketAddress address) throws IOException {
    socket.connect((InetSocketAddress) address);
    socket.setSoTimeout(WAIT_MILLIS);
    in = new DataInputStream(socket.getInputStream());
  }

  /**
   * Connects and goes so far.
   *
   * @param password of the user admin; empty to come without a user
   */
  static RawLink to(SocketAddress address, At at, String password) throws IOException {
    RawLink link = new RawLink(address);
    if (at.compareTo(At.AUTH) >= 0) {
      link.send(Protocol.hello("test"));
      link.read();
    }
    if (at.compareTo(At.ATTACH) >= 0) {
      link.signIn(password);
    }
    if (at == At.OPEN) {
      link.send(new Frame.Attach(1, UUID.randomUUID(), 1, 1, null));
      link.read();
      link.send(new Frame.OpenSession(2, 1));
      link.read();
    }
    return link;
  }

  private void signIn(String password) throws IOException {
    if (password.isEmpty()) {
      send(new Frame.AuthStart("ANONYMOUS", new byte[0]));
    } else {
      ScramClient scram = new ScramClient("admin", password, new SecureRandom());
      send(new Frame.AuthStart(ScramClient.MECHANISM, scram.first()));
      try {
        Frame.AuthChallenge challenge = (Frame.AuthChallenge) read();
        send(new Frame.AuthResponse(scram.respond(challenge.data())));
      } catch (ScramException e) {
        throw new IOException(e);
      }
    }
    assertThat(read()).isInstanceOf(Frame.AuthDone.class);
  }

  void send(Frame frame) throws IOException {
    write(bytes(frame));
  }

  /**
   * Sends a frame with the stand-in of its hostile text replaced, of which no more is sent than the
   * frame has left of its stand-in.
   */
  void send(Frame frame, byte[] hostile) throws IOException {
    byte[] bytes = bytes(frame);
    if (hostile.length > 0) {
      String latin = new String(bytes, StandardCharsets.ISO_8859_1);
      int end = latin.lastIndexOf('@') + 1; // before it, a length or a number may have this byte
      assertThat(end).as("the stand-in in %s", frame.getClass().getSimpleName()).isPositive();
      int at = end;
      while (at > 0 && bytes[at - 1] == '@' && end - at < hostile.length) {
        at--;
      }
      System.arraycopy(Arrays.copyOf(hostile, end - at), 0, bytes, at, end - at);
    }
    write(bytes);
  }

  private static byte[] bytes(Frame frame) {
    ByteBuf encoded = FrameCodec.encode(frame, UnpooledByteBufAllocator.DEFAULT);
    byte[] bytes = new byte[encoded.readableBytes()];
    encoded.readBytes(bytes);
    encoded.release();
    return bytes;
  }

  private void write(byte[] bytes) throws IOException {
    socket.getOutputStream().write(bytes);
    socket.getOutputStream().flush();
  }

  Frame read() throws IOException {
    return decoded(readBytes());
  }

  /** A frame as it came, since decoding makes texts printable. */
  byte[] readBytes() throws IOException {
    byte[] bytes = new byte[in.readInt()];
    in.readFully(bytes);
    return bytes;
  }

  static Frame decoded(byte[] bytes) {
    return FrameCodec.decode(Unpooled.wrappedBuffer(bytes));
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}

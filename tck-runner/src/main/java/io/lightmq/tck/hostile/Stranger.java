package io.lightmq.tck.hostile;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.zip.CRC32C;

/**
 * One anonymous connection in raw frames, for attacks and for a victim that has to know its link.
 */
public final class Stranger implements AutoCloseable {
  /** The code of a message that asks for more than any may. */
  static final int TOO_LARGE = 3;

  /** The code that a limit is refused with. */
  static final int LIMIT_REACHED = 4;

  /** The code that what may have room later is refused with. */
  static final int RETRY_LATER = 5;

  private static final int ANSWER_MILLIS = 20_000;
  private static final int CLOSED = -1;

  private final Socket socket = new Socket();
  private final OutputStream out;
  private final DataInputStream in;
  private int lastId;

  /** Connects and authenticates. */
  public Stranger(int port) throws IOException {
    socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), ANSWER_MILLIS);
    socket.setSoTimeout(ANSWER_MILLIS);
    socket.setTcpNoDelay(true);
    out = new BufferedOutputStream(socket.getOutputStream());
    in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
    out.write(new FrameBytes(1, 0).v(1).v(1).i64(0).text("stranger").done());
    out.write(new FrameBytes(3, 0).text("ANONYMOUS").none().done());
    out.flush();
    byte[] frame = FrameBytes.read(in);
    while (FrameBytes.type(frame) != 6) {
      if (FrameBytes.type(frame) == 15) {
        throw new IOException("the broker said goodbye to a stranger");
      }
      frame = FrameBytes.read(in);
    }
  }

  int id() {
    return ++lastId;
  }

  void send(byte[] frame) throws IOException {
    out.write(frame);
  }

  /** Binds a link; the newest number that the broker has taken of it. */
  public long attach(UUID link, long epoch) throws IOException {
    int id = id();
    send(new FrameBytes(10, id).uuid(link).v(epoch).v(1).none().done());
    byte[] answer = answer(id);
    if (FrameBytes.type(answer) != 11) {
      throw new IOException("Attach was refused with code " + code(answer));
    }
    int session = id();
    send(new FrameBytes(20, session).v(1).done());
    answer(session);
    return FrameBytes.varint(answer, FrameBytes.HEADER_BYTES);
  }

  /** The id of a queue to send to. */
  public long queue(String name) throws IOException {
    return destination(1, name);
  }

  long topic(String name) throws IOException {
    return destination(2, name);
  }

  private long destination(int kind, String name) throws IOException {
    int id = id();
    send(new FrameBytes(22, id).v(id).v(1).u8(kind).text(name).done());
    byte[] answer = answer(id);
    if (FrameBytes.type(answer) != 23) {
      throw new IOException(name + " was refused with code " + code(answer));
    }
    return FrameBytes.varint(answer, FrameBytes.HEADER_BYTES);
  }

  /** Sends a persistent message with this number; the code that it was answered with. */
  public int publish(long queue, long number, byte[] body) throws IOException {
    return run(queue, number, message(true, 0, new byte[0], body));
  }

  int run(long destination, long number, byte[]... messages) throws IOException {
    int id = id();
    int bytes = 0;
    for (byte[] message : messages) {
      bytes += 4 + message.length;
    }
    ByteBuffer run = ByteBuffer.allocate(bytes);
    for (byte[] message : messages) {
      run.putInt(message.length).put(message);
    }
    FrameBytes frame = new FrameBytes(40, id).v(destination).v(number).v(messages.length);
    send(frame.bytes(run.array()).done());
    out.flush();
    while (true) {
      byte[] answer = FrameBytes.read(in);
      if (FrameBytes.type(answer) == 15) {
        return CLOSED;
      }
      if (FrameBytes.type(answer) == 41) {
        // One run is open: with nothing done it is the one that is refused.
        int at = FrameBytes.HEADER_BYTES;
        if (FrameBytes.varint(answer, at) > 0) {
          return 0;
        }
        at = behind(answer, at + 2);
        return (int) FrameBytes.varint(answer, at);
      }
    }
  }

  private static int behind(byte[] frame, int varint) {
    int at = varint;
    while (frame[at] < 0) {
      at++;
    }
    return at + 1;
  }

  /** Sends a request and gives the code of its answer, 0 for done, -1 for a closed connection. */
  int ask(int id, byte[] frame) throws IOException {
    send(frame);
    return code(answer(id));
  }

  /** The codes of the answers to requests that were sent together, in any order. */
  List<Integer> codes(List<Integer> ids) throws IOException {
    out.flush();
    Set<Integer> open = new HashSet<>(ids);
    List<Integer> codes = new ArrayList<>();
    while (!open.isEmpty()) {
      byte[] frame = FrameBytes.read(in);
      boolean bye = FrameBytes.type(frame) == 15;
      if (bye || open.remove(FrameBytes.correlation(frame))) {
        codes.add(code(frame));
      }
      if (bye) {
        open.clear();
      }
    }
    return codes;
  }

  private byte[] answer(int id) throws IOException {
    out.flush();
    while (true) {
      byte[] frame = FrameBytes.read(in);
      boolean bye = FrameBytes.type(frame) == 15;
      if (bye || FrameBytes.correlation(frame) == id) {
        return frame;
      }
    }
  }

  private static int code(byte[] answer) {
    return switch (FrameBytes.type(answer)) {
      case 14 -> (int) FrameBytes.varint(answer, FrameBytes.HEADER_BYTES);
      case 15 -> CLOSED;
      default -> 0;
    };
  }

  /** An encoded text message with these encoded properties. */
  static byte[] message(boolean persistent, long delayMillis, byte[] properties, byte[] body) {
    FrameBytes all = new FrameBytes(0, 0);
    all.i32(0).u8(1).u8(1).u8(4).u8(persistent ? 1 : 0).i64(0).i64(delayMillis).i64(0);
    UUID id = UUID.randomUUID();
    all.uuid(id).i64(1).v(0).bytes(properties).raw(body);
    byte[] frame = all.done();
    byte[] message = java.util.Arrays.copyOfRange(frame, FrameBytes.HEADER_BYTES, frame.length);
    CRC32C crc = new CRC32C();
    crc.update(message, 4, message.length - 4);
    FrameBytes.putInt(message, 0, (int) crc.getValue());
    return message;
  }

  /** Properties that are strings: names and values in turn. */
  static byte[] properties(String... namesAndValues) {
    FrameBytes all = new FrameBytes(0, 0).v(namesAndValues.length / 2);
    for (int i = 0; i < namesAndValues.length; i += 2) {
      all.text(namesAndValues[i]).u8(10).text(namesAndValues[i + 1]);
    }
    byte[] frame = all.done();
    return java.util.Arrays.copyOfRange(frame, FrameBytes.HEADER_BYTES, frame.length);
  }

  /** Is gone by a reset. */
  public void reset() throws IOException {
    out.flush();
    socket.setSoLinger(true, 0);
    socket.close();
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}

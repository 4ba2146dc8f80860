package io.lightmq.tck.golden;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.zip.CRC32C;

/**
 * A client of the first version: protocol 1 with no features, in raw frames over a socket. It waits
 * for one answer at a time and has one session.
 */
final class RawClient implements AutoCloseable {
  static final int QUEUE = 1;
  static final int TEMPORARY_QUEUE = 3;

  private static final int ANSWER_MILLIS = 20_000;
  private static final int SESSION = 1;
  private static final int ENTRY_BYTES = 81;

  private final Socket socket;
  private final DataInputStream in;
  private final Deque<RawFrame> kept = new ArrayDeque<>();
  private int lastId;

  /** The features that the broker chose. */
  final long features;

  /** Why a run or commit was refused. */
  record Refusal(int code, String text) {}

  /** An outcome that the broker tells of a number. */
  record Outcome(long number, Refusal refusal) {}

  /**
   * What the broker knows of the link.
   *
   * @param unread bytes behind the fields of the first version
   */
  record Link(long last, List<Outcome> outcomes, int unread) {}

  /** A message in a consumer's hands. */
  record Delivered(int lane, long destination, long sequence, String messageId, String text) {}

  /** A message to send. */
  record Outgoing(UUID id, long number, String text) {}

  RawClient(int port) throws IOException {
    socket = new Socket(InetAddress.getLoopbackAddress(), port);
    socket.setSoTimeout(ANSWER_MILLIS);
    socket.setTcpNoDelay(true);
    in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
    send(RawFrame.of(1, 0).v(1).v(1).i64(0).text("raw"));
    RawFrame welcome = expect(2);
    if (welcome.v() != 1) {
      throw new IOException("the broker chose another version than 1");
    }
    features = welcome.i64();
    send(RawFrame.of(3, 0).text("ANONYMOUS").bytes(new byte[0]));
    expect(6);
  }

  // ---- link and session ----

  Link attach(UUID link, long epoch, long answersFrom) throws IOException {
    int id = ++lastId;
    send(RawFrame.of(10, id).uuid(link).v(epoch).v(answersFrom).noText());
    RawFrame attached = answer(11, id);
    long last = attached.v();
    List<Outcome> outcomes = new ArrayList<>();
    for (long left = attached.v(); left > 0; left--) {
      outcomes.add(new Outcome(attached.v(), new Refusal((int) attached.v(), attached.text())));
    }
    attached.v();
    int session = ++lastId;
    send(RawFrame.of(20, session).v(SESSION));
    answer(13, session);
    return new Link(last, outcomes, attached.remaining());
  }

  // ---- sending ----

  long producer(int kind, String name) throws IOException {
    int id = ++lastId;
    send(RawFrame.of(22, id).v(id).v(SESSION).u8(kind).text(name));
    return answer(23, id).v();
  }

  /** Sends a run and waits for what becomes of it; empty if it is done. */
  Optional<Refusal> publish(long destination, long number, Outgoing... messages)
      throws IOException {
    int id = ++lastId;
    send(RawFrame.of(40, id).v(destination).v(number).v(messages.length).bytes(run(messages)));
    return outcome(id);
  }

  /** Sends a transaction of one run. */
  Optional<Refusal> commit(long destination, long number, Outgoing... messages) throws IOException {
    int id = ++lastId;
    send(
        RawFrame.of(43, id)
            .v(SESSION)
            .v(number)
            .v(1)
            .v(destination)
            .u8(1)
            .v(messages.length)
            .bytes(run(messages))
            .v(0));
    return outcome(id);
  }

  private Optional<Refusal> outcome(int id) throws IOException {
    while (true) {
      RawFrame receipts = expect(41);
      for (long left = receipts.v(); left > 0; left--) {
        long from = receipts.v();
        long count = receipts.v();
        if (id >= from && id < from + count) {
          return Optional.empty();
        }
      }
      for (long left = receipts.v(); left > 0; left--) {
        long refused = receipts.v();
        Refusal refusal = new Refusal((int) receipts.v(), receipts.text());
        receipts.v();
        if (refused == id) {
          return Optional.of(refusal);
        }
      }
    }
  }

  private static byte[] run(Outgoing... messages) {
    ByteBuffer run = ByteBuffer.allocate(64 << 10);
    for (Outgoing message : messages) {
      byte[] text = message.text().getBytes(StandardCharsets.UTF_8);
      ByteBuffer bytes = ByteBuffer.allocate(58 + text.length);
      bytes.putInt(0).put((byte) 1).put((byte) 1).put((byte) 4).put((byte) 5);
      bytes.putLong(0).putLong(0).putLong(0);
      bytes.putLong(message.id().getMostSignificantBits());
      bytes.putLong(message.id().getLeastSignificantBits());
      bytes.putLong(message.number());
      bytes.put((byte) 0).put((byte) 0).put(text);
      CRC32C crc = new CRC32C();
      crc.update(bytes.array(), 4, bytes.capacity() - 4);
      bytes.putInt(0, (int) crc.getValue());
      run.putInt(bytes.capacity()).put(bytes.array());
    }
    byte[] all = new byte[run.position()];
    run.get(0, all);
    return all;
  }

  // ---- receiving ----

  int consumer(int kind, String name) throws IOException {
    int id = ++lastId;
    send(
        RawFrame.of(25, id)
            .v(id)
            .v(SESSION)
            .u8(kind)
            .text(name)
            .u8(0)
            .noText()
            .noText()
            .u8(0)
            .u8(0));
    answer(26, id);
    return id;
  }

  /** Pulls up to so many messages; empty if none came in the time. */
  List<Delivered> pull(int consumer, int messages, int parkMillis) throws IOException {
    int pull = ++lastId;
    send(RawFrame.of(50, 0).v(1).v(consumer).v(pull).v(messages).v(1 << 20).v(parkMillis));
    RawFrame answer = expect(51, 52);
    if (answer.type == 51) {
      answer.v();
      answer.v();
      answer.v();
      long code = answer.v();
      if (code != 0) {
        throw new IOException("the pull ended with code " + code);
      }
      return List.of();
    }
    answer.v();
    if (answer.v() != pull) {
      throw new IOException("the delivery answers another pull");
    }
    answer.v();
    for (long left = answer.v(); left > 0; left--) {
      answer.v();
      answer.v();
      answer.u8();
    }
    if (answer.v() != 0) {
      throw new IOException("entries under a holder are not read here");
    }
    return entries(ByteBuffer.wrap(answer.bytes()));
  }

  private static List<Delivered> entries(ByteBuffer bytes) {
    List<Delivered> all = new ArrayList<>();
    while (bytes.hasRemaining()) {
      int at = bytes.position();
      int length = bytes.getInt(at);
      int message = at + bytes.getInt(at + 12);
      String id =
          "ID:"
              + HexFormat.of().toHexDigits(bytes.getLong(message + 32))
              + HexFormat.of().toHexDigits(bytes.getLong(message + 40))
              + ":"
              + bytes.getLong(message + 48);
      int body = message + 58;
      String text =
          bytes.get(message + 56) == 0 && bytes.get(message + 57) == 0
              ? new String(bytes.array(), body, at + length - body, StandardCharsets.UTF_8)
              : "";
      all.add(
          new Delivered(
              bytes.get(at + 9) & 255, bytes.getLong(at + 16), bytes.getLong(at + 24), id, text));
      bytes.position(at + length);
    }
    return all;
  }

  void acknowledge(int consumer, Delivered message) throws IOException {
    int id = ++lastId;
    send(
        RawFrame.of(53, id)
            .v(1)
            .v(consumer)
            .v(message.destination())
            .v(1)
            .u8(message.lane())
            .v(message.sequence())
            .v(1));
    answer(13, id);
  }

  void detach(int consumer) throws IOException {
    int id = ++lastId;
    send(RawFrame.of(27, id).v(consumer));
    answer(13, id);
  }

  // ---- temporary destinations, administration ----

  String temporaryQueue() throws IOException {
    int id = ++lastId;
    send(RawFrame.of(29, id).u8(TEMPORARY_QUEUE));
    RawFrame created = answer(30, id);
    created.u8();
    return created.text();
  }

  void deleteTemporary(String name) throws IOException {
    int id = ++lastId;
    send(RawFrame.of(31, id).u8(TEMPORARY_QUEUE).text(name));
    answer(13, id);
  }

  String admin(String verb, Map<String, String> arguments) throws IOException {
    int id = ++lastId;
    RawFrame frame = RawFrame.of(60, id).text(verb).v(arguments.size());
    arguments.forEach((name, value) -> frame.text(name).text(value));
    send(frame);
    return answer(61, id).text();
  }

  // ---- frames ----

  private void send(RawFrame frame) throws IOException {
    frame.sendTo(socket.getOutputStream());
  }

  private RawFrame answer(int type, int correlation) throws IOException {
    RawFrame frame = expect(type);
    if (frame.correlation != correlation) {
      throw new IOException(
          "expected the answer to %d, found one to %d".formatted(correlation, frame.correlation));
    }
    return frame;
  }

  /** The next frame of one of these types; heartbeats and credit are passed over, others kept. */
  private RawFrame expect(int... types) throws IOException {
    for (RawFrame frame : kept) {
      if (isOneOf(frame, types)) {
        kept.remove(frame);
        return frame;
      }
    }
    while (true) {
      RawFrame frame = RawFrame.read(in);
      if (isOneOf(frame, types)) {
        return frame;
      }
      switch (frame.type) {
        case 14, 15 ->
            throw new IOException(
                "instead of type %s came type %d with code %d: %s"
                    .formatted(List.of(types[0]), frame.type, frame.v(), frame.text()));
        case 16, 42 -> {}
        default -> kept.add(frame);
      }
    }
  }

  private static boolean isOneOf(RawFrame frame, int... types) {
    for (int type : types) {
      if (frame.type == type) {
        return true;
      }
    }
    return false;
  }

  /** Is gone without a word, as after a crash. */
  void abandon() throws IOException {
    socket.close();
  }

  @Override
  public void close() throws IOException {
    if (!socket.isClosed()) {
      send(RawFrame.of(15, 0).v(0).text(""));
      socket.close();
    }
  }
}

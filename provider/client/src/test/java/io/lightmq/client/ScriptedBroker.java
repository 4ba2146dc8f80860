package io.lightmq.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.wire.Frame;
import io.lightmq.wire.FrameCodec;
import io.lightmq.wire.Protocol;
import io.lightmq.wire.entry.BodyType;
import io.lightmq.wire.entry.Entry;
import io.lightmq.wire.entry.EntryStamp;
import io.lightmq.wire.entry.MessageReader;
import io.lightmq.wire.entry.MessageWriter;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * A broker that is played by a test over real TCP and the real codec. What a test does not script,
 * such as handshake and sessions, answers by itself; the other frames wait for {@link #expect}.
 */
public final class ScriptedBroker implements AutoCloseable {
  /** The id of all that is staged. */
  static final long TRANSACTION = 77;

  private static final long WAIT_SECONDS = 10;

  private final ServerSocket server;
  private final Thread acceptor;
  private final List<Thread> readers = new CopyOnWriteArrayList<>();
  private final List<Socket> accepted = new CopyOnWriteArrayList<>();
  private final LinkedBlockingQueue<Frame> frames = new LinkedBlockingQueue<>();
  private final Map<Class<?>, Function<Frame, List<Frame>>> scripts = new ConcurrentHashMap<>();
  private final List<Frame> log = new CopyOnWriteArrayList<>();
  private final Map<String, Long> destinations = new ConcurrentHashMap<>();
  private volatile Socket socket;
  private volatile long last;
  private volatile long creditBytes = 1 << 20;
  private volatile List<Frame.NumberedOutcome> outcomes = List.of();
  private volatile long knownSince = Frame.Attached.UNTOLD;

  public ScriptedBroker() throws IOException {
    server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    on(Frame.Begun.class, begun -> List.of());
    on(Frame.Hello.class, hello -> List.of(welcome()));
    on(Frame.AuthStart.class, start -> List.of(new Frame.AuthDone(new byte[0], 7, "anonymous")));
    on(
        Frame.Attach.class,
        attach ->
            List.of(
                new Frame.Attached(attach.correlation(), last, outcomes, creditBytes, knownSince)));
    ok(Frame.OpenSession.class);
    ok(Frame.CloseSession.class);
    ok(Frame.DetachConsumer.class);
    on(
        Frame.AttachProducer.class,
        attach ->
            List.of(
                new Frame.ProducerAttached(
                    attach.correlation(), idOf(attach.destination().name()))));
    on(Frame.DetachProducer.class, detach -> List.of());
    on(
        Frame.AttachConsumer.class,
        attach ->
            List.of(
                new Frame.ConsumerAttached(
                    attach.correlation(), idOf(attach.destination().name()))));
    on(Frame.Heartbeat.class, beat -> List.of());
    on(Frame.Goodbye.class, bye -> List.of());
    acceptor = new Thread(this::accept, "scripted-accept");
    acceptor.start();
  }

  public static Frame.Welcome welcome() {
    return new Frame.Welcome(1, 0, new UUID(1, 2), 16 << 20, 4 << 20, 1 << 20, 10_000);
  }

  // ---- the script ----

  /** Answers all frames of a kind from now on. */
  public <F extends Frame> void on(Class<F> type, Function<F, List<Frame>> answer) {
    scripts.put(type, frame -> answer.apply(type.cast(frame)));
  }

  <F extends Frame> void ok(Class<F> type) {
    on(type, frame -> List.of(new Frame.Ok(frame.correlation())));
  }

  /** From now on frames of the kind wait for {@link #expect}. */
  void expectToo(Class<? extends Frame> type) {
    scripts.remove(type);
  }

  /** Answers pulls with park time 0 by "nothing there", and leaves others parked. */
  void nothingThere() {
    on(
        Frame.Pull.class,
        pull -> {
          List<Frame.PullEnd> ends = new ArrayList<>();
          for (Frame.PullOne one : pull.pulls()) {
            if (one.parkMillis() == 0) {
              ends.add(
                  new Frame.PullEnd(
                      one.consumerId(), one.pullId(), io.lightmq.wire.entry.FaultCode.OK, 0));
            }
          }
          return ends.isEmpty() ? List.of() : List.of(new Frame.PullDone(ends));
        });
  }

  /** The next frame that is not answered by itself; it must be of the kind. */
  <F extends Frame> F expect(Class<F> type) throws InterruptedException {
    Frame next = frames.poll(WAIT_SECONDS, TimeUnit.SECONDS);
    assertThat(next).as("the next frame").isInstanceOf(type);
    return type.cast(next);
  }

  /** The frames that have come and were not expected yet. */
  List<Frame> unexpected() {
    return new ArrayList<>(frames);
  }

  /** All frames of a kind that have come, answered by themselves or not. */
  public <F extends Frame> List<F> seen(Class<F> type) {
    return log.stream().filter(type::isInstance).map(type::cast).toList();
  }

  /** Sends to the connection that was opened last. */
  void send(Frame frame) {
    send(socket, frame);
  }

  private static void send(Socket current, Frame frame) {
    ByteBuf bytes = FrameCodec.encode(frame, UnpooledByteBufAllocator.DEFAULT);
    try {
      byte[] array = new byte[bytes.readableBytes()];
      bytes.readBytes(array);
      synchronized (current) {
        current.getOutputStream().write(array);
        current.getOutputStream().flush();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      bytes.release();
    }
  }

  void receipt(Frame publishOrCommit) {
    send(new Frame.Receipts(List.of(new Frame.Done(publishOrCommit.correlation(), 1)), List.of()));
  }

  /** What the next attach is told. */
  void knows(long lastNumber, Frame.NumberedOutcome... known) {
    last = lastNumber;
    outcomes = List.of(known);
  }

  /** Speaks with the feature from the next connection on, and tells this. */
  void knowsSince(long linkEpoch) {
    knownSince = linkEpoch;
    on(
        Frame.Hello.class,
        hello ->
            List.of(
                new Frame.Welcome(
                    1, Protocol.LINK_KNOWN, new UUID(1, 2), 16 << 20, 4 << 20, 1 << 20, 10_000)));
  }

  /** Knows the feature from the next connection on, and has room for all that is staged. */
  void keepsTransactions(int maxTransactionBytes) {
    on(
        Frame.Hello.class,
        hello ->
            List.of(
                new Frame.Welcome(
                    1,
                    Protocol.TRANSACTIONS,
                    new UUID(1, 2),
                    16 << 20,
                    4 << 20,
                    maxTransactionBytes,
                    10_000)));
    on(Frame.Stage.class, stage -> List.of(new Frame.Staged(stage.correlation(), TRANSACTION)));
  }

  void credit(long bytes) {
    creditBytes = bytes;
  }

  /** Loses the connection without a word. */
  void cut() throws IOException {
    socket.close();
  }

  /** Loses the connection so that what the client writes next fails at once. */
  void reset() {
    try {
      socket.setSoLinger(true, 0);
      socket.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** How many connections the client holds open. */
  public long connected() {
    return readers.stream().filter(Thread::isAlive).count();
  }

  long idOf(String destination) {
    return destinations.computeIfAbsent(destination, name -> 100L + destinations.size());
  }

  // ---- messages ----

  static byte[] text(String text) {
    MessageWriter writer = new MessageWriter(1 << 20);
    writer.start(BodyType.TEXT, 4, true, 0, 0).timestampMillis(1_000).textBody(text);
    writer.finish();
    return writer.toByteArray();
  }

  /** A delivery of text messages with sequences from a first one on. */
  Frame.Deliver deliver(
      Frame.PullOne pull, String destination, long firstSequence, int earlier, String... texts) {
    ByteBuffer entries = ByteBuffer.allocate(1 << 20);
    EntryStamp stamp = new EntryStamp(4, 1, idOf(destination), 5_000, 1, new byte[] {'a'});
    int at = 0;
    for (String text : texts) {
      byte[] message = text(text);
      at +=
          Entry.write(
              entries, at, stamp, firstSequence++, 0, ByteBuffer.wrap(message), 0, message.length);
    }
    return new Frame.Deliver(
        pull.consumerId(),
        pull.pullId(),
        texts.length,
        earlier == 0 ? List.of() : List.of(new Frame.Seen(0, texts.length, earlier)),
        List.of(),
        Unpooled.wrappedBuffer(entries.array(), 0, at));
  }

  /** The bodies of a run's text messages. */
  static List<String> texts(ByteBuf run) {
    List<String> texts = new ArrayList<>();
    ByteBuffer bytes = run.nioBuffer();
    while (bytes.hasRemaining()) {
      int length = bytes.getInt();
      texts.add(new MessageReader(bytes, bytes.position(), length).textBody());
      bytes.position(bytes.position() + length);
    }
    return texts;
  }

  // ---- the network ----

  public int port() {
    return server.getLocalPort();
  }

  public String uri(String options) {
    StringBuilder uri = new StringBuilder("lightmq://127.0.0.1:" + port() + "?failover=true");
    for (String each : List.of("&reconnectDelayMillis=5", "&lingerMillis=1000")) {
      uri.append(options.contains(each.substring(0, each.indexOf('=') + 1)) ? "" : each);
    }
    return uri.append(options).toString().replace("?failover=true&", "?");
  }

  private void accept() {
    try {
      while (true) {
        Socket next = server.accept();
        accepted.add(next);
        next.setTcpNoDelay(true);
        Thread reader = new Thread(() -> read(next), "scripted-read");
        readers.add(reader);
        reader.start();
      }
    } catch (IOException e) {
      assertThat(server.isClosed()).as("the listener ended: %s", e).isTrue();
    }
  }

  private void read(Socket from) {
    try (from) {
      DataInputStream in = new DataInputStream(from.getInputStream());
      while (true) {
        byte[] bytes = new byte[in.readInt()];
        in.readFully(bytes);
        Frame frame = FrameCodec.decode(Unpooled.wrappedBuffer(bytes));
        if (frame instanceof Frame.Hello) {
          socket = from;
        }
        log.add(frame);
        Function<Frame, List<Frame>> script = scripts.get(frame.getClass());
        if (script == null) {
          frames.add(frame);
        } else {
          script.apply(frame).forEach(answer -> send(from, answer));
        }
      }
    } catch (EOFException | SocketException e) {
      // the client has closed, or the test has cut the connection
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (UncheckedIOException e) {
      assertThat(e).as("an answer failed").hasCauseInstanceOf(SocketException.class);
    }
  }

  @Override
  public void close() throws IOException, InterruptedException {
    server.close();
    Socket current = socket;
    if (current != null) {
      current.close();
    }
    acceptor.join();
    for (Socket each : accepted) {
      each.close();
    }
    for (Thread reader : readers) {
      reader.join();
    }
  }
}

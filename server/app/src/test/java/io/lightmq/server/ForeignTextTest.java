package io.lightmq.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.core.AppenderBase;
import io.lightmq.server.config.ServerConfig;
import io.lightmq.wire.Frame;
import io.lightmq.wire.FrameCodec;
import io.lightmq.wire.Protocol;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.Printable;
import io.lightmq.wire.scram.ScramClient;
import io.lightmq.wire.scram.ScramException;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.lang.reflect.RecordComponent;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/**
 * Every text that a client can put into a frame, hostile: whatever it is answered with and whatever
 * is logged about it is printable and short.
 */
class ForeignTextTest {
  private static final String SMALL =
      """
      [listener]
      port = 0
      [http]
      enabled = false
      [memory]
      window = "16MiB"
      [journal]
      file = "8MiB"
      [data]
      ballast = 0
      min-free = 0
      """;

  private static final int MAX_LOGGED_CHARS = Printable.MAX_LINE_CHARS + 400;

  private static final int MAX_ANSWERED_BYTES = 3_000;

  /** What must never come out as it went in. */
  private static final String FORGED =
      "\n2026-11-30 ERROR [shard] forged\u001b[2J\u009b\u202e\u0000";

  private static final List<byte[]> HOSTILE =
      List.of(
          ("a" + FORGED).getBytes(UTF_8),
          ("\u2028" + FORGED + "b".repeat(10_000)).getBytes(UTF_8),
          FORGED.repeat(8).getBytes(UTF_8),
          // Half of a pair, which is no UTF-8 but looks like it.
          ("c" + FORGED + "\u0000\u0000\u0000")
              .replace("\u0000\u0000\u0000", "###")
              .getBytes(UTF_8));

  static {
    byte[] half = HOSTILE.get(3);
    half[half.length - 3] = (byte) 0xED;
    half[half.length - 2] = (byte) 0xA0;
    half[half.length - 1] = (byte) 0x80;
  }

  @TempDir Path directory;

  private final Queue<ILoggingEvent> logged = new ConcurrentLinkedQueue<>();
  private final Logger root = (Logger) LoggerFactory.getLogger("io.lightmq");
  private final AppenderBase<ILoggingEvent> appender =
      new AppenderBase<>() {
        @Override
        protected void append(ILoggingEvent event) {
          logged.add(event);
        }
      };
  private Server server;
  private String password = "";

  @BeforeEach
  void start() throws Exception {
    Path file = Files.writeString(directory.resolve("lightmq.toml"), SMALL);
    server =
        Server.start(
            ServerConfig.read(file, 512L << 20).withDataDirectory(directory.resolve("data")),
            false,
            made -> password = made);
    appender.setContext(root.getLoggerContext());
    appender.start();
    root.addAppender(appender);
    root.setLevel(Level.DEBUG);
  }

  @AfterEach
  void stop() throws IOException {
    root.detachAppender(appender);
    root.setLevel(null);
    server.close();
  }

  /** How far the connection is when the hostile frame comes. */
  private enum At {
    HELLO,
    AUTH,
    ATTACH,
    OPEN
  }

  /** A frame with one hostile text, made around a stand-in of the same length. */
  private record Attack(At at, Function<String, Frame> frame) {}

  /** By the record and its text; a text that is missing here fails the last test. */
  private static Map<String, Attack> attacks() {
    UUID link = new UUID(5, 5);
    Map<String, Attack> all = new LinkedHashMap<>();
    all.put("Hello.product", new Attack(At.HELLO, text -> new Frame.Hello(7, 9, 0, text)));
    all.put(
        "AuthStart.mechanism", new Attack(At.AUTH, text -> new Frame.AuthStart(text, new byte[0])));
    all.put(
        "AuthStart.data",
        new Attack(
            At.AUTH,
            text ->
                new Frame.AuthStart(
                    "SCRAM-SHA-256", ("n,,n=" + text + ",r=nonce").getBytes(UTF_8))));
    all.put(
        "Attach.clientId", new Attack(At.ATTACH, text -> new Frame.Attach(1, link, 1, 1, text)));
    all.put("SetClientId.clientId", new Attack(At.OPEN, text -> new Frame.SetClientId(9, text)));
    all.put("Goodbye.text", new Attack(At.OPEN, text -> new Frame.Goodbye(FaultCode.OK, text)));
    all.put(
        "AttachProducer.destination",
        new Attack(At.OPEN, text -> new Frame.AttachProducer(9, 9, 1, queue(text))));
    all.put(
        "AttachConsumer.destination",
        new Attack(At.OPEN, text -> consumer(queue(text), null, null)));
    all.put(
        "AttachConsumer.subscription",
        new Attack(At.OPEN, text -> consumer(topic("prices"), text, null)));
    all.put(
        "AttachConsumer.selector",
        new Attack(At.OPEN, text -> consumer(queue("orders"), null, text)));
    all.put(
        "Unsubscribe.subscription", new Attack(At.OPEN, text -> new Frame.Unsubscribe(9, text)));
    all.put(
        "DeleteTemporary.destination",
        new Attack(
            At.OPEN,
            text ->
                new Frame.DeleteTemporary(
                    9, new DestinationName(DestinationKind.TEMPORARY_QUEUE, text))));
    all.put(
        "Return.cause", new Attack(At.OPEN, text -> new Frame.Return(9, List.of(), true, text)));
    all.put("Admin.verb", new Attack(At.OPEN, text -> new Frame.Admin(9, text, Map.of())));
    all.put(
        "Admin.arguments",
        new Attack(
            At.OPEN,
            text -> new Frame.Admin(9, "destination.show", Map.of("kind", "queue", "name", text))));
    for (String argument : List.of("kind", "tier", "redelivery-delay", "dead-letter", "force")) {
      all.put(
          "Admin.arguments of create: " + argument,
          new Attack(
              At.OPEN,
              text ->
                  new Frame.Admin(
                      9, "destination.create", Map.of("name", "made", argument, text))));
    }
    all.put(
        "Admin.arguments: a name",
        new Attack(
            At.OPEN,
            text -> new Frame.Admin(9, "destination.show", Map.of("name", "x", text, "y"))));
    for (String verb : List.of("dead-letters.list", "dead-letters.show", "delayed.cancel")) {
      for (String argument : List.of("destination", "id", "limit")) {
        all.put(
            "Admin.arguments of " + verb + ": " + argument,
            new Attack(At.OPEN, text -> new Frame.Admin(9, verb, Map.of(argument, text))));
      }
    }
    return all;
  }

  private static Frame consumer(DestinationName from, String subscription, String selector) {
    return new Frame.AttachConsumer(
        9,
        9,
        1,
        from,
        subscription == null ? Frame.Subscribe.QUEUE : Frame.Subscribe.DURABLE,
        subscription,
        selector,
        false,
        false);
  }

  private static DestinationName queue(String name) {
    return new DestinationName(DestinationKind.QUEUE, name);
  }

  private static DestinationName topic(String name) {
    return new DestinationName(DestinationKind.TOPIC, name);
  }

  @Test
  void noAnswerAndNoLineOfTheLogHoldsAClientsTextAsItCame() throws Exception {
    Set<String> raw = new TreeSet<>();
    for (Map.Entry<String, Attack> attack : attacks().entrySet()) {
      for (byte[] hostile : HOSTILE) {
        byte[] text = fitting(attack.getKey(), hostile);
        byte[] answers = run(attack.getValue(), text);
        if (contains(answers, FORGED.substring(0, 12)) || contains(answers, "\u001b[2J")) {
          raw.add(attack.getKey() + ": answered raw");
        }
        if (answers.length > MAX_ANSWERED_BYTES) {
          raw.add(attack.getKey() + ": answered with " + answers.length + " bytes");
        }
        for (ILoggingEvent event = logged.poll(); event != null; event = logged.poll()) {
          check(event, attack.getKey(), raw);
        }
      }
    }
    assertThat(raw).isEmpty();
  }

  /** As much of it as the frame can hold, so that it gets further than to its limit. */
  private static byte[] fitting(String field, byte[] hostile) {
    int most =
        field.endsWith(".destination")
            ? DestinationName.MAX_NAME_BYTES
            : field.equals("Goodbye.text") ? Printable.MAX_LINE_CHARS : hostile.length;
    return hostile.length > most ? Arrays.copyOf(hostile, most) : hostile;
  }

  private static void check(ILoggingEvent event, String what, Set<String> raw) {
    String line = event.getFormattedMessage();
    if (!Printable.isPlain(line)) {
      raw.add(what + ": logged raw");
    }
    if (line.length() > MAX_LOGGED_CHARS) {
      raw.add(what + ": logged with " + line.length() + " characters");
    }
    for (IThrowableProxy cause = event.getThrowableProxy(); cause != null; ) {
      if (!Printable.isPlain(String.valueOf(cause.getMessage()))) {
        raw.add(what + ": logged raw in an exception");
      }
      cause = cause.getCause();
    }
  }

  private static boolean contains(byte[] bytes, String text) {
    return new String(bytes, UTF_8).contains(text);
  }

  /** All bytes that the broker sends from the hostile frame on. */
  private byte[] run(Attack attack, byte[] hostile) throws IOException {
    try (Socket socket = new Socket()) {
      socket.connect((InetSocketAddress) server.addresses().get(0));
      socket.setSoTimeout(20_000);
      DataInputStream in = new DataInputStream(socket.getInputStream());
      if (attack.at().compareTo(At.AUTH) >= 0) {
        send(socket, Protocol.hello("test"), null);
        answer(in);
      }
      if (attack.at().compareTo(At.ATTACH) >= 0) {
        signIn(socket, in);
      }
      if (attack.at() == At.OPEN) {
        send(socket, new Frame.Attach(1, UUID.randomUUID(), 1, 1, null), null);
        answer(in);
        send(socket, new Frame.OpenSession(2, 1), null);
        answer(in);
      }
      ByteArrayOutputStream answers = new ByteArrayOutputStream();
      try {
        send(socket, attack.frame().apply("@".repeat(hostile.length)), hostile);
        if (attack.at() == At.OPEN) {
          send(socket, new Frame.CloseSession(77, 1), null);
        }
        collect(in, attack.at(), answers);
      } catch (EOFException | SocketException closed) {
        // The answer, if there was one, came before.
      }
      return answers.toByteArray();
    }
  }

  private static void collect(DataInputStream in, At at, ByteArrayOutputStream answers)
      throws IOException {
    for (int frames = 0; frames < 20; frames++) {
      byte[] bytes = answer(in);
      answers.writeBytes(bytes);
      Frame frame = FrameCodec.decode(Unpooled.wrappedBuffer(bytes));
      if (frame instanceof Frame.Goodbye
          || frame.correlation() == 77
          || (at != At.OPEN && !(frame instanceof Frame.Heartbeat))) {
        return;
      }
    }
  }

  private void signIn(Socket socket, DataInputStream in) throws IOException {
    ScramClient scram = new ScramClient("admin", password, new SecureRandom());
    send(socket, new Frame.AuthStart("SCRAM-SHA-256", scram.first()), null);
    try {
      Frame.AuthChallenge challenge =
          (Frame.AuthChallenge) FrameCodec.decode(Unpooled.wrappedBuffer(answer(in)));
      send(socket, new Frame.AuthResponse(scram.respond(challenge.data())), null);
    } catch (ScramException e) {
      throw new IOException(e);
    }
    answer(in);
  }

  /** Sends a frame with the stand-in of its hostile text replaced. */
  private static void send(Socket socket, Frame frame, byte[] hostile) throws IOException {
    ByteBuf encoded = FrameCodec.encode(frame, UnpooledByteBufAllocator.DEFAULT);
    byte[] bytes = new byte[encoded.readableBytes()];
    encoded.readBytes(bytes);
    encoded.release();
    if (hostile != null) {
      String latin = new String(bytes, StandardCharsets.ISO_8859_1);
      int at = latin.indexOf("@".repeat(hostile.length));
      assertThat(at).as("the stand-in in %s", frame.getClass().getSimpleName()).isPositive();
      System.arraycopy(hostile, 0, bytes, at, hostile.length);
    }
    socket.getOutputStream().write(bytes);
    socket.getOutputStream().flush();
  }

  private static byte[] answer(DataInputStream in) throws IOException {
    byte[] bytes = new byte[in.readInt()];
    in.readFully(bytes);
    return bytes;
  }

  @Test
  void whoIsRefusedAgainAndAgainWritesFewLines() throws Exception {
    root.setLevel(Level.INFO);
    for (int i = 0; i < 300; i++) {
      run(new Attack(At.AUTH, text -> new Frame.AuthStart(text, new byte[0])), HOSTILE.get(1));
    }
    long chars = logged.stream().mapToLong(event -> event.getFormattedMessage().length()).sum();
    assertThat(logged.size()).as("lines").isBetween(1, 60);
    assertThat(chars).isLessThan(60L * 500);
  }

  @Test
  void everyTextOfEveryFrameOfAClientIsAmongThem() {
    Set<String> texts = new TreeSet<>();
    for (Class<?> frame : Frame.class.getPermittedSubclasses()) {
      for (RecordComponent part : frame.getRecordComponents()) {
        if (part.getType() == String.class
            || part.getType() == DestinationName.class
            || part.getType() == Map.class) {
          texts.add(frame.getSimpleName() + "." + part.getName());
        }
      }
    }
    Set<String> fromBroker =
        Set.of(
            "AdminResult.json", "AuthDone.userName", "Fault.text", "TemporaryCreated.destination");
    List<String> covered = new ArrayList<>(attacks().keySet());
    covered.addAll(fromBroker);
    assertThat(covered).containsAll(texts);
  }
}

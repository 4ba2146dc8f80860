package io.lightmq.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.core.AppenderBase;
import io.lightmq.core.destination.Destination;
import io.lightmq.server.RawLink.At;
import io.lightmq.server.config.ServerConfig;
import io.lightmq.wire.Frame;
import io.lightmq.wire.Protocol;
import io.lightmq.wire.entry.Branch;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.Printable;
import io.lightmq.wire.entry.Xid;
import io.lightmq.wire.scram.ScramClient;
import io.lightmq.wire.scram.ScramCredential;
import java.io.EOFException;
import java.io.IOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/**
 * Every text that a client can put into a frame, hostile: whatever it is answered with and whatever
 * is logged about it is printable and short, and none is an error of the broker's. Frames, verbs
 * and arguments are found by reflection, so that a new one is tried too.
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

  /** Of anything but the result of a verb. */
  private static final int MAX_ANSWERED_BYTES = 3_000;

  private static final int LAST = 77_777;

  private static final byte[] NOTHING = {};

  /** What must never come out as it went in. */
  private static final String FORGED =
      "\n2026-11-30 ERROR [shard] forged\u001b[2J\u009b\u202e\u0000";

  private static final List<byte[]> HOSTILE =
      Stream.of(
              "",
              "a" + FORGED,
              "\u2028" + FORGED + "b".repeat(10_000),
              FORGED.repeat(8),
              "x".repeat(70_000),
              Destination.HIDDEN + "due.1.1" + FORGED,
              Destination.HIDDEN + "due.x",
              "temp." + "0".repeat(32) + FORGED,
              "c" + FORGED + "###")
          .map(text -> text.getBytes(UTF_8))
          .toList();

  static {
    // Half of a pair, which is no UTF-8 but looks like it.
    byte[] half = HOSTILE.get(HOSTILE.size() - 1);
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

  // ---- every text of every frame ----

  /** A text of a frame, in one shape of the frame. */
  private record Place(String name, At at, UnaryFrame frame) {}

  /** The frame with a text of so many characters at its place. */
  private interface UnaryFrame {
    Frame with(String text) throws ReflectiveOperationException;
  }

  /** Whatever kind of frame it is and whoever usually sends it, its texts are tried. */
  private static List<Place> places() {
    List<Place> places = new ArrayList<>();
    for (Class<?> frame : Frame.class.getPermittedSubclasses()) {
      RecordComponent[] parts = frame.getRecordComponents();
      for (int i = 0; i < parts.length; i++) {
        if (holdsText(parts[i].getGenericType())) {
          for (Variant variant : Variant.values()) {
            if (variant.makesADifference(frame, parts[i])) {
              places.add(place(frame, i, variant));
            }
          }
        }
      }
    }
    return places;
  }

  private static boolean holdsText(Type type) {
    if (type instanceof ParameterizedType of) {
      return Arrays.stream(of.getActualTypeArguments()).anyMatch(ForeignTextTest::holdsText);
    }
    return type == String.class
        || type == DestinationName.class
        || type == byte[].class
        || type == Branch.class
        || (type instanceof Class<?> nested
            && nested.isRecord()
            && Arrays.stream(nested.getRecordComponents())
                .anyMatch(part -> holdsText(part.getGenericType())));
  }

  private static Place place(Class<?> frame, int at, Variant variant) {
    RecordComponent part = frame.getRecordComponents()[at];
    return new Place(
        frame.getSimpleName() + "." + part.getName() + " " + variant,
        switch (frame.getSimpleName()) {
          case "Hello" -> At.HELLO;
          case "AuthStart", "AuthResponse", "AuthChallenge", "AuthDone" -> At.AUTH;
          case "Attach" -> At.ATTACH;
          default -> At.OPEN;
        },
        text -> (Frame) made(frame, at, text, variant));
  }

  /** A record with a text at one of its places and good values at the others. */
  private static Object made(Class<?> type, int at, String text, Variant variant)
      throws ReflectiveOperationException {
    RecordComponent[] parts = type.getRecordComponents();
    Object[] values = new Object[parts.length];
    Class<?>[] types = new Class<?>[parts.length];
    for (int i = 0; i < parts.length; i++) {
      types[i] = parts[i].getType();
      values[i] =
          i == at
              ? hostile(parts[i].getGenericType(), text, variant)
              : good(parts[i], type, variant);
    }
    Constructor<?> constructor = type.getDeclaredConstructor(types);
    constructor.setAccessible(true);
    return constructor.newInstance(values);
  }

  private static Object hostile(Type type, String text, Variant variant)
      throws ReflectiveOperationException {
    if (type == String.class) {
      return text;
    } else if (type == byte[].class) {
      return variant.bytes(text).getBytes(UTF_8);
    } else if (type == Xid.class) {
      return xid(text);
    } else if (type == Branch.class) {
      return new Branch.Xa(xid(text));
    } else if (type == Frame.Part.class) {
      return new Frame.Part(new Branch.Xa(xid(text)), 1);
    } else if (type == DestinationName.class) {
      int most = Math.min(text.length(), DestinationName.MAX_NAME_BYTES);
      return new DestinationName(variant.kind, most == 0 ? "@" : text.substring(0, most));
    } else if (type instanceof ParameterizedType map && map.getRawType() == Map.class) {
      return variant == Variant.TOPIC ? Map.of(text, "x") : Map.of("name", text);
    } else if (type instanceof ParameterizedType list && list.getRawType() == List.class) {
      Class<?> each = (Class<?>) list.getActualTypeArguments()[0];
      RecordComponent[] parts = each.getRecordComponents();
      for (int i = 0; i < parts.length; i++) {
        if (holdsText(parts[i].getGenericType())) {
          return List.of(made(each, i, text, variant));
        }
      }
    }
    throw new AssertionError("this test knows no hostile " + type + "; teach it one");
  }

  /** A branch id is bytes, which may look like a text. */
  private static Xid xid(String text) {
    byte[] bytes = text.getBytes(UTF_8);
    return new Xid(
        1, Arrays.copyOf(bytes, Math.max(1, Math.min(bytes.length, Xid.MAX_PART_BYTES))), NOTHING);
  }

  private static Object good(RecordComponent part, Class<?> of, Variant variant) {
    Type type = part.getGenericType();
    if (type == int.class) {
      return switch (part.getName()) {
        case "sessionId", "count" -> 1;
        case "minVersion", "maxVersion" -> Protocol.hello("").maxVersion();
        default -> 9;
      };
    } else if (type == long.class) {
      return of == Frame.Hello.class ? 0L : 1L;
    } else if (type == boolean.class) {
      return false;
    } else if (type == UUID.class) {
      return new UUID(5, 5);
    } else if (type == byte[].class) {
      return new byte[0];
    } else if (type == FaultCode.class) {
      return FaultCode.OK;
    } else if (type == Frame.Subscribe.class) {
      return variant.subscribe;
    } else if (type == DestinationKind.class) {
      return DestinationKind.TEMPORARY_QUEUE;
    } else if (type == Xid.class) {
      return xid("x");
    } else if (type == Branch.class) {
      return new Branch.Local(1);
    } else if (type == Frame.Part.class) {
      return null;
    } else if (type instanceof Class<?> constants && constants.isEnum()) {
      return constants.getEnumConstants()[0];
    } else if (type == DestinationName.class) {
      return new DestinationName(variant.kind, "orders");
    } else if (type == String.class) {
      return switch (part.getName()) {
        case "mechanism" -> ScramClient.MECHANISM;
        case "verb" -> "destination.show";
        case "subscription" -> variant.subscribe.ordinal() < 2 ? null : "good";
        case "selector", "clientId" -> null;
        default -> "good";
      };
    } else if (type instanceof ParameterizedType map && map.getRawType() == Map.class) {
      return Map.of();
    } else if (type instanceof ParameterizedType list && list.getRawType() == List.class) {
      return List.of();
    }
    throw new AssertionError("this test knows no good value for " + part + "; teach it one");
  }

  /** In which shapes a frame comes, as far as it has them. */
  private enum Variant {
    QUEUE(DestinationKind.QUEUE, Frame.Subscribe.QUEUE),
    TOPIC(DestinationKind.TOPIC, Frame.Subscribe.PLAIN),
    DURABLE(DestinationKind.TOPIC, Frame.Subscribe.DURABLE),
    SHARED(DestinationKind.TOPIC, Frame.Subscribe.SHARED),
    OWN(DestinationKind.TEMPORARY_QUEUE, Frame.Subscribe.QUEUE),
    OWN_TOPIC(DestinationKind.TEMPORARY_TOPIC, Frame.Subscribe.PLAIN);

    private final DestinationKind kind;
    private final Frame.Subscribe subscribe;

    Variant(DestinationKind kind, Frame.Subscribe subscribe) {
      this.kind = kind;
      this.subscribe = subscribe;
    }

    boolean makesADifference(Class<?> frame, RecordComponent part) {
      boolean one = this == QUEUE;
      boolean two = one || this == TOPIC;
      if (frame == Frame.AttachConsumer.class) {
        return !part.getName().equals("subscription") || subscribe.ordinal() >= 2;
      }
      return part.getType() == DestinationName.class
          || (part.getType() == Map.class || part.getType() == byte[].class ? two : one);
    }

    /** What SCRAM reads, or no SCRAM at all. */
    String bytes(String text) {
      return this == QUEUE ? "n,,n=" + text + ",r=nonce" : text;
    }
  }

  @Test
  void noAnswerAndNoLineOfTheLogHoldsAClientsTextAsItCame() throws Exception {
    Set<String> raw = new TreeSet<>();
    for (Place place : places()) {
      run(place, HOSTILE, raw);
      checkLog(place.name(), raw);
    }
    assertThat(raw).isEmpty();
  }

  /** A connection that has sent a hostile text. */
  private record Sent(byte[] hostile, RawLink link) {}

  /**
   * Each of these texts at a place, over a connection of its own, and all that the broker sends
   * from there on. Whoever is refused before the broker knows him is told so a while later, so all
   * are sent before the first answer is waited for.
   */
  private void run(Place place, List<byte[]> texts, Set<String> raw) throws Exception {
    List<Sent> all = new ArrayList<>();
    try {
      for (byte[] hostile : texts) {
        Sent sent = new Sent(hostile, open(place));
        all.add(sent);
        send(place, sent);
      }
      for (Sent sent : all) {
        read(place, sent, raw);
      }
    } finally {
      for (Sent sent : all) {
        sent.link().close();
      }
    }
  }

  private RawLink open(Place place) throws IOException {
    boolean manages = place.name().startsWith("Admin.");
    return RawLink.to(address(), place.at(), manages ? password : "");
  }

  private static void send(Place place, Sent sent) throws Exception {
    try {
      sent.link().send(place.frame().with("@".repeat(sent.hostile().length)), sent.hostile());
      if (place.at() == At.OPEN) {
        sent.link().send(new Frame.CloseSession(LAST, 1));
      }
    } catch (SocketException closed) {
      // What was answered before is read.
    }
  }

  private static void read(Place place, Sent sent, Set<String> raw) throws Exception {
    try {
      for (int frames = 0; frames < 20; frames++) {
        byte[] bytes = sent.link().readBytes();
        checkAnswer(place.name(), bytes, raw);
        Frame frame = RawLink.decoded(bytes);
        if (frame instanceof Frame.Goodbye
            || frame.correlation() == LAST
            || (place.at() != At.OPEN && !(frame instanceof Frame.Heartbeat))) {
          return;
        }
      }
    } catch (SocketTimeoutException e) {
      raw.add(place.name() + " of " + sent.hostile().length + " bytes: no answer");
    } catch (EOFException | SocketException closed) {
      // The answer, if there was one, came before.
    }
  }

  // ---- every argument of every verb ----

  /** By the verb; also those that a node carries out itself. */
  @SuppressWarnings("unchecked")
  private static Map<String, Collection<String>> verbs() throws ReflectiveOperationException {
    Map<String, Collection<String>> verbs = new TreeMap<>();
    Class<?> core = Class.forName("io.lightmq.core.admin.Administration");
    Field names = core.getDeclaredField("VERBS");
    names.setAccessible(true);
    Method arguments = core.getDeclaredMethod("arguments", String.class);
    arguments.setAccessible(true);
    for (String verb : (List<String>) names.get(null)) {
      verbs.put(verb, (Collection<String>) arguments.invoke(null, verb));
    }
    Field ofNode = Class.forName("io.lightmq.node.Verbs").getDeclaredField("ARGUMENTS");
    ofNode.setAccessible(true);
    verbs.putAll((Map<String, Collection<String>>) ofNode.get(null));
    return verbs;
  }

  private static String good(String argument, int number) {
    return switch (argument) {
      case "kind" -> "queue";
      case "tier" -> "high";
      case "redelivery-delay" -> "1s";
      case "redelivery-order" -> "preserving";
      case "max-attempts", "limit", "rate" -> "5";
      case "dead-letter", "expiry", "suppress-duplicates" -> "none";
      case "force", "dry-run" -> "true";
      case "queue" -> "DLQ";
      case "older-than" -> "1m";
      case "role" -> "user";
      case "credential" ->
          ScramCredential.of("secret", new byte[16], ScramCredential.MIN_ITERATIONS).text();
      default -> "good" + number;
    };
  }

  @Test
  void noArgumentOfAVerbComesBackAsItCameOrIsAnErrorOfTheBrokers() throws Exception {
    Set<String> raw = new TreeSet<>();
    int number = 10;
    RawLink link = RawLink.to(address(), At.OPEN, password);
    for (Map.Entry<String, Collection<String>> verb : verbs().entrySet()) {
      for (String argument : verb.getValue()) {
        for (byte[] hostile : HOSTILE) {
          for (Map<String, String> others : others(verb.getValue(), ++number)) {
            Map<String, String> arguments = new TreeMap<>(others);
            arguments.put(argument, "@".repeat(hostile.length));
            String what = verb.getKey() + " " + argument + ", " + others.size() + " others";
            try {
              link.send(new Frame.Admin(++number, verb.getKey(), arguments), hostile);
              byte[] bytes = link.readBytes();
              while (RawLink.decoded(bytes).correlation() != number) {
                bytes = link.readBytes();
              }
              checkAnswer(what, bytes, raw);
            } catch (SocketTimeoutException e) {
              raw.add(what + " of " + hostile.length + " bytes: no answer");
              link.close();
              link = RawLink.to(address(), At.OPEN, password);
            } catch (EOFException | SocketException closed) {
              link.close();
              link = RawLink.to(address(), At.OPEN, password);
            }
            checkLog(what, raw);
          }
        }
      }
    }
    link.close();
    assertThat(raw).isEmpty();
    assertThat(number).isGreaterThan(1_000);
  }

  /** No other arguments, and good ones as many as the verb takes. */
  private static List<Map<String, String>> others(Collection<String> arguments, int number) {
    Map<String, String> good = new TreeMap<>();
    for (String argument : arguments) {
      good.put(argument, good(argument, number));
    }
    return List.of(Map.of(), good);
  }

  private SocketAddress address() {
    return server.addresses().get(0);
  }

  // ---- what comes back ----

  private static void checkAnswer(String what, byte[] bytes, Set<String> raw) {
    String text = new String(bytes, UTF_8);
    if (text.contains(FORGED.substring(0, 12)) || text.contains("\u001b[2J")) {
      raw.add(what + ": answered raw");
    }
    if (text.contains("unexpected error") || text.contains("an error of the broker's")) {
      raw.add(what + ": answered " + text);
    }
    if (bytes.length > MAX_ANSWERED_BYTES
        && !(RawLink.decoded(bytes) instanceof Frame.AdminResult)) {
      raw.add(what + ": answered with " + bytes.length + " bytes");
    }
  }

  private void checkLog(String what, Set<String> raw) {
    for (ILoggingEvent event = logged.poll(); event != null; event = logged.poll()) {
      check(event, what, raw);
    }
  }

  private static void check(ILoggingEvent event, String what, Set<String> raw) {
    String line = event.getFormattedMessage();
    if (event.getLevel() == Level.ERROR) {
      raw.add(what + ": logged as an error: " + line);
    }
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

  @Test
  void whoIsRefusedAgainAndAgainWritesFewLines() throws Exception {
    root.setLevel(Level.INFO);
    Place mechanism =
        new Place("AuthStart.mechanism", At.AUTH, text -> new Frame.AuthStart(text, new byte[0]));
    List<Callable<Void>> refused = new ArrayList<>();
    for (int i = 0; i < 12; i++) { // beside each other, for each refusal takes its time
      refused.add(
          () -> {
            run(mechanism, Collections.nCopies(25, HOSTILE.get(2)), new TreeSet<>());
            return null;
          });
    }
    ExecutorService strangers = Executors.newFixedThreadPool(refused.size());
    try {
      for (Future<Void> each : strangers.invokeAll(refused)) {
        each.get();
      }
    } finally {
      strangers.shutdown();
    }
    long chars = logged.stream().mapToLong(event -> event.getFormattedMessage().length()).sum();
    assertThat(logged.size()).as("lines").isBetween(1, 60);
    assertThat(chars).isLessThan(60L * 500);
  }
}

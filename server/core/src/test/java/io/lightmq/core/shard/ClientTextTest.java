package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.core.admin.Administration;
import io.lightmq.core.destination.Destination;
import io.lightmq.core.door.Command;
import io.lightmq.core.door.Command.Subscribe;
import io.lightmq.core.door.Peer;
import io.lightmq.core.moves.DeadLetters;
import io.lightmq.wire.entry.BodyType;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.MessageWriter;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * No text of a client ends the broker or damages its state: each text argument of each command,
 * each argument of each admin verb and each property that the broker reads has each of a number of
 * evil texts. What there is of them is found by reflection, so that a new one is tried too.
 */
class ClientTextTest {
  private static final List<String> EVIL =
      List.of(
          "",
          " ",
          "\t",
          "\0",
          "a\tb",
          "a\nb",
          "\u001b]0;title\u0007",
          "\u0085",
          Destination.HIDDEN,
          Destination.HIDDEN + "due.1.1",
          Destination.HIDDEN + "due.x",
          "x".repeat(512),
          "x".repeat(513),
          "\u00e9".repeat(257),
          "x".repeat(70_000),
          "a\uD800b",
          "\uDC00",
          "\uFFFF",
          "none",
          "%s %n {}",
          "-1",
          "99999999999999999999");

  private static final DestinationName CANARY =
      new DestinationName(DestinationKind.QUEUE, "canary");
  private static final DestinationName TOPIC = new DestinationName(DestinationKind.TOPIC, "t");
  private static final DestinationName DLQ = new DestinationName(DestinationKind.QUEUE, "DLQ");

  private BrokerHarness h;
  private long links;

  /** All that were attached, so that nothing of theirs is taken for durable. */
  private final List<FakePeer> peers = new ArrayList<>();

  // ---- commands ----

  static Stream<Class<?>> commands() {
    List<Class<?>> commands = kinds(Command.class).toList();
    assertThat(commands).hasSizeGreaterThan(15).contains(Command.Publish.class);
    return commands.stream();
  }

  private static Stream<Class<?>> kinds(Class<?> family) {
    return family.isSealed()
        ? Arrays.stream(family.getPermittedSubclasses()).flatMap(ClientTextTest::kinds)
        : Stream.of(family);
  }

  @ParameterizedTest
  @MethodSource("commands")
  void noTextOfACommandEndsTheBroker(Class<?> kind) throws Exception {
    start();
    int tried = 0;
    for (Subscribe subscribe : Subscribe.values()) {
      for (String evil : EVIL) {
        for (Command command : withTexts(kind, evil, subscribe)) {
          submit(command);
          alive(command);
          tried++;
        }
      }
      if (Arrays.stream(kind.getRecordComponents())
          .noneMatch(each -> each.getType() == Subscribe.class)) {
        break;
      }
    }
    sameAfterRestart();
    boolean hasText =
        Arrays.stream(kind.getRecordComponents()).anyMatch(each -> isText(each.getGenericType()));
    assertThat(tried > 0).isEqualTo(hasText);
  }

  private void submit(Command command) {
    h.broker.submit(command);
    h.loops.advance(10_000_000L);
    FakePeer peer = (FakePeer) command.peer();
    assertThat(peer.replies + " " + peer.disconnects + " " + peer.receipts)
        .as(shown(command))
        .doesNotContain("an error of the broker's");
  }

  private static boolean isText(Type type) {
    return type == String.class
        || type == DestinationName.class
        || (type instanceof ParameterizedType of
            && Arrays.stream(of.getActualTypeArguments()).anyMatch(ClientTextTest::isText));
  }

  /** A command of a kind for each place where it has a text, with the evil one there. */
  private List<Command> withTexts(Class<?> kind, String evil, Subscribe subscribe)
      throws Exception {
    List<Command> commands = new ArrayList<>();
    RecordComponent[] components = kind.getRecordComponents();
    for (int place = 0; place < components.length; place++) {
      for (Object value : evilValues(components[place].getGenericType(), evil)) {
        FakePeer peer = kind == Command.Attach.class ? h.newPeer() : h.attach(link(), 1, 1, id());
        peers.add(peer);
        Object[] arguments = new Object[components.length];
        for (int i = 0; i < components.length; i++) {
          arguments[i] = i == place ? value : good(components[i], peer, subscribe);
        }
        commands.add((Command) constructor(kind).newInstance(arguments));
      }
    }
    return commands;
  }

  private UUID link() {
    return new UUID(77, ++links);
  }

  private String id() {
    return "client " + links;
  }

  private static Constructor<?> constructor(Class<?> kind) throws Exception {
    Class<?>[] types =
        Arrays.stream(kind.getRecordComponents())
            .map(RecordComponent::getType)
            .toArray(Class<?>[]::new);
    return kind.getDeclaredConstructor(types);
  }

  private static Collection<Object> evilValues(Type type, String evil) {
    if (type == String.class) {
      return List.of(evil);
    }
    if (type == DestinationName.class) {
      List<Object> names = new ArrayList<>();
      for (DestinationKind kind : DestinationKind.values()) {
        try {
          names.add(new DestinationName(kind, evil));
        } catch (IllegalArgumentException e) {
          // The decoder of frames refuses it; nothing in the broker can have such a name.
        }
      }
      return names;
    }
    if (isText(type)) {
      return List.of(Map.of(evil, "true"), Map.of("name", evil), Map.of("queue", evil));
    }
    return List.of();
  }

  private Object good(RecordComponent component, FakePeer peer, Subscribe subscribe) {
    Type type = component.getGenericType();
    if (type == Peer.class) {
      return peer;
    } else if (type == int.class) {
      return component.getName().equals("correlation") ? h.nextCorrelation() : 1;
    } else if (type == long.class) {
      return 1L;
    } else if (type == boolean.class) {
      return true;
    } else if (type == UUID.class) {
      return link();
    } else if (type == FaultCode.class) {
      return FaultCode.BAD_REQUEST;
    } else if (type == Subscribe.class) {
      return subscribe;
    } else if (type == DestinationKind.class) {
      return DestinationKind.TEMPORARY_QUEUE;
    } else if (type == DestinationName.class) {
      boolean queue = subscribe == Subscribe.QUEUE || subscribe == Subscribe.BROWSE;
      return queue ? CANARY : TOPIC;
    } else if (type == String.class) {
      return switch (component.getName()) {
        case "verb" -> "destination.list";
        case "selector" -> null;
        default -> "good";
      };
    } else if (type == Command.Bytes.class) {
      return h.bytes(true, 0, "good");
    } else if (isText(type)) {
      return Map.of();
    } else if (type instanceof ParameterizedType list && list.getRawType() == List.class) {
      return List.of();
    }
    throw new AssertionError("this test knows no value for " + component + "; teach it one");
  }

  /** The broker goes on, and takes and gives out a message. */
  private void alive(Object after) {
    String what = shown(after);
    assertThat(h.broker.failure().isDone()).as(what).isFalse();
    FakePeer peer = h.attach();
    long id = h.producer(peer, CANARY);
    assertThat(h.receipt(peer, h.publish(peer, id, 1, "alive"))).as(what).isEqualTo(FaultCode.OK);
    h.consumer(peer, 9, CANARY, Subscribe.QUEUE, null);
    List<FakePeer.Received> got = h.pull(peer, 9, 1);
    assertThat(got).as(what).extracting(FakePeer.Received::text).containsExactly("alive");
    h.acknowledge(peer, 9, id, got.get(0).range());
    h.broker.submit(new Command.Detach(peer, true));
  }

  private static String shown(Object after) {
    String text = after.toString();
    return text.length() > 300 ? text.substring(0, 300) : text;
  }

  private void start() throws Exception {
    h = new BrokerHarness(5);
    h.settings = BrokerHarness.settings(2 << 20, 1 << 20);
    h.open();
    FakePeer peer = h.attach();
    h.producer(peer, CANARY);
    h.producer(peer, TOPIC);
    h.producer(peer, DLQ);
  }

  /** What is durable is the same after an orderly stop and after a kill. */
  private void sameAfterRestart() throws Exception {
    peers.forEach(peer -> h.broker.submit(new Command.Detach(peer, true)));
    peers.clear();
    h.loops.advance(2_000_000_000L);
    List<String> before = picture();
    h.close();
    h.open();
    assertThat(picture()).isEqualTo(before);
    h.crash(false);
    h.open();
    assertThat(picture()).isEqualTo(before);
    alive("the restarts");
    h.close();
  }

  /** All that administration shows of what is durable. */
  private List<String> picture() {
    List<String> picture = new ArrayList<>();
    for (String kind : List.of("queue", "topic")) {
      for (String name : names(kind)) {
        String shown = h.admin("destination.show", Map.of("name", name, "kind", kind));
        assertThat(shown).startsWith("{");
        picture.add(
            shown.replaceAll(
                "\"(published|acknowledged|expired|consumers|inFlight)\\w*\":\\d+", ""));
      }
    }
    return picture;
  }

  private List<String> names(String kind) {
    String list = h.admin("destination.list", Map.of());
    List<String> names = new ArrayList<>();
    for (String part : list.split("\\{\"name\":\"", -1)) {
      int end = part.indexOf("\",\"kind\":\"" + kind + "\"");
      if (end >= 0) {
        names.add(unescaped(part.substring(0, end)));
      }
    }
    return names;
  }

  private static String unescaped(String json) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < json.length(); i++) {
      char c = json.charAt(i);
      if (c != '\\') {
        text.append(c);
      } else if (json.charAt(i + 1) == 'u') {
        text.append((char) Integer.parseInt(json.substring(i + 2, i + 6), 16));
        i += 5;
      } else {
        text.append(json.charAt(++i));
      }
    }
    return text.toString();
  }

  @Test
  void noCauseOfAReturnEndsTheBroker() throws Exception {
    start();
    DestinationName poison = new DestinationName(DestinationKind.QUEUE, "poison.a");
    FakePeer peer = h.attach();
    long id = h.producer(peer, poison);
    h.consumer(peer, 1, poison, Subscribe.QUEUE, null);
    for (int i = 0; i < EVIL.size(); i++) {
      assertThat(h.receipt(peer, h.publish(peer, id, i + 1, "bad"))).isEqualTo(FaultCode.OK);
      for (int attempt = 0; attempt < 3; attempt++) {
        List<Command.Acked> failed =
            List.of(new Command.Acked(1, id, List.of(h.pull(peer, 1, 1).get(0).range())));
        submit(new Command.Return(peer, h.nextCorrelation(), failed, true, EVIL.get(i)));
        h.loops.advance(100_000_000L);
      }
      alive("cause " + i);
    }
    assertThat(h.admin("destination.show", Map.of("name", "DLQ")))
        .contains("\"backlog\":" + EVIL.size());
    assertThat(h.admin("dead-letters.list", Map.of())).contains("\\u001b]0;title\\u0007");
    peers.add(peer);
    sameAfterRestart();
  }

  // ---- admin verbs ----

  static Stream<String> verbs() {
    return Administration.VERBS.stream();
  }

  @ParameterizedTest
  @MethodSource("verbs")
  void noArgumentOfAVerbEndsTheBroker(String verb) throws Exception {
    start();
    letter(Map.of());
    for (String argument : Administration.arguments(verb)) {
      for (String evil : EVIL) {
        Map<String, String> arguments = new HashMap<>(Map.of(argument, evil));
        if (verb.startsWith("destination.") && !verb.equals("destination.list")) {
          arguments.putIfAbsent("name", verb.endsWith("create") ? "new" + ++links : "DLQ");
        }
        FakePeer peer = h.attach();
        submit(new Command.Admin(peer, h.nextCorrelation(), verb, arguments));
        h.loops.advance(1_100_000_000L);
        assertThat(peer.replies).as(verb + " " + argument + " " + shown(evil)).isNotEmpty();
        alive(verb + " " + arguments);
        if (verb.equals("destination.delete")) {
          h.producer(h.attach(), DLQ);
        }
      }
    }
    sameAfterRestart();
  }

  @Test
  void aQueueThatCanHaveNoSuchNameIsRefusedWithWhatIsWrong() throws Exception {
    start();
    for (String verb : List.of("dead-letters.list", "dead-letters.show", "dead-letters.retry")) {
      assertThat(h.admin(verb, Map.of("queue", "", "id", "x")))
          .contains("INVALID_DESTINATION", "1 to 512 bytes, this one has 0");
      assertThat(h.admin(verb, Map.of("queue", "a\tb", "id", "x")))
          .contains("INVALID_DESTINATION", "U+0009", "character 2")
          .doesNotContain("\t");
    }
    h.close();
  }

  // ---- properties ----

  /** All that the broker reads of a message, by the constants that name it. */
  static Stream<String> properties() throws Exception {
    List<String> names = new ArrayList<>(List.of("JMSXGroupID", "JMSXGroupSeq", "JMSXUserID"));
    for (Field field : DeadLetters.class.getDeclaredFields()) {
      if (Modifier.isStatic(field.getModifiers()) && field.getType() == String.class) {
        field.setAccessible(true);
        String name = (String) field.get(null);
        if (name.startsWith("JMS")) {
          names.add(name);
        }
      }
    }
    assertThat(names).hasSizeGreaterThan(10);
    names.add("key");
    return names.stream();
  }

  @ParameterizedTest
  @MethodSource("properties")
  void noPropertyThatTheBrokerReadsEndsIt(String property) throws Exception {
    start();
    h.admin("destination.set", Map.of("name", "DLQ", "suppress-duplicates", "property:key"));
    List<Object> values = new ArrayList<>(EVIL);
    values.addAll(List.of(7, -1L, true, 2.5, (byte) 1));
    for (Object value : values) {
      if (value instanceof String text && text.length() > 4_000) {
        continue; // beyond the longest message of these settings
      }
      Map<String, Object> letter = new TreeMap<>();
      letter.put("JMS_LightMQ_Origin", "from." + ++links % 3);
      letter.put("JMS_LightMQ_OriginKind", links % 2 == 0 ? "queue" : "topic");
      letter.put("JMS_LightMQ_Subscription", "s");
      letter.put(property, value);
      letter(letter);
      if (!property.endsWith("OriginKind")) {
        letter.put("JMS_LightMQ_OriginKind", "queue");
        letter(letter);
      }
      h.admin("dead-letters.list", Map.of());
      h.admin("dead-letters.retry", Map.of("dry-run", "true"));
      h.admin("dead-letters.retry", Map.of("rate", "1000"));
      h.loops.advance(3_000_000_000L);
      FakePeer reader = h.attach();
      h.tryConsumer(
          reader, 1, DLQ, Subscribe.BROWSE, null, property + " = 'x' OR n LIKE 'a%'", false);
      h.broker.submit(new Command.Pull(reader, 1, h.nextCorrelation(), 100, 1 << 20, 0));
      h.loops.advance(100_000_000L);
      alive(letter);
    }
    sameAfterRestart();
  }

  @Test
  void aLetterWhoseOriginNobodyCanBeStaysWhereItIs() throws Exception {
    start();
    letter(Map.of("JMS_LightMQ_Origin", "a\nb", "JMS_LightMQ_OriginKind", "queue"));
    assertThat(h.admin("dead-letters.retry", Map.of()))
        .contains("\"unresolved\":1", "\"retrying\":0", "U+000A");
    h.loops.advance(120_000_000_000L);
    alive("the retry");
    assertThat(h.admin("destination.show", Map.of("name", "DLQ"))).contains("\"backlog\":1");
    h.close();
  }

  private void letter(Map<String, Object> properties) {
    MessageWriter writer = new MessageWriter(1 << 17);
    writer
        .start(BodyType.TEXT, 4, true, 0, 0)
        .messageId(1, 2, ++links)
        .properties(new LinkedHashMap<>(properties))
        .textBody("letter");
    writer.finish();
    byte[] message = writer.toByteArray();
    ByteBuffer run =
        ByteBuffer.allocate(message.length + 4).putInt(message.length).put(message).flip();
    FakePeer peer = h.attach();
    long id = h.producer(peer, DLQ);
    int c = h.nextCorrelation();
    h.broker.submit(new Command.Publish(peer, c, id, 1, 1, h.bytes(run)));
    assertThat(h.receipt(peer, c)).isEqualTo(FaultCode.OK);
  }

  // ---- what nobody foresaw ----

  private static final class FailsOnce extends FakePeer {
    private int calls;
    private final int at;

    FailsOnce(long connectionId, int at) {
      super(connectionId);
      this.at = at;
    }

    @Override
    public long connectionId() {
      if (++calls == at) {
        throw new IllegalStateException("nobody foresaw this");
      }
      return super.connectionId();
    }
  }

  @Test
  void whatNobodyForesawBeforeTheFirstRecordIsARefusal() throws Exception {
    start();
    FailsOnce peer = new FailsOnce(1_000_001, 1);
    int c = h.nextCorrelation();
    h.broker.submit(new Command.Attach(peer, c, link(), 1, 1, null));
    h.loops.advance(10_000_000L);
    assertThat(peer.replies.get(c)).isInstanceOf(Peer.Reply.Failed.class);
    assertThat(((Peer.Reply.Failed) peer.replies.get(c)).code()).isEqualTo(FaultCode.BAD_REQUEST);
    alive("the refusal");
    h.close();
  }

  @Test
  void whatNobodyForesawBehindTheFirstRecordEndsTheShard() throws Exception {
    start();
    FakePeer peer =
        new FakePeer(1_000_002) {
          private boolean recorded;

          @Override
          public String userName() {
            recorded = true; // the owner is asked for right before the link is recorded
            return super.userName();
          }

          @Override
          public long connectionId() {
            if (recorded) {
              throw new IllegalStateException("nobody foresaw this");
            }
            return super.connectionId();
          }
        };
    assertThatThrownBy(() -> submit(new Command.Attach(peer, 1, link(), 1, 1, null)))
        .hasStackTraceContaining("nobody foresaw this");
  }
}

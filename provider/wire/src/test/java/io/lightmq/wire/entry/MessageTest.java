package io.lightmq.wire.entry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.fail;

import io.lightmq.wire.Golden;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;

/** Messages come back as they were written, whatever is in them. */
class MessageTest {
  private static final int LIMIT = 4 << 20;

  /** Any chars at all: surrogates alone, in the wrong order and in pairs. */
  @Provide
  Arbitrary<String> anyText() {
    Arbitrary<Character> chars =
        Arbitraries.oneOf(
            Arbitraries.chars().ascii(),
            Arbitraries.chars().range('\uD7F0', '\uE010'),
            Arbitraries.chars().all(),
            Arbitraries.of('\uFFFD', '\0', '?', '\uD83D', '\uDE00'));
    return chars.list().ofMaxSize(200).map(MessageTest::join);
  }

  private static String join(List<Character> chars) {
    StringBuilder text = new StringBuilder();
    chars.forEach(text::append);
    return text.toString();
  }

  @Provide
  Arbitrary<Object> values() {
    return Arbitraries.oneOf(
        Arbitraries.bytes().map(Object.class::cast),
        Arbitraries.shorts().map(Object.class::cast),
        Arbitraries.integers().map(Object.class::cast),
        Arbitraries.longs().map(Object.class::cast),
        Arbitraries.floats().map(Object.class::cast),
        Arbitraries.doubles().map(Object.class::cast),
        Arbitraries.of(true, false).map(Object.class::cast),
        Arbitraries.of(Float.NaN, -0.0f, Double.NEGATIVE_INFINITY).map(Object.class::cast),
        anyText().map(Object.class::cast));
  }

  @Property(tries = 2000)
  void everyJavaStringSurvives(@ForAll("anyText") String text) {
    MessageReader reader =
        direct(writer(BodyType.TEXT).properties(Map.of("p", text)).textBody(text));
    assertThat(reader.textBody()).isEqualTo(text);
    assertThat(reader.property("p")).isEqualTo(text);
  }

  @Property(tries = 500)
  void propertiesAndMapsSurvive(@ForAll("values") Object first, @ForAll("values") Object second) {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("first", first);
    map.put("", second);
    map.put("null", null);
    map.put("long " + "n".repeat(300), second);
    Map<String, Object> entries = new LinkedHashMap<>(map);
    entries.put("char", '\uD800');
    entries.put("bytes", new byte[] {1, -1});
    MessageReader reader = direct(writer(BodyType.MAP).properties(map).mapBody(entries));
    assertThat(reader.properties()).isEqualTo(map);
    assertThat(new ArrayList<>(reader.properties().keySet()))
        .isEqualTo(new ArrayList<>(map.keySet()));
    assertThat(reader.property("")).isEqualTo(second);
    assertThat(reader.property("absent")).isNull();
    Map<String, Object> back = reader.mapBody();
    assertThat((byte[]) back.remove("bytes")).isEqualTo(new byte[] {1, -1});
    entries.remove("bytes");
    assertThat(back).isEqualTo(entries);
  }

  @Property(tries = 300)
  void streamsSurvive(@ForAll("values") Object value, @ForAll byte[] bytes) {
    List<Object> values = new ArrayList<>(Arrays.asList(value, null, 'x', bytes, (short) 7));
    List<Object> back = direct(writer(BodyType.STREAM).streamBody(values)).streamBody();
    assertThat(back).hasSize(5);
    assertThat(back.get(0)).isEqualTo(value);
    assertThat(back.get(1)).isNull();
    assertThat(back.get(2)).isEqualTo('x');
    assertThat((byte[]) back.get(3)).isEqualTo(bytes);
    assertThat(back.get(4)).isEqualTo((short) 7);
  }

  @Test
  void headersComeBack() {
    MessageReader reader = direct(sample());
    assertThat(reader.bodyType()).isEqualTo(BodyType.MAP);
    assertThat(reader.priority()).isEqualTo(7);
    assertThat(reader.isPersistent()).isTrue();
    assertThat(reader.timeToLiveMillis()).isEqualTo(60_000);
    assertThat(reader.deliveryDelayMillis()).isEqualTo(5_000);
    assertThat(reader.hasTimestamp()).isTrue();
    assertThat(reader.timestampMillis()).isEqualTo(1_700_000_000_000L);
    assertThat(reader.messageId()).isEqualTo(new MessageId(1, -2, 3));
    assertThat(reader.correlationId()).isEqualTo("order 17");
    assertThat(reader.correlationIdBytes()).isNull();
    assertThat(reader.type()).isEqualTo("order");
    assertThat(reader.replyTo())
        .isEqualTo(new DestinationName(DestinationKind.TEMPORARY_QUEUE, "answers"));
    assertThat(reader.destination())
        .isEqualTo(new DestinationName(DestinationKind.TOPIC, "päd\uD800"));
    assertThat(reader.properties()).containsEntry("region", "north").hasSize(3);
  }

  @Test
  void headersThatAreNotThereAreNull() {
    MessageReader reader = direct(writer(BodyType.MESSAGE));
    assertThat(reader.messageId()).isNull();
    assertThat(reader.hasTimestamp()).isFalse();
    assertThat(reader.correlationId()).isNull();
    assertThat(reader.correlationIdBytes()).isNull();
    assertThat(reader.type()).isNull();
    assertThat(reader.replyTo()).isNull();
    assertThat(reader.destination()).isNull();
    assertThat(reader.properties()).isEmpty();
    assertThat(reader.property("x")).isNull();
    assertThat(reader.bodyBytes()).isZero();
  }

  private static boolean isGrouped(Object groupId) {
    MessageWriter writer = writer(BodyType.MESSAGE).properties(Map.of("JMSXGroupID", groupId));
    writer.finish();
    return MessageReader.isGrouped(ByteBuffer.wrap(writer.toByteArray()), 0);
  }

  @Test
  void aMessageIsGroupedIfItsGroupIdIsAStringThatIsNotEmpty() {
    assertThat(isGrouped("g")).isTrue();
    assertThat(isGrouped("")).isFalse();
    assertThat(isGrouped(7)).isFalse();
    assertThat(MessageReader.isGrouped(ByteBuffer.wrap(bytes(sample())), 0)).isFalse();
  }

  @Test
  void aMovedMessageStaysInItsGroup() {
    MessageWriter writer = writer(BodyType.MESSAGE).properties(Map.of("JMSXGroupID", "g"));
    writer.finish();
    ByteBuffer edited =
        MessageEdit.withProperties(
            ByteBuffer.wrap(writer.toByteArray()),
            0,
            writer.length(),
            Map.of(MessageEdit.PREFIX + "Reason", "x"),
            0);
    assertThat(MessageReader.isGrouped(edited, edited.position())).isTrue();
  }

  @Test
  void nullBodyIsNotAnEmptyBody() {
    assertThat(direct(writer(BodyType.TEXT).textBody(null)).textBody()).isNull();
    assertThat(direct(writer(BodyType.TEXT).textBody("")).textBody()).isEmpty();
    assertThat(direct(writer(BodyType.OBJECT).objectBody(null)).objectBody()).isNull();
    assertThat(direct(writer(BodyType.OBJECT).objectBody(new byte[0])).objectBody()).isEmpty();
    assertThat(direct(writer(BodyType.MAP)).mapBody()).isEmpty();
    assertThat(direct(writer(BodyType.STREAM)).streamBody()).isEmpty();
  }

  @Test
  void bytesBodyIsThePartThatWasGiven() {
    byte[] content = {0, 1, 2, 3, 4};
    assertThat(direct(writer(BodyType.BYTES).bytesBody(content, 1, 3)).bytesBody())
        .containsExactly(1, 2, 3);
  }

  @Test
  void correlationIdMayBeBytes() {
    MessageWriter writer = writer(BodyType.MESSAGE).correlationIdBytes(new byte[] {-1, 0});
    assertThat(direct(writer).correlationIdBytes()).containsExactly(-1, 0);
  }

  @Test
  void writerIsUsedAgainWithoutTraces() {
    MessageWriter writer = new MessageWriter(LIMIT);
    writer.start(BodyType.TEXT, 9, true, 1, 1).timestampMillis(5).textBody("x".repeat(200_000));
    writer.finish();
    writer.start(BodyType.TEXT, 4, false, 0, 0).textBody("y").finish();
    byte[] again = writer.toByteArray();
    MessageWriter fresh = new MessageWriter(LIMIT);
    fresh.start(BodyType.TEXT, 4, false, 0, 0).textBody("y").finish();
    assertThat(again).isEqualTo(fresh.toByteArray());
  }

  @Test
  void messageAboveTheLimitNamesIt() {
    MessageWriter writer = new MessageWriter(1000);
    writer.start(BodyType.TEXT, 4, true, 0, 0);
    assertThatThrownBy(() -> writer.textBody("x".repeat(1000)))
        .isInstanceOf(MessageTooLargeException.class)
        .hasMessageContaining("limit is 1000");
    writer.start(BodyType.TEXT, 4, true, 0, 0).textBody("x".repeat(942));
    assertThat(writer.finish()).isEqualTo(1000);
  }

  @Test
  void callsInTheWrongOrderFail() {
    MessageWriter writer = new MessageWriter(1000);
    assertThatThrownBy(() -> writer.textBody("x")).isInstanceOf(IllegalStateException.class);
    writer.start(BodyType.TEXT, 4, true, 0, 0);
    assertThatThrownBy(() -> writer.mapBody(Map.of())).isInstanceOf(IllegalStateException.class);
    writer.start(BodyType.TEXT, 4, true, 0, 0).textBody("x");
    assertThatThrownBy(() -> writer.textBody("y")).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> writer.type("y")).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(writer::array).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void propertiesOfOtherTypesAreRefused() {
    for (Object value : List.of('c', new byte[1], new Object(), new int[0])) {
      MessageWriter writer = writer(BodyType.MESSAGE);
      assertThatThrownBy(() -> writer.properties(Map.of("p", value)))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  void namesAndCountsHaveLimits() {
    assertThatThrownBy(
            () -> writer(BodyType.MAP).mapBody(Collections.singletonMap("n".repeat(4097), 1)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("4096");
    Map<String, Object> many = new LinkedHashMap<>();
    for (int i = 0; i <= 10_000; i++) {
      many.put("p" + i, i);
    }
    assertThatThrownBy(() -> writer(BodyType.MAP).properties(many))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("10000");
  }

  @Test
  void longestNameComesBack() {
    String name = "n".repeat(4096);
    assertThat(direct(writer(BodyType.MAP).mapBody(Map.of(name, 1))).mapBody())
        .containsEntry(name, 1);
  }

  @Test
  void everyChangedBitIsNoticed() {
    byte[] message = bytes(sample());
    MessageReader.check(ByteBuffer.wrap(message), 0, message.length);
    for (int bit = 0; bit < message.length * 8; bit++) {
      message[bit / 8] ^= (byte) (1 << bit % 8);
      assertThatThrownBy(() -> MessageReader.check(ByteBuffer.wrap(message), 0, message.length))
          .isInstanceOf(MalformedMessageException.class);
      message[bit / 8] ^= (byte) (1 << bit % 8);
    }
  }

  @Test
  void everyTruncationIsReadOrRefused() {
    byte[] message = bytes(sample());
    for (int length = 0; length < message.length; length++) {
      ByteBuffer cut = ByteBuffer.wrap(Arrays.copyOf(message, length));
      readHostile(cut, length);
    }
  }

  @Property(tries = 3000)
  void mutationsAreReadOrRefused(@ForAll long seed) {
    Random random = new Random(seed);
    byte[] message = bytes(seed % 2 == 0 ? sample() : streamSample());
    int changes = 1 + random.nextInt(3);
    for (int i = 0; i < changes; i++) {
      message[random.nextInt(message.length)] =
          random.nextBoolean() ? (byte) random.nextInt() : (byte) -1;
    }
    readHostile(ByteBuffer.wrap(message), message.length);
  }

  @Test
  void goldenFilePinsTheLayout() throws Exception {
    Golden.assertSame("message-map", bytes(sample()));
    Golden.assertSame("message-stream", bytes(streamSample()));
    Golden.assertSame("message-text", bytes(writer(BodyType.TEXT).textBody("aé€😀\uD800")));
  }

  @Test
  void messageIdHasATextForm() {
    MessageId id = new MessageId(new UUID(0x00ABL << 48 | 1, -1L), 42);
    assertThat(id).hasToString("ID:00ab000000000001ffffffffffffffff:42");
    assertThat(MessageId.parse(id.toString())).isEqualTo(id);
    assertThat(MessageId.parse("ID:other")).isNull();
    assertThat(MessageId.parse(id.toString() + "9999999999999999999")).isNull();
  }

  private static void readHostile(ByteBuffer buffer, int length) {
    try {
      MessageReader reader = new MessageReader(buffer, 0, length);
      BodyType type = reader.bodyType();
      reader.messageId();
      reader.correlationId();
      reader.correlationIdBytes();
      reader.type();
      reader.replyTo();
      reader.destination();
      reader.property("flag");
      reader.properties();
      switch (type) {
        case MESSAGE -> reader.bodyBytes();
        case TEXT -> reader.textBody();
        case BYTES -> reader.bytesBody();
        case MAP -> reader.mapBody();
        case STREAM -> reader.streamBody();
        case OBJECT -> reader.objectBody();
      }
    } catch (MalformedMessageException expected) {
      assertThat(expected.getMessage()).isNotEmpty();
    } catch (RuntimeException e) {
      fail("neither read nor refused as malformed", e);
    }
  }

  static MessageWriter sample() {
    Map<String, Object> properties = new LinkedHashMap<>();
    properties.put("region", "north");
    properties.put("flag", true);
    properties.put("nothing", null);
    Map<String, Object> body = new LinkedHashMap<>();
    body.put("byte", (byte) -2);
    body.put("short", (short) -3);
    body.put("char", 'ß');
    body.put("int", 65_536);
    body.put("long", -1L);
    body.put("float", 1.5f);
    body.put("double", -2.25);
    body.put("false", false);
    body.put("string", "text");
    body.put("bytes", new byte[] {9, 8});
    body.put("null", null);
    return new MessageWriter(LIMIT)
        .start(BodyType.MAP, 7, true, 60_000, 5_000)
        .timestampMillis(1_700_000_000_000L)
        .messageId(1, -2, 3)
        .correlationId("order 17")
        .type("order")
        .replyTo(new DestinationName(DestinationKind.TEMPORARY_QUEUE, "answers"))
        .destination(new DestinationName(DestinationKind.TOPIC, "päd\uD800"))
        .properties(properties)
        .mapBody(body);
  }

  private static MessageWriter streamSample() {
    return writer(BodyType.STREAM)
        .correlationIdBytes(new byte[] {1, 2})
        .streamBody(Arrays.asList("a", 1, null, new byte[] {3}, 2.0));
  }

  private static MessageWriter writer(BodyType type) {
    return new MessageWriter(LIMIT).start(type, 4, false, 0, 0);
  }

  private static byte[] bytes(MessageWriter writer) {
    writer.finish();
    return writer.toByteArray();
  }

  /** A reader over memory outside the heap, at a place that is not 0. */
  private static MessageReader direct(MessageWriter writer) {
    byte[] message = bytes(writer);
    ByteBuffer buffer = ByteBuffer.allocateDirect(message.length + 20);
    buffer.put(13, message);
    MessageReader.check(buffer, 13, message.length);
    return new MessageReader(buffer, 13, message.length);
  }

  @Test
  void anEditedMessageKeepsHeadersAndBodyAndHasOtherProperties() {
    MessageWriter writer = new MessageWriter(4 << 20);
    writer.start(BodyType.TEXT, 7, true, 5_000, 60_000).messageId(1, 2, 3).correlationId("c");
    writer.properties(Map.of("own", 5, "JMS_LightMQ_Reason", "old")).textBody("text").finish();
    byte[] message = writer.toByteArray();
    ByteBuffer buffer = ByteBuffer.allocate(message.length + 8).position(8).put(message).flip();
    ByteBuffer edited =
        MessageEdit.withProperties(
            buffer, 8, message.length, Map.of("JMS_LightMQ_Origin", "orders"), 0);
    MessageReader.check(edited, edited.position(), edited.remaining());
    MessageReader reader = new MessageReader(edited, 0, edited.remaining());
    assertThat(reader.properties()).isEqualTo(Map.of("own", 5, "JMS_LightMQ_Origin", "orders"));
    assertThat(reader.textBody()).isEqualTo("text");
    assertThat(reader.correlationId()).isEqualTo("c");
    assertThat(reader.messageId()).isEqualTo(new MessageId(1, 2, 3));
    assertThat(reader.timeToLiveMillis()).isZero();
    assertThat(reader.deliveryDelayMillis()).isEqualTo(60_000);
    assertThat(reader.priority()).isEqualTo(7);
    ByteBuffer back = MessageEdit.withProperties(edited, 0, edited.remaining(), Map.of(), 0);
    assertThat(new MessageReader(back, 0, back.remaining()).properties())
        .isEqualTo(Map.of("own", 5));
  }

  @Test
  void damageIsNotEditedIntoAMessageThatLooksWhole() {
    MessageWriter writer = writer(BodyType.TEXT).textBody("text");
    writer.finish();
    for (int damaged = 0; damaged < writer.length(); damaged++) {
      byte[] message = writer.toByteArray();
      message[damaged] ^= 1;
      assertThatThrownBy(
              () ->
                  MessageEdit.withProperties(
                      ByteBuffer.wrap(message), 0, message.length, Map.of(), 0))
          .isInstanceOf(MalformedMessageException.class);
    }
  }
}

package io.lightmq.wire.entry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class ProviderNamesTest {
  private static final List<String> OWNED =
      List.of(
          "JMSXUserID",
          "JMSXDeliveryCount",
          "JMSXAppID",
          "JMSXConsumerTXID",
          "JMSXRcvTimestamp",
          "JMSXState",
          "JMSX",
          "JMSXGroupIDs",
          "JMSXGroup",
          "JMS_LightMQ_Origin",
          "JMS_LightMQ_");

  private static final List<String> OTHERS =
      List.of(
          "JMSXGroupID",
          "JMSXGroupSeq",
          "JMSXProducerTXID",
          "JMS_LightMQ",
          "JMS_Other_Name",
          "JMS",
          "jmsxuserid",
          "price",
          "J",
          "é");

  private static ByteBuffer message(Map<String, Object> properties) {
    MessageWriter writer = new MessageWriter(1 << 16);
    writer.start(BodyType.TEXT, 7, true, 5_000, 0).correlationId("c");
    writer.properties(properties).textBody("body").finish();
    byte[] bytes = writer.toByteArray();
    ByteBuffer shifted = ByteBuffer.allocate(bytes.length + 7);
    shifted.position(7);
    return shifted.put(bytes).position(7);
  }

  private static boolean mayBeIn(ByteBuffer message) {
    return ProviderNames.mayBeIn(message, message.position(), message.remaining());
  }

  private static Map<String, Object> all(List<String> names) {
    Map<String, Object> all = new LinkedHashMap<>();
    Object[] values = {"text", 1, 2L, (short) 3, (byte) 4, true, false, 1.5f, 2.5};
    for (String name : names) {
      all.put(name, values[all.size() % values.length]);
    }
    return all;
  }

  @Test
  void whatTheProviderOwnsIsFoundByNameAndInTheBytes() {
    for (String name : OWNED) {
      assertThat(ProviderNames.isOwned(name)).as(name).isTrue();
      Map<String, Object> properties = all(OTHERS);
      properties.put(name, "forged");
      assertThat(mayBeIn(message(properties))).as(name).isTrue();
    }
    for (String name : OTHERS) {
      assertThat(ProviderNames.isOwned(name)).as(name).isFalse();
    }
    assertThat(mayBeIn(message(all(OTHERS)))).isFalse();
    assertThat(mayBeIn(message(Map.of()))).isFalse();
  }

  @Test
  void theRestOfAMessageStaysAsItWasUnderARightCrc() {
    List<String> names = new ArrayList<>(OTHERS);
    names.addAll(3, OWNED);
    ByteBuffer message = message(all(names));
    ByteBuffer without =
        MessageEdit.withoutProviderNames(message, message.position(), message.remaining());
    MessageReader.check(without, 0, without.remaining());
    MessageReader reader = new MessageReader(without, 0, without.remaining());
    assertThat(reader.properties().keySet()).containsExactlyElementsOf(OTHERS);
    assertThat(reader.textBody()).isEqualTo("body");
    assertThat(reader.correlationId()).isEqualTo("c");
    assertThat(reader.timeToLiveMillis()).isEqualTo(5_000);
    assertThat(reader.priority()).isEqualTo(7);
  }

  @Test
  void aMessageWithAWrongCrcIsNotMadeRight() {
    ByteBuffer message = message(Map.of("JMSXUserID", "root"));
    int last = message.limit() - 1;
    message.put(last, (byte) (message.get(last) ^ 1));
    assertThatThrownBy(
            () ->
                MessageEdit.withoutProviderNames(message, message.position(), message.remaining()))
        .isInstanceOf(MalformedMessageException.class);
  }

  /** Whatever the scan lets pass, no reader finds such a property in it. */
  @Property(tries = 3_000)
  void noDamageHidesAPropertyFromTheScanThatAReaderFinds(
      @ForAll @IntRange(max = 200) int place, @ForAll byte value) {
    ByteBuffer message = message(all(List.of("a", "JMSXUserID", "JMS_LightMQ_Origin", "b")));
    int at = message.position();
    int changed =
        at + MessageLayout.HEADERS + place % (message.remaining() - MessageLayout.HEADERS);
    message.put(changed, value);
    if (!mayBeIn(message)) {
      Map<String, Object> read = new LinkedHashMap<>();
      try {
        read.putAll(new MessageReader(message, at, message.remaining()).properties());
      } catch (MalformedMessageException e) {
        // nobody reads anything of it
      }
      assertThat(read.keySet()).noneMatch(ProviderNames::isOwned);
    }
  }
}

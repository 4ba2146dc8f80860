package io.lightmq.client.message;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.Entry;
import io.lightmq.wire.entry.EntryStamp;
import io.lightmq.wire.entry.MalformedMessageException;
import io.lightmq.wire.entry.MessageId;
import io.lightmq.wire.entry.MessageWriter;
import jakarta.jms.BytesMessage;
import jakarta.jms.Destination;
import jakarta.jms.JMSException;
import jakarta.jms.MapMessage;
import jakarta.jms.Message;
import jakarta.jms.MessageEOFException;
import jakarta.jms.MessageFormatException;
import jakarta.jms.MessageNotReadableException;
import jakarta.jms.MessageNotWriteableException;
import jakarta.jms.ObjectMessage;
import jakarta.jms.Queue;
import jakarta.jms.StreamMessage;
import jakarta.jms.TextMessage;
import java.io.Serializable;
import java.nio.ByteBuffer;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.Vector;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MessageTest {
  private record NamedQueue(String getQueueName) implements Queue {
    @Override
    public String toString() {
      return getQueueName;
    }
  }

  private static final DestinationMapper MAPPER =
      new DestinationMapper() {
        @Override
        public DestinationName nameOf(Destination destination) throws JMSException {
          return new DestinationName(DestinationKind.QUEUE, ((Queue) destination).getQueueName());
        }

        @Override
        public Destination destinationOf(DestinationName name) {
          return new NamedQueue(name.name());
        }
      };

  private final Messages messages = new Messages(new ObjectTrust(Set.of()), MAPPER, Jmsx.NONE);
  private final MessageWriter writer = new MessageWriter(1 << 20);

  private Envelope envelope() {
    return new Envelope(
        new NamedQueue("q"),
        new DestinationName(DestinationKind.QUEUE, "q"),
        true,
        7,
        60_000,
        5_000,
        new MessageId(new UUID(1, 2), 3),
        1_000_000,
        true,
        null);
  }

  private byte[] entry(Message message) throws JMSException {
    byte[] encoded = ((LightmqMessage) message).encode(writer, envelope(), MAPPER);
    EntryStamp stamp = new EntryStamp(4, 1, 100, 5_000, 1, new byte[0]);
    ByteBuffer entry = ByteBuffer.allocate(Entry.entryBytes(stamp, encoded.length));
    Entry.write(entry, 0, stamp, 9, 65_000, ByteBuffer.wrap(encoded), 0, encoded.length);
    return entry.array();
  }

  @SuppressWarnings("unchecked")
  private <M extends Message> M sent(M message) throws JMSException {
    return (M) messages.received(entry(message), 1, null);
  }

  @Test
  void headersComeThrough() throws Exception {
    TextMessage message = messages.text("hello");
    message.setJMSCorrelationID("c");
    message.setJMSType("greeting");
    message.setJMSReplyTo(new NamedQueue("answers"));
    TextMessage got = sent(message);
    assertThat(got.getText()).isEqualTo("hello");
    assertThat(got.getJMSCorrelationID()).isEqualTo("c");
    assertThat(got.getJMSCorrelationIDAsBytes()).asString().isEqualTo("c");
    assertThat(got.getJMSType()).isEqualTo("greeting");
    assertThat(got.getJMSReplyTo()).isEqualTo(new NamedQueue("answers"));
    assertThat(got.getJMSDestination()).isEqualTo(new NamedQueue("q"));
    assertThat(got.getJMSPriority()).isEqualTo(7);
    assertThat(got.getJMSTimestamp()).isEqualTo(1_000_000);
    assertThat(got.getJMSDeliveryTime()).isEqualTo(1_005_000);
    assertThat(got.getJMSExpiration()).isEqualTo(1_060_000);
    assertThat(got.getJMSMessageID()).isEqualTo(new MessageId(new UUID(1, 2), 3).toString());
    assertThat(got.getJMSRedelivered()).isFalse();
  }

  @Test
  void aCorrelationIdInBytesStaysBytes() throws Exception {
    TextMessage message = messages.text(null);
    message.setJMSCorrelationIDAsBytes(new byte[] {0, -1});
    TextMessage got = sent(message);
    assertThat(got.getJMSCorrelationIDAsBytes()).containsExactly(0, -1);
    assertThat(got.getText()).isNull();
  }

  @Test
  void propertiesComeThroughWithTheirTypesAndTheDeliveryCount() throws Exception {
    Message message = messages.plain();
    Map<String, Object> values =
        Map.of(
            "b", true, "y", (byte) 1, "s", (short) 2, "i", 3, "l", 4L, "f", 5f, "d", 6d, "t", "7");
    for (Map.Entry<String, Object> value : values.entrySet()) {
      message.setObjectProperty(value.getKey(), value.getValue());
    }
    message.setObjectProperty("JMSXGroupID", "g");
    message.setIntProperty("JMSXDeliveryCount", 77);
    Message got = sent(message);
    for (Map.Entry<String, Object> value : values.entrySet()) {
      assertThat(got.getObjectProperty(value.getKey())).isEqualTo(value.getValue());
    }
    List<?> names = Collections.list(got.getPropertyNames());
    assertThat(names).hasSize(10);
    assertThat(got.getIntProperty("JMSXDeliveryCount")).isEqualTo(1);
    assertThatThrownBy(() -> got.setStringProperty("x", "y"))
        .isInstanceOf(MessageNotWriteableException.class);
    got.clearProperties();
    got.setStringProperty("x", "y");
    assertThat(got.getStringProperty("x")).isEqualTo("y");
  }

  @Test
  void unsetPropertiesAreReadAsNull() throws Exception {
    Message message = messages.plain();
    assertThat(message.getBooleanProperty("no")).isFalse();
    assertThat(message.getStringProperty("no")).isNull();
    assertThat(message.getObjectProperty("no")).isNull();
    assertThatThrownBy(() -> message.getByteProperty("no"))
        .isInstanceOf(NumberFormatException.class);
    assertThatThrownBy(() -> message.getIntProperty("no"))
        .isInstanceOf(NumberFormatException.class);
    assertThatThrownBy(() -> message.getLongProperty("no"))
        .isInstanceOf(NumberFormatException.class);
    assertThatThrownBy(() -> message.getFloatProperty("no"))
        .isInstanceOf(NullPointerException.class);
    assertThatThrownBy(() -> message.getDoubleProperty("no"))
        .isInstanceOf(NullPointerException.class);
  }

  @ParameterizedTest
  @ValueSource(strings = {"a b", "1a", "a-b", "NULL", "LIKE", "BETWEEN", "JMSFoo"})
  void namesThatNoSelectorCouldUseAreRefused(String name) {
    Message message = messages.plain();
    assertThatThrownBy(() -> message.setIntProperty(name, 1)).isInstanceOf(JMSException.class);
  }

  @Test
  void anEmptyNameIsAnIllegalArgument() {
    Message message = messages.plain();
    assertThatThrownBy(() -> message.setIntProperty("", 1))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> message.setIntProperty(null, 1))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> messages.map().setInt("", 1))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void valuesOfOtherTypesAreRefused() {
    assertThatThrownBy(() -> messages.plain().setObjectProperty("x", 'c'))
        .isInstanceOf(MessageFormatException.class);
    assertThatThrownBy(() -> messages.plain().setObjectProperty("x", List.of()))
        .isInstanceOf(MessageFormatException.class);
    assertThatThrownBy(() -> messages.map().setObject("x", List.of()))
        .isInstanceOf(MessageFormatException.class);
    assertThatThrownBy(() -> messages.stream().writeObject(new Object()))
        .isInstanceOf(MessageFormatException.class);
    assertThatThrownBy(() -> messages.bytes().writeObject(new Object()))
        .isInstanceOf(MessageFormatException.class);
  }

  @Test
  void bytesAreWrittenThenRead() throws Exception {
    BytesMessage message = messages.bytes();
    assertThatThrownBy(message::readByte).isInstanceOf(MessageNotReadableException.class);
    assertThatThrownBy(message::getBodyLength).isInstanceOf(MessageNotReadableException.class);
    message.writeBoolean(true);
    message.writeByte((byte) -1);
    message.writeShort((short) -2);
    message.writeChar('ä');
    message.writeInt(3);
    message.writeLong(4);
    message.writeFloat(5.5f);
    message.writeDouble(6.5);
    message.writeUTF("Grüße");
    message.writeBytes(new byte[] {1, 2, 3}, 1, 2);
    message.writeObject("x");
    BytesMessage got = sent(message);
    assertThat(got.readBoolean()).isTrue();
    assertThat(got.readUnsignedByte()).isEqualTo(255);
    assertThat(got.readUnsignedShort()).isEqualTo(65_534);
    assertThat(got.readChar()).isEqualTo('ä');
    assertThat(got.readInt()).isEqualTo(3);
    assertThat(got.readLong()).isEqualTo(4);
    assertThat(got.readFloat()).isEqualTo(5.5f);
    assertThat(got.readDouble()).isEqualTo(6.5);
    assertThat(got.readUTF()).isEqualTo("Grüße");
    byte[] two = new byte[2];
    assertThat(got.readBytes(two)).isEqualTo(2);
    assertThat(two).containsExactly(2, 3);
    assertThat(got.readUTF()).isEqualTo("x");
    assertThat(got.readBytes(two)).isEqualTo(-1);
    assertThatThrownBy(got::readByte).isInstanceOf(MessageEOFException.class);
    assertThatThrownBy(() -> got.writeByte((byte) 1))
        .isInstanceOf(MessageNotWriteableException.class);
    assertThatThrownBy(() -> got.readBytes(two, 3)).isInstanceOf(IndexOutOfBoundsException.class);
    got.clearBody();
    got.writeInt(1);
    got.reset();
    assertThat(got.getBodyLength()).isEqualTo(4);
  }

  @Test
  void aReadBeyondTheEndLeavesThePlace() throws Exception {
    BytesMessage message = messages.bytes();
    message.writeShort((short) 513);
    message.reset();
    assertThatThrownBy(message::readInt).isInstanceOf(MessageEOFException.class);
    assertThat(message.readShort()).isEqualTo((short) 513);
  }

  @Test
  void aStreamKeepsTypesAndNull() throws Exception {
    StreamMessage message = messages.stream();
    message.writeObject(null);
    message.writeChar('c');
    message.writeBytes(new byte[] {1, 2, 3});
    message.writeString("s");
    StreamMessage got = sent(message);
    assertThat(got.readObject()).isNull();
    assertThat(got.readChar()).isEqualTo('c');
    byte[] part = new byte[2];
    assertThat(got.readBytes(part)).isEqualTo(2);
    assertThatThrownBy(got::readString).isInstanceOf(MessageFormatException.class);
    assertThat(got.readBytes(part)).isEqualTo(1);
    assertThat(got.readString()).isEqualTo("s");
    assertThatThrownBy(got::readString).isInstanceOf(MessageEOFException.class);
  }

  @Test
  void bytesOfExactlyTheArraysLengthEndWithMinusOne() throws Exception {
    StreamMessage message = messages.stream();
    message.writeBytes(new byte[] {1, 2});
    message.writeInt(3);
    message.reset();
    byte[] two = new byte[2];
    assertThat(message.readBytes(two)).isEqualTo(2);
    assertThat(message.readBytes(two)).isEqualTo(-1);
    assertThat(message.readInt()).isEqualTo(3);
  }

  @Test
  void aNumberThatDoesNotParseLeavesThePlace() throws Exception {
    StreamMessage message = messages.stream();
    message.writeString("seven");
    message.reset();
    assertThatThrownBy(message::readInt).isInstanceOf(NumberFormatException.class);
    assertThat(message.readString()).isEqualTo("seven");
  }

  @Test
  void aMapComesThroughInOrder() throws Exception {
    MapMessage message = messages.map(Map.of("k", 'v'));
    message.setBytes("bytes", new byte[] {1, 2, 3}, 1, 1);
    MapMessage got = sent(message);
    assertThat(got.getChar("k")).isEqualTo('v');
    assertThat(got.getBytes("bytes")).containsExactly(2);
    assertThat(got.itemExists("none")).isFalse();
    assertThat(Collections.list(got.getMapNames())).hasSize(2);
    assertThat((Map<?, ?>) got.getBody(Map.class)).hasSize(2);
    assertThatThrownBy(() -> got.setInt("x", 1)).isInstanceOf(MessageNotWriteableException.class);
  }

  @Test
  void bodiesAreGivenOutOnlyAsWhatTheyAre() throws Exception {
    assertThat(messages.text("t").getBody(String.class)).isEqualTo("t");
    assertThat(messages.text("t").getBody(CharSequence.class)).isEqualTo("t");
    assertThat(messages.text(null).getBody(Integer.class)).isNull();
    assertThatThrownBy(() -> messages.text("t").getBody(Integer.class))
        .isInstanceOf(MessageFormatException.class);
    assertThat(messages.plain().getBody(Integer.class)).isNull();
    assertThat(messages.plain().isBodyAssignableTo(Integer.class)).isTrue();
    BytesMessage bytes = messages.bytes();
    bytes.writeByte((byte) 1);
    assertThat(bytes.getBody(byte[].class)).containsExactly(1);
    assertThatThrownBy(() -> bytes.getBody(String.class))
        .isInstanceOf(MessageFormatException.class);
    assertThat(messages.stream().isBodyAssignableTo(Object.class)).isFalse();
    assertThatThrownBy(() -> messages.stream().getBody(Object.class))
        .isInstanceOf(MessageFormatException.class);
    assertThat(messages.object(5).isBodyAssignableTo(Number.class)).isTrue();
    assertThat(messages.object(5).isBodyAssignableTo(String.class)).isFalse();
  }

  private enum Colour {
    RED
  }

  private record Unknown(String text) implements Serializable {}

  @Test
  void objectsOfTrustedClassesAreRead() throws Exception {
    assertThat(sent(messages.object(new StringBuffer("x"))).getObject().toString()).isEqualTo("x");
    Vector<Object> list = new Vector<>(List.of(1, "two", 3.0));
    assertThat(sent(messages.object(list)).getObject()).isEqualTo(list);
    assertThat(sent(messages.object(new int[] {1})).getObject()).isEqualTo(new int[] {1});
    assertThat(sent(messages.object(null)).getObject()).isNull();
  }

  @Test
  void objectsOfOtherClassesAreRefusedNamingTheOption() throws Exception {
    for (Serializable object : List.of(new Unknown("x"), Colour.RED)) {
      ObjectMessage got = sent(messages.object(object));
      assertThatThrownBy(got::getObject)
          .isInstanceOf(JMSException.class)
          .hasMessageContaining("trustedPackages")
          .extracting(e -> ((JMSException) e).getErrorCode())
          .isEqualTo("LMQ-111");
    }
    Messages trusting = new Messages(new ObjectTrust(Set.of("io.lightmq")), MAPPER, Jmsx.NONE);
    ObjectMessage trusted =
        (ObjectMessage) trusting.received(entry(messages.object(new Unknown("x"))), 1, null);
    assertThat(trusted.getObject()).isEqualTo(new Unknown("x"));
  }

  @Test
  void anEntryOfTheAllowListMayNameAClass() {
    ObjectTrust trust = new ObjectTrust(Set.of("shop.Order", "shop.items"));
    assertThat(trust.trusts("shop.Order")).isTrue();
    assertThat(trust.trusts("shop.Order$Line")).isTrue();
    assertThat(trust.trusts("shop.items.Book")).isTrue();
    assertThat(trust.trusts("shop.Orders")).isFalse();
    assertThat(trust.trusts("shop.itemsofothers.Book")).isFalse();
    assertThat(trust.trusts("shop.Other")).isFalse();
  }

  @Test
  void objectsOfAClassThatTheAllowListNamesAreRead() throws Exception {
    for (String entry : List.of(Unknown.class.getName(), MessageTest.class.getName())) {
      Messages trusting = new Messages(new ObjectTrust(Set.of(entry)), MAPPER, Jmsx.NONE);
      ObjectMessage got =
          (ObjectMessage) trusting.received(entry(messages.object(new Unknown("x"))), 1, null);
      assertThat(got.getObject()).isEqualTo(new Unknown("x"));
    }
  }

  @Test
  void whatCannotBeSerialisedIsRefusedWhenItIsSet() {
    ArrayHolder holder = new ArrayHolder(new Object());
    assertThatThrownBy(() -> messages.object(holder)).isInstanceOf(MessageFormatException.class);
  }

  private record ArrayHolder(Object notSerialisable) implements Serializable {}

  @Test
  void aDamagedMessageIsNoticed() throws Exception {
    byte[] entry = entry(messages.text("hello"));
    entry[entry.length - 1] ^= 1;
    assertThatThrownBy(() -> messages.received(entry, 1, null))
        .isInstanceOf(MalformedMessageException.class)
        .hasMessageContaining("crc");
  }

  @Test
  void receivedBodiesAreReadOnlyUntilCleared() throws Exception {
    TextMessage got = sent(messages.text("hello"));
    assertThatThrownBy(() -> got.setText("x")).isInstanceOf(MessageNotWriteableException.class);
    got.clearBody();
    assertThat(got.getText()).isNull();
    got.setText("x");
    assertThat(got.getText()).isEqualTo("x");
  }

  @Test
  void aReceivedMessageCanBeSentOn() throws Exception {
    MapMessage message = messages.map(Map.of("k", 1));
    message.setStringProperty("p", "v");
    message.setJMSCorrelationID("c");
    MapMessage again = sent(sent(message));
    assertThat(again.getInt("k")).isEqualTo(1);
    assertThat(again.getStringProperty("p")).isEqualTo("v");
    assertThat(again.getJMSCorrelationID()).isEqualTo("c");
  }
}

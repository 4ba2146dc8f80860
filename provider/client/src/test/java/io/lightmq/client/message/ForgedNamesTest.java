package io.lightmq.client.message;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.wire.entry.BodyType;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.Entry;
import io.lightmq.wire.entry.EntryStamp;
import io.lightmq.wire.entry.MessageReader;
import io.lightmq.wire.entry.MessageWriter;
import jakarta.jms.Destination;
import jakarta.jms.JMSException;
import jakarta.jms.TextMessage;
import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Properties that only the provider sets: what a sender wrote under their names is not shown. */
class ForgedNamesTest {
  private static final DestinationName ORDERS =
      new DestinationName(DestinationKind.QUEUE, "orders");

  private static final DestinationMapper MAPPER =
      new DestinationMapper() {
        @Override
        public DestinationName nameOf(Destination destination) {
          return ORDERS;
        }

        @Override
        public Destination destinationOf(DestinationName name) {
          throw new AssertionError("no destination is asked for");
        }
      };

  private static LightmqMessage received(Jmsx jmsx, Map<String, Object> properties) {
    MessageWriter writer = new MessageWriter(1 << 16);
    writer.start(BodyType.TEXT, 4, true, 0, 0).properties(properties).textBody("a").finish();
    byte[] message = writer.toByteArray();
    byte[] user = {'a', 'd', 'a'};
    ByteBuffer entry = ByteBuffer.allocate(1 << 12);
    int length =
        Entry.write(
            entry,
            0,
            new EntryStamp(4, 1, 9, 5_000, 1, user),
            7,
            0,
            ByteBuffer.wrap(message),
            0,
            message.length);
    byte[] bytes = new byte[length];
    entry.get(0, bytes);
    return new Messages(new ObjectTrust(Set.of()), MAPPER, jmsx).received(bytes, 1, null);
  }

  private static Map<String, Object> forged() {
    Map<String, Object> properties = new LinkedHashMap<>();
    properties.put("JMSXUserID", "root");
    properties.put("JMSXDeliveryCount", 77);
    properties.put("JMSXRcvTimestamp", 5L);
    properties.put("JMSXState", 5);
    properties.put("JMSXGroupID", "g");
    properties.put("n", 1);
    return properties;
  }

  @Test
  void aForgedUserIsNeverRead() throws JMSException {
    LightmqMessage plain = received(Jmsx.NONE, forged());
    assertThat(plain.propertyExists("JMSXUserID")).isFalse();
    assertThat(plain.propertyExists("JMSXState")).isFalse();
    assertThat(plain.propertyExists("JMSXRcvTimestamp")).isFalse();
    assertThat(plain.getIntProperty("JMSXDeliveryCount")).isEqualTo(1);
    assertThat(plain.getStringProperty("JMSXGroupID")).isEqualTo("g");
    LightmqMessage asked = received(Jmsx.parse("JMSXUserID"), forged());
    assertThat(asked.getStringProperty("JMSXUserID")).isEqualTo("ada");
  }

  @Test
  void whatABrokerWroteOnADeadLetterIsReadAndNotSentOn() throws JMSException {
    Map<String, Object> properties = new LinkedHashMap<>();
    properties.put("JMS_LightMQ_Origin", "orders");
    properties.put("n", 1);
    LightmqMessage letter = received(Jmsx.NONE, properties);
    assertThat(letter.getStringProperty("JMS_LightMQ_Origin")).isEqualTo("orders");
    assertThat(sent(letter)).containsOnlyKeys("n");
  }

  @Test
  void whatAnApplicationSetsUnderSuchNamesIsNotSent() throws JMSException {
    TextMessage message = new LightmqTextMessage();
    message.setText("a");
    message.setStringProperty("JMSXUserID", "root");
    message.setStringProperty("JMSXAppID", "app");
    message.setStringProperty("JMS_LightMQ_Origin", "payroll");
    message.setStringProperty("JMSXGroupID", "g");
    message.setIntProperty("n", 1);
    assertThat(sent((LightmqMessage) message)).containsOnlyKeys("JMSXGroupID", "n");
    assertThat(message.getStringProperty("JMSXUserID")).as("the object stays").isEqualTo("root");
  }

  private static Map<String, Object> sent(LightmqMessage message) throws JMSException {
    byte[] bytes =
        message.encode(
            new MessageWriter(1 << 16),
            new Envelope(null, ORDERS, true, 4, 0, 0, null, 0, false, null),
            MAPPER);
    return new MessageReader(ByteBuffer.wrap(bytes), 0, bytes.length).properties();
  }
}

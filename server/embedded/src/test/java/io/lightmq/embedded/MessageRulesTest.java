package io.lightmq.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.client.LightmqConnectionFactory;
import jakarta.jms.BytesMessage;
import jakarta.jms.Connection;
import jakarta.jms.DeliveryMode;
import jakarta.jms.Destination;
import jakarta.jms.JMSException;
import jakarta.jms.MapMessage;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageEOFException;
import jakarta.jms.MessageNotWriteableException;
import jakarta.jms.MessageProducer;
import jakarta.jms.ObjectMessage;
import jakarta.jms.Queue;
import jakarta.jms.Session;
import jakarta.jms.StreamMessage;
import jakarta.jms.TextMessage;
import jakarta.jms.Topic;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.Collections;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Section 3: what may be changed when, and messages and destinations of other providers. */
class MessageRulesTest {
  private static final long WAIT_MILLIS = 20_000;

  private Connection connection;
  private Session session;
  private Queue queue;
  private MessageProducer producer;
  private MessageConsumer consumer;

  @BeforeEach
  void connect() throws JMSException {
    connection =
        new LightmqConnectionFactory("lightmq:mem:" + UUID.randomUUID()).createConnection();
    connection.start();
    session = connection.createSession();
    queue = session.createQueue("q");
    producer = session.createProducer(queue);
    consumer = session.createConsumer(queue);
  }

  @AfterEach
  void close() throws JMSException {
    connection.close();
  }

  private Message passed(Message message) throws JMSException {
    producer.send(message);
    return consumer.receive(WAIT_MILLIS);
  }

  // ---- 3.10 what may be changed ----

  @Test
  void aReceivedMessageIsOpenedPartByPart() throws JMSException {
    TextMessage sent = session.createTextMessage("text");
    sent.setStringProperty("colour", "red");
    TextMessage got = (TextMessage) passed(sent);
    assertThatThrownBy(() -> got.setStringProperty("colour", "blue"))
        .isInstanceOf(MessageNotWriteableException.class);
    assertThatThrownBy(() -> got.setText("other")).isInstanceOf(MessageNotWriteableException.class);
    got.clearProperties();
    got.setStringProperty("colour", "blue");
    assertThat(got.getText()).isEqualTo("text");
    got.clearBody();
    assertThat(got.getText()).isNull();
    got.setText("other");
    assertThat(got.getStringProperty("colour")).isEqualTo("blue");
    TextMessage again = (TextMessage) passed(got);
    assertThat(again.getText()).isEqualTo("other");
    assertThat(again.getStringProperty("colour")).isEqualTo("blue");
  }

  @Test
  void aSentMessageMayBeChangedAndSentAgain() throws JMSException {
    TextMessage message = session.createTextMessage("first");
    producer.send(message);
    String firstId = message.getJMSMessageID();
    message.setText("second");
    message.setIntProperty("n", 2);
    producer.send(message);
    assertThat(message.getJMSMessageID()).isNotEqualTo(firstId);
    assertThat(((TextMessage) consumer.receive(WAIT_MILLIS)).getText()).isEqualTo("first");
    TextMessage second = (TextMessage) consumer.receive(WAIT_MILLIS);
    assertThat(second.getText()).isEqualTo("second");
    assertThat(second.getIntProperty("n")).isEqualTo(2);
  }

  @Test
  void whatTheApplicationSetsInHeadersOfTheProviderIsOverwritten() throws JMSException {
    Message message = session.createMessage();
    message.setJMSPriority(9);
    message.setJMSDeliveryMode(DeliveryMode.NON_PERSISTENT);
    message.setJMSExpiration(1);
    message.setJMSTimestamp(1);
    message.setJMSMessageID("ID:mine");
    message.setJMSRedelivered(true);
    message.setJMSDestination(session.createQueue("other"));
    message.setJMSDeliveryTime(1);
    Message got = passed(message);
    for (Message each : List.of(message, got)) {
      assertThat(each.getJMSPriority()).isEqualTo(4);
      assertThat(each.getJMSDeliveryMode()).isEqualTo(DeliveryMode.PERSISTENT);
      assertThat(each.getJMSExpiration()).isZero();
      assertThat(each.getJMSTimestamp()).isGreaterThan(1);
      assertThat(each.getJMSDeliveryTime()).isGreaterThan(1);
      assertThat(each.getJMSMessageID()).startsWith("ID:").isNotEqualTo("ID:mine");
      assertThat(each.getJMSRedelivered()).isFalse();
      assertThat(each.getJMSDestination()).isEqualTo(queue);
    }
  }

  @Test
  void anObjectIsCopiedWhenItIsSet() throws JMSException {
    StringBuffer body = new StringBuffer("before");
    ObjectMessage message = session.createObjectMessage(body);
    body.append(" and after");
    ObjectMessage got = (ObjectMessage) passed(message);
    assertThat(got.getObject()).hasToString("before");
  }

  // ---- other providers ----

  private static final class OtherQueue implements Queue {
    private final String name;

    OtherQueue(String name) {
      this.name = name;
    }

    @Override
    public String getQueueName() {
      return name;
    }
  }

  private static final class OtherTopic implements Topic {
    private final String name;

    OtherTopic(String name) {
      this.name = name;
    }

    @Override
    public String getTopicName() {
      return name;
    }
  }

  /** A message of another provider: what was set is what is got, the body is as given. */
  private static <M extends Message> M foreign(Class<M> api, InvocationHandler body) {
    Map<String, Object> headers = new LinkedHashMap<>();
    Map<String, Object> properties = new LinkedHashMap<>();
    Object made =
        Proxy.newProxyInstance(
            api.getClassLoader(),
            new Class<?>[] {api},
            (proxy, method, arguments) -> {
              String name = method.getName();
              if (name.startsWith("setJMS")) {
                headers.put(name.substring(3), arguments[0]);
                return null;
              } else if (name.startsWith("getJMS")) {
                Object value = headers.get(name.substring(3));
                return value == null && method.getReturnType() == int.class ? (Object) 0 : value;
              } else if (name.matches("set\\w+Property")) {
                properties.put((String) arguments[0], arguments[1]);
                return null;
              } else if (name.equals("getPropertyNames")) {
                return Collections.enumeration(properties.keySet());
              } else if (name.equals("getObjectProperty")) {
                return properties.get((String) arguments[0]);
              }
              return body.invoke(proxy, method, arguments);
            });
    return api.cast(made);
  }

  private <M extends Message> M passedOn(M foreign) throws JMSException {
    foreign.setJMSType("type");
    foreign.setJMSCorrelationID("correlated");
    foreign.setJMSReplyTo(new OtherTopic("replies"));
    foreign.setStringProperty("colour", "red");
    foreign.setStringProperty("JMSXUserID", "theirs");
    @SuppressWarnings("unchecked")
    M got = (M) passed(foreign);
    assertThat(got.getJMSType()).isEqualTo("type");
    assertThat(got.getJMSCorrelationID()).isEqualTo("correlated");
    assertThat(got.getJMSReplyTo()).isEqualTo(session.createTopic("replies"));
    assertThat(got.getStringProperty("colour")).isEqualTo("red");
    assertThat(got.propertyExists("JMSXUserID")).isFalse();
    assertThat(foreign.getJMSMessageID()).isEqualTo(got.getJMSMessageID());
    assertThat(foreign.getJMSDestination()).isEqualTo(queue);
    assertThat(foreign.getJMSTimestamp()).isEqualTo(got.getJMSTimestamp());
    assertThat(foreign.getJMSExpiration()).isEqualTo(got.getJMSExpiration());
    assertThat(foreign.getJMSDeliveryTime()).isEqualTo(got.getJMSDeliveryTime());
    assertThat(foreign.getJMSPriority()).isEqualTo(4);
    assertThat(foreign.getJMSDeliveryMode()).isEqualTo(DeliveryMode.PERSISTENT);
    return got;
  }

  @Test
  void aForeignMessageWithoutABodyIsSent() throws JMSException {
    passedOn(foreign(Message.class, (proxy, method, arguments) -> null));
  }

  @Test
  void aForeignTextIsSent() throws JMSException {
    TextMessage got = passedOn(foreign(TextMessage.class, (proxy, method, arguments) -> "text"));
    assertThat(got.getText()).isEqualTo("text");
  }

  @Test
  void aForeignObjectIsSent() throws JMSException {
    ObjectMessage got = passedOn(foreign(ObjectMessage.class, (proxy, method, arguments) -> 42));
    assertThat(got.getObject()).isEqualTo(42);
  }

  @Test
  void aForeignMapIsSentWithItsCharacters() throws JMSException {
    Map<String, Object> entries = new LinkedHashMap<>();
    entries.put("character", 'c');
    entries.put("bytes", new byte[] {1, 2});
    entries.put("nothing", null);
    MapMessage got =
        passedOn(
            foreign(
                MapMessage.class,
                (proxy, method, arguments) ->
                    method.getName().equals("getMapNames")
                        ? Collections.enumeration(entries.keySet())
                        : entries.get((String) arguments[0])));
    assertThat(got.getChar("character")).isEqualTo('c');
    assertThat(got.getBytes("bytes")).containsExactly(1, 2);
    assertThat(got.itemExists("nothing")).isTrue();
    assertThat(got.getObject("nothing")).isNull();
  }

  @Test
  void aForeignStreamIsSent() throws JMSException {
    Iterator<Object> values = List.<Object>of(1, 'c', "text", new byte[] {7}, 2.5).iterator();
    StreamMessage got =
        passedOn(
            foreign(
                StreamMessage.class,
                (proxy, method, arguments) -> {
                  if (method.getName().equals("reset")) {
                    return null;
                  }
                  if (values.hasNext()) {
                    return values.next();
                  }
                  throw new MessageEOFException("the end");
                }));
    assertThat(got.readInt()).isEqualTo(1);
    assertThat(got.readChar()).isEqualTo('c');
    assertThat(got.readString()).isEqualTo("text");
    assertThat((byte[]) got.readObject()).containsExactly(7);
    assertThat(got.readDouble()).isEqualTo(2.5);
    assertThatThrownBy(got::readObject).isInstanceOf(MessageEOFException.class);
  }

  @Test
  void foreignBytesAreSent() throws JMSException {
    int[] left = {10_000};
    BytesMessage got =
        passedOn(
            foreign(
                BytesMessage.class,
                (proxy, method, arguments) -> {
                  if (method.getName().equals("reset")) {
                    return null;
                  }
                  int count = Math.min(left[0], ((byte[]) arguments[0]).length);
                  java.util.Arrays.fill((byte[]) arguments[0], 0, count, (byte) 5);
                  left[0] -= count;
                  return count == 0 ? -1 : count;
                }));
    assertThat(got.getBodyLength()).isEqualTo(10_000);
    assertThat(got.readByte()).isEqualTo((byte) 5);
  }

  @Test
  void destinationsOfAnotherProviderAreTakenByTheirName() throws JMSException {
    session.createProducer(new OtherQueue("shared")).send(session.createTextMessage("x"));
    MessageConsumer by = session.createConsumer(new OtherQueue("shared"));
    Message got = by.receive(WAIT_MILLIS);
    assertThat(got.getJMSDestination()).isEqualTo(session.createQueue("shared"));
    assertThat(session.createConsumer(new OtherTopic("news"))).isNotNull();
  }

  @Test
  void aDestinationThatHasNoNameIsRefusedWithItsClass() {
    Destination nameless = new Destination() {};
    assertThatThrownBy(() -> session.createConsumer(nameless))
        .isInstanceOf(jakarta.jms.InvalidDestinationException.class)
        .hasMessageContaining("neither Queue nor Topic");
    assertThatThrownBy(() -> session.createConsumer(new OtherQueue(null)))
        .isInstanceOf(jakarta.jms.InvalidDestinationException.class)
        .hasMessageContaining("name is null");
  }
}

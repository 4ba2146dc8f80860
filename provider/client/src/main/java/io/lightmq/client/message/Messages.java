package io.lightmq.client.message;

import io.lightmq.client.fault.JmsFaults;
import io.lightmq.wire.entry.BodyType;
import io.lightmq.wire.entry.Entry;
import io.lightmq.wire.entry.MalformedMessageException;
import io.lightmq.wire.entry.MessageReader;
import jakarta.jms.BytesMessage;
import jakarta.jms.JMSException;
import jakarta.jms.MapMessage;
import jakarta.jms.Message;
import jakarta.jms.MessageEOFException;
import jakarta.jms.ObjectMessage;
import jakarta.jms.StreamMessage;
import jakarta.jms.TextMessage;
import java.io.Serializable;
import java.nio.ByteBuffer;
import java.util.Enumeration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Makes messages: new ones, received ones, and ours of other providers'. */
public final class Messages {
  private final ObjectTrust trust;
  private final DestinationMapper mapper;
  private final Jmsx jmsx;

  public Messages(ObjectTrust trust, DestinationMapper mapper, Jmsx jmsx) {
    this.trust = trust;
    this.mapper = mapper;
    this.jmsx = jmsx;
  }

  public LightmqMessage plain() {
    return new PlainMessage();
  }

  public TextMessage text(@Nullable String text) throws JMSException {
    TextMessage message = new LightmqTextMessage();
    message.setText(text);
    return message;
  }

  public BytesMessage bytes() {
    return new LightmqBytesMessage();
  }

  public MapMessage map() {
    return new LightmqMapMessage();
  }

  public StreamMessage stream() {
    return new LightmqStreamMessage();
  }

  public ObjectMessage object(@Nullable Serializable object) throws JMSException {
    ObjectMessage message = new LightmqObjectMessage(trust);
    message.setObject(object);
    return message;
  }

  /** A map message with the entries of a map. */
  public MapMessage map(@Nullable Map<String, Object> entries) throws JMSException {
    MapMessage message = map();
    if (entries != null) {
      for (Map.Entry<String, Object> entry : entries.entrySet()) {
        message.setObject(entry.getKey(), entry.getValue());
      }
    }
    return message;
  }

  /**
   * The message in an entry, whose bytes the message keeps.
   *
   * @param deliveries how often it was delivered, this time included
   * @param transaction that it is received in, if it is
   * @throws MalformedMessageException if the bytes are damaged
   */
  public LightmqMessage received(byte[] entry, int deliveries, @Nullable String transaction) {
    ByteBuffer buffer = ByteBuffer.wrap(entry);
    MessageReader.check(buffer, Entry.messageOffset(buffer, 0), Entry.messageBytes(buffer, 0));
    MessageReader reader = MessageReader.ofEntry(buffer, 0);
    LightmqMessage message = empty(reader.bodyType());
    message.receive(
        reader,
        mapper,
        deliveries,
        jmsx.received(buffer, deliveries, transaction),
        jmsx.tellsProducerTransaction(),
        Entry.expiryMillis(buffer, 0));
    message.enqueued(Entry.enqueuedMillis(buffer, 0));
    return message;
  }

  private LightmqMessage empty(BodyType type) {
    return switch (type) {
      case MESSAGE -> new PlainMessage();
      case TEXT -> new LightmqTextMessage();
      case BYTES -> new LightmqBytesMessage();
      case MAP -> new LightmqMapMessage();
      case STREAM -> new LightmqStreamMessage();
      case OBJECT -> new LightmqObjectMessage(trust);
    };
  }

  /** The message itself, or a copy of ours of another provider's. */
  public LightmqMessage ours(Message message) throws JMSException {
    if (message instanceof LightmqMessage own) {
      return own;
    }
    LightmqMessage copy = Foreign.body(message, () -> copyOf(message));
    copy.copyFrom(message);
    return copy;
  }

  private LightmqMessage copyOf(Message message) throws JMSException {
    if (message instanceof TextMessage text) {
      return (LightmqMessage) text(text.getText());
    } else if (message instanceof ObjectMessage object) {
      return (LightmqMessage) object(object.getObject());
    } else if (message instanceof MapMessage map) {
      LightmqMapMessage copy = new LightmqMapMessage();
      Enumeration<?> names = map.getMapNames();
      while (names.hasMoreElements()) {
        String name = String.valueOf(names.nextElement());
        copy.setObject(name, map.getObject(name));
      }
      return copy;
    } else if (message instanceof BytesMessage bytes) {
      return copyOfBytes(bytes);
    } else if (message instanceof StreamMessage stream) {
      return copyOfStream(stream);
    }
    return plain();
  }

  private static LightmqMessage copyOfBytes(BytesMessage bytes) throws JMSException {
    LightmqBytesMessage copy = new LightmqBytesMessage();
    bytes.reset();
    byte[] part = new byte[8192];
    for (int count = bytes.readBytes(part); count > 0; count = bytes.readBytes(part)) {
      copy.writeBytes(part, 0, count);
    }
    return copy;
  }

  private static LightmqMessage copyOfStream(StreamMessage stream) throws JMSException {
    LightmqStreamMessage copy = new LightmqStreamMessage();
    stream.reset();
    try {
      while (true) {
        copy.writeObject(stream.readObject());
      }
    } catch (MessageEOFException e) {
      return copy; // the only sign of the end that the API has
    }
  }

  /** Whether it is of the kind that never has a body. */
  public static boolean hasNoBody(Message message) {
    return message instanceof PlainMessage;
  }

  /** The error for bytes that are no message. */
  public static JMSException damaged(MalformedMessageException cause) {
    return JmsFaults.format("a received message is damaged: " + cause.getMessage(), cause);
  }
}

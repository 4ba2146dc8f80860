package io.lightmq.tck.golden;

import jakarta.jms.BytesMessage;
import jakarta.jms.Destination;
import jakarta.jms.JMSException;
import jakarta.jms.MapMessage;
import jakarta.jms.Message;
import jakarta.jms.MessageEOFException;
import jakarta.jms.ObjectMessage;
import jakarta.jms.Queue;
import jakarta.jms.StreamMessage;
import jakarta.jms.TextMessage;
import jakarta.jms.Topic;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.TreeMap;

/** All that an application sees of a message and that stays, in one line. */
final class MessageLine {
  /** What the broker writes into dead letters. */
  private static final String FACTS = "JMS_LightMQ_";

  private MessageLine() {}

  /**
   * The line of a message that was sent or received. Left out is what the broker says of its
   * deliveries and of dead letters.
   */
  static String of(Message message) throws JMSException {
    TreeMap<String, String> properties = new TreeMap<>();
    for (Object name : Collections.list(message.getPropertyNames())) {
      String text = (String) name;
      if (!text.equals("JMSXDeliveryCount") && !text.startsWith(FACTS)) {
        properties.put(text, typed(message.getObjectProperty(text)));
      }
    }
    String line =
        "%s mode=%d priority=%d timestamp=%d expires=%b correlation=%s type=%s reply=%s to=%s properties=%s body=%s"
            .formatted(
                message.getJMSMessageID(),
                message.getJMSDeliveryMode(),
                message.getJMSPriority(),
                message.getJMSTimestamp(),
                message.getJMSExpiration() != 0,
                message.getJMSCorrelationID(),
                message.getJMSType(),
                name(message.getJMSReplyTo()),
                name(message.getJMSDestination()),
                properties,
                body(message));
    return line.replace("\n", "\\n");
  }

  private static String name(Destination destination) throws JMSException {
    if (destination instanceof Queue queue) {
      return "queue:" + queue.getQueueName();
    }
    return destination instanceof Topic topic ? "topic:" + topic.getTopicName() : "none";
  }

  private static String typed(Object value) {
    if (value == null) {
      return "null";
    }
    String text =
        value instanceof byte[] bytes ? HexFormat.of().formatHex(bytes) : String.valueOf(value);
    return value.getClass().getSimpleName() + ":" + text;
  }

  private static String body(Message message) throws JMSException {
    if (message instanceof TextMessage text) {
      return "text " + text.getText();
    }
    if (message instanceof BytesMessage bytes) {
      bytes.reset();
      byte[] all = new byte[(int) bytes.getBodyLength()];
      bytes.readBytes(all);
      return "bytes " + HexFormat.of().formatHex(all);
    }
    if (message instanceof MapMessage map) {
      TreeMap<String, String> values = new TreeMap<>();
      for (Object name : Collections.list(map.getMapNames())) {
        values.put((String) name, typed(map.getObject((String) name)));
      }
      return "map " + values;
    }
    if (message instanceof StreamMessage stream) {
      stream.reset();
      return "stream " + values(stream);
    }
    if (message instanceof ObjectMessage object) {
      return "object " + typed(object.getObject());
    }
    return "none";
  }

  private static List<String> values(StreamMessage stream) throws JMSException {
    List<String> values = new ArrayList<>();
    while (true) {
      try {
        values.add(typed(stream.readObject()));
      } catch (MessageEOFException end) {
        return values;
      }
    }
  }
}

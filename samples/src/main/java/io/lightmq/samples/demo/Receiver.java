package io.lightmq.samples.demo;

import io.lightmq.client.message.LightmqMessage;
import jakarta.jms.BytesMessage;
import jakarta.jms.Connection;
import jakarta.jms.ConnectionFactory;
import jakarta.jms.JMSException;
import jakarta.jms.JMSRuntimeException;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.Session;
import jakarta.jms.Topic;

/** One listener on a connection of its own, which reports each delivery to its {@link Arrivals}. */
final class Receiver implements AutoCloseable {

  private final Connection connection;
  private final String name;
  private final Arrivals arrivals;

  private Receiver(Connection connection, String name, Arrivals arrivals) {
    this.connection = connection;
    this.name = name;
    this.arrivals = arrivals;
  }

  /** One of the listeners that compete for the queue. */
  static Receiver onQueue(ConnectionFactory factory, String name, Arrivals arrivals)
      throws JMSException {
    Connection connection = factory.createConnection();
    Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
    return new Receiver(connection, name, arrivals)
        .listen(session.createConsumer(session.createQueue(DemoLimits.QUEUE)));
  }

  /** The subscriber to which the topic owes every line. */
  static Receiver durable(ConnectionFactory factory, String name, Arrivals arrivals)
      throws JMSException {
    Connection connection = factory.createConnection();
    connection.setClientID("demo-" + name);
    Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
    Topic topic = session.createTopic(DemoLimits.TOPIC);
    return new Receiver(connection, name, arrivals)
        .listen(session.createDurableConsumer(topic, name));
  }

  /** The subscriber that gets what is published while it is connected. */
  static Receiver plain(ConnectionFactory factory, String name, Arrivals arrivals)
      throws JMSException {
    Connection connection = factory.createConnection();
    Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
    return new Receiver(connection, name, arrivals)
        .listen(session.createConsumer(session.createTopic(DemoLimits.TOPIC)));
  }

  private Receiver listen(MessageConsumer consumer) throws JMSException {
    consumer.setMessageListener(this::onMessage);
    connection.start();
    return this;
  }

  private void onMessage(Message message) {
    try {
      long nowMillis = System.currentTimeMillis();
      int number =
          message.propertyExists(DemoLimits.LINE) ? message.getIntProperty(DemoLimits.LINE) : 0;
      BytesMessage bytes = (BytesMessage) message;
      byte[] line = new byte[Math.toIntExact(bytes.getBodyLength())];
      bytes.readBytes(line);
      long enqueuedMillis = ((LightmqMessage) message).enqueuedMillis();
      arrivals.arrived(
          name,
          number,
          ContentHash.of(line),
          message.getJMSRedelivered(),
          nowMillis - enqueuedMillis);
    } catch (JMSException e) {
      throw new JMSRuntimeException(e.getMessage(), e.getErrorCode(), e);
    }
  }

  @Override
  public void close() throws JMSException {
    connection.close();
  }
}

package io.lightmq.tck.faults;

import io.lightmq.client.message.LightmqMessage;
import jakarta.jms.BytesMessage;
import jakarta.jms.ConnectionFactory;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.Session;
import jakarta.jms.TransactionRolledBackException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The receiving workers of a load. */
final class Consumers {

  private static final long RECEIVE_MILLIS = 100;

  private Consumers() {}

  /** Reads the stamp of a message and writes the delivery down. */
  static @Nullable Stamp log(String consumer, Message message, DeliveryLog log)
      throws JMSException {
    BytesMessage bytes = (BytesMessage) message;
    byte[] body = new byte[Math.toIntExact(bytes.getBodyLength())];
    bytes.readBytes(body);
    Stamp stamp = Payload.read(body);
    if (stamp == null) {
      log.foreign(consumer, body.length);
    } else {
      log.delivered(consumer, stamp, message.getJMSRedelivered(), storedMillis(message));
    }
    return stamp;
  }

  private static long storedMillis(Message message) {
    return ((LightmqMessage) message).enqueuedMillis();
  }

  /** Acknowledges every 31st message and with it the 30 before. */
  static final class Acknowledging extends Worker {
    private static final int TOGETHER = 31;

    private final DeliveryLog log;
    private final MessageConsumer consumer;
    private final List<Stamp> open = new ArrayList<>();
    private @Nullable Message last;

    Acknowledging(
        String name, ConnectionFactory factory, DeliveryLog log, Gate gate, EventLog events)
        throws JMSException {
      super(name, factory, null, gate, events);
      this.log = log;
      Session session = connection().createSession(false, Session.CLIENT_ACKNOWLEDGE);
      consumer = session.createConsumer(session.createQueue(log.target()));
      connection().start();
    }

    @Override
    void work() throws JMSException {
      Message message = consumer.receive(RECEIVE_MILLIS);
      if (message != null) {
        last = message;
        Stamp stamp = log(getName(), message, log);
        if (stamp != null) {
          open.add(stamp);
        }
      }
      if (last != null && (message == null || open.size() >= TOGETHER)) {
        acknowledge(last);
      }
    }

    private void acknowledge(Message newest) throws JMSException {
      List<Stamp> stamps = List.copyOf(open);
      open.clear();
      last = null;
      newest.acknowledge();
      log.settled(stamps);
    }
  }

  /** Receives in transactions of 20 and rolls back every sixth. */
  static final class Transacted extends Worker {
    private static final int TOGETHER = 20;

    private final DeliveryLog log;
    private final Session session;
    private final MessageConsumer consumer;

    /** Of the open transaction, which goes on after a receive that failed. */
    private final List<Stamp> open = new ArrayList<>();

    private int transactions;

    Transacted(String name, ConnectionFactory factory, DeliveryLog log, Gate gate, EventLog events)
        throws JMSException {
      super(name, factory, null, gate, events);
      this.log = log;
      session = connection().createSession(true, Session.SESSION_TRANSACTED);
      consumer = session.createConsumer(session.createQueue(log.target()));
      connection().start();
    }

    @Override
    void work() throws JMSException {
      Message message = consumer.receive(RECEIVE_MILLIS);
      while (message != null) {
        Stamp stamp = log(getName(), message, log);
        if (stamp != null) {
          open.add(stamp);
        }
        message = open.size() < TOGETHER ? consumer.receive(RECEIVE_MILLIS) : null;
      }
      if (open.isEmpty()) {
        return;
      }
      List<Stamp> stamps = List.copyOf(open);
      open.clear();
      transactions++;
      if (transactions % 6 == 0) {
        session.rollback();
        log.returned(getName(), stamps);
      } else {
        commit(stamps);
      }
    }

    private void commit(List<Stamp> stamps) throws JMSException {
      try {
        session.commit();
      } catch (TransactionRolledBackException e) {
        log.returned(getName(), stamps);
        throw e;
      }
      log.settled(stamps);
    }
  }

  /** The only consumer of its subscription, with automatic acknowledgement. */
  static final class Automatic extends Worker {
    private final DeliveryLog log;
    private final MessageConsumer consumer;

    Automatic(
        String name,
        ConnectionFactory factory,
        boolean durable,
        DeliveryLog log,
        Gate gate,
        EventLog events)
        throws JMSException {
      super(name, factory, durable ? clientId(name) : null, gate, events);
      this.log = log;
      Session session = connection().createSession(false, Session.AUTO_ACKNOWLEDGE);
      consumer =
          durable
              ? session.createDurableConsumer(session.createTopic(log.target()), name)
              : session.createConsumer(session.createQueue(log.target()));
      connection().start();
    }

    /** The client id of the one whose subscription is durable and has its name. */
    static String clientId(String name) {
      return "faults-" + name;
    }

    @Override
    void work() throws JMSException {
      Message message = consumer.receive(RECEIVE_MILLIS);
      if (message != null) {
        log(getName(), message, log);
      }
    }
  }
}

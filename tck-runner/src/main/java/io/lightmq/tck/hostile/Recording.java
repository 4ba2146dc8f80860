package io.lightmq.tck.hostile;

import io.lightmq.client.LightmqConnectionFactory;
import jakarta.jms.BytesMessage;
import jakarta.jms.Connection;
import jakarta.jms.DeliveryMode;
import jakarta.jms.JMSException;
import jakarta.jms.MapMessage;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageProducer;
import jakarta.jms.Queue;
import jakarta.jms.QueueBrowser;
import jakarta.jms.Session;
import jakarta.jms.TextMessage;
import jakarta.jms.Topic;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * The frames of one session of a real client, both ways: of each kind of request and answer there
 * is at least one.
 *
 * @param fromClient whole frames, length in front, from the first after the handshake on
 * @param fromBroker the broker's frames, handshake included
 */
public record Recording(List<byte[]> fromClient, List<byte[]> fromBroker) {
  /** The prefix of all names that hostile peers use, so that they miss those of honest ones. */
  static final String PREFIX = "hostile.";

  private static final int ATTACH = 10;
  private static final long RECEIVE_MILLIS = 5_000;

  public Recording {
    fromClient = List.copyOf(fromClient);
    fromBroker = List.copyOf(fromBroker);
    if (fromClient.size() < 20 || fromBroker.size() < 20) {
      throw new IllegalArgumentException(
          "the session has only %d and %d frames".formatted(fromClient.size(), fromBroker.size()));
    }
  }

  /** Lets a client work with the broker on this port of the loopback address. */
  public static Recording of(int port) throws IOException, JMSException, InterruptedException {
    List<byte[]> fromClient = Collections.synchronizedList(new ArrayList<>());
    List<byte[]> fromBroker = Collections.synchronizedList(new ArrayList<>());
    InetAddress loopback = InetAddress.getLoopbackAddress();
    try (ServerSocket server = new ServerSocket(0, 1, loopback)) {
      Thread between =
          new Thread(
              () -> {
                try (Socket client = server.accept();
                    Socket broker = new Socket(loopback, port)) {
                  Thread back = new Thread(() -> copy(broker, client, fromBroker), "record-back");
                  back.start();
                  copy(client, broker, fromClient);
                  back.join();
                } catch (IOException e) {
                  // The client's own failure tells more.
                } catch (InterruptedException e) {
                  Thread.currentThread().interrupt();
                }
              },
              "record");
      between.setDaemon(true);
      between.start();
      work(
          "lightmq://127.0.0.1:"
              + server.getLocalPort()
              + "?failover=false&initialReconnectAttempts=10");
      between.join();
    }
    int attach = 0;
    while (FrameBytes.type(fromClient.get(attach)) != ATTACH) {
      attach++;
    }
    return new Recording(fromClient.subList(attach, fromClient.size()), fromBroker);
  }

  /** Writes it where {@link #read} finds it. */
  public void write(Path file) throws IOException {
    try (DataOutputStream out = new DataOutputStream(Files.newOutputStream(file))) {
      for (List<byte[]> frames : List.of(fromClient, fromBroker)) {
        out.writeInt(frames.size());
        for (byte[] frame : frames) {
          out.write(frame);
        }
      }
    }
  }

  static Recording read(Path file) throws IOException {
    try (DataInputStream in =
        new DataInputStream(new BufferedInputStream(Files.newInputStream(file)))) {
      List<List<byte[]>> both = new ArrayList<>();
      for (int i = 0; i < 2; i++) {
        List<byte[]> frames = new ArrayList<>();
        for (int left = in.readInt(); left > 0; left--) {
          frames.add(FrameBytes.read(in));
        }
        both.add(frames);
      }
      return new Recording(both.get(0), both.get(1));
    }
  }

  private static void copy(Socket from, Socket to, List<byte[]> frames) {
    try {
      DataInputStream in = new DataInputStream(new BufferedInputStream(from.getInputStream()));
      OutputStream out = to.getOutputStream();
      while (true) {
        byte[] frame = FrameBytes.read(in);
        frames.add(frame);
        out.write(frame);
      }
    } catch (IOException e) {
      // One side has closed: so does the other.
      try {
        to.shutdownOutput();
      } catch (IOException closed) {
        // It was faster.
      }
    }
  }

  private static void work(String uri) throws JMSException, InterruptedException {
    try (Connection connection = new LightmqConnectionFactory(uri).createConnection()) {
      connection.setClientID(PREFIX + "recorded");
      connection.start();
      try (Session session = connection.createSession(false, Session.CLIENT_ACKNOWLEDGE)) {
        Queue queue = session.createQueue(PREFIX + "recorded");
        MessageProducer producer = session.createProducer(queue);
        producer.send(message(session));
        MapMessage map = session.createMapMessage();
        map.setDouble("pi", Math.PI);
        producer.send(map, DeliveryMode.NON_PERSISTENT, 9, 60_000);
        producer.setDeliveryDelay(1);
        producer.send(session.createObjectMessage("object"));
        try (QueueBrowser browser = session.createBrowser(queue, "a > 0")) {
          browser.getEnumeration().hasMoreElements();
        }
        try (MessageConsumer consumer = session.createConsumer(queue, "a IS NULL OR a = 1")) {
          Message first = consumer.receive(RECEIVE_MILLIS);
          session.recover();
          Message again = consumer.receive(RECEIVE_MILLIS);
          (again == null ? first : again).acknowledge();
        }
        topics(session);
        temporary(session);
      }
      transacted(connection);
    }
  }

  private static Message message(Session session) throws JMSException {
    TextMessage message = session.createTextMessage("text é");
    message.setIntProperty("a", 1);
    message.setStringProperty("JMSXGroupID", "group");
    message.setJMSCorrelationID("correlation");
    message.setJMSReplyTo(session.createQueue(PREFIX + "replies"));
    message.setJMSType("type");
    return message;
  }

  private static void topics(Session session) throws JMSException {
    Topic topic = session.createTopic(PREFIX + "topic");
    try (MessageConsumer plain = session.createConsumer(topic, "a = 1", true);
        MessageConsumer shared = session.createSharedConsumer(topic, "shared");
        MessageConsumer durable = session.createDurableConsumer(topic, "durable")) {
      session.createProducer(topic).send(message(session));
      Message last = durable.receive(RECEIVE_MILLIS);
      shared.receive(RECEIVE_MILLIS);
      plain.receive(1);
      last.acknowledge();
    }
    session.unsubscribe("durable");
  }

  private static void temporary(Session session) throws JMSException {
    var temporary = session.createTemporaryQueue();
    try (MessageProducer producer = session.createProducer(temporary);
        MessageConsumer consumer = session.createConsumer(temporary)) {
      BytesMessage message = session.createBytesMessage();
      message.writeBytes(new byte[] {1, 2, 3});
      producer.send(message);
      consumer.receive(RECEIVE_MILLIS).acknowledge();
    }
    temporary.delete();
    session.createTemporaryTopic().delete();
  }

  private static void transacted(Connection connection) throws JMSException {
    try (Session session = connection.createSession(true, Session.SESSION_TRANSACTED)) {
      Queue queue = session.createQueue(PREFIX + "transacted");
      MessageProducer producer = session.createProducer(queue);
      producer.send(message(session));
      producer.send(message(session));
      session.commit();
      try (MessageConsumer consumer = session.createConsumer(queue)) {
        consumer.receive(RECEIVE_MILLIS);
        session.rollback();
        consumer.receive(RECEIVE_MILLIS);
        producer.send(message(session));
        session.commit();
      }
    }
  }
}

package io.lightmq.samples.demo;

import jakarta.jms.BytesMessage;
import jakarta.jms.CompletionListener;
import jakarta.jms.Connection;
import jakarta.jms.ConnectionFactory;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageProducer;
import jakarta.jms.Session;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** Sends each line of a file to the queue and to the topic, many at a time, and counts receipts. */
final class Sender implements AutoCloseable {

  private final Connection connection;
  private final Session session;
  private final Lane queue;
  private final Lane topic;

  Sender(ConnectionFactory factory) throws JMSException {
    connection = factory.createConnection();
    session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
    queue = new Lane(session.createProducer(session.createQueue(DemoLimits.QUEUE)));
    topic = new Lane(session.createProducer(session.createTopic(DemoLimits.TOPIC)));
  }

  Sent toQueue() {
    return queue.sent;
  }

  Sent toTopic() {
    return topic.sent;
  }

  /** Sends the whole file, and again as long as the kill has not had its proof. */
  void sendUntil(Path file, BooleanSupplier proven)
      throws IOException, JMSException, InterruptedException {
    do {
      try (LineReader lines = LineReader.open(file)) {
        byte[] line = lines.next();
        while (line != null) {
          queue.send(line);
          topic.send(line);
          line = lines.next();
        }
      }
    } while (!proven.getAsBoolean());
  }

  @Override
  public void close() throws JMSException {
    connection.close();
  }

  /** One producer with its bound of sends in flight. */
  private final class Lane {
    private final Sent sent = new Sent();
    private final Semaphore inFlight = new Semaphore(DemoLimits.MAX_IN_FLIGHT);
    private final MessageProducer producer;

    private Lane(MessageProducer producer) {
      this.producer = producer;
    }

    private void send(byte[] line) throws JMSException, InterruptedException {
      if (!inFlight.tryAcquire(DemoLimits.PATIENCE_MILLIS, TimeUnit.MILLISECONDS)) {
        throw new JMSException(
            "no receipt for %,d s, %,d sends wait for one"
                .formatted(DemoLimits.PATIENCE_MILLIS / 1000, sent.open()));
      }
      int number = sent.add(ContentHash.of(line));
      BytesMessage message = session.createBytesMessage();
      message.setIntProperty(DemoLimits.LINE, number);
      message.writeBytes(line);
      producer.send(message, new Receipt(number));
    }

    /** Waits for the answer to one send. */
    private final class Receipt implements CompletionListener {
      private final int number;

      private Receipt(int number) {
        this.number = number;
      }

      @Override
      public void onCompletion(Message message) {
        sent.confirm(number);
        inFlight.release();
      }

      @Override
      public void onException(Message message, Exception exception) {
        sent.fail(number, exception.toString());
        inFlight.release();
      }
    }
  }
}

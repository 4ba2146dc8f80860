package io.lightmq.tck.faults;

import io.lightmq.samples.broker.BrokerMetrics;
import jakarta.jms.Connection;
import jakarta.jms.ConnectionFactory;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.Session;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The last look after all rounds, by a client that had no part in them: what the load's clients
 * have left unacknowledged comes, flagged; what was settled does not; and then nothing is left.
 */
final class FinalDrain {
  private static final String NAME = "the final drain";
  private static final String BACKLOG = "lightmq_backlog_messages";
  private static final long SILENCE_MILLIS = 1_000;

  private FinalDrain() {}

  /** Takes all that a queue still has and writes it down. */
  static void queue(ConnectionFactory factory, DeliveryLog log) throws JMSException {
    drain(factory, null, null, log);
  }

  /** Takes all that a durable subscription still has and writes it down. */
  static void durable(
      ConnectionFactory factory, String clientId, String subscription, DeliveryLog log)
      throws JMSException {
    drain(factory, clientId, subscription, log);
  }

  private static void drain(
      ConnectionFactory factory,
      @Nullable String clientId,
      @Nullable String subscription,
      DeliveryLog log)
      throws JMSException {
    try (Connection connection = factory.createConnection()) {
      if (clientId != null) {
        connection.setClientID(clientId);
      }
      Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
      MessageConsumer consumer =
          subscription == null
              ? session.createConsumer(session.createQueue(log.target()))
              : session.createDurableConsumer(session.createTopic(log.target()), subscription);
      connection.start();
      Message message = consumer.receive(SILENCE_MILLIS);
      while (message != null) {
        Consumers.log(NAME, message, log);
        message = consumer.receive(SILENCE_MILLIS);
      }
    }
  }

  /** What the broker still counts as waiting in these destinations, in words. */
  static List<String> leftOver(BrokerMetrics metrics, Collection<String> targets) {
    List<String> left = new ArrayList<>();
    for (String target : targets) {
      double backlog = metrics.sum(BACKLOG, '"' + target + '"');
      if (!metrics.has(BACKLOG) || backlog != 0) {
        left.add("%s: %,.0f messages wait after everything was taken".formatted(target, backlog));
      }
    }
    return left;
  }
}

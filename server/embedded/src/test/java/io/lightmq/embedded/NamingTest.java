package io.lightmq.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.client.LightmqObjectFactory;
import jakarta.jms.ConnectionFactory;
import jakarta.jms.JMSContext;
import jakarta.jms.Queue;
import jakarta.jms.QueueConnection;
import jakarta.jms.QueueConnectionFactory;
import jakarta.jms.QueueSession;
import jakarta.jms.Session;
import jakarta.jms.TextMessage;
import jakarta.jms.Topic;
import jakarta.jms.TopicConnection;
import jakarta.jms.TopicConnectionFactory;
import jakarta.jms.TopicSession;
import jakarta.jms.TopicSubscriber;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Hashtable;
import java.util.UUID;
import javax.naming.Context;
import javax.naming.InitialContext;
import javax.naming.Referenceable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * An application that knows JNDI names and the API only, with a naming file of another provider.
 */
@SuppressWarnings("BanJNDI") // naming is what is tested
class NamingTest {
  private static final long WAIT_MILLIS = 20_000;

  @TempDir Path directory;

  private Context context() throws Exception {
    Path file = directory.resolve("jndi.properties");
    Files.writeString(
        file,
        """
        broker = vm://%s?broker.persistent=false
        connectionFactoryNames = jms/CF
        java.naming.provider.url = ${broker}
        queue.jms/orders = shop.orders
        topic.jms/news = shop.news
        """
            .formatted("naming-" + UUID.randomUUID()));
    Hashtable<String, String> environment = new Hashtable<>();
    environment.put(
        Context.INITIAL_CONTEXT_FACTORY, "io.lightmq.jndi.LightmqInitialContextFactory");
    environment.put(Context.PROVIDER_URL, file.toString());
    return new InitialContext(environment);
  }

  @Test
  void messagesTravelBetweenObjectsOfANamingFile() throws Exception {
    Context naming = context();
    ConnectionFactory factory = (ConnectionFactory) naming.lookup("jms/CF");
    Queue orders = (Queue) naming.lookup("jms/orders");
    try (JMSContext jms = factory.createContext()) {
      jms.createProducer().send(orders, "one");
      Queue same = (Queue) naming.lookup("dynamicQueues/shop.orders");
      assertThat(jms.createConsumer(same).receiveBody(String.class, WAIT_MILLIS)).isEqualTo("one");
    }
  }

  @Test
  void theFactoriesOfQueuesAndTopicsWorkByTheirOwnInterfaces() throws Exception {
    Context naming = context();
    QueueConnectionFactory queues =
        (QueueConnectionFactory) naming.lookup("QueueConnectionFactory");
    try (QueueConnection connection = queues.createQueueConnection()) {
      connection.start();
      QueueSession session = connection.createQueueSession(false, Session.AUTO_ACKNOWLEDGE);
      Queue orders = (Queue) naming.lookup("jms/orders");
      session.createSender(orders).send(session.createTextMessage("two"));
      TextMessage received = (TextMessage) session.createReceiver(orders).receive(WAIT_MILLIS);
      assertThat(received.getText()).isEqualTo("two");
    }
    TopicConnectionFactory topics =
        (TopicConnectionFactory) naming.lookup("TopicConnectionFactory");
    try (TopicConnection connection = topics.createTopicConnection()) {
      connection.start();
      TopicSession session = connection.createTopicSession(false, Session.AUTO_ACKNOWLEDGE);
      Topic news = (Topic) naming.lookup("jms/news");
      TopicSubscriber subscriber = session.createSubscriber(news);
      session.createPublisher(news).publish(session.createTextMessage("three"));
      assertThat(((TextMessage) subscriber.receive(WAIT_MILLIS)).getText()).isEqualTo("three");
    }
  }

  @Test
  void aFactoryThatCameBackFromItsReferenceConnects() throws Exception {
    Context naming = context();
    Referenceable factory = (Referenceable) naming.lookup("jms/CF");
    Object again =
        new LightmqObjectFactory().getObjectInstance(factory.getReference(), null, null, null);
    try (JMSContext one = ((ConnectionFactory) factory).createContext();
        JMSContext other = ((ConnectionFactory) again).createContext()) {
      Queue orders = (Queue) naming.lookup("jms/orders");
      one.createProducer().send(orders, "four");
      assertThat(other.createConsumer(orders).receiveBody(String.class, WAIT_MILLIS))
          .as("both are for the same broker")
          .isEqualTo("four");
    }
  }
}

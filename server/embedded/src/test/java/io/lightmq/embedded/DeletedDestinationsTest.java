package io.lightmq.embedded;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.client.LightmqConnectionFactory;
import jakarta.jms.Connection;
import jakarta.jms.InvalidDestinationException;
import jakarta.jms.JMSException;
import jakarta.jms.MessageProducer;
import jakarta.jms.Session;
import jakarta.jms.TemporaryQueue;
import jakarta.jms.TransactionRolledBackException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Sending to what its owner has deleted: the failure names it, as the application knows it. */
class DeletedDestinationsTest {
  private Connection asking;
  private Connection answering;
  private TemporaryQueue replies;

  @BeforeEach
  void open() throws JMSException {
    LightmqConnectionFactory factory = new LightmqConnectionFactory("lightmq:mem:deleted");
    asking = factory.createConnection();
    answering = factory.createConnection();
    replies = asking.createSession().createTemporaryQueue();
  }

  @AfterEach
  void close() throws JMSException {
    answering.close();
    asking.close();
  }

  private String gone() throws JMSException {
    return "the temporary queue \"" + replies.getQueueName() + "\" was deleted";
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void aSendNamesTheTemporaryQueueThatIsGone(int deliveryMode) throws JMSException {
    Session session = answering.createSession();
    MessageProducer producer = session.createProducer(replies);
    producer.setDeliveryMode(deliveryMode);
    producer.send(session.createTextMessage("in time"));
    String gone = gone();
    replies.delete();
    assertThatThrownBy(() -> producer.send(session.createTextMessage("late")))
        .isInstanceOf(InvalidDestinationException.class)
        .hasMessageEndingWith(gone);
  }

  @Test
  void aCommitNamesTheTemporaryQueueThatIsGone() throws JMSException {
    Session session = answering.createSession(Session.SESSION_TRANSACTED);
    session.createProducer(replies).send(session.createTextMessage("late"));
    String gone = gone();
    replies.delete();
    assertThatThrownBy(session::commit)
        .isInstanceOf(TransactionRolledBackException.class)
        .hasMessageContaining(gone);
  }
}

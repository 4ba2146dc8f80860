package io.lightmq.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.client.LightmqConnectionFactory;
import jakarta.jms.JMSConsumer;
import jakarta.jms.JMSContext;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.Queue;
import jakarta.jms.TextMessage;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Section 3.5.9 of the specification: the properties that a provider sets. */
class JmsxPropertiesTest {
  private static final long WAIT_MILLIS = 20_000;

  private final String name = "lightmq:mem:" + UUID.randomUUID() + "?keep=false";
  private final LightmqConnectionFactory plain = new LightmqConnectionFactory(name);
  private final LightmqConnectionFactory asking =
      new LightmqConnectionFactory(
          name + "&jmsxProperties=JMSXUserID,JMSXProducerTXID,JMSXConsumerTXID,JMSXRcvTimestamp");

  private static List<Object> names(Message message) throws JMSException {
    return names(message.getPropertyNames());
  }

  private static List<Object> names(JMSContext context) throws JMSException {
    return names(context.getMetaData().getJMSXPropertyNames());
  }

  private static List<Object> names(Enumeration<?> names) {
    return new ArrayList<>(Collections.list(names));
  }

  @Test
  void aReceivedMessageHasTheApplicationsPropertiesAndTheDeliveryCount() throws JMSException {
    try (JMSContext context = plain.createContext()) {
      Queue queue = context.createQueue("q");
      context
          .createProducer()
          .setProperty("colour", "red")
          .setProperty("JMSXGroupID", "g")
          .setProperty("JMSXGroupSeq", 7)
          .setProperty("JMSXUserID", "somebody")
          .setProperty("JMSXDeliveryCount", 99)
          .send(queue, "x");
      Message got = context.createConsumer(queue).receive(WAIT_MILLIS);
      assertThat(names(got))
          .containsExactlyInAnyOrder("colour", "JMSXGroupID", "JMSXGroupSeq", "JMSXDeliveryCount");
      assertThat(got.getIntProperty("JMSXDeliveryCount")).isEqualTo(1);
      assertThat(got.getStringProperty("JMSXGroupID")).isEqualTo("g");
      assertThat(got.getIntProperty("JMSXGroupSeq")).isEqualTo(7);
      assertThat(names(context))
          .containsExactly("JMSXGroupID", "JMSXGroupSeq", "JMSXDeliveryCount");
    }
  }

  @Test
  void aFactoryThatAsksForThemGetsTheOthers() throws JMSException {
    try (JMSContext context = asking.createContext(JMSContext.SESSION_TRANSACTED)) {
      Queue queue = context.createQueue("q");
      TextMessage sent = context.createTextMessage("x");
      context.createProducer().send(queue, sent);
      context.commit();
      long before = System.currentTimeMillis();
      JMSConsumer consumer = context.createConsumer(queue);
      Message got = consumer.receive(WAIT_MILLIS);
      assertThat(names(got))
          .containsExactlyInAnyOrder(
              "JMSXDeliveryCount",
              "JMSXUserID",
              "JMSXProducerTXID",
              "JMSXConsumerTXID",
              "JMSXRcvTimestamp");
      assertThat(got.getStringProperty("JMSXUserID")).isEqualTo("application");
      assertThat(got.getLongProperty("JMSXRcvTimestamp"))
          .isBetween(before, System.currentTimeMillis());
      String producer = got.getStringProperty("JMSXProducerTXID");
      String first = got.getStringProperty("JMSXConsumerTXID");
      assertThat(producer).isNotEmpty().isNotEqualTo(first);
      context.rollback();
      Message again = consumer.receive(WAIT_MILLIS);
      assertThat(again.getStringProperty("JMSXProducerTXID")).isEqualTo(producer);
      assertThat(again.getStringProperty("JMSXConsumerTXID")).isNotEqualTo(first);
      assertThat(again.getIntProperty("JMSXDeliveryCount")).isEqualTo(2);
      assertThat(names(context))
          .containsExactly(
              "JMSXGroupID",
              "JMSXGroupSeq",
              "JMSXDeliveryCount",
              "JMSXUserID",
              "JMSXProducerTXID",
              "JMSXConsumerTXID",
              "JMSXRcvTimestamp");
    }
  }

  @Test
  void aFactoryThatDoesNotAskSeesNothingOfASenderThatDoes() throws JMSException {
    try (JMSContext sender = asking.createContext(JMSContext.SESSION_TRANSACTED);
        JMSContext receiver = plain.createContext()) {
      Queue queue = sender.createQueue("q");
      sender.createProducer().send(queue, "x");
      sender.commit();
      Message got = receiver.createConsumer(queue).receive(WAIT_MILLIS);
      assertThat(names(got)).containsExactly("JMSXDeliveryCount");
    }
  }

  @Test
  void whatIsReceivedAndSentOnTakesNothingOfThatAlong() throws JMSException {
    try (JMSContext context = asking.createContext(JMSContext.AUTO_ACKNOWLEDGE);
        JMSContext other = asking.createContext(JMSContext.SESSION_TRANSACTED)) {
      Queue queue = context.createQueue("q");
      Queue onward = context.createQueue("onward");
      other.createProducer().send(queue, "x");
      other.commit();
      Message got = context.createConsumer(queue).receive(WAIT_MILLIS);
      context.createProducer().send(onward, got);
      Message last = context.createConsumer(onward).receive(WAIT_MILLIS);
      assertThat(names(last))
          .containsExactlyInAnyOrder("JMSXDeliveryCount", "JMSXUserID", "JMSXRcvTimestamp");
    }
  }

  @Test
  void anUnknownNameIsRefusedWithTheKnownOnes() {
    assertThatThrownBy(() -> new LightmqConnectionFactory(name + "&jmsxProperties=JMSXState"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("JMSXState")
        .hasMessageContaining("JMSXUserID");
  }
}

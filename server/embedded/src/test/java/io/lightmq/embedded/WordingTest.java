package io.lightmq.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.client.LightmqConnectionFactory;
import jakarta.jms.JMSContext;
import jakarta.jms.Queue;
import jakarta.jms.TextMessage;
import org.junit.jupiter.api.Test;

/** Failures that people read. */
class WordingTest {
  private final LightmqConnectionFactory factory =
      new LightmqConnectionFactory("lightmq:mem:wording");

  @Test
  void bodyAndPropertiesHaveTheVerbThatFits() throws Exception {
    try (JMSContext context = factory.createContext()) {
      Queue queue = context.createQueue("words");
      context.createProducer().send(queue, "text");
      TextMessage message = (TextMessage) context.createConsumer(queue).receive(10_000);
      assertThatThrownBy(() -> message.setText("x"))
          .hasMessage("the body of a received message is read-only; call clearBody()");
      assertThatThrownBy(() -> message.setIntProperty("x", 1))
          .hasMessage("the properties of a received message are read-only; call clearProperties()");
      assertThatThrownBy(() -> message.getBody(byte[].class)).hasMessageEndingWith("not a byte[]");
    }
  }

  @Test
  void aClientIdInUseSaysWhereFrom() {
    try (JMSContext first = factory.createContext();
        JMSContext second = factory.createContext()) {
      first.setClientID("me");
      assertThatThrownBy(() -> second.setClientID("me"))
          .hasMessageContaining("client id \"me\" is in use by connection")
          .hasMessageMatching(".* from local:\\S+");
    }
  }

  @Test
  void aSubscriptionWithoutAClientIdHasNone() {
    try (JMSContext context = factory.createContext()) {
      assertThatThrownBy(() -> context.unsubscribe("gone"))
          .hasMessageContaining("there is no durable subscription \"gone\" without a client id");
      assertThat(context.getClientID()).isNull();
    }
  }
}

package io.lightmq.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.client.LightmqConnectionFactory;
import jakarta.jms.JMSConsumer;
import jakarta.jms.JMSContext;
import jakarta.jms.Message;
import jakarta.jms.Queue;
import jakarta.jms.Session;
import jakarta.jms.TextMessage;
import jakarta.jms.Topic;
import java.util.Collections;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Delivery delay and dead letters as an application sees them. */
class DelayAndDeadLettersTest {
  private static final int LONG_MILLIS = 20_000;

  private static JMSContext context(String name, int mode) {
    return new LightmqConnectionFactory("lightmq:mem:" + name).createContext(mode);
  }

  @Test
  void aDelayedMessageComesAtItsDeliveryTimeAndAfterOthers() throws Exception {
    try (JMSContext context = context("delays", Session.AUTO_ACKNOWLEDGE)) {
      Queue queue = context.createQueue("q");
      JMSConsumer consumer = context.createConsumer(queue);
      TextMessage late = context.createTextMessage("late");
      long before = System.currentTimeMillis();
      context.createProducer().setDeliveryDelay(700).send(queue, late);
      context.createProducer().send(queue, "soon");
      assertThat(late.getJMSDeliveryTime()).isBetween(before + 700, before + 700 + LONG_MILLIS);
      assertThat(consumer.receive(LONG_MILLIS).getBody(String.class)).isEqualTo("soon");
      Message got = consumer.receive(LONG_MILLIS);
      assertThat(got.getBody(String.class)).isEqualTo("late");
      assertThat(System.currentTimeMillis()).isGreaterThanOrEqualTo(before + 700);
      assertThat(got.getJMSDeliveryTime()).isEqualTo(late.getJMSDeliveryTime());
      assertThat(got.getJMSMessageID()).isEqualTo(late.getJMSMessageID());
      assertThat(got.getJMSTimestamp()).isEqualTo(late.getJMSTimestamp());
      assertThat(Collections.list(got.getPropertyNames())).containsExactly("JMSXDeliveryCount");
      assertThat(got.getIntProperty("JMSXDeliveryCount")).isEqualTo(1);
    }
  }

  /** Section 7.9: only subscriptions that existed when the message was sent receive it. */
  @Test
  void aDelayedMessageOfATopicIsForSubscriptionsThatExistedWhenItWasSent() {
    try (JMSContext context = context("news", Session.AUTO_ACKNOWLEDGE)) {
      Topic topic = context.createTopic("t");
      JMSConsumer before = context.createConsumer(topic);
      JMSConsumer durableBefore = context.createSharedDurableConsumer(topic, "before");
      context.createProducer().setDeliveryDelay(500).send(topic, "delayed");
      JMSConsumer after = context.createConsumer(topic);
      JMSConsumer durableAfter = context.createSharedDurableConsumer(topic, "after");
      assertThat(before.receiveBody(String.class, LONG_MILLIS)).isEqualTo("delayed");
      assertThat(durableBefore.receiveBody(String.class, LONG_MILLIS)).isEqualTo("delayed");
      context.createProducer().send(topic, "end");
      assertThat(after.receiveBody(String.class, LONG_MILLIS)).isEqualTo("end");
      assertThat(durableAfter.receiveBody(String.class, LONG_MILLIS)).isEqualTo("end");
    }
  }

  @Test
  void aListenerThatAlwaysFailsLeavesADeadLetterThatNamesItsException() throws Exception {
    try (JMSContext context = context("failures", Session.AUTO_ACKNOWLEDGE)) {
      Queue queue = context.createQueue("orders");
      AtomicInteger calls = new AtomicInteger();
      context.createProducer().setProperty("own", "kept").send(queue, "bad");
      JMSConsumer consumer = context.createConsumer(queue);
      consumer.setMessageListener(
          message -> {
            calls.incrementAndGet();
            throw new IllegalStateException("no such article");
          });
      try (JMSContext other = context.createContext(Session.AUTO_ACKNOWLEDGE)) {
        Message letter = other.createConsumer(other.createQueue("DLQ")).receive(LONG_MILLIS);
        assertThat(letter.getBody(String.class)).isEqualTo("bad");
        assertThat(calls).hasValue(10);
        assertThat(letter.getStringProperty("own")).isEqualTo("kept");
        assertThat(letter.getStringProperty("JMS_LightMQ_Origin")).isEqualTo("orders");
        assertThat(letter.getStringProperty("JMS_LightMQ_Reason")).isEqualTo("max-attempts");
        assertThat(letter.getIntProperty("JMS_LightMQ_Attempts")).isEqualTo(10);
        assertThat(letter.getStringProperty("JMS_LightMQ_Exception"))
            .isEqualTo("java.lang.IllegalStateException: no such article");
        assertThat(letter.getIntProperty("JMSXDeliveryCount")).isEqualTo(1);
        assertThat(letter.getJMSRedelivered()).isFalse();
      }
    }
  }

  @Test
  void rolledBackTransactionsCountAttempts() throws Exception {
    try (JMSContext context = context("rollbacks", Session.SESSION_TRANSACTED)) {
      Queue queue = context.createQueue("q");
      context.createProducer().send(queue, "bad");
      context.createProducer().send(queue, "good");
      context.commit();
      JMSConsumer consumer = context.createConsumer(queue);
      for (int attempt = 1; attempt <= 10; attempt++) {
        Message bad = consumer.receive(LONG_MILLIS);
        assertThat(bad.getBody(String.class)).isEqualTo("bad");
        assertThat(bad.getIntProperty("JMSXDeliveryCount")).isEqualTo(attempt);
        context.rollback();
      }
      assertThat(consumer.receive(LONG_MILLIS).getBody(String.class)).isEqualTo("good");
      context.commit();
      JMSConsumer dead = context.createConsumer(context.createQueue("DLQ"));
      assertThat(dead.receive(LONG_MILLIS).getBody(String.class)).isEqualTo("bad");
      context.commit();
    }
  }
}

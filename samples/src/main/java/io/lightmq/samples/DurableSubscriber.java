package io.lightmq.samples;

import io.lightmq.client.LightmqConnectionFactory;
import jakarta.jms.JMSConsumer;
import jakarta.jms.JMSContext;
import jakarta.jms.Topic;

/**
 * Shows that a durable subscription keeps what is published while its subscriber is away.
 *
 * <p>The client id and the subscription's name together are its identity; it ends with unsubscribe.
 */
final class DurableSubscriber {

  private static final long WAIT_MILLIS = 2_000;

  private DurableSubscriber() {}

  public static void main(String[] arguments) {
    Usage.of("usage: DurableSubscriber   keeps messages for a subscriber that is away", 0)
        .check(arguments);
    var factory = new LightmqConnectionFactory(Samples.brokerUri());
    subscribe(factory, "first visit");
    try (JMSContext publisher = factory.createContext()) {
      Topic news = publisher.createTopic("news");
      for (String item : new String[] {"it rains", "it still rains", "the sun shines"}) {
        publisher.createProducer().send(news, item);
        System.out.println("published while nobody is there: " + item);
      }
    }
    subscribe(factory, "second visit");
    try (JMSContext context = factory.createContext()) {
      context.setClientID("reader-1");
      context.unsubscribe("morning-paper");
    }
  }

  private static void subscribe(LightmqConnectionFactory factory, String visit) {
    try (JMSContext context = factory.createContext()) {
      context.setClientID("reader-1");
      Topic news = context.createTopic("news");
      JMSConsumer consumer = context.createDurableConsumer(news, "morning-paper");
      String item = consumer.receiveBody(String.class, WAIT_MILLIS);
      while (item != null) {
        System.out.println(visit + ": " + item);
        item = consumer.receiveBody(String.class, WAIT_MILLIS);
      }
      System.out.println(visit + ": nothing more");
    }
  }
}

package io.lightmq.samples;

import io.lightmq.client.LightmqConnectionFactory;
import jakarta.jms.JMSContext;
import jakarta.jms.JMSProducer;
import jakarta.jms.Queue;

/** Sends a few messages to a queue. When send() returns, a power cut can no longer take it. */
final class Producer {

  private Producer() {}

  public static void main(String[] arguments) {
    String[] given =
        Usage.of("usage: Producer [COUNT]   sends COUNT (10) messages to the queue orders", 0)
            .check(arguments);
    int count = given.length > 0 ? Integer.parseInt(given[0]) : 10;
    var factory = new LightmqConnectionFactory(Samples.brokerUri());
    try (JMSContext context = factory.createContext()) {
      Queue orders = context.createQueue("orders");
      JMSProducer producer = context.createProducer();
      for (int i = 1; i <= count; i++) {
        producer.setProperty("number", i).send(orders, "order " + i);
        System.out.println("sent order " + i);
      }
    }
  }
}

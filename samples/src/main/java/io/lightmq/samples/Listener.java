package io.lightmq.samples;

import io.lightmq.client.LightmqConnectionFactory;
import jakarta.jms.JMSContext;
import jakarta.jms.JMSException;
import jakarta.jms.JMSRuntimeException;
import jakarta.jms.Message;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Processes the messages of a queue until none came for five seconds.
 *
 * <p>The queue keeps a message until the listener has returned. If this process dies in the middle,
 * the message comes again with JMSRedelivered set.
 */
final class Listener {

  private static final int IDLE_SECONDS = 5;

  private volatile CountDownLatch next = new CountDownLatch(1);

  private Listener() {}

  public static void main(String[] arguments) throws InterruptedException {
    Usage.of("usage: Listener   processes the queue orders until nothing comes", 0)
        .check(arguments);
    new Listener().run();
  }

  private void run() throws InterruptedException {
    var factory = new LightmqConnectionFactory(Samples.brokerUri());
    try (JMSContext context = factory.createContext(JMSContext.AUTO_ACKNOWLEDGE)) {
      context.createConsumer(context.createQueue("orders")).setMessageListener(this::process);
      CountDownLatch waitingFor = next;
      while (waitingFor.await(IDLE_SECONDS, TimeUnit.SECONDS)) {
        waitingFor = next;
      }
      System.out.println("no message for " + IDLE_SECONDS + " s, done");
    }
  }

  private void process(Message message) {
    try {
      String again = message.getJMSRedelivered() ? " (again)" : "";
      System.out.println("processed " + message.getBody(String.class) + again);
    } catch (JMSException e) {
      throw new JMSRuntimeException(e.getMessage(), e.getErrorCode(), e);
    } finally {
      CountDownLatch arrived = next;
      next = new CountDownLatch(1);
      arrived.countDown();
    }
  }
}

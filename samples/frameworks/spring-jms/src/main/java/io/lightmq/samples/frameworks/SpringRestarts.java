package io.lightmq.samples.frameworks;

import io.lightmq.client.LightmqConnectionFactory;
import io.lightmq.samples.broker.Restarts;
import jakarta.jms.ConnectionFactory;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.Session;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.jms.connection.CachingConnectionFactory;
import org.springframework.jms.core.JmsTemplate;
import org.springframework.jms.listener.DefaultMessageListenerContainer;
import org.springframework.jms.listener.SessionAwareMessageListener;

/**
 * Spring's CachingConnectionFactory and DefaultMessageListenerContainer over restarts of the
 * broker: sessions and producers stay in the cache, listeners go on, and no code is needed for it.
 */
public final class SpringRestarts implements Restarts.Application {
  private final CachingConnectionFactory caching;
  private final JmsTemplate template;
  private final DefaultMessageListenerContainer container;
  private final AtomicInteger handled = new AtomicInteger();

  private SpringRestarts(String uri) {
    ConnectionFactory lightmq = new LightmqConnectionFactory(uri);
    caching = new CachingConnectionFactory(lightmq);
    caching.setSessionCacheSize(10);
    template = new JmsTemplate(caching);
    container = new DefaultMessageListenerContainer();
    container.setConnectionFactory(caching);
    container.setDestinationName(Restarts.IN);
    container.setSessionTransacted(true);
    container.setConcurrency("2-4");
    // Its consumers come and go with its threads, so they are not for the cache.
    caching.setCacheConsumers(false);
    container.setMessageListener((SessionAwareMessageListener<Message>) this::handle);
    container.afterPropertiesSet();
    container.start();
  }

  @Override
  public void send(int number) {
    template.send(Restarts.IN, session -> message(session, number));
  }

  /** In the transaction of the session that brought the message. */
  private void handle(Message message, Session session) throws JMSException {
    handled.incrementAndGet();
    int number = message.getIntProperty(Restarts.NUMBER);
    template.send(Restarts.OUT, its -> message(its, number));
  }

  private static Message message(Session session, int number) throws JMSException {
    Message message = session.createTextMessage("number " + number);
    message.setIntProperty(Restarts.NUMBER, number);
    return message;
  }

  @Override
  public String story() {
    return "handled %,d times; %d sessions in the cache"
        .formatted(handled.get(), caching.getCachedSessionCount());
  }

  @Override
  public void close() {
    container.shutdown();
    caching.destroy();
  }

  public static void main(String[] arguments) throws Exception {
    Restarts.main(arguments, SpringRestarts::new);
  }
}

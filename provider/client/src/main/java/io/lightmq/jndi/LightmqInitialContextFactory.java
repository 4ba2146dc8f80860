package io.lightmq.jndi;

import io.lightmq.client.LightmqConnectionFactory;
import io.lightmq.client.LightmqQueue;
import io.lightmq.client.LightmqTopic;
import java.util.Hashtable;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import javax.naming.Context;
import javax.naming.NamingException;
import javax.naming.spi.InitialContextFactory;
import org.jspecify.annotations.Nullable;

/**
 * A naming context whose bindings come from properties: {@code connectionFactory.<name>=<uri>},
 * {@code queue.<name>=<queue>}, {@code topic.<name>=<topic>}. The names {@code dynamicQueues/X} and
 * {@code dynamicTopics/X} need no property. Without a connection factory of that name {@code
 * ConnectionFactory} is bound to {@code java.naming.provider.url}, or to the broker on this
 * machine.
 */
public final class LightmqInitialContextFactory implements InitialContextFactory {
  /** The name that is always bound to a connection factory. */
  public static final String DEFAULT_FACTORY = "ConnectionFactory";

  private static final String FACTORY_PREFIX = "connectionfactory.";
  private static final String QUEUE_PREFIX = "queue.";
  private static final String TOPIC_PREFIX = "topic.";

  /** For {@link javax.naming.InitialContext}. */
  public LightmqInitialContextFactory() {}

  @Override
  public Context getInitialContext(@Nullable Hashtable<?, ?> environment) throws NamingException {
    Hashtable<Object, Object> properties = new Hashtable<>();
    if (environment != null) {
      properties.putAll(environment);
    }
    Map<String, Object> bindings = new TreeMap<>();
    for (Map.Entry<Object, Object> property : properties.entrySet()) {
      if (property.getKey() instanceof String key && property.getValue() instanceof String value) {
        bind(bindings, key, value.trim(), properties);
      }
    }
    if (!bindings.containsKey(DEFAULT_FACTORY)) {
      Object url = properties.get(Context.PROVIDER_URL);
      bindings.put(
          DEFAULT_FACTORY,
          factory(
              Context.PROVIDER_URL,
              url == null ? LightmqConnectionFactory.DEFAULT_URI : url.toString(),
              properties));
    }
    return new PropertiesContext(properties, bindings);
  }

  private static void bind(
      Map<String, Object> bindings, String key, String value, Hashtable<?, ?> properties)
      throws NamingException {
    String lower = key.toLowerCase(Locale.ROOT);
    try {
      if (lower.startsWith(FACTORY_PREFIX)) {
        bindings.put(key.substring(FACTORY_PREFIX.length()), factory(key, value, properties));
      } else if (lower.startsWith(QUEUE_PREFIX)) {
        bindings.put(key.substring(QUEUE_PREFIX.length()), new LightmqQueue(value));
      } else if (lower.startsWith(TOPIC_PREFIX)) {
        bindings.put(key.substring(TOPIC_PREFIX.length()), new LightmqTopic(value));
      }
    } catch (IllegalArgumentException e) {
      throw wrong(key, e);
    }
  }

  private static LightmqConnectionFactory factory(
      String key, String uri, Hashtable<?, ?> properties) throws NamingException {
    try {
      LightmqConnectionFactory factory = new LightmqConnectionFactory(uri);
      if (factory.getUser() == null
          && properties.get(Context.SECURITY_PRINCIPAL) instanceof String user) {
        factory.setUser(user);
        if (properties.get(Context.SECURITY_CREDENTIALS) instanceof String password) {
          factory.setPassword(password);
        }
      }
      return factory;
    } catch (IllegalArgumentException e) {
      throw wrong(key, e);
    }
  }

  private static NamingException wrong(String key, IllegalArgumentException cause) {
    NamingException failed = new NamingException("property " + key + ": " + cause.getMessage());
    failed.setRootCause(cause);
    return failed;
  }
}

package io.lightmq.jndi;

import java.util.Hashtable;
import javax.naming.Context;
import javax.naming.NamingException;
import javax.naming.spi.InitialContextFactory;
import org.jspecify.annotations.Nullable;

/**
 * A naming context whose bindings come from properties: {@code connectionFactory.<name>=<uri>},
 * {@code queue.<name>=<queue>}, {@code topic.<name>=<topic>}, and what files for ActiveMQ Classic,
 * Artemis and Qpid say in other words. The names {@code dynamicQueues/X} and {@code
 * dynamicTopics/X} need no property. {@code ConnectionFactory}, {@code QueueConnectionFactory} and
 * {@code TopicConnectionFactory} and {@code XAConnectionFactory}, where no property binds them, are
 * bound to {@code java.naming.provider.url}, or to the broker on this machine. That URL may also
 * name a file with further properties. The whole list is in {@code docs/client.md}.
 */
@SuppressWarnings("JdkObsolete") // JNDI asks for a Hashtable
public final class LightmqInitialContextFactory implements InitialContextFactory {
  /** The name that is always bound to a connection factory. */
  public static final String DEFAULT_FACTORY = "ConnectionFactory";

  /** For {@link javax.naming.InitialContext}. */
  public LightmqInitialContextFactory() {}

  /**
   * Makes a context of its own for each call.
   *
   * @throws NamingException if a property cannot be understood, by its name, or if the properties
   *     file cannot be read
   */
  @Override
  public Context getInitialContext(@Nullable Hashtable<?, ?> environment) throws NamingException {
    Hashtable<?, ?> properties = environment == null ? new Hashtable<>() : environment;
    return new MemoryContext(properties, Bindings.of(properties));
  }
}

package io.lightmq.client;

import io.lightmq.wire.entry.NearNames;
import java.util.Collections;
import java.util.Hashtable;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import javax.naming.Context;
import javax.naming.Name;
import javax.naming.NamingException;
import javax.naming.RefAddr;
import javax.naming.Reference;
import javax.naming.spi.ObjectFactory;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes factories, queues and topics again of what a naming service has stored, or of what a
 * container's configuration describes. Addresses are compared without regard to case. A connection
 * factory takes any of its options, and its URI from {@code uri}, {@code url} or {@code brokerURL}
 * (none: the broker on this machine). Attributes that containers add are ignored; any other unknown
 * one is ignored too, with a warning that names the nearest option. A queue or topic has its name
 * in {@code name}, {@code physicalName}, {@code address}, {@code queueName} or {@code topicName}.
 *
 * <p>It answers null to what is not ours, as naming demands, and makes nothing but the three types
 * above: no class is loaded by a name that a reference brings.
 */
public final class LightmqObjectFactory implements ObjectFactory {
  static final String NAME = "name";
  static final String URI = "uri";

  private static final Set<String> URIS = Set.of(URI, "url", "brokerurl");
  private static final Set<String> NAMES =
      Set.of(NAME, "physicalname", "address", "queuename", "topicname");

  /** What containers write beside the options: Tomcat, TomEE and the Jakarta EE descriptors. */
  private static final Set<String> OF_CONTAINERS =
      Set.of(
          "auth",
          "closemethod",
          "description",
          "factory",
          "forcestring",
          "jndi-name",
          "lookup-name",
          "mappedname",
          "name",
          "override",
          "scope",
          "singleton",
          "type");

  private static final Set<String> FACTORY_TYPES =
      Set.of(
          LightmqConnectionFactory.class.getName(),
          "jakarta.jms.ConnectionFactory",
          "jakarta.jms.QueueConnectionFactory",
          "jakarta.jms.TopicConnectionFactory",
          "jakarta.jms.XAConnectionFactory",
          "jakarta.jms.XAQueueConnectionFactory",
          "jakarta.jms.XATopicConnectionFactory");
  private static final Set<String> QUEUE_TYPES =
      Set.of(LightmqQueue.class.getName(), "jakarta.jms.Queue");
  private static final Set<String> TOPIC_TYPES =
      Set.of(LightmqTopic.class.getName(), "jakarta.jms.Topic");

  private static final Logger LOG = LoggerFactory.getLogger(LightmqObjectFactory.class);

  /** For naming services. */
  public LightmqObjectFactory() {}

  @Override
  public @Nullable Object getObjectInstance(
      @Nullable Object object,
      @Nullable Name name,
      @Nullable Context context,
      @Nullable Hashtable<?, ?> environment)
      throws NamingException {
    if (!(object instanceof Reference reference) || !isOurs(reference)) {
      return null;
    }
    String type = reference.getClassName();
    try {
      if (QUEUE_TYPES.contains(type)) {
        return new LightmqQueue(destinationName(reference));
      } else if (TOPIC_TYPES.contains(type)) {
        return new LightmqTopic(destinationName(reference));
      } else if (FACTORY_TYPES.contains(type)) {
        return factory(reference);
      }
      return null;
    } catch (IllegalArgumentException e) {
      NamingException failed =
          new NamingException("a reference to " + type + ": " + e.getMessage());
      failed.setRootCause(e);
      throw failed;
    }
  }

  /** Types of our own, and those of the API where this factory is named. */
  private static boolean isOurs(Reference reference) {
    String own = LightmqObjectFactory.class.getName();
    if (own.equals(reference.getFactoryClassName())
        || String.valueOf(reference.getClassName()).startsWith("io.lightmq.client.")) {
      return true;
    }
    RefAddr named = reference.get("factory");
    return named != null && own.equals(named.getContent());
  }

  private static LightmqConnectionFactory factory(Reference reference) {
    LightmqConnectionFactory factory = new LightmqConnectionFactory();
    String uri = first(reference, URIS);
    if (uri != null) {
      factory.setUri(uri);
    }
    for (RefAddr address : Collections.list(reference.getAll())) {
      String type = address.getType();
      String option = ClientSettings.known(type);
      if (option != null) {
        if (address.getContent() != null) {
          factory.setOption(option, text(address));
        }
      } else if (!isIn(URIS, type) && !isIn(OF_CONTAINERS, type)) {
        List<String> near = NearNames.of(type, ClientSettings.optionNames(), 1);
        LOG.warn(
            "a reference to a connection factory has the unknown attribute '{}', which is"
                + " ignored{}",
            type,
            near.isEmpty() ? "" : "; the nearest option is " + near.get(0));
      }
    }
    return factory;
  }

  private static boolean isIn(Set<String> types, String type) {
    return types.contains(type.toLowerCase(Locale.ROOT));
  }

  private static @Nullable String first(Reference reference, Set<String> types) {
    String found = null;
    for (RefAddr address : Collections.list(reference.getAll())) {
      if (isIn(types, address.getType()) && address.getContent() != null) {
        String text = text(address);
        if (found != null && !found.equals(text)) {
          throw new IllegalArgumentException(
              "the addresses " + String.join(", ", types) + " mean the same and differ");
        }
        found = text;
      }
    }
    return found;
  }

  private static String text(RefAddr address) {
    if (address.getContent() instanceof String text) {
      return text;
    }
    throw new IllegalArgumentException("the address '" + address.getType() + "' is not text");
  }

  private static String destinationName(Reference reference) {
    String name = first(reference, NAMES);
    if (name == null) {
      throw new IllegalArgumentException("it has no 'name'; physicalName is the same");
    }
    return name;
  }
}

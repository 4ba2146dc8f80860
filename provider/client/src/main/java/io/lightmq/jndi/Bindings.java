package io.lightmq.jndi;

import io.lightmq.client.LightmqConnectionFactory;
import io.lightmq.client.LightmqQueue;
import io.lightmq.client.LightmqTopic;
import io.lightmq.wire.entry.NearNames;
import jakarta.jms.Destination;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Hashtable;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import javax.naming.Context;
import javax.naming.InvalidNameException;
import javax.naming.NamingException;
import org.jspecify.annotations.Nullable;

/**
 * Makes the objects that naming properties describe and binds them. The prefixes are those of
 * ActiveMQ Classic, Artemis and Qpid files, without regard to case; the names behind them count as
 * they are written. A property that cannot be understood is refused by its name.
 */
final class Bindings {
  private static final String FACTORY = "connectionfactory.";
  private static final String FACTORY_NAMES = "connectionfactorynames";
  private static final String FACTORY_DEFAULT = "default.connectionfactory.";
  private static final String FACTORY_PROPERTY = "property.connectionfactory.";
  private static final String CLASSIC_PROPERTY = "connection.";
  private static final String QUEUE = "queue.";
  private static final String TOPIC = "topic.";
  private static final String DESTINATION = "destination.";

  private static final List<String> DEFAULT_FACTORIES =
      List.of(
          LightmqInitialContextFactory.DEFAULT_FACTORY,
          "QueueConnectionFactory",
          "TopicConnectionFactory",
          "XAConnectionFactory");

  /** What Classic reads from the environment itself. */
  private static final List<String> BARE_OPTIONS =
      List.of("brokerurl", "username", "password", "clientid");

  private static final List<String> URIS = List.of("uri", "url", "brokerurl", "remoteuri");
  private static final Pattern DESTINATION_OPTIONS = Pattern.compile("\\?[A-Za-z][\\w.]*=");

  private final Hashtable<?, ?> environment;
  private final NamingProperties properties;
  private final Variables variables;
  private final Folder root = Folder.root();
  private final Map<List<String>, String> owners = new LinkedHashMap<>();
  private final Set<String> factories = new TreeSet<>();

  /** An option of factories, and the property that it comes from. */
  private record Option(String key, String name, String value) {}

  private Bindings(Hashtable<?, ?> environment) throws NamingException {
    this.environment = environment;
    this.properties = NamingProperties.read(environment);
    this.variables = new Variables(properties.entries());
  }

  /** All bindings of an environment. */
  static Folder of(Hashtable<?, ?> environment) throws NamingException {
    Bindings bindings = new Bindings(environment);
    NearKeys.check(bindings.properties.entries().keySet());
    bindings.bindDestinations();
    bindings.bindFactories();
    return bindings.root;
  }

  private static @Nullable String behind(String prefix, String key) {
    return key.length() > prefix.length() && key.regionMatches(true, 0, prefix, 0, prefix.length())
        ? key.substring(prefix.length())
        : null;
  }

  private void bind(String key, String name, Object object) throws NamingException {
    List<String> parts = parts(key, name);
    String before = owners.putIfAbsent(parts, key);
    if (before != null) {
      throw twice(before, key);
    }
    Folder at = root;
    for (int i = 0; i < parts.size() - 1 && at != null; i++) {
      at = at.dynamic() == null ? at.folder(parts.get(i)) : null;
    }
    if (parts.isEmpty()
        || at == null
        || at.dynamic() != null
        || !at.putIfFree(parts.get(parts.size() - 1), object)) {
      throw new NamingException(
          "property "
              + key
              + " cannot be bound: a part of its name is bound to something else, or is empty");
    }
  }

  private static List<String> parts(String key, String name) throws NamingException {
    try {
      return Names.parts(name);
    } catch (InvalidNameException e) {
      throw new NamingException("property " + key + " has no name: " + e.getMessage());
    }
  }

  private static NamingException twice(String one, String other) {
    return new NamingException("the properties " + one + " and " + other + " bind the same name");
  }

  private static NamingException wrong(String key, IllegalArgumentException cause) {
    NamingException failed = new NamingException("property " + key + ": " + cause.getMessage());
    failed.setRootCause(cause);
    return failed;
  }

  // ---- destinations ----

  private void bindDestinations() throws NamingException {
    for (Map.Entry<String, String> entry : properties.entries().entrySet()) {
      String key = entry.getKey();
      String queue = behind(QUEUE, key);
      String topic = behind(TOPIC, key);
      String either = behind(DESTINATION, key);
      String name = queue != null ? queue : topic != null ? topic : either;
      if (name != null) {
        try {
          String value = variables.expand(key, entry.getValue()).trim();
          String kind = queue != null ? "queue" : topic != null ? "topic" : null;
          bind(key, name, destination(value, kind));
        } catch (IllegalArgumentException e) {
          throw wrong(key, e);
        }
      }
    }
  }

  private static Destination destination(String value, @Nullable String kind) {
    String lower = value.toLowerCase(Locale.ROOT);
    if (DESTINATION_OPTIONS.matcher(value).find() || lower.matches(".*,\\s*(queue|topic)://.*")) {
      throw new IllegalArgumentException(
          "options and lists of destinations of other providers are not taken over; write the name"
              + " alone, and set prefetchMessages and the like at the connection factory");
    }
    for (String scheme : List.of("queue", "topic")) {
      String rest =
          lower.startsWith(scheme + "://")
              ? value.substring(scheme.length() + 3)
              : kind == null && lower.startsWith(scheme + ":")
                  ? value.substring(scheme.length() + 1)
                  : null;
      if (rest != null) {
        if (kind != null && !kind.equals(scheme)) {
          throw new IllegalArgumentException("a " + kind + " cannot be '" + value + "'");
        }
        return scheme.equals("queue") ? new LightmqQueue(rest) : new LightmqTopic(rest);
      }
    }
    if (kind == null) {
      throw new IllegalArgumentException(
          "'" + value + "' does not say which kind it is; write queue:NAME or topic:NAME");
    }
    return kind.equals("queue") ? new LightmqQueue(value) : new LightmqTopic(value);
  }

  // ---- connection factories ----

  private void bindFactories() throws NamingException {
    Map<String, String> keys = new TreeMap<>();
    Map<String, String> listed = new TreeMap<>();
    for (Map.Entry<String, String> entry : properties.entries().entrySet()) {
      String key = entry.getKey();
      String name = behind(FACTORY, key);
      String before = name == null ? null : keys.putIfAbsent(name, key);
      if (before != null) {
        throw twice(before, key);
      } else if (key.equalsIgnoreCase(FACTORY_NAMES)) {
        for (String part : variables.expand(key, entry.getValue()).split(",", -1)) {
          if (!part.isBlank()) {
            listed.put(part.trim(), key);
          }
        }
      }
    }
    listed.forEach(keys::putIfAbsent);
    factories.addAll(DEFAULT_FACTORIES);
    factories.addAll(keys.keySet());
    for (Map.Entry<String, String> named : keys.entrySet()) {
      String key = named.getValue();
      String value = properties.entries().getOrDefault(key, "");
      String uri = key.equalsIgnoreCase(FACTORY_NAMES) ? "" : variables.expand(key, value);
      bind(key, named.getKey(), factory(key, uri.trim(), named.getKey()));
    }
    for (String name : DEFAULT_FACTORIES) {
      if (!owners.containsKey(List.of(name))) {
        bind(Context.PROVIDER_URL, name, factory(Context.PROVIDER_URL, "", name));
      }
    }
    refuseOrphans();
  }

  /** What stands behind the prefixes for options of one factory; empty without them. */
  private static String ofFactory(String key) {
    String qpid = behind(FACTORY_PROPERTY, key);
    String rest = qpid != null ? qpid : behind(CLASSIC_PROPERTY, key);
    return rest == null ? "" : rest;
  }

  /** The factory whose option it is: of several names with dots the longest. */
  private @Nullable String factoryOf(String key) {
    String rest = ofFactory(key);
    return factories.stream()
        .filter(name -> rest.length() > name.length() + 1 && rest.startsWith(name + "."))
        .max(Comparator.comparingInt(String::length))
        .orElse(null);
  }

  /** The options of one factory: those for all, then its own. */
  private List<Option> options(String name) throws NamingException {
    List<Option> forAll = new ArrayList<>();
    List<Option> own = new ArrayList<>();
    for (Map.Entry<String, String> entry : properties.entries().entrySet()) {
      String key = entry.getKey();
      String all = behind(FACTORY_DEFAULT, key);
      String its = name.equals(factoryOf(key)) ? ofFactory(key).substring(name.length() + 1) : null;
      if (all != null || BARE_OPTIONS.contains(key.toLowerCase(Locale.ROOT))) {
        forAll.add(option(key, all != null ? all : key, entry.getValue()));
      } else if (its != null) {
        own.add(option(key, its, entry.getValue()));
      }
    }
    forAll.addAll(own);
    return forAll;
  }

  private Option option(String key, String name, String value) throws NamingException {
    return new Option(key, name, variables.expand(key, value));
  }

  private LightmqConnectionFactory factory(String key, String uri, String name)
      throws NamingException {
    String at = key;
    try {
      String url = uri;
      String urlKey = key;
      List<Option> options = options(name);
      for (Option option : options) {
        if (uri.isEmpty() && URIS.contains(option.name().toLowerCase(Locale.ROOT))) {
          url = option.value().trim();
          urlKey = option.key();
        }
      }
      if (url.isEmpty()) {
        urlKey = Context.PROVIDER_URL;
        url = properties.brokerUrl() == null ? "" : properties.brokerUrl();
      }
      at = urlKey;
      LightmqConnectionFactory factory =
          url.isEmpty() ? new LightmqConnectionFactory() : BrokerUrl.parse(urlKey, url).factory();
      for (Option option : options) {
        if (!URIS.contains(option.name().toLowerCase(Locale.ROOT))) {
          at = option.key();
          ForeignOptions foreign = new ForeignOptions();
          foreign.add(option.name(), option.value());
          if (foreign.tls()) {
            throw new IllegalArgumentException("write the URL with lightmqs:// for TLS");
          }
          factory.setOptions(foreign.take(option.key()));
        }
      }
      addUser(factory);
      return factory;
    } catch (IllegalArgumentException e) {
      throw wrong(at, e);
    }
  }

  /** Principal and credentials of the context, for factories that name no user. */
  private void addUser(LightmqConnectionFactory factory) {
    if (factory.getUser() == null && given(Context.SECURITY_PRINCIPAL) instanceof String user) {
      factory.setUser(user);
      Object credentials = given(Context.SECURITY_CREDENTIALS);
      if (credentials instanceof String password) {
        factory.setPassword(password);
      } else if (credentials instanceof char[] password) {
        factory.setPassword(new String(password));
      }
    }
  }

  private @Nullable Object given(String key) {
    String text = properties.entries().get(key);
    return text != null ? text : environment.get(key);
  }

  /**
   * An option of a factory that is not bound would be lost without a word. A key that begins with
   * {@code connection.} and has no second dot names no factory and may be somebody else's.
   */
  private void refuseOrphans() throws NamingException {
    for (String key : properties.entries().keySet()) {
      String classic = behind(CLASSIC_PROPERTY, key);
      boolean option =
          behind(FACTORY_PROPERTY, key) != null || (classic != null && classic.contains("."));
      if (option && factoryOf(key) == null) {
        throw new NamingException(
            "property " + key + " is for no connection factory of this context" + near(key));
      }
    }
  }

  /** Names may have dots, and so may options: the name ends at the first that makes sense. */
  private String near(String key) {
    String rest = ofFactory(key);
    for (int dot = rest.indexOf('.'); dot >= 0; dot = rest.indexOf('.', dot + 1)) {
      List<String> nearest = NearNames.of(rest.substring(0, dot), factories, 1);
      if (!nearest.isEmpty()) {
        return "; the nearest is " + nearest.get(0);
      }
    }
    return "; known are " + String.join(", ", factories);
  }
}

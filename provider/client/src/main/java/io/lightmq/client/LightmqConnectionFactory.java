package io.lightmq.client;

import io.lightmq.client.fault.JmsFaults;
import io.lightmq.client.link.ClientUri;
import jakarta.jms.Connection;
import jakarta.jms.ConnectionFactory;
import jakarta.jms.JMSContext;
import jakarta.jms.JMSException;
import jakarta.jms.QueueConnection;
import jakarta.jms.QueueConnectionFactory;
import jakarta.jms.Session;
import jakarta.jms.TopicConnection;
import jakarta.jms.TopicConnectionFactory;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.Serializable;
import java.util.LinkedHashMap;
import java.util.Map;
import javax.naming.Reference;
import javax.naming.Referenceable;
import javax.naming.StringRefAddr;
import org.jspecify.annotations.Nullable;

/**
 * Makes connections to a broker. Set up by a URI such as {@code
 * lightmq://host:7654,host2:7654?clientId=billing} and by setters; wrong options are told at once.
 * Safe for many threads once set up. The password is neither in the text form nor in the reference
 * nor in the serialised form; after those it has to be set again or given to createConnection.
 */
public final class LightmqConnectionFactory
    implements ConnectionFactory,
        QueueConnectionFactory,
        TopicConnectionFactory,
        Serializable,
        Referenceable {
  private static final long serialVersionUID = 1L;

  /** The URI of a broker on this machine. */
  public static final String DEFAULT_URI = "lightmq://127.0.0.1:7654";

  private String location;
  private LinkedHashMap<String, String> options;
  private transient @Nullable String password;

  /** For the broker on this machine. */
  public LightmqConnectionFactory() {
    this(DEFAULT_URI);
  }

  /**
   * For a URI.
   *
   * @throws IllegalArgumentException if it is no URI of ours, or for an unknown or wrong option
   */
  public LightmqConnectionFactory(String uri) {
    this.options = new LinkedHashMap<>();
    this.location = take(uri);
  }

  /** For a URI, with the credentials that connections have by default. */
  public LightmqConnectionFactory(String uri, @Nullable String user, @Nullable String password) {
    this(uri);
    setUser(user);
    setPassword(password);
  }

  private String take(@Nullable String uri) {
    if (uri == null) {
      throw new IllegalArgumentException(
          "the URI is null; write one such as " + DEFAULT_URI + ", or leave it out for that");
    }
    ClientUri parsed = ClientUri.parse(uri);
    ClientSettings.of(parsed);
    LinkedHashMap<String, String> taken = new LinkedHashMap<>();
    parsed.options().forEach((name, value) -> taken.put(ClientSettings.canonical(name), value));
    String newPassword = taken.remove("password");
    if (newPassword != null) {
      password = newPassword;
    }
    options = taken;
    return parsed.location();
  }

  private synchronized ClientSettings settings() {
    Map<String, String> all = new LinkedHashMap<>(options);
    if (password != null) {
      all.put("password", password);
    }
    ClientUri bare = ClientUri.parse(location);
    return ClientSettings.of(new ClientUri(bare.scheme(), bare.hosts(), bare.path(), all));
  }

  // ---- settings ----

  /** Replaces URI and options. */
  public synchronized void setUri(String uri) {
    location = take(uri);
  }

  /** The URI without options. */
  public synchronized String getUri() {
    return location;
  }

  /**
   * Sets an option, such as {@code prefetchMessages}; null gives it its default back.
   *
   * @throws IllegalArgumentException for an unknown option or a value out of range
   */
  public synchronized void setOption(String name, @Nullable String value) {
    String option = ClientSettings.canonical(name);
    if (option.equals("password")) {
      password = value;
      return;
    }
    LinkedHashMap<String, String> before = new LinkedHashMap<>(options);
    if (value == null) {
      options.remove(option);
    } else {
      options.put(option, value);
    }
    try {
      settings();
    } catch (IllegalArgumentException e) {
      options = before;
      throw e;
    }
  }

  /** The options that are set, without the password. */
  public synchronized Map<String, String> getOptions() {
    return new LinkedHashMap<>(options);
  }

  /** Sets the user that connections have by default. */
  public void setUser(@Nullable String user) {
    setOption("user", user);
  }

  /** The user that connections have by default. */
  public synchronized @Nullable String getUser() {
    return options.get("user");
  }

  /** Sets the password that connections have by default. */
  public synchronized void setPassword(@Nullable String newPassword) {
    password = newPassword;
  }

  /** Sets the client id of all connections. */
  public void setClientId(@Nullable String clientId) {
    setOption("clientId", clientId);
  }

  /** The client id of all connections. */
  public synchronized @Nullable String getClientId() {
    return options.get("clientId");
  }

  /** Sets the packages, separated by commas, whose classes ObjectMessages may bring. */
  public void setTrustedPackages(@Nullable String packages) {
    setOption("trustedPackages", packages);
  }

  /** The packages whose classes ObjectMessages may bring. */
  public synchronized @Nullable String getTrustedPackages() {
    return options.get("trustedPackages");
  }

  // ---- connections ----

  private LightmqConnection open(ClientSettings settings) throws JMSException {
    return LightmqConnection.open(settings, Domain.UNIFIED);
  }

  private ClientSettings checkedSettings() throws JMSException {
    try {
      return settings();
    } catch (IllegalArgumentException e) {
      throw JmsFaults.settings(String.valueOf(e.getMessage()), e);
    }
  }

  private ClientSettings settings(@Nullable String user, @Nullable String userPassword)
      throws JMSException {
    ClientSettings known = checkedSettings();
    return new ClientSettings(
        known.link().withCredentials(user, userPassword),
        known.prefetchMessages(),
        known.prefetchBytes(),
        known.parkMillis(),
        known.messageSizeLimit(),
        known.trust());
  }

  @Override
  public Connection createConnection() throws JMSException {
    return open(checkedSettings());
  }

  @Override
  public Connection createConnection(@Nullable String user, @Nullable String userPassword)
      throws JMSException {
    return open(settings(user, userPassword));
  }

  @Override
  public QueueConnection createQueueConnection() throws JMSException {
    return LightmqConnection.open(checkedSettings(), Domain.QUEUE);
  }

  @Override
  public QueueConnection createQueueConnection(@Nullable String user, @Nullable String userPassword)
      throws JMSException {
    return LightmqConnection.open(settings(user, userPassword), Domain.QUEUE);
  }

  @Override
  public TopicConnection createTopicConnection() throws JMSException {
    return LightmqConnection.open(checkedSettings(), Domain.TOPIC);
  }

  @Override
  public TopicConnection createTopicConnection(@Nullable String user, @Nullable String userPassword)
      throws JMSException {
    return LightmqConnection.open(settings(user, userPassword), Domain.TOPIC);
  }

  @Override
  public JMSContext createContext() {
    return createContext(Session.AUTO_ACKNOWLEDGE);
  }

  @Override
  public JMSContext createContext(int sessionMode) {
    try {
      return context(checkedSettings(), sessionMode);
    } catch (JMSException e) {
      throw JmsFaults.unchecked(e);
    }
  }

  @Override
  public JMSContext createContext(@Nullable String user, @Nullable String userPassword) {
    return createContext(user, userPassword, Session.AUTO_ACKNOWLEDGE);
  }

  @Override
  public JMSContext createContext(
      @Nullable String user, @Nullable String userPassword, int sessionMode) {
    try {
      return context(settings(user, userPassword), sessionMode);
    } catch (JMSException e) {
      throw JmsFaults.unchecked(e);
    }
  }

  private JMSContext context(ClientSettings settings, int sessionMode) throws JMSException {
    LightmqSession.checkMode(sessionMode);
    LightmqConnection connection = open(settings);
    try {
      return LightmqContext.first(connection, sessionMode);
    } catch (JMSException | RuntimeException e) {
      connection.close();
      throw e;
    }
  }

  // ---- storing it ----

  @Override
  public synchronized Reference getReference() {
    Reference reference =
        new Reference(
            LightmqConnectionFactory.class.getName(),
            new StringRefAddr(LightmqObjectFactory.URI, location),
            LightmqObjectFactory.class.getName(),
            null);
    options.forEach((name, value) -> reference.add(new StringRefAddr(name, value)));
    return reference;
  }

  private void readObject(ObjectInputStream in) throws IOException, ClassNotFoundException {
    in.defaultReadObject();
    settings();
  }

  /** URI and options, without the password. */
  @Override
  public synchronized String toString() {
    return "LightmqConnectionFactory[" + location + " " + options + "]";
  }
}

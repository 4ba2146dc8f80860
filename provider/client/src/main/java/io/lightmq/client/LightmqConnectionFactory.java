package io.lightmq.client;

import io.lightmq.client.fault.JmsFaults;
import jakarta.jms.Connection;
import jakarta.jms.ConnectionFactory;
import jakarta.jms.JMSContext;
import jakarta.jms.JMSException;
import jakarta.jms.QueueConnection;
import jakarta.jms.QueueConnectionFactory;
import jakarta.jms.Session;
import jakarta.jms.TopicConnection;
import jakarta.jms.TopicConnectionFactory;
import jakarta.jms.XAConnection;
import jakarta.jms.XAJMSContext;
import jakarta.jms.XAQueueConnection;
import jakarta.jms.XAQueueConnectionFactory;
import jakarta.jms.XATopicConnection;
import jakarta.jms.XATopicConnectionFactory;
import javax.naming.Reference;
import javax.naming.Referenceable;
import javax.naming.StringRefAddr;
import org.jspecify.annotations.Nullable;

/**
 * Makes connections to a broker: the factory of Jakarta Messaging 3.1, section 6.1, in its general
 * form, in those for queues and topics, and in those for distributed transactions. Set up by a URI
 * such as {@code lightmq://host:7654,host2:7654?clientId=billing} and by setters; wrong options are
 * told at once. Safe for many threads once set up.
 */
public final class LightmqConnectionFactory extends FactoryOptions
    implements ConnectionFactory,
        QueueConnectionFactory,
        TopicConnectionFactory,
        XAQueueConnectionFactory,
        XATopicConnectionFactory,
        Referenceable {
  private static final long serialVersionUID = 2L;

  /** For the broker on this machine. */
  public LightmqConnectionFactory() {
    super(DEFAULT_URI);
  }

  /**
   * For a URI.
   *
   * @throws IllegalArgumentException if it is no URI of ours, or for an unknown or wrong option
   */
  public LightmqConnectionFactory(String uri) {
    super(uri);
  }

  /** For a URI, with the credentials that connections have by default. */
  public LightmqConnectionFactory(String uri, @Nullable String user, @Nullable String password) {
    this(uri);
    setUser(user);
    setPassword(password);
  }

  private LightmqConnection open(ClientSettings settings) throws JMSException {
    return open(settings, Domain.UNIFIED);
  }

  private LightmqConnection open(ClientSettings settings, Domain domain) throws JMSException {
    return checked(() -> LightmqConnection.open(settings, domain));
  }

  private LightmqXaConnection openXa(ClientSettings settings, Domain domain) throws JMSException {
    return checked(() -> new LightmqXaConnection(settings, domain));
  }

  private static <C> C checked(Unchecked.Call<C> open) throws JMSException {
    try {
      NettyPresent.check();
      return open.call();
    } catch (LinkageError e) {
      throw NettyPresent.unfit(e);
    }
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
    return checkedSettings().withCredentials(user, userPassword);
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
    return open(checkedSettings(), Domain.QUEUE);
  }

  @Override
  public QueueConnection createQueueConnection(@Nullable String user, @Nullable String userPassword)
      throws JMSException {
    return open(settings(user, userPassword), Domain.QUEUE);
  }

  @Override
  public TopicConnection createTopicConnection() throws JMSException {
    return open(checkedSettings(), Domain.TOPIC);
  }

  @Override
  public TopicConnection createTopicConnection(@Nullable String user, @Nullable String userPassword)
      throws JMSException {
    return open(settings(user, userPassword), Domain.TOPIC);
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

  // ---- for distributed transactions ----

  @Override
  public XAConnection createXAConnection() throws JMSException {
    return openXa(checkedSettings(), Domain.UNIFIED);
  }

  @Override
  public XAConnection createXAConnection(@Nullable String user, @Nullable String userPassword)
      throws JMSException {
    return openXa(settings(user, userPassword), Domain.UNIFIED);
  }

  @Override
  public XAQueueConnection createXAQueueConnection() throws JMSException {
    return openXa(checkedSettings(), Domain.QUEUE);
  }

  @Override
  public XAQueueConnection createXAQueueConnection(
      @Nullable String user, @Nullable String userPassword) throws JMSException {
    return openXa(settings(user, userPassword), Domain.QUEUE);
  }

  @Override
  public XATopicConnection createXATopicConnection() throws JMSException {
    return openXa(checkedSettings(), Domain.TOPIC);
  }

  @Override
  public XATopicConnection createXATopicConnection(
      @Nullable String user, @Nullable String userPassword) throws JMSException {
    return openXa(settings(user, userPassword), Domain.TOPIC);
  }

  @Override
  public XAJMSContext createXAContext() {
    return Unchecked.get(() -> xaContext(checkedSettings()));
  }

  @Override
  public XAJMSContext createXAContext(@Nullable String user, @Nullable String userPassword) {
    return Unchecked.get(() -> xaContext(settings(user, userPassword)));
  }

  private XAJMSContext xaContext(ClientSettings settings) throws JMSException {
    LightmqXaConnection connection = openXa(settings, Domain.UNIFIED);
    try {
      return new LightmqXaContext(connection);
    } catch (JMSException | RuntimeException e) {
      connection.close();
      throw e;
    }
  }

  // ---- storing it ----

  /** URI and options as addresses of type {@code uri} and of the options' names. */
  @Override
  public Reference getReference() {
    Reference reference =
        new Reference(
            LightmqConnectionFactory.class.getName(), LightmqObjectFactory.class.getName(), null);
    stored().forEach((name, value) -> reference.add(new StringRefAddr(name, value)));
    return reference;
  }
}

package io.lightmq.client;

import io.lightmq.client.link.ClientUri;
import java.io.IOException;
import java.io.InvalidObjectException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The URI and the options of a connection factory, as bean properties with the names of the
 * options. A property that is set counts more than the same option in the URI, whichever came
 * first, so containers may set properties in any order. What is wrong by itself is refused by its
 * setter; what does not fit to the URI, such as {@code keep} for a broker elsewhere, is refused
 * when a connection is made.
 *
 * <p>The password is not in the text form; it is in the stored forms, which are the JNDI reference
 * and the serialised one, only with {@code referencePassword}. Without it the password has to be
 * set again or given to createConnection. Two factories are equal if URI, options and password are;
 * so the hash code changes with the options.
 */
public abstract sealed class FactoryOptions implements Serializable
    permits LightmqConnectionFactory {
  private static final long serialVersionUID = 1L;

  /** The URI of a broker on this machine. */
  public static final String DEFAULT_URI = "lightmq://127.0.0.1:7654";

  private static final String PASSWORD = "password";

  private transient String location;
  private transient Map<String, String> ofUri;
  private transient Map<String, String> ofSetters;

  FactoryOptions(String uri) {
    ClientUri parsed = parse(uri);
    this.location = parsed.location();
    this.ofUri = named(parsed);
    this.ofSetters = new TreeMap<>();
  }

  private static ClientUri parse(@Nullable String uri) {
    if (uri == null) {
      throw new IllegalArgumentException(
          "the URI is null; write one such as " + DEFAULT_URI + ", or leave it out for that");
    }
    ClientUri parsed = ClientUri.parse(uri);
    try {
      ClientSettings.of(parsed);
    } catch (IllegalArgumentException e) {
      parsed.options().forEach(ClientSettings::checkOtherName); // says it with the name given
      throw e;
    }
    return parsed;
  }

  private static Map<String, String> named(ClientUri uri) {
    Map<String, String> named = new TreeMap<>();
    uri.options().forEach((name, value) -> named.put(ClientSettings.canonical(name), value));
    return named;
  }

  /** The names of all options. */
  public static Set<String> optionNames() {
    return ClientSettings.optionNames();
  }

  /** All options that are set, with the password. */
  private synchronized Map<String, String> all() {
    Map<String, String> all = new TreeMap<>(ofUri);
    all.putAll(ofSetters);
    return all;
  }

  /** What a connection is made with. */
  synchronized ClientSettings settings() {
    ClientUri bare = ClientUri.parse(location);
    return ClientSettings.of(new ClientUri(bare.scheme(), bare.hosts(), bare.path(), all()));
  }

  /** What a stored form holds: the URI under its own name, then the options. */
  synchronized Map<String, String> stored() {
    Map<String, String> stored = new LinkedHashMap<>();
    stored.put(LightmqObjectFactory.URI, location);
    stored.putAll(isReferencePassword() ? all() : getOptions());
    return stored;
  }

  // ---- URI and options by name ----

  /**
   * Replaces the URI and the options that came with the one before; what was set by setters stays.
   *
   * @throws IllegalArgumentException if it is no URI of ours, or for an unknown or wrong option
   */
  public synchronized void setUri(String uri) {
    ClientUri parsed = parse(uri);
    ofUri = named(parsed);
    location = parsed.location();
  }

  /** The URI without options. */
  public synchronized String getUri() {
    return location;
  }

  /**
   * Sets an option, such as {@code prefetchMessages}; null gives it its default back. An empty
   * user, password or client id is none: what was set is taken back, what the URI has counts.
   *
   * @throws IllegalArgumentException for an unknown option or a value out of range
   */
  public synchronized void setOption(String name, @Nullable String value) {
    String option = ClientSettings.canonical(name);
    if (value == null) {
      ofUri.remove(option);
      ofSetters.remove(option);
    } else if (value.isEmpty() && ClientSettings.ABSENT_IF_EMPTY.contains(option)) {
      ofSetters.remove(option);
    } else {
      ClientSettings.check(name, value);
      ofSetters.put(option, value);
    }
  }

  /** Sets each of these options; others stay as they are. All of them are checked before. */
  public synchronized void setOptions(Map<String, String> options) {
    options.forEach((name, value) -> ClientSettings.check(name, value));
    options.forEach(this::setOption);
  }

  /** The options that are set, without the password. */
  public synchronized Map<String, String> getOptions() {
    Map<String, String> options = all();
    options.remove(PASSWORD);
    return options;
  }

  private @Nullable String text(String name) {
    return all().get(name);
  }

  private long number(String name) {
    return ClientSettings.number(all(), name);
  }

  private void number(String name, long value) {
    setOption(name, Long.toString(value));
  }

  private boolean isSet(String name, boolean standard) {
    return Boolean.parseBoolean(all().getOrDefault(name, Boolean.toString(standard)));
  }

  private void flag(String name, boolean value) {
    setOption(name, Boolean.toString(value));
  }

  // ---- the options as bean properties ----

  /** Sets the user that connections have by default; null for none. */
  public void setUser(@Nullable String user) {
    setOption("user", user);
  }

  /** Gives the user that connections have by default, if it is set. */
  public @Nullable String getUser() {
    return text("user");
  }

  /** Sets the password that connections have by default; null for none. */
  public void setPassword(@Nullable String password) {
    setOption("password", password);
  }

  /** Sets the client id of all connections; null for none. */
  public void setClientId(@Nullable String clientId) {
    setOption("clientId", clientId);
  }

  /** Gives the client id of all connections, if it is set. */
  public @Nullable String getClientId() {
    return text("clientId");
  }

  /** The same as {@link #setClientId}, as other providers spell it. */
  public void setClientID(@Nullable String clientId) {
    setClientId(clientId);
  }

  /** The same as {@link #getClientId}, as other providers spell it. */
  public @Nullable String getClientID() {
    return getClientId();
  }

  /** Sets how long connecting may take. */
  public void setConnectTimeoutMillis(int connectTimeoutMillis) {
    number("connectTimeoutMillis", connectTimeoutMillis);
  }

  /** Gives how long connecting may take. */
  public int getConnectTimeoutMillis() {
    return (int) number("connectTimeoutMillis");
  }

  /** Sets how long a request may wait for its answer, across reconnects. */
  public void setRequestTimeoutMillis(int requestTimeoutMillis) {
    number("requestTimeoutMillis", requestTimeoutMillis);
  }

  /** Gives how long a request may wait for its answer, across reconnects. */
  public int getRequestTimeoutMillis() {
    return (int) number("requestTimeoutMillis");
  }

  /** Sets how long a send may wait for room. */
  public void setSendTimeoutMillis(int sendTimeoutMillis) {
    number("sendTimeoutMillis", sendTimeoutMillis);
  }

  /** Gives how long a send may wait for room. */
  public int getSendTimeoutMillis() {
    return (int) number("sendTimeoutMillis");
  }

  /** Sets how many bytes of sends may wait for their receipt. */
  public void setMaxUnconfirmedBytes(long maxUnconfirmedBytes) {
    number("maxUnconfirmedBytes", maxUnconfirmedBytes);
  }

  /** Gives how many bytes of sends may wait for their receipt. */
  public long getMaxUnconfirmedBytes() {
    return number("maxUnconfirmedBytes");
  }

  /** Sets the bytes of messages at which an asynchronous batch is sent. */
  public void setBatchBytes(int batchBytes) {
    number("batchBytes", batchBytes);
  }

  /** Gives the bytes of messages at which an asynchronous batch is sent. */
  public int getBatchBytes() {
    return (int) number("batchBytes");
  }

  /** Sets how long an asynchronous batch waits for more messages. */
  public void setLingerMillis(int lingerMillis) {
    number("lingerMillis", lingerMillis);
  }

  /** Gives how long an asynchronous batch waits for more messages. */
  public int getLingerMillis() {
    return (int) number("lingerMillis");
  }

  /** Sets how many messages wait in a consumer at most. */
  public void setPrefetchMessages(int prefetchMessages) {
    number("prefetchMessages", prefetchMessages);
  }

  /** Gives how many messages wait in a consumer at most. */
  public int getPrefetchMessages() {
    return (int) number("prefetchMessages");
  }

  /** Sets how many bytes of messages wait in a consumer at most. */
  public void setPrefetchBytes(int prefetchBytes) {
    number("prefetchBytes", prefetchBytes);
  }

  /** Gives how many bytes of messages wait in a consumer at most. */
  public int getPrefetchBytes() {
    return (int) number("prefetchBytes");
  }

  /** Sets how long the broker keeps a pull that finds nothing. */
  public void setParkMillis(int parkMillis) {
    number("parkMillis", parkMillis);
  }

  /** Gives how long the broker keeps a pull that finds nothing. */
  public int getParkMillis() {
    return (int) number("parkMillis");
  }

  /** Sets the bytes of the longest message with headers and properties. */
  public void setMessageSizeLimit(int messageSizeLimit) {
    number("messageSizeLimit", messageSizeLimit);
  }

  /** Gives the bytes of the longest message with headers and properties. */
  public int getMessageSizeLimit() {
    return (int) number("messageSizeLimit");
  }

  /** Sets whether a lost connection is made again. */
  public void setFailover(boolean failover) {
    flag("failover", failover);
  }

  /** Tells whether a lost connection is made again. */
  public boolean isFailover() {
    return isSet("failover", true);
  }

  /** Sets the first wait before connecting again. */
  public void setReconnectDelayMillis(int reconnectDelayMillis) {
    number("reconnectDelayMillis", reconnectDelayMillis);
  }

  /** Gives the first wait before connecting again. */
  public int getReconnectDelayMillis() {
    return (int) number("reconnectDelayMillis");
  }

  /** Sets the longest wait before connecting again. */
  public void setMaxReconnectDelayMillis(int maxReconnectDelayMillis) {
    number("maxReconnectDelayMillis", maxReconnectDelayMillis);
  }

  /** Gives the longest wait before connecting again. */
  public int getMaxReconnectDelayMillis() {
    return (int) number("maxReconnectDelayMillis");
  }

  /** The same as {@link #setReconnectDelayMillis}, as other providers spell it. */
  public void setInitialReconnectDelay(int initialReconnectDelay) {
    number("initialReconnectDelay", initialReconnectDelay);
  }

  /** The same as {@link #getReconnectDelayMillis}, as other providers spell it. */
  public int getInitialReconnectDelay() {
    return getReconnectDelayMillis();
  }

  /** The same as {@link #setMaxReconnectDelayMillis}, as other providers spell it. */
  public void setMaxReconnectDelay(int maxReconnectDelay) {
    number("maxReconnectDelay", maxReconnectDelay);
  }

  /** The same as {@link #getMaxReconnectDelayMillis}, as other providers spell it. */
  public int getMaxReconnectDelay() {
    return getMaxReconnectDelayMillis();
  }

  /** Sets what each wait before connecting again is longer than the one before; 1 for not. */
  public void setReconnectBackOffMultiplier(double reconnectBackOffMultiplier) {
    setOption(ClientSettings.MULTIPLIER, Double.toString(reconnectBackOffMultiplier));
  }

  /** Gives what each wait before connecting again is longer than the one before. */
  public double getReconnectBackOffMultiplier() {
    return ClientSettings.multiplier(text(ClientSettings.MULTIPLIER));
  }

  /** Sets whether the hosts are tried in an order of its own each time. */
  public void setRandomize(boolean randomize) {
    flag(ClientSettings.RANDOMIZE, randomize);
  }

  /** Tells whether the hosts are tried in an order of its own each time. */
  public boolean isRandomize() {
    return isSet(ClientSettings.RANDOMIZE, false);
  }

  /** Sets how often to try to connect again, -1 for without end. */
  public void setReconnectAttempts(int reconnectAttempts) {
    number("reconnectAttempts", reconnectAttempts);
  }

  /** Gives how often to try to connect again, -1 for without end. */
  public int getReconnectAttempts() {
    return (int) number("reconnectAttempts");
  }

  /** Sets how often to try again when the first connect fails, -1 for without end. */
  public void setInitialReconnectAttempts(int initialReconnectAttempts) {
    number("initialReconnectAttempts", initialReconnectAttempts);
  }

  /** Gives how often to try again when the first connect fails, -1 for without end. */
  public int getInitialReconnectAttempts() {
    return (int) number("initialReconnectAttempts");
  }

  /**
   * Sets the packages, separated by commas, whose classes ObjectMessages may bring; null for none.
   */
  public void setTrustedPackages(@Nullable String trustedPackages) {
    setOption("trustedPackages", trustedPackages);
  }

  /**
   * Gives the packages, separated by commas, whose classes ObjectMessages may bring, if it is set.
   */
  public @Nullable String getTrustedPackages() {
    return text("trustedPackages");
  }

  /** Sets which JMSX properties, separated by commas, messages have; null for none. */
  public void setJmsxProperties(@Nullable String jmsxProperties) {
    setOption("jmsxProperties", jmsxProperties);
  }

  /** Gives which JMSX properties messages have, if it is set. */
  public @Nullable String getJmsxProperties() {
    return text("jmsxProperties");
  }

  /** Sets {@code at-least-once} or {@code at-most-once}; null for the first. */
  public void setSemantics(@Nullable String semantics) {
    setOption("semantics", semantics);
  }

  /** Gives {@code at-least-once} or {@code at-most-once}, if it is set. */
  public @Nullable String getSemantics() {
    return text("semantics");
  }

  /** Sets whether a broker inside the application goes on after its last connection. */
  public void setKeep(boolean keep) {
    flag("keep", keep);
  }

  /** Tells whether a broker inside the application goes on after its last connection. */
  public boolean isKeep() {
    return isSet("keep", false);
  }

  /** Sets whether JNDI reference and serialised form hold the password. */
  public void setReferencePassword(boolean referencePassword) {
    flag("referencePassword", referencePassword);
  }

  /** Tells whether JNDI reference and serialised form hold the password. */
  public boolean isReferencePassword() {
    return isSet("referencePassword", false);
  }

  // ---- storing and comparing ----

  private synchronized void writeObject(ObjectOutputStream out) throws IOException {
    out.defaultWriteObject();
    out.writeObject(new LinkedHashMap<>(stored()));
  }

  private void readObject(ObjectInputStream in) throws IOException, ClassNotFoundException {
    in.defaultReadObject();
    location = DEFAULT_URI;
    ofUri = new TreeMap<>();
    ofSetters = new TreeMap<>();
    if (!(in.readObject() instanceof Map<?, ?> stored)) {
      throw new InvalidObjectException("a connection factory without its options");
    }
    try {
      for (Map.Entry<?, ?> entry : stored.entrySet()) {
        String name = String.valueOf(entry.getKey());
        String value = String.valueOf(entry.getValue());
        if (name.equals(LightmqObjectFactory.URI)) {
          setUri(value);
        } else {
          setOption(name, value);
        }
      }
    } catch (IllegalArgumentException e) {
      InvalidObjectException refused = new InvalidObjectException(e.getMessage());
      refused.initCause(e);
      throw refused;
    }
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof FactoryOptions that
        && getClass() == that.getClass()
        && getUri().equals(that.getUri())
        && all().equals(that.all());
  }

  @Override
  public int hashCode() {
    return 31 * getUri().hashCode() + getOptions().hashCode();
  }

  /** URI and options, without the password. */
  @Override
  public synchronized String toString() {
    return getClass().getSimpleName() + "[" + location + " " + getOptions() + "]";
  }
}

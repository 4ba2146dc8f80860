package io.lightmq.client;

import io.lightmq.client.fault.JmsFaults;
import jakarta.jms.BytesMessage;
import jakarta.jms.ConnectionMetaData;
import jakarta.jms.Destination;
import jakarta.jms.ExceptionListener;
import jakarta.jms.JMSConsumer;
import jakarta.jms.JMSContext;
import jakarta.jms.JMSException;
import jakarta.jms.JMSProducer;
import jakarta.jms.MapMessage;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.ObjectMessage;
import jakarta.jms.Queue;
import jakarta.jms.QueueBrowser;
import jakarta.jms.StreamMessage;
import jakarta.jms.TemporaryQueue;
import jakarta.jms.TemporaryTopic;
import jakarta.jms.TextMessage;
import jakarta.jms.Topic;
import java.io.Serializable;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A session and its connection in one object; the last context of a connection closes it. What a
 * factory makes can be cast to it for {@link #state}.
 */
public sealed class LightmqContext implements JMSContext permits LightmqXaContext {
  private final LightmqConnection connection;
  private final AtomicInteger sharers;
  private final LightmqSession session;
  private boolean autoStart = true;
  private final AtomicBoolean closed = new AtomicBoolean();

  private LightmqContext(LightmqConnection connection, AtomicInteger sharers, int mode)
      throws JMSException {
    this(connection, sharers, connection.openSession(AckMode.of(mode), Domain.UNIFIED));
  }

  LightmqContext(LightmqConnection connection, AtomicInteger sharers, LightmqSession session) {
    this.connection = connection;
    this.sharers = sharers;
    this.session = session;
  }

  /** The first context of a connection. */
  static LightmqContext first(LightmqConnection connection, int mode) throws JMSException {
    return new LightmqContext(connection, new AtomicInteger(1), mode);
  }

  private LightmqSession used() throws JMSException {
    session.requireOpen();
    connection.use();
    return session;
  }

  @Override
  public JMSContext createContext(int sessionMode) {
    return Unchecked.get(
        () -> {
          used();
          // Before its session is asked for, so that the connection stays whoever closes meanwhile;
          // one that closes already stays as long as the listener that asks.
          boolean shares = sharers.getAndUpdate(count -> count == 0 ? 0 : count + 1) > 0;
          try {
            return new LightmqContext(connection, sharers, sessionMode);
          } catch (JMSException | RuntimeException | Error e) {
            if (shares && sharers.decrementAndGet() == 0) {
              Shutdown.quietly(connection::close);
            }
            throw e;
          }
        });
  }

  @Override
  public JMSProducer createProducer() {
    return new LightmqJmsProducer(Unchecked.get(this::used));
  }

  // ---- the connection ----

  /** How the connection is now. */
  public ConnectionState state() {
    return connection.state();
  }

  @Override
  public @Nullable String getClientID() {
    return Unchecked.ask(connection::getClientID);
  }

  @Override
  public void setClientID(@Nullable String clientId) {
    Unchecked.run(() -> connection.setClientID(clientId));
  }

  @Override
  public ConnectionMetaData getMetaData() {
    return Unchecked.get(connection::getMetaData);
  }

  @Override
  public @Nullable ExceptionListener getExceptionListener() {
    return Unchecked.ask(connection::getExceptionListener);
  }

  @Override
  public void setExceptionListener(@Nullable ExceptionListener listener) {
    Unchecked.run(() -> connection.setExceptionListener(listener));
  }

  @Override
  public void start() {
    Unchecked.run(connection::start);
  }

  @Override
  public void stop() {
    Unchecked.run(connection::stop);
  }

  @Override
  public void setAutoStart(boolean value) {
    Unchecked.run(session::requireOpen);
    autoStart = value;
  }

  @Override
  public boolean getAutoStart() {
    Unchecked.run(session::requireOpen);
    return autoStart;
  }

  /**
   * Closes it; the last of a connection's contexts closes the connection. Holds no lock, for it
   * waits for listeners, which may close contexts as well.
   */
  @Override
  public void close() {
    Unchecked.run(
        () -> {
          boolean inCallback = session.isInCallback();
          if (inCallback && !closed.get()) {
            throw JmsFaults.illegalState("a context cannot be closed by its own listener");
          }
          if (closed.compareAndSet(false, true)) {
            closeShare();
          } else if (!inCallback) {
            session.close(); // waits for the thread that closes it
          }
        });
  }

  private void closeShare() throws JMSException {
    if (connection.isClosing()) {
      session.close(); // it was opened by a listener that the connection's close waits for
      return;
    }
    int left = sharers.get();
    boolean given = false;
    try {
      while (!given) {
        if (left == 1) {
          connection.refuseInCallback("closed");
        }
        given = sharers.compareAndSet(left, left - 1);
        left = given ? left - 1 : sharers.get();
      }
    } finally {
      closed.set(given);
    }
    if (left == 0) {
      connection.close();
    } else {
      session.close();
    }
  }

  // ---- messages and destinations ----

  @Override
  public BytesMessage createBytesMessage() {
    return Unchecked.get(() -> used().createBytesMessage());
  }

  @Override
  public MapMessage createMapMessage() {
    return Unchecked.get(() -> used().createMapMessage());
  }

  @Override
  public Message createMessage() {
    return Unchecked.get(() -> used().createMessage());
  }

  @Override
  public ObjectMessage createObjectMessage() {
    return Unchecked.get(() -> used().createObjectMessage());
  }

  @Override
  public ObjectMessage createObjectMessage(@Nullable Serializable object) {
    return Unchecked.get(() -> used().createObjectMessage(object));
  }

  @Override
  public StreamMessage createStreamMessage() {
    return Unchecked.get(() -> used().createStreamMessage());
  }

  @Override
  public TextMessage createTextMessage() {
    return Unchecked.get(() -> used().createTextMessage());
  }

  @Override
  public TextMessage createTextMessage(@Nullable String text) {
    return Unchecked.get(() -> used().createTextMessage(text));
  }

  @Override
  public Queue createQueue(@Nullable String name) {
    return Unchecked.get(() -> used().createQueue(name));
  }

  @Override
  public Topic createTopic(@Nullable String name) {
    return Unchecked.get(() -> used().createTopic(name));
  }

  @Override
  public TemporaryQueue createTemporaryQueue() {
    return Unchecked.get(() -> used().createTemporaryQueue());
  }

  @Override
  public TemporaryTopic createTemporaryTopic() {
    return Unchecked.get(() -> used().createTemporaryTopic());
  }

  // ---- consumers ----

  private JMSConsumer consumer(Unchecked.Call<MessageConsumer> create) {
    return Unchecked.get(
        () -> {
          used();
          LightmqConsumer consumer = (LightmqConsumer) create.call();
          if (autoStart) {
            connection.start();
          }
          return new LightmqJmsConsumer(consumer);
        });
  }

  @Override
  public JMSConsumer createConsumer(Destination destination) {
    return consumer(() -> session.createConsumer(destination));
  }

  @Override
  public JMSConsumer createConsumer(Destination destination, @Nullable String selector) {
    return consumer(() -> session.createConsumer(destination, selector));
  }

  @Override
  public JMSConsumer createConsumer(
      Destination destination, @Nullable String selector, boolean noLocal) {
    return consumer(() -> session.createConsumer(destination, selector, noLocal));
  }

  @Override
  public JMSConsumer createDurableConsumer(Topic topic, String name) {
    return consumer(() -> session.createDurableConsumer(topic, name));
  }

  @Override
  public JMSConsumer createDurableConsumer(
      Topic topic, String name, @Nullable String selector, boolean noLocal) {
    return consumer(() -> session.createDurableConsumer(topic, name, selector, noLocal));
  }

  @Override
  public JMSConsumer createSharedDurableConsumer(Topic topic, String name) {
    return consumer(() -> session.createSharedDurableConsumer(topic, name));
  }

  @Override
  public JMSConsumer createSharedDurableConsumer(
      Topic topic, String name, @Nullable String selector) {
    return consumer(() -> session.createSharedDurableConsumer(topic, name, selector));
  }

  @Override
  public JMSConsumer createSharedConsumer(Topic topic, String name) {
    return consumer(() -> session.createSharedConsumer(topic, name));
  }

  @Override
  public JMSConsumer createSharedConsumer(Topic topic, String name, @Nullable String selector) {
    return consumer(() -> session.createSharedConsumer(topic, name, selector));
  }

  @Override
  public QueueBrowser createBrowser(Queue queue) {
    return Unchecked.get(() -> used().createBrowser(queue));
  }

  @Override
  public QueueBrowser createBrowser(Queue queue, @Nullable String selector) {
    return Unchecked.get(() -> used().createBrowser(queue, selector));
  }

  @Override
  public void unsubscribe(String name) {
    Unchecked.run(() -> used().unsubscribe(name));
  }

  // ---- acknowledging ----

  @Override
  public boolean getTransacted() {
    return Unchecked.get(session::getTransacted);
  }

  @Override
  public int getSessionMode() {
    return Unchecked.get(session::getAcknowledgeMode);
  }

  @Override
  public void commit() {
    Unchecked.run(session::commit);
  }

  @Override
  public void rollback() {
    Unchecked.run(session::rollback);
  }

  @Override
  public void recover() {
    Unchecked.run(session::recover);
  }

  @Override
  public void acknowledge() {
    Unchecked.run(session::acknowledge);
  }
}

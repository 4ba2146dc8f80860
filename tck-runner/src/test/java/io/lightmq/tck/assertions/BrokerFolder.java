package io.lightmq.tck.assertions;

import io.lightmq.client.LightmqConnectionFactory;
import io.lightmq.embedded.EmbeddedBrokers;
import jakarta.jms.Connection;
import jakarta.jms.JMSContext;
import jakarta.jms.JMSException;
import java.nio.file.Path;

/** A broker in a folder, for tests that restart it. Its connections end with it. */
final class BrokerFolder implements AutoCloseable {

  /** Long enough for a message that is to come. */
  static final long COMES_MILLIS = 20_000;

  private final String uri;

  BrokerFolder(Path folder) {
    uri = "lightmq:file:" + folder.toAbsolutePath() + "?keep=true";
  }

  LightmqConnectionFactory factory() {
    return new LightmqConnectionFactory(uri);
  }

  /** A started connection. */
  Connection connect() throws JMSException {
    Connection connection = factory().createConnection();
    connection.start();
    return connection;
  }

  /** A started connection of a client. */
  Connection connect(String clientId) throws JMSException {
    Connection connection = factory().createConnection();
    connection.setClientID(clientId);
    connection.start();
    return connection;
  }

  JMSContext context(int mode) {
    return factory().createContext(mode);
  }

  /** Stops the broker; the next connection starts it on what it has left. */
  void restart() {
    EmbeddedBrokers.close(uri);
  }

  @Override
  public void close() {
    EmbeddedBrokers.close(uri);
  }
}

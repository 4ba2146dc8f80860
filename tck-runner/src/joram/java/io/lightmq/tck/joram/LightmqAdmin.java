package io.lightmq.tck.joram;

import jakarta.jms.ConnectionFactory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Hashtable;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import javax.naming.Context;
import javax.naming.InitialContext;
import javax.naming.NamingException;
import org.objectweb.jtests.jms.admin.Admin;

/**
 * Gives the JORAM suite its administered objects: JNDI names in the environment of a LightMQ
 * context, and destinations that are really deleted after each test.
 */
@SuppressWarnings("BanJNDI") // the suite asks for a naming context; ours reads no foreign objects
public final class LightmqAdmin implements Admin {

  private static final OpenConnections CONNECTIONS = new OpenConnections();

  private static volatile ConformanceBroker broker;

  private final Map<String, String> names = new ConcurrentHashMap<>();

  /** The broker for all tests of this Java machine. */
  static void use(ConformanceBroker running) {
    broker = running;
  }

  /** Closes what the tests left open, so that no client is surprised by the broker's end. */
  static void closeConnections() throws InterruptedException {
    CONNECTIONS.closeAll();
  }

  @Override
  public String getName() {
    return "LightMQ";
  }

  @Override
  public Context createContext() throws NamingException {
    Hashtable<String, Object> environment = new Hashtable<>(names);
    environment.put(
        Context.INITIAL_CONTEXT_FACTORY, "io.lightmq.jndi.LightmqInitialContextFactory");
    return new InitialContext(environment) {
      @Override
      public Object lookup(String name) throws NamingException {
        Object found = super.lookup(name);
        return found instanceof ConnectionFactory ? CONNECTIONS.recording(found) : found;
      }
    };
  }

  @Override
  public void createConnectionFactory(String name) {
    names.put("connectionFactory." + name, broker.uri());
  }

  @Override
  public void createQueueConnectionFactory(String name) {
    createConnectionFactory(name);
  }

  @Override
  public void createTopicConnectionFactory(String name) {
    createConnectionFactory(name);
  }

  @Override
  public void createQueue(String name) {
    names.put("queue." + name, name);
  }

  @Override
  public void createTopic(String name) {
    names.put("topic." + name, name);
  }

  @Override
  public void deleteQueue(String name) {
    names.remove("queue." + name);
    try {
      broker.deleteQueue(name);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void deleteTopic(String name) {
    names.remove("topic." + name);
    try {
      broker.deleteTopic(name);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void deleteConnectionFactory(String name) {
    names.remove("connectionFactory." + name);
  }

  @Override
  public void deleteQueueConnectionFactory(String name) {
    deleteConnectionFactory(name);
  }

  @Override
  public void deleteTopicConnectionFactory(String name) {
    deleteConnectionFactory(name);
  }

  /** Nothing to do: one broker serves all tests. */
  @Override
  public void startServer() {}

  /** Nothing to do: the run stops its broker at the end. */
  @Override
  public void stopServer() {}

  /** Nothing to do. */
  @Override
  public void start() {}

  /** Nothing to do. */
  @Override
  public void stop() {}
}

package io.lightmq.samples;

import jakarta.jms.ConnectionFactory;
import jakarta.jms.JMSContext;
import jakarta.jms.Queue;
import java.util.Hashtable;
import javax.naming.InitialContext;
import javax.naming.NamingException;

/**
 * Finds factory and destination through JNDI, with no LightMQ type in the source.
 *
 * <p>What the names mean stands in {@code jndi.properties} on the class path; the system property
 * {@code lightmq.uri} names another broker.
 */
final class JndiLookup {

  private static final long WAIT_MILLIS = 5_000;

  private JndiLookup() {}

  // Looks up constant names in a local file, which is what JNDI is for in this sample.
  @SuppressWarnings({"BanJNDI", "JdkObsolete"}) // JNDI asks for a Hashtable
  public static void main(String[] arguments) throws NamingException {
    Usage.of("usage: JndiLookup   sends and receives through JNDI only", 0).check(arguments);
    Hashtable<String, String> environment = new Hashtable<>();
    String uri = System.getProperty("lightmq.uri");
    if (uri != null) {
      environment.put("connectionFactory.ConnectionFactory", uri);
    }
    InitialContext names = new InitialContext(environment);
    ConnectionFactory factory = (ConnectionFactory) names.lookup("ConnectionFactory");
    Queue greetings = (Queue) names.lookup("greetings");
    try (JMSContext context = factory.createContext()) {
      context.createProducer().send(greetings, "hello from JNDI");
      System.out.println(context.createConsumer(greetings).receiveBody(String.class, WAIT_MILLIS));
    }
    names.close();
  }
}

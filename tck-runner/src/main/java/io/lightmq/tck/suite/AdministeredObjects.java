package io.lightmq.tck.suite;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The administered objects that the TCK looks up, as properties for LightMQ's naming context. */
final class AdministeredObjects {

  /** The user that the suite's connections name, and its password. */
  static final String USER = "j2ee";

  private static final String CLIENT_ID = "cts";
  private static final String FACTORY = "io.lightmq.jndi.LightmqInitialContextFactory";

  private static final List<String> QUEUES =
      List.of("MY_QUEUE", "MY_QUEUE2", "testQ0", "testQ1", "testQ2", "testQueue2", "Q2");
  private static final List<String> TOPICS =
      List.of("MY_TOPIC", "MY_TOPIC2", "testT0", "testT1", "testT2");
  private static final List<String> CONNECTION_FACTORIES =
      List.of("MyConnectionFactory", "MyQueueConnectionFactory", "MyTopicConnectionFactory");
  private static final String FACTORY_WITH_CLIENT_ID = "DURABLE_SUB_CONNECTION_FACTORY";

  private AdministeredObjects() {}

  /** The environment of a naming context that has all of them, for a broker with this URI. */
  static Map<String, String> environment(String uri) {
    Map<String, String> names = new TreeMap<>();
    names.put("java.naming.factory.initial", FACTORY);
    names.put("java.naming.provider.url", uri);
    QUEUES.forEach(queue -> names.put("queue." + queue, queue));
    TOPICS.forEach(topic -> names.put("topic." + topic, topic));
    CONNECTION_FACTORIES.forEach(name -> names.put("connectionFactory." + name, uri));
    String separator = uri.contains("?") ? "&" : "?";
    names.put(
        "connectionFactory." + FACTORY_WITH_CLIENT_ID, uri + separator + "clientId=" + CLIENT_ID);
    return names;
  }
}

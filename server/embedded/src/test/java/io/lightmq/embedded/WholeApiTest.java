package io.lightmq.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.client.LightmqConnectionFactory;
import jakarta.jms.BytesMessage;
import jakarta.jms.Connection;
import jakarta.jms.ConnectionConsumer;
import jakarta.jms.ConnectionFactory;
import jakarta.jms.ConnectionMetaData;
import jakarta.jms.Destination;
import jakarta.jms.IllegalStateException;
import jakarta.jms.IllegalStateRuntimeException;
import jakarta.jms.JMSConsumer;
import jakarta.jms.JMSContext;
import jakarta.jms.JMSException;
import jakarta.jms.JMSProducer;
import jakarta.jms.MapMessage;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageProducer;
import jakarta.jms.ObjectMessage;
import jakarta.jms.Queue;
import jakarta.jms.QueueBrowser;
import jakarta.jms.QueueConnection;
import jakarta.jms.QueueConnectionFactory;
import jakarta.jms.QueueReceiver;
import jakarta.jms.QueueSender;
import jakarta.jms.QueueSession;
import jakarta.jms.ServerSession;
import jakarta.jms.ServerSessionPool;
import jakarta.jms.Session;
import jakarta.jms.StreamMessage;
import jakarta.jms.TemporaryQueue;
import jakarta.jms.TemporaryTopic;
import jakarta.jms.TextMessage;
import jakarta.jms.Topic;
import jakarta.jms.TopicConnection;
import jakarta.jms.TopicConnectionFactory;
import jakarta.jms.TopicPublisher;
import jakarta.jms.TopicSession;
import jakarta.jms.TopicSubscriber;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Every method of every interface of {@code jakarta.jms} that a provider implements, but for XA: it
 * is there, does not say that it is unsupported, and gives something where the API promises it.
 */
class WholeApiTest {
  /** Where the API allows null. */
  private static final Set<String> NULLABLE =
      Set.of(
          "getClientID",
          "getExceptionListener",
          "getMessageListener",
          "getMessageSelector",
          "getAsync",
          "getText",
          "getObject",
          "getString",
          "getBytes",
          "readString",
          "readObject",
          "getStringProperty",
          "getObjectProperty",
          "getBody",
          "getJMSMessageID",
          "getJMSCorrelationID",
          "getJMSCorrelationIDAsBytes",
          "getJMSReplyTo",
          "getJMSDestination",
          "getJMSType",
          "getDestination",
          "receiveNoWait",
          "receiveBodyNoWait");

  private final String name = "lightmq:mem:" + UUID.randomUUID();
  private final Map<Class<?>, Supplier> made = new LinkedHashMap<>();
  private Connection connection;
  private Session session;
  private Queue queue;
  private Topic topic;
  private int clients;

  /** Makes an object of an interface, for one method. */
  interface Supplier {
    Object get(Method method) throws JMSException;
  }

  @BeforeEach
  void connect() throws JMSException {
    connection = new LightmqConnectionFactory(name + "?clientId=whole").createConnection();
    connection.start();
    session = connection.createSession();
    queue = session.createQueue("q");
    topic = session.createTopic("t");
    factories();
    connections();
    sessions();
    producers();
    consumers();
    messages();
    made.put(QueueBrowser.class, m -> session.createBrowser(queue));
    made.put(Queue.class, m -> queue);
    made.put(Topic.class, m -> topic);
    made.put(TemporaryQueue.class, m -> session.createTemporaryQueue());
    made.put(TemporaryTopic.class, m -> session.createTemporaryTopic());
    made.put(ConnectionMetaData.class, m -> connection.getMetaData());
  }

  private LightmqConnectionFactory factory() {
    return new LightmqConnectionFactory(name);
  }

  /** One whose connections have a client id, unless the method sets it. */
  private LightmqConnectionFactory factory(Method method) {
    return method.getName().equals("setClientID")
        ? factory()
        : new LightmqConnectionFactory(name + "?clientId=c" + clients++);
  }

  private void factories() {
    made.put(ConnectionFactory.class, m -> factory());
    made.put(QueueConnectionFactory.class, m -> factory());
    made.put(TopicConnectionFactory.class, m -> factory());
  }

  private void connections() {
    made.put(Connection.class, m -> factory(m).createConnection());
    made.put(QueueConnection.class, m -> factory(m).createQueueConnection());
    made.put(TopicConnection.class, m -> factory(m).createTopicConnection());
    made.put(
        ConnectionConsumer.class, m -> connection.createConnectionConsumer(queue, null, pool(), 1));
    made.put(
        JMSContext.class,
        m -> {
          JMSContext context =
              factory(m)
                  .createContext(
                      isOfTransactions(m)
                          ? Session.SESSION_TRANSACTED
                          : Session.CLIENT_ACKNOWLEDGE);
          if (m.getName().equals("unsubscribe")) {
            context.createDurableConsumer(topic, "name").close();
          }
          return context;
        });
  }

  private static boolean isOfTransactions(Method method) {
    return Set.of("commit", "rollback").contains(method.getName());
  }

  private void sessions() {
    made.put(
        Session.class,
        m -> {
          Session made =
              factory(m)
                  .createConnection()
                  .createSession(isOfTransactions(m), Session.CLIENT_ACKNOWLEDGE);
          if (m.getName().equals("unsubscribe")) {
            made.createDurableConsumer(topic, "name").close();
          }
          return made;
        });
    made.put(
        QueueSession.class,
        m ->
            factory(m)
                .createQueueConnection()
                .createQueueSession(isOfTransactions(m), Session.CLIENT_ACKNOWLEDGE));
    made.put(
        TopicSession.class,
        m -> {
          TopicSession made =
              factory(m)
                  .createTopicConnection()
                  .createTopicSession(isOfTransactions(m), Session.CLIENT_ACKNOWLEDGE);
          if (m.getName().equals("unsubscribe")) {
            made.createDurableConsumer(topic, "name").close();
          }
          return made;
        });
  }

  private void producers() {
    made.put(MessageProducer.class, m -> session.createProducer(sendsAnywhere(m) ? null : queue));
    made.put(QueueSender.class, m -> queueSession().createSender(sendsAnywhere(m) ? null : queue));
    made.put(
        TopicPublisher.class, m -> topicSession().createPublisher(sendsAnywhere(m) ? null : topic));
    made.put(JMSProducer.class, m -> context().createProducer().setProperty("name", "1"));
  }

  private static boolean sendsAnywhere(Method method) {
    return method.getName().matches("send|publish")
        && method.getParameterTypes()[0] != Message.class;
  }

  private QueueSession queueSession() throws JMSException {
    QueueConnection made = factory().createQueueConnection();
    made.start();
    return made.createQueueSession(false, Session.AUTO_ACKNOWLEDGE);
  }

  private TopicSession topicSession() throws JMSException {
    TopicConnection made = factory().createTopicConnection();
    made.start();
    return made.createTopicSession(false, Session.AUTO_ACKNOWLEDGE);
  }

  private JMSContext context() {
    return factory().createContext();
  }

  private void consumers() {
    made.put(MessageConsumer.class, m -> with(session.createConsumer(own(m)), own(m)));
    made.put(QueueReceiver.class, m -> with(queueSession().createReceiver(own(m)), own(m)));
    made.put(TopicSubscriber.class, m -> with(topicSession().createSubscriber(topic), topic));
    made.put(
        JMSConsumer.class,
        m -> {
          JMSConsumer consumer = context().createConsumer(own(m));
          session.createProducer(own(m)).send(session.createTextMessage("x"));
          return consumer;
        });
  }

  private Queue own(Method method) throws JMSException {
    return session.createQueue("own." + method.getName() + "." + method.getParameterCount());
  }

  /** Sends a message that a receive finds. */
  private MessageConsumer with(MessageConsumer consumer, Destination to) throws JMSException {
    session.createProducer(to).send(session.createTextMessage("x"));
    return consumer;
  }

  private void messages() {
    made.put(Message.class, m -> property(session.createMessage(), m));
    made.put(TextMessage.class, m -> property(session.createTextMessage("text"), m));
    made.put(ObjectMessage.class, m -> property(session.createObjectMessage("object"), m));
    made.put(
        MapMessage.class,
        m -> {
          MapMessage map = session.createMapMessage();
          fill(m, new Class<?>[] {String.class}, value -> map.setObject("name", value));
          return property(map, m);
        });
    made.put(
        BytesMessage.class,
        m -> {
          BytesMessage bytes = session.createBytesMessage();
          if (isRead(m)) {
            bytes.writeUTF("more than eight bytes");
            bytes.reset();
          }
          return property(bytes, m);
        });
    made.put(
        StreamMessage.class,
        m -> {
          StreamMessage stream = session.createStreamMessage();
          if (m.getName().equals("readBytes")) {
            stream.writeBytes(new byte[3]);
          } else {
            fill(m, new Class<?>[] {}, stream::writeObject);
          }
          if (isRead(m)) {
            stream.reset();
          }
          return property(stream, m);
        });
  }

  private static boolean isRead(Method method) {
    return method.getName().startsWith("read") || method.getName().equals("getBodyLength");
  }

  /** Takes a value of a body. */
  interface Setter {
    void set(Object value) throws JMSException;
  }

  /** Sets a value that the method can read. */
  private static void fill(Method method, Class<?>[] parameters, Setter setter)
      throws JMSException {
    Class<?> type = method.getReturnType();
    if (java.util.Arrays.equals(method.getParameterTypes(), parameters) && type != void.class) {
      setter.set(value(type));
    }
  }

  private static Object value(Class<?> type) {
    if (type == char.class) {
      return 'c';
    }
    if (type == boolean.class) {
      return true;
    }
    return type == byte[].class ? new byte[2] : "1";
  }

  /** Gives it a property of the name that the arguments have. */
  private static Message property(Message message, Method method) throws JMSException {
    if (method.getName().startsWith("get") && method.getName().endsWith("Property")) {
      message.setStringProperty("name", "1");
    }
    return message;
  }

  private ServerSessionPool pool() {
    return () -> {
      throw new JMSException("nothing is pooled here");
    };
  }

  private ApiCalls calls() throws JMSException {
    return new ApiCalls(queue, topic, session.createTextMessage("x"), pool())
        .with(ServerSession.class, "");
  }

  @AfterEach
  void close() throws JMSException {
    connection.close();
  }

  // ---- the tests ----

  @Test
  void everyInterfaceOfAProviderIsImplemented() {
    Set<Class<?>> others =
        Set.of(
            jakarta.jms.CompletionListener.class,
            jakarta.jms.ExceptionListener.class,
            jakarta.jms.MessageListener.class,
            jakarta.jms.ServerSession.class,
            jakarta.jms.ServerSessionPool.class,
            jakarta.jms.DeliveryMode.class,
            jakarta.jms.Destination.class);
    List<Class<?>> missing = new ArrayList<>();
    for (Class<?> api : interfacesOfTheApi()) {
      if (!made.containsKey(api) && !others.contains(api)) {
        missing.add(api);
      }
    }
    assertThat(missing).isEmpty();
  }

  /** The interfaces that the methods of known ones name, so that none is forgotten. */
  private List<Class<?>> interfacesOfTheApi() {
    List<Class<?>> found = new ArrayList<>(made.keySet());
    for (int i = 0; i < found.size(); i++) {
      for (Method method : ApiCalls.methods(found.get(i))) {
        List<Class<?>> named = new ArrayList<>(List.of(method.getParameterTypes()));
        named.add(method.getReturnType());
        for (Class<?> type : named) {
          if (type.isInterface()
              && type.getPackage() == Message.class.getPackage()
              && !found.contains(type)) {
            found.add(type);
          }
        }
      }
    }
    return found;
  }

  @Test
  void noMethodIsMissingOrUnsupported() throws Exception {
    List<ApiCalls.Outcome> wrong = new ArrayList<>();
    int count = 0;
    for (Map.Entry<Class<?>, Supplier> each : made.entrySet()) {
      for (Method method : ApiCalls.methods(each.getKey())) {
        Object target = each.getValue().get(method);
        assertThat(target).isInstanceOf(each.getKey());
        assertThat(
                Modifier.isAbstract(
                    target
                        .getClass()
                        .getMethod(method.getName(), method.getParameterTypes())
                        .getModifiers()))
            .isFalse();
        ApiCalls calls = calls();
        if (method.getName().matches("readBytes")) {
          calls.with(int.class, 2);
        }
        if (method.getDeclaringClass() == MapMessage.class && method.getParameterCount() == 4) {
          calls.with(int.class, 1);
        }
        ApiCalls.Outcome outcome = calls.call(target, method);
        if (!isRight(each.getKey(), outcome)) {
          wrong.add(outcome);
        }
        count++;
        closeAll(target, outcome.value());
      }
    }
    assertThat(wrong).isEmpty();
    assertThat(count).isGreaterThan(600);
  }

  private static void closeAll(Object... all) throws Exception {
    for (Object each : all) {
      if (each instanceof AutoCloseable open) {
        open.close();
      } else if (each instanceof ConnectionConsumer open) {
        open.close();
      }
    }
  }

  private static boolean isRight(Class<?> api, ApiCalls.Outcome outcome) {
    String method = outcome.method().getName();
    Throwable thrown = outcome.thrown();
    if (thrown != null) {
      return isAllowed(api, outcome);
    }
    Class<?> type = outcome.method().getReturnType();
    return type == void.class || outcome.value() != null || NULLABLE.contains(method);
  }

  /** What is refused because the API says so. */
  private static boolean isAllowed(Class<?> api, ApiCalls.Outcome outcome) {
    String method = outcome.method().getName();
    Throwable thrown = outcome.thrown();
    if ((api == QueueSession.class || api == QueueConnection.class)
        && method.matches("create(Topic|TemporaryTopic|Durable\\w+|Shared\\w+)|unsubscribe")) {
      return thrown instanceof IllegalStateException;
    }
    if (api == TopicSession.class && method.matches("create(Queue|TemporaryQueue|Browser)")) {
      return thrown instanceof IllegalStateException;
    }
    if (thrown instanceof jakarta.jms.JMSSecurityException
        || thrown instanceof jakarta.jms.JMSSecurityRuntimeException) {
      return outcome.method().getParameterCount() >= 2 && api.getSimpleName().endsWith("Factory");
    }
    if (method.equals("getBody") && api == StreamMessage.class) {
      return thrown instanceof jakarta.jms.MessageFormatException;
    }
    return false;
  }

  @Test
  void everyMethodOfSomethingClosedSaysSo() throws Exception {
    List<ApiCalls.Outcome> wrong = new ArrayList<>();
    for (Class<?> api :
        List.of(
            Connection.class,
            QueueConnection.class,
            TopicConnection.class,
            Session.class,
            QueueSession.class,
            TopicSession.class,
            MessageConsumer.class,
            QueueReceiver.class,
            TopicSubscriber.class,
            QueueBrowser.class,
            MessageProducer.class,
            QueueSender.class,
            TopicPublisher.class,
            ConnectionConsumer.class,
            JMSContext.class,
            JMSConsumer.class)) {
      for (Method method : ApiCalls.methods(api)) {
        Object target = made.get(api).get(method);
        closeAll(target);
        ApiCalls.Outcome outcome = calls().call(target, method);
        boolean quiet = Set.of("close", "run").contains(method.getName());
        boolean right =
            quiet
                ? outcome.thrown() == null
                : outcome.thrown() instanceof IllegalStateException
                    || outcome.thrown() instanceof IllegalStateRuntimeException;
        if (!right) {
          wrong.add(outcome);
        }
      }
    }
    assertThat(wrong).isEmpty();
  }
}

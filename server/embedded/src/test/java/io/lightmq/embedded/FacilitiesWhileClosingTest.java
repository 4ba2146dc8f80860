package io.lightmq.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.client.LightmqConnectionFactory;
import io.lightmq.client.LightmqJms;
import jakarta.jms.CompletionListener;
import jakarta.jms.Connection;
import jakarta.jms.ConnectionConsumer;
import jakarta.jms.JMSConsumer;
import jakarta.jms.JMSContext;
import jakarta.jms.JMSException;
import jakarta.jms.JMSProducer;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageListener;
import jakarta.jms.MessageProducer;
import jakarta.jms.Queue;
import jakarta.jms.QueueBrowser;
import jakarta.jms.Session;
import jakarta.jms.TemporaryQueue;
import jakarta.jms.TemporaryTopic;
import jakarta.jms.Topic;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every call that a listener can make gives, while another thread closes its session, connection or
 * context, what it gives when nobody does (sections 6.1.8, 6.2.14 and 6.2.15). The calls are
 * enumerated from the API, so that a new one is covered.
 */
class FacilitiesWhileClosingTest {
  /** Where the application's code runs. */
  enum Where {
    LISTENER,
    COMPLETION,
    SERVER_SESSION
  }

  /** Who is closed meanwhile. */
  enum Closed {
    SESSION,
    CONNECTION,
    CONTEXT
  }

  /** They end what is being used, or wait for something that the test does not give. */
  private static final Set<String> LEFT_OUT = Set.of("close", "run");

  private static final int[] MODES = {
    Session.SESSION_TRANSACTED,
    Session.AUTO_ACKNOWLEDGE,
    Session.CLIENT_ACKNOWLEDGE,
    Session.DUPS_OK_ACKNOWLEDGE,
    LightmqJms.NO_ACKNOWLEDGE,
    LightmqJms.INDIVIDUAL_ACKNOWLEDGE
  };

  private static final Map<List<Object>, Map<String, String>> UNDISTURBED = new HashMap<>();

  private final String name = "lightmq:mem:" + UUID.randomUUID();
  private final CountDownLatch running = new CountDownLatch(1);
  private final CountDownLatch goOn = new CountDownLatch(1);
  private final CompletableFuture<Map<String, String>> outcomes = new CompletableFuture<>();
  private int calls;

  static Stream<Object[]> cases() {
    List<Object[]> cases = new ArrayList<>();
    for (int mode : MODES) {
      for (Where where : Where.values()) {
        cases.add(new Object[] {where, mode, Closed.SESSION});
        cases.add(new Object[] {where, mode, Closed.CONNECTION});
      }
      cases.add(new Object[] {Where.LISTENER, mode, Closed.CONTEXT});
      cases.add(new Object[] {Where.COMPLETION, mode, Closed.CONTEXT});
    }
    return cases.stream();
  }

  @ParameterizedTest
  @MethodSource("cases")
  void theyGiveWhatTheyGiveOtherwise(Where where, int mode, Closed closed) throws Exception {
    Map<String, String> expected = undisturbed(where, mode, closed);
    assertThat(expected).hasSizeGreaterThan(closed == Closed.CONTEXT ? 90 : 80);
    assertThat(expected.toString()).doesNotContain("is closed");
    if (where != Where.SERVER_SESSION) { // a session with a listener of its own has no consumers
      assertThat(expected.toString()).doesNotContain("around it");
    }
    Map<String, String> different = run(where, mode, closed, true);
    different.entrySet().removeAll(expected.entrySet());
    assertThat(different).isEmpty();
  }

  /** What the calls give when nobody closes; who would be closed makes no difference then. */
  private static Map<String, String> undisturbed(Where where, int mode, Closed closed)
      throws Exception {
    List<Object> key = List.of(where, mode, closed == Closed.CONTEXT);
    Map<String, String> known = UNDISTURBED.get(key);
    if (known == null) {
      known = new FacilitiesWhileClosingTest().run(where, mode, closed, false);
      UNDISTURBED.put(key, known);
    }
    return known;
  }

  private Map<String, String> run(Where where, int mode, Closed closed, boolean disturbed)
      throws Exception {
    try (Connection helper = new LightmqConnectionFactory(name).createConnection()) {
      helper.start();
      Session sending = helper.createSession();
      LightmqConnectionFactory factory =
          new LightmqConnectionFactory(name + "?clientId=closing&prefetchMessages=1");
      return closed == Closed.CONTEXT
          ? runInContext(factory.createContext(mode), where, sending, disturbed)
          : runInSession(factory.createConnection(), where, mode, closed, sending, disturbed);
    }
  }

  private Map<String, String> runInSession(
      Connection connection,
      Where where,
      int mode,
      Closed closed,
      Session sending,
      boolean disturbed)
      throws Exception {
    try (connection) {
      Session session = connection.createSession(mode);
      connection.start();
      Queue work = session.createQueue("work");
      Work calls = received -> callAll(new InSession(connection, session, received, sending));
      switch (where) {
        case LISTENER -> session.createConsumer(work).setMessageListener(listener(calls));
        case COMPLETION ->
            session.createProducer(work).send(session.createTextMessage("sent"), completion(calls));
        case SERVER_SESSION -> {
          session.setMessageListener(listener(calls));
          TestPool pool = new TestPool(connection, 0, mode, (unused, message) -> {});
          pool.add(session);
          connection.createConnectionConsumer(work, null, pool, 1);
        }
        default -> throw new AssertionError(where);
      }
      if (where != Where.COMPLETION) {
        sending.createProducer(work).send(sending.createTextMessage("work"));
      }
      AutoCloseable target = closed == Closed.SESSION ? session : connection;
      return disturbed(target, disturbed);
    }
  }

  private Map<String, String> runInContext(
      JMSContext context, Where where, Session sending, boolean disturbed) throws Exception {
    try (context) {
      Queue work = context.createQueue("work");
      Work calls = received -> callAll(new InContext(context, received, sending));
      if (where == Where.LISTENER) {
        context.createConsumer(work).setMessageListener(listener(calls));
        sending.createProducer(work).send(sending.createTextMessage("work"));
      } else {
        context.createProducer().setAsync(completion(calls)).send(work, "sent");
      }
      return disturbed(context, disturbed);
    }
  }

  /** The outcomes of the calls, with or without somebody who closes meanwhile. */
  private Map<String, String> disturbed(AutoCloseable target, boolean disturbed) throws Exception {
    assertThat(running.await(20, TimeUnit.SECONDS)).isTrue();
    CompletableFuture<Void> closing = new CompletableFuture<>();
    Thread closer =
        new Thread(
            () -> {
              try {
                target.close();
                closing.complete(null);
              } catch (Throwable e) {
                closing.completeExceptionally(e);
              }
            },
            "test-closer");
    if (disturbed) {
      closer.start();
      Awaitility.await().until(() -> isWaiting(closer));
    }
    goOn.countDown();
    Map<String, String> all = outcomes.get(60, TimeUnit.SECONDS);
    if (disturbed) {
      closing.get(60, TimeUnit.SECONDS);
    }
    return all;
  }

  private static boolean isWaiting(Thread thread) {
    return thread.getState() == Thread.State.WAITING
        || thread.getState() == Thread.State.TIMED_WAITING;
  }

  // ---- where the calls are made ----

  /** What a listener does with its message. */
  interface Work {
    Map<String, String> on(Message message) throws Exception;
  }

  private MessageListener listener(Work work) {
    return message -> work(work, message);
  }

  private CompletionListener completion(Work work) {
    return new CompletionListener() {
      @Override
      public void onCompletion(Message message) {
        work(work, message);
      }

      @Override
      public void onException(Message message, Exception exception) {
        outcomes.completeExceptionally(exception);
      }
    };
  }

  private void work(Work work, Message message) {
    if (outcomes.isDone()) {
      return; // it has come again, because it was not acknowledged
    }
    running.countDown();
    try {
      assertThat(goOn.await(20, TimeUnit.SECONDS)).isTrue();
      outcomes.complete(work.on(message));
    } catch (Throwable e) {
      outcomes.completeExceptionally(e);
    }
  }

  // ---- the calls ----

  /** Makes an object of an interface, for one method. */
  interface Maker {
    Object get(Method method) throws Exception;
  }

  /** What can be called, and with which arguments. */
  interface Callable {
    Map<Class<?>, Maker> targets();

    ApiCalls arguments() throws JMSException;

    void before(Method method) throws Exception;
  }

  private Map<String, String> callAll(Callable callable) throws Exception {
    Map<String, String> all = new TreeMap<>();
    for (Map.Entry<Class<?>, Maker> each : callable.targets().entrySet()) {
      for (Method method : ApiCalls.methods(each.getKey())) {
        if (LEFT_OUT.contains(method.getName())) {
          continue;
        }
        String outcome;
        try {
          callable.before(method);
          Object target = each.getValue().get(method);
          ApiCalls.Outcome called = callable.arguments().call(target, method);
          outcome = shown(called);
          close(called.value());
          if (target instanceof MessageConsumer
              || target instanceof JMSConsumer
              || target instanceof ConnectionConsumer
              || target instanceof QueueBrowser) {
            close(target);
          }
        } catch (Exception e) {
          outcome = "around it " + e;
        }
        all.put(each.getKey().getSimpleName() + "." + method.toGenericString(), outcome);
      }
    }
    return all;
  }

  private static String shown(ApiCalls.Outcome outcome) {
    if (outcome.thrown() != null) {
      return outcome.thrown().toString().replaceAll("\\d+", "#");
    }
    Object value = outcome.value();
    return value == null || value instanceof Boolean
        ? String.valueOf(value)
        : value.getClass().getSimpleName();
  }

  private static void close(Object made) throws Exception {
    if (made instanceof AutoCloseable open) {
      open.close();
    } else if (made instanceof ConnectionConsumer open) {
      open.close();
    }
  }

  private Queue own() {
    return new io.lightmq.client.LightmqQueue("own." + calls++);
  }

  /** A queue with a message. */
  private Queue filled(Session sending) throws JMSException {
    Queue queue = own();
    try (MessageProducer producer = sending.createProducer(queue)) {
      producer.send(sending.createTextMessage("x"));
    }
    return queue;
  }

  private static boolean sendsAnywhere(Method method) {
    return method.getName().equals("send") && method.getParameterTypes()[0] != Message.class;
  }

  private final class InSession implements Callable {
    private final Connection connection;
    private final Session session;
    private final Message received;
    private final Session sending;

    InSession(Connection connection, Session session, Message received, Session sending) {
      this.connection = connection;
      this.session = session;
      this.received = received;
      this.sending = sending;
    }

    @Override
    public Map<Class<?>, Maker> targets() {
      Map<Class<?>, Maker> targets = new LinkedHashMap<>();
      targets.put(
          MessageProducer.class, m -> session.createProducer(sendsAnywhere(m) ? null : own()));
      targets.put(MessageConsumer.class, m -> session.createConsumer(filled(sending)));
      targets.put(QueueBrowser.class, m -> session.createBrowser(own()));
      targets.put(TemporaryQueue.class, m -> session.createTemporaryQueue());
      targets.put(TemporaryTopic.class, m -> session.createTemporaryTopic());
      targets.put(
          ConnectionConsumer.class,
          m -> connection.createConnectionConsumer(own(), null, () -> null, 1));
      targets.put(Connection.class, m -> connection);
      targets.put(Session.class, m -> session);
      targets.put(Acknowledgeable.class, m -> (Acknowledgeable) received::acknowledge);
      return targets;
    }

    @Override
    public ApiCalls arguments() throws JMSException {
      return new ApiCalls(
          own(), session.createTopic("t"), session.createTextMessage("x"), () -> null);
    }

    @Override
    public void before(Method method) throws Exception {
      try {
        session.unsubscribe("name");
      } catch (jakarta.jms.InvalidDestinationException e) {
        assertThat(e).hasMessageContaining("name");
      }
      if (method.getName().equals("unsubscribe")) {
        try (Session other = connection.createSession()) {
          other.createDurableConsumer(other.createTopic("t"), "name").close();
        }
      }
    }
  }

  /** The one method of a message that asks its session. */
  interface Acknowledgeable {
    void acknowledge() throws JMSException;
  }

  private final class InContext implements Callable {
    private final JMSContext context;
    private final Message received;
    private final Session sending;

    InContext(JMSContext context, Message received, Session sending) {
      this.context = context;
      this.received = received;
      this.sending = sending;
    }

    @Override
    public Map<Class<?>, Maker> targets() {
      Map<Class<?>, Maker> targets = new LinkedHashMap<>();
      targets.put(JMSProducer.class, m -> context.createProducer().setProperty("name", "1"));
      targets.put(JMSConsumer.class, m -> context.createConsumer(filled(sending)));
      targets.put(QueueBrowser.class, m -> context.createBrowser(own()));
      targets.put(TemporaryQueue.class, m -> context.createTemporaryQueue());
      targets.put(JMSContext.class, m -> context);
      targets.put(Acknowledgeable.class, m -> (Acknowledgeable) received::acknowledge);
      return targets;
    }

    @Override
    public ApiCalls arguments() {
      Topic topic = context.createTopic("t");
      return new ApiCalls(own(), topic, context.createTextMessage("x"), () -> null);
    }

    @Override
    public void before(Method method) {
      try {
        context.unsubscribe("name");
      } catch (jakarta.jms.InvalidDestinationRuntimeException e) {
        assertThat(e).hasMessageContaining("name");
      }
      if (method.getName().equals("unsubscribe")) {
        try (JMSContext other = context.createContext(Session.AUTO_ACKNOWLEDGE)) {
          other.createDurableConsumer(other.createTopic("t"), "name").close();
        }
      }
    }
  }
}

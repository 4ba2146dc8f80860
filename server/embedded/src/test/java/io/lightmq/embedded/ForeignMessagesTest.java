package io.lightmq.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.client.LightmqConnectionFactory;
import jakarta.jms.BytesMessage;
import jakarta.jms.CompletionListener;
import jakarta.jms.Connection;
import jakarta.jms.JMSContext;
import jakarta.jms.JMSException;
import jakarta.jms.MapMessage;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageEOFException;
import jakarta.jms.MessageProducer;
import jakarta.jms.ObjectMessage;
import jakarta.jms.Queue;
import jakarta.jms.Session;
import jakarta.jms.StreamMessage;
import jakarta.jms.TextMessage;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Section 4.12: messages of other providers, which fail in one of their methods after the other.
 * Which ones are called is found out by sending; only a body that cannot be read stops a send.
 */
class ForeignMessagesTest {
  private static final long WAIT_MILLIS = 20_000;
  private static final Set<String> BODY =
      Set.of("getText", "getObject", "getMapNames", "reset", "readBytes", "readObject");
  private static final List<Throwable> FAILURES =
      List.of(
          new JMSException("not in this provider"),
          new UnsupportedOperationException("not in this provider"),
          new IllegalStateException("not now"),
          new AbstractMethodError("of a later version of the API"));

  private final LightmqConnectionFactory factory =
      new LightmqConnectionFactory("lightmq:mem:" + UUID.randomUUID());
  private Connection connection;
  private Session session;
  private Queue queue;
  private MessageProducer producer;
  private MessageConsumer consumer;

  @BeforeEach
  void connect() throws JMSException {
    connection = factory.createConnection();
    connection.start();
    session = connection.createSession();
    queue = session.createQueue("q");
    producer = session.createProducer(queue);
    consumer = session.createConsumer(queue);
  }

  @AfterEach
  void close() throws JMSException {
    connection.close();
  }

  /** Another provider's message with everything set, that fails in one method. */
  private static final class Odd implements InvocationHandler {
    private final Set<String> called = new TreeSet<>();
    private final @Nullable String failing;
    private final @Nullable Throwable failure;
    private final Iterator<Object> parts = List.<Object>of(7, "seven").iterator();
    private boolean read;

    Odd(@Nullable String failing, @Nullable Throwable failure) {
      this.failing = failing;
      this.failure = failure;
    }

    <M extends Message> M as(Class<M> api) {
      return api.cast(Proxy.newProxyInstance(api.getClassLoader(), new Class<?>[] {api}, this));
    }

    @Override
    public @Nullable Object invoke(Object proxy, Method method, Object[] arguments)
        throws Throwable {
      String name = method.getName();
      called.add(name);
      if (name.equals(failing) && failure != null) {
        throw failure;
      }
      return switch (name) {
        case "getJMSType" -> "type";
        case "getJMSCorrelationIDAsBytes" -> new byte[] {1};
        case "getPropertyNames" -> Collections.enumeration(List.of("colour"));
        case "getObjectProperty" -> "red";
        case "getMapNames" -> Collections.enumeration(List.of("key"));
        case "getText" -> "text";
        case "getObject" -> 42;
        case "readBytes" -> {
          int count = read ? -1 : 1;
          read = true;
          yield count;
        }
        case "readObject" -> {
          if (!parts.hasNext()) {
            throw new MessageEOFException("end");
          }
          yield parts.next();
        }
        default -> null;
      };
    }
  }

  private interface Way {
    void send(Message message) throws Exception;
  }

  private void classic(Message message) throws JMSException {
    producer.send(message);
  }

  private void asynchronous(Message message) throws Exception {
    CompletableFuture<Message> done = new CompletableFuture<>();
    producer.send(
        message,
        new CompletionListener() {
          @Override
          public void onCompletion(Message sent) {
            done.complete(sent);
          }

          @Override
          public void onException(Message sent, Exception e) {
            done.completeExceptionally(e);
          }
        });
    assertThat((Object) done.get(WAIT_MILLIS, TimeUnit.MILLISECONDS) == message).isTrue();
  }

  private void simplified(Message message) throws Exception {
    try (JMSContext context = factory.createContext()) {
      context
          .createProducer()
          .setProperty("size", 9)
          .setJMSType("set by the producer")
          .setJMSCorrelationID("likewise")
          .setJMSReplyTo(queue)
          .send(queue, message);
    } catch (jakarta.jms.JMSRuntimeException e) {
      throw (JMSException) new JMSException("unchecked").initCause(e);
    }
  }

  private Map<String, Way> ways() {
    return Map.of(
        "classic", this::classic, "async", this::asynchronous, "simplified", this::simplified);
  }

  private <M extends Message> void sendsWhateverFails(Class<M> api) throws Exception {
    for (Map.Entry<String, Way> way : ways().entrySet()) {
      Odd even = new Odd(null, null);
      way.getValue().send(even.as(api));
      assertThat(consumer.receive(WAIT_MILLIS)).isNotNull();
      assertThat(even.called)
          .contains("getJMSReplyTo", "getJMSCorrelationIDAsBytes", "setJMSDeliveryTime");
      for (String method : even.called) {
        for (Throwable failure : FAILURES) {
          String what = way.getKey() + ", " + method + " throws " + failure;
          Message odd = new Odd(method, failure).as(api);
          if (BODY.contains(method)) {
            assertThatThrownBy(() -> way.getValue().send(odd))
                .as(what)
                .isInstanceOf(JMSException.class);
          } else {
            way.getValue().send(odd);
            arrives(what, method, way.getKey().equals("simplified"));
          }
        }
      }
    }
    assertThat(consumer.receiveNoWait()).isNull();
  }

  private void arrives(String what, String failing, boolean producerSets) throws JMSException {
    Message got = consumer.receive(WAIT_MILLIS);
    assertThat(got).as(what).isNotNull();
    boolean propertyLost =
        failing.equals("getPropertyNames") || failing.equals("getObjectProperty");
    assertThat(got.getStringProperty("colour")).as(what).isEqualTo(propertyLost ? null : "red");
    if (producerSets) {
      assertThat(got.getIntProperty("size")).as(what).isEqualTo(9);
      assertThat(got.getJMSType()).as(what).isEqualTo("set by the producer");
      assertThat(got.getJMSCorrelationID()).as(what).isEqualTo("likewise");
      assertThat(got.getJMSReplyTo()).as(what).isEqualTo(queue);
    } else {
      assertThat(got.getJMSType()).as(what).isEqualTo(failing.equals("getJMSType") ? null : "type");
    }
  }

  @Test
  void aMessageWithoutABody() throws Exception {
    sendsWhateverFails(Message.class);
  }

  @ParameterizedTest
  @ValueSource(
      classes = {
        TextMessage.class,
        ObjectMessage.class,
        MapMessage.class,
        BytesMessage.class,
        StreamMessage.class
      })
  void aMessageWithABody(Class<? extends Message> api) throws Exception {
    sendsWhateverFails(api);
  }
}

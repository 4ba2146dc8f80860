package io.lightmq.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.lightmq.wire.Frame;
import jakarta.jms.Connection;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.Session;
import jakarta.jms.TextMessage;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A message whose body is being converted, by code of the application, while others close. */
class CloseRacesTest {
  private final CountDownLatch converting = new CountDownLatch(1);
  private final CountDownLatch goOn = new CountDownLatch(1);
  @RegisterExtension final ScriptedBrokerExtension rig = new ScriptedBrokerExtension();

  private ScriptedBroker broker;
  private PlayedQueue queue;
  private Connection connection;
  private Session session;
  private LightmqConsumer consumer;

  @BeforeEach
  void start() throws Exception {
    broker = rig.broker();
    queue = new PlayedQueue(broker);
  }

  @AfterEach
  void stop() {
    goOn.countDown();
  }

  private void open(int mode) throws Exception {
    connection = rig.connect("");
    session = connection.createSession(mode);
    MessageConsumer made = session.createConsumer(session.createQueue("orders"));
    consumer = (LightmqConsumer) made;
    connection.start();
  }

  private CompletableFuture<String> received() {
    return CompletableFuture.supplyAsync(
        () -> {
          try {
            String text = consumer.receive(10_000, this::slowly);
            return text == null ? "nothing" : text;
          } catch (JMSException e) {
            return e.toString();
          }
        });
  }

  private String slowly(Message message) throws JMSException {
    converting.countDown();
    try {
      assertThat(goOn.await(10, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
    return ((TextMessage) message).getText();
  }

  private CompletableFuture<String> beingConverted(int mode) throws Exception {
    open(mode);
    queue.give(1, 0, "a", "b");
    CompletableFuture<String> received = received();
    assertThat(converting.await(10, TimeUnit.SECONDS)).isTrue();
    return received;
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3, 100, 101})
  void aMessageThatTheClosedSessionHasGivenUpIsNotHandedOver(int mode) throws Exception {
    CompletableFuture<String> received = beingConverted(mode);
    session.close();
    goOn.countDown();
    assertThat(received.get(10, TimeUnit.SECONDS)).isEqualTo("nothing");
    assertThat(broker.seen(Frame.Acknowledge.class)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3, 101})
  void aMessageThatTheClosedConsumerHasGivenUpGoesBackUnseen(int mode) throws Exception {
    CompletableFuture<String> received = beingConverted(mode);
    consumer.close();
    assertThat(broker.seen(Frame.DetachConsumer.class)).as("open for the message").isEmpty();
    goOn.countDown();
    assertThat(received.get(10, TimeUnit.SECONDS)).isEqualTo("nothing");
    await().until(() -> !broker.seen(Frame.DetachConsumer.class).isEmpty());
    assertThat(queue.returned(true)).isEmpty();
    assertThat(queue.returned(false)).containsExactlyInAnyOrder(1L, 2L);
    assertThat(broker.seen(Frame.Acknowledge.class)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3, 100, 101})
  void anErrorInTheBodyLeavesTheMessageFirst(int mode) throws Exception {
    open(mode);
    queue.give(1, 0, "a", "b");
    assertThatThrownBy(
            () ->
                consumer.receive(
                    10_000,
                    message -> {
                      throw new StackOverflowError("in a body's readObject");
                    }))
        .isInstanceOf(StackOverflowError.class);
    assertThat(((TextMessage) consumer.receive(10_000)).getText()).isEqualTo("a");
    assertThat(((TextMessage) consumer.receive(10_000)).getText()).isEqualTo("b");
    consumer.close();
  }

  @Test
  void aMessageThatFailsWhileItsConsumerIsClosedGoesBackUnseen() throws Exception {
    open(Session.CLIENT_ACKNOWLEDGE);
    queue.give(1, 0, "a");
    CompletableFuture<String> failing =
        CompletableFuture.supplyAsync(
            () -> {
              try {
                consumer.receive(
                    10_000,
                    message -> {
                      slowly(message);
                      throw new OutOfMemoryError("thrown by a test");
                    });
                return "handed over";
              } catch (JMSException | OutOfMemoryError e) {
                return e.getMessage();
              }
            });
    assertThat(converting.await(10, TimeUnit.SECONDS)).isTrue();
    consumer.close();
    goOn.countDown();
    assertThat(failing.get(10, TimeUnit.SECONDS)).isEqualTo("thrown by a test");
    await().until(() -> broker.seen(Frame.DetachConsumer.class).size() == 1);
    assertThat(queue.returned(false)).containsExactly(1L);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 3, 101})
  void aMessageThatIsLostWhileItIsConvertedCannotBeSettled(int mode) throws Exception {
    CompletableFuture<String> received = beingConverted(mode);
    queue.lost();
    broker.cut();
    await().until(() -> broker.seen(Frame.AttachConsumer.class).size() == 2);
    goOn.countDown();
    assertThat(received.get(10, TimeUnit.SECONDS)).isEqualTo("a");
    if (mode == Session.SESSION_TRANSACTED) {
      assertThatThrownBy(session::commit)
          .isInstanceOf(jakarta.jms.TransactionRolledBackException.class);
    }
    session.close();
    assertThat(List.of(broker.seen(Frame.Commit.class), broker.seen(Frame.Return.class)))
        .containsOnly(List.of());
  }
}

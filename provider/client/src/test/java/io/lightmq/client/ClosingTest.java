package io.lightmq.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.lightmq.wire.Frame;
import jakarta.jms.CompletionListener;
import jakarta.jms.Connection;
import jakarta.jms.IllegalStateException;
import jakarta.jms.JMSConsumer;
import jakarta.jms.JMSContext;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageListener;
import jakarta.jms.MessageProducer;
import jakarta.jms.Session;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Threads that close while listeners run, while others close too, and while interrupted. */
class ClosingTest {
  private final CountDownLatch inListener = new CountDownLatch(1);
  private final CountDownLatch goOn = new CountDownLatch(1);
  private final AtomicBoolean ended = new AtomicBoolean();

  @RegisterExtension
  final ScriptedBrokerExtension rig = new ScriptedBrokerExtension().interruptingThreads();

  private ScriptedBroker broker;
  private PlayedQueue queue;
  private LightmqConnectionFactory factory;
  private Connection connection;
  private Session session;

  @BeforeEach
  void start() throws Exception {
    broker = rig.broker();
    queue = new PlayedQueue(broker);
    factory = new LightmqConnectionFactory(broker.uri("&requestTimeoutMillis=5000"));
  }

  @AfterEach
  void stop() {
    goOn.countDown();
  }

  private CompletableFuture<Void> begin(Unchecked.Action call) {
    CompletableFuture<Void> future = new CompletableFuture<>();
    rig.threads()
        .execute(
            () -> {
              try {
                call.run();
                future.complete(null);
              } catch (JMSException | RuntimeException | Error e) {
                future.completeExceptionally(e);
              }
            });
    return future;
  }

  private static void ends(CompletableFuture<Void> call) throws Exception {
    call.get(8, TimeUnit.SECONDS);
  }

  private MessageListener waiting(Unchecked.Action then) {
    return message -> {
      inListener.countDown();
      try {
        assertThat(goOn.await(10, TimeUnit.SECONDS)).isTrue();
        then.run();
      } catch (InterruptedException | JMSException e) {
        throw new AssertionError(e);
      } finally {
        ended.set(true);
      }
    };
  }

  /** A session whose listener has begun and waits. */
  private MessageConsumer listening() throws Exception {
    connection = rig.closing(factory.createConnection());
    session = connection.createSession();
    MessageConsumer consumer = session.createConsumer(session.createQueue("orders"));
    consumer.setMessageListener(waiting(() -> {}));
    queue.give(1, 0, "a");
    connection.start();
    assertThat(inListener.await(10, TimeUnit.SECONDS)).isTrue();
    return consumer;
  }

  private static boolean isClosed(Unchecked.Action call) {
    try {
      call.run();
      return false;
    } catch (IllegalStateException e) {
      return true;
    } catch (JMSException e) {
      throw new AssertionError(e);
    }
  }

  /** Whether its close has begun; it works until the listener has returned. */
  private static boolean isBeingClosed(Session session) {
    return ((LightmqSession) session).inbox().isOver();
  }

  // ---- several at once ----

  @Test
  void aListenerMayCloseTheContextThatAnotherThreadIsClosing() throws Exception {
    JMSContext context = factory.createContext();
    JMSConsumer other = context.createConsumer(context.createQueue("orders"));
    context
        .createConsumer(context.createQueue("orders"))
        .setMessageListener(waiting(context::close));
    queue.give(1, 0, "a");
    assertThat(inListener.await(10, TimeUnit.SECONDS)).isTrue();
    CompletableFuture<Void> closing = begin(context::close);
    await().until(() -> isClosed(() -> runChecked(other::receiveNoWait)));
    goOn.countDown();
    ends(closing);
    assertThat(ended).isTrue();
  }

  private static void runChecked(Runnable call) throws JMSException {
    try {
      call.run();
    } catch (jakarta.jms.IllegalStateRuntimeException e) {
      throw new IllegalStateException(e.getMessage());
    }
  }

  @Test
  void aListenerThatClosesItsOwnContextIsRefused() throws Exception {
    JMSContext context = factory.createContext();
    CompletableFuture<Void> refused = new CompletableFuture<>();
    context
        .createConsumer(context.createQueue("orders"))
        .setMessageListener(
            message -> {
              try {
                context.close();
                refused.complete(null);
              } catch (jakarta.jms.IllegalStateRuntimeException e) {
                refused.completeExceptionally(e);
              }
            });
    queue.give(1, 0, "a");
    assertThatThrownBy(() -> ends(refused))
        .hasCauseInstanceOf(jakarta.jms.IllegalStateRuntimeException.class);
    context.createMessage();
    context.close();
  }

  @Test
  void contextsOfOneConnectionThatAreClosedAtOnceCloseIt() throws Exception {
    CyclicBarrier barrier = new CyclicBarrier(2);
    for (int round = 0; round < 200; round++) {
      JMSContext first = factory.createContext();
      JMSContext second = first.createContext(JMSContext.AUTO_ACKNOWLEDGE);
      CompletableFuture<Void> one = begin(() -> closeTogether(first, barrier));
      CompletableFuture<Void> other = begin(() -> closeTogether(second, barrier));
      ends(one);
      ends(other);
      assertThat(ClientThreads.alive()).as("threads after round %d", round).isEmpty();
    }
  }

  private static void closeTogether(JMSContext context, CyclicBarrier barrier) {
    try {
      barrier.await(10, TimeUnit.SECONDS);
    } catch (Exception e) {
      throw new AssertionError(e);
    }
    context.close();
  }

  @Test
  void whoeverClosesASessionWaitsForItsListenerThoughAnotherThreadClosesIt() throws Exception {
    listening();
    CompletableFuture<Void> first = begin(session::close);
    await().until(() -> isBeingClosed(session));
    CompletableFuture<Boolean> second = new CompletableFuture<>();
    CompletableFuture<Void> other = begin(session::close);
    var unused = other.whenComplete((done, failure) -> second.complete(ended.get()));
    CompletableFuture<Boolean> third = new CompletableFuture<>();
    CompletableFuture<Void> all = begin(connection::close);
    unused = all.whenComplete((done, failure) -> third.complete(ended.get()));
    await().until(((LightmqConnection) connection)::isClosing);
    goOn.countDown();
    ends(first);
    assertThat(second.get(8, TimeUnit.SECONDS)).as("the listener had ended").isTrue();
    assertThat(third.get(8, TimeUnit.SECONDS)).as("the listener had ended").isTrue();
  }

  @Test
  void aSessionThatOpensWhileItsConnectionClosesIsClosedToo() throws Exception {
    listening();
    broker.expectToo(Frame.OpenSession.class);
    CompletableFuture<Void> opening = begin(connection::createSession);
    Frame.OpenSession open = broker.expect(Frame.OpenSession.class);
    CompletableFuture<Void> closing = begin(connection::close);
    await().until(((LightmqConnection) connection)::isClosing);
    broker.send(new Frame.Ok(open.correlation()));
    ends(opening); // for the listener that runs may have asked for it
    goOn.countDown();
    await()
        .until(
            () ->
                broker.seen(Frame.CloseSession.class).stream()
                    .anyMatch(close -> close.sessionId() == open.sessionId()));
    ends(closing);
  }

  @Test
  void aConnectionConsumerThatOpensWhileItsConnectionClosesLeavesNoThread() throws Exception {
    listening();
    broker.expectToo(Frame.AttachConsumer.class);
    CompletableFuture<Void> opening =
        begin(
            () ->
                connection.createConnectionConsumer(
                    new LightmqQueue("orders"), null, () -> null, 1));
    Frame.AttachConsumer attach = broker.expect(Frame.AttachConsumer.class);
    CompletableFuture<Void> closing = begin(connection::close);
    await().until(((LightmqConnection) connection)::isClosing);
    broker.send(new Frame.ConsumerAttached(attach.correlation(), broker.idOf("orders")));
    ends(opening); // for the listener that runs may have asked for it
    goOn.countDown();
    ends(closing);
    await().until(() -> ClientThreads.alive().isEmpty());
  }

  @Test
  void theConnectionCanBeUsedWhileAClientIdWaitsForItsAnswer() throws Exception {
    connection = rig.closing(factory.createConnection());
    CompletableFuture<Void> setting = begin(() -> connection.setClientID("late"));
    Frame.SetClientId asked = broker.expect(Frame.SetClientId.class);
    ends(begin(connection::start));
    assertThat(connection.getClientID()).isNull();
    broker.send(new Frame.Ok(asked.correlation()));
    ends(setting);
    assertThat(connection.getClientID()).isEqualTo("late");
  }

  // ---- on interrupted threads ----

  private CompletableFuture<Void> interrupted(Unchecked.Action call) {
    return begin(
        () -> {
          Thread.currentThread().interrupt();
          call.run();
          assertThat(Thread.interrupted()).as("the interrupt is kept").isTrue();
        });
  }

  @Test
  void anInterruptedThreadClosesASessionToTheEnd() throws Exception {
    listening();
    CompletableFuture<Void> closing = interrupted(session::close);
    await().until(() -> isBeingClosed(session));
    goOn.countDown();
    ends(closing);
    assertThat(ended).isTrue();
    assertThat(broker.seen(Frame.CloseSession.class)).hasSize(1);
  }

  @Test
  void anInterruptedThreadClosesAConsumerToTheEnd() throws Exception {
    MessageConsumer consumer = listening();
    CompletableFuture<Void> closing = interrupted(consumer::close);
    await().until(() -> isClosed(consumer::getMessageSelector));
    goOn.countDown();
    ends(closing);
    assertThat(ended).isTrue();
    await().until(() -> broker.seen(Frame.DetachConsumer.class).size() == 1);
  }

  @Test
  void anInterruptedThreadClosesAConnectionToTheEnd() throws Exception {
    listening();
    CompletableFuture<Void> closing = interrupted(connection::close);
    await().until(((LightmqConnection) connection)::isClosing);
    goOn.countDown();
    ends(closing);
    assertThat(ended).isTrue();
    assertThat(broker.seen(Frame.CloseSession.class)).hasSize(1);
    assertThat(ClientThreads.alive()).isEmpty();
  }

  @Test
  void anInterruptedThreadStopsAConnectionWhenTheListenerHasEnded() throws Exception {
    listening();
    CompletableFuture<Void> stopping = interrupted(connection::stop);
    CompletableFuture<Boolean> after = new CompletableFuture<>();
    var unused = stopping.whenComplete((done, failure) -> after.complete(ended.get()));
    goOn.countDown();
    ends(stopping);
    assertThat(after.get(1, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void anInterruptedThreadClosesAProducerWhenItsSendsAreDone() throws Exception {
    connection = rig.closing(factory.createConnection());
    session = connection.createSession();
    MessageProducer producer = session.createProducer(session.createQueue("orders"));
    AtomicBoolean done = new AtomicBoolean();
    producer.send(
        session.createTextMessage("a"),
        new CompletionListener() {
          @Override
          public void onCompletion(Message message) {
            done.set(true);
          }

          @Override
          public void onException(Message message, Exception exception) {}
        });
    Frame.Publish run = broker.expect(Frame.Publish.class);
    CompletableFuture<Void> closing = interrupted(producer::close);
    await().until(() -> isClosed(producer::getPriority));
    broker.receipt(run);
    ends(closing);
    assertThat(done).isTrue();
    await().until(() -> broker.seen(Frame.DetachProducer.class).size() == 1);
  }

  @Test
  void aConsumerThatACompletionListenerHasClosedIsDetachedOnce() throws Exception {
    connection = rig.closing(factory.createConnection());
    session = connection.createSession();
    MessageConsumer consumer = session.createConsumer(session.createQueue("orders"));
    MessageProducer producer = session.createProducer(session.createQueue("orders"));
    CompletableFuture<Void> closed = new CompletableFuture<>();
    producer.send(
        session.createTextMessage("a"),
        new CompletionListener() {
          @Override
          public void onCompletion(Message message) {
            try {
              consumer.close();
              closed.complete(null);
            } catch (JMSException e) {
              closed.completeExceptionally(e);
            }
          }

          @Override
          public void onException(Message message, Exception exception) {}
        });
    broker.receipt(broker.expect(Frame.Publish.class));
    ends(closed);
    consumer.close();
    assertThat(broker.seen(Frame.DetachConsumer.class)).hasSize(1);
  }

  @Test
  void aSessionIsClosedThoughTheBrokerDoesNotAnswer() throws Exception {
    factory = new LightmqConnectionFactory(broker.uri("&requestTimeoutMillis=200"));
    listening();
    goOn.countDown();
    broker.on(Frame.CloseSession.class, close -> List.of());
    assertThatThrownBy(session::close).isInstanceOf(JMSException.class);
    session.close();
    assertThat(isClosed(session::createMessage)).isTrue();
  }
}

package io.lightmq.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.wire.Frame;
import io.lightmq.wire.entry.FaultCode;
import jakarta.jms.CompletionListener;
import jakarta.jms.Connection;
import jakarta.jms.DeliveryMode;
import jakarta.jms.InvalidDestinationException;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageProducer;
import jakarta.jms.Session;
import jakarta.jms.TransactionRolledBackException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What becomes of commits, sends and requests when a connection is lost and restored. */
class LostLinkTest {
  @RegisterExtension final ScriptedBrokerExtension rig = new ScriptedBrokerExtension();

  private ScriptedBroker broker;
  private Connection connection;

  @BeforeEach
  void start() throws Exception {
    broker = rig.broker();
    broker.nothingThere();
    open("");
  }

  private void open(String options) throws Exception {
    if (connection != null) {
      connection.close();
    }
    connection = rig.connect("&batchBytes=1" + options);
  }

  private CompletableFuture<Void> begin(Unchecked.Action call) {
    CompletableFuture<Void> future = new CompletableFuture<>();
    rig.threads()
        .execute(
            () -> {
              try {
                call.run();
                future.complete(null);
              } catch (JMSException | RuntimeException e) {
                future.completeExceptionally(e);
              }
            });
    return future;
  }

  private Session transacted(String queue) throws JMSException {
    Session session = connection.createSession(Session.SESSION_TRANSACTED);
    session.createProducer(session.createQueue(queue)).send(session.createTextMessage("a"));
    return session;
  }

  private static void ends(CompletableFuture<Void> call) throws Exception {
    call.get(10, TimeUnit.SECONDS);
  }

  private static JMSException failure(CompletableFuture<Void> call) {
    try {
      call.get(10, TimeUnit.SECONDS);
    } catch (java.util.concurrent.ExecutionException e) {
      return (JMSException) e.getCause();
    } catch (InterruptedException | java.util.concurrent.TimeoutException e) {
      throw new AssertionError("no answer", e);
    }
    throw new AssertionError("it did not fail");
  }

  private void isRestored(int connections) {
    Awaitility.await().until(() -> broker.seen(Frame.Attach.class).size() >= connections);
  }

  /** Attaching to the queue fails or finds another destination of that name. */
  private void refuseProducers(String queue, Function<Frame.AttachProducer, Frame> answer) {
    broker.on(
        Frame.AttachProducer.class,
        attach ->
            List.of(
                attach.destination().name().equals(queue)
                    ? answer.apply(attach)
                    : new Frame.ProducerAttached(
                        attach.correlation(), broker.idOf(attach.destination().name()))));
  }

  private static Frame gone(Frame.AttachProducer attach) {
    return new Frame.Fault(attach.correlation(), FaultCode.INVALID_DESTINATION, "unknown", 0);
  }

  @Test
  void aCommitToADestinationThatHasGoneIsRolledBack() throws Exception {
    Session other = transacted("orders");
    CompletableFuture<Void> lost = begin(transacted("gone")::commit);
    Frame.Commit first = broker.expect(Frame.Commit.class);
    CompletableFuture<Void> behind = begin(other::commit);
    broker.expect(Frame.Commit.class);
    refuseProducers("gone", LostLinkTest::gone);
    broker.cut();
    assertThat(failure(lost)).isInstanceOf(TransactionRolledBackException.class);
    Frame.Commit again = broker.expect(Frame.Commit.class);
    assertThat(again.number()).isEqualTo(first.number());
    broker.receipt(again);
    ends(behind);
    assertThat(broker.seen(Frame.Attach.class)).hasSize(2);
  }

  @Test
  void aCommitToADestinationThatWasMadeAnewIsRolledBack() throws Exception {
    CompletableFuture<Void> lost = begin(transacted("gone")::commit);
    broker.expect(Frame.Commit.class);
    refuseProducers("gone", attach -> new Frame.ProducerAttached(attach.correlation(), 999));
    broker.cut();
    assertThat(failure(lost)).isInstanceOf(TransactionRolledBackException.class);
    assertThat(broker.unexpected()).isEmpty();
  }

  @Test
  void closeGivesUpAnAttemptThatTheBrokerDoesNotGreet() throws Exception {
    try (Connection other =
        new LightmqConnectionFactory(broker.uri("&connectTimeoutMillis=60000"))
            .createConnection()) {
      assertThat(other.getClientID()).isNull(); // it keeps the loop that they share alive
      broker.on(Frame.Hello.class, hello -> List.of());
      broker.cut(); // the other one, which said Hello last
      Awaitility.await().until(() -> broker.seen(Frame.Hello.class).size() == 3);
      assertThat(broker.connected()).isEqualTo(2);
      other.close();
      Awaitility.await().until(() -> broker.connected() == 1);
    }
  }

  @Test
  void attemptsCountOnUntilTheBrokerHasDoneSomething() throws Exception {
    open("&reconnectAttempts=3");
    CompletableFuture<JMSException> told = new CompletableFuture<>();
    connection.setExceptionListener(told::complete);
    broker.on(
        Frame.Commit.class,
        refused -> List.of(new Frame.Goodbye(FaultCode.PROTOCOL_ERROR, "not like that")));
    CompletableFuture<Void> commit = begin(transacted("orders")::commit);
    assertThat(told.get(10, TimeUnit.SECONDS)).hasMessageContaining("reconnectAttempts");
    assertThat(failure(commit).getErrorCode()).isEqualTo("LMQ-33");
  }

  @Test
  void theSessionOfAnUnansweredCommitIsOpenedAgainThoughItIsClosed() throws Exception {
    Session session = connection.createSession(Session.SESSION_TRANSACTED);
    int id = broker.seen(Frame.OpenSession.class).get(0).sessionId();
    broker.expectToo(Frame.Pull.class);
    var consumer = session.createConsumer(session.createQueue("orders"));
    connection.start();
    CompletableFuture<Void> receive = begin(consumer::receive);
    Frame.Pull pull = broker.expect(Frame.Pull.class);
    broker.nothingThere();
    broker.send(broker.deliver(pull.pulls().get(0), "orders", 1, 0, "a"));
    ends(receive);
    CompletableFuture<Void> commit = begin(session::commit);
    broker.expect(Frame.Commit.class);
    session.close();
    List<Frame> afterCut = new ArrayList<>();
    broker.on(
        Frame.OpenSession.class,
        opened -> {
          afterCut.add(opened);
          return List.of(new Frame.Ok(opened.correlation()));
        });
    broker.cut();
    Frame.Commit again = broker.expect(Frame.Commit.class);
    assertThat(afterCut).extracting(frame -> ((Frame.OpenSession) frame).sessionId()).contains(id);
    connection.createSession(); // its answer comes after all that restoring the link has asked
    assertThat(broker.seen(Frame.CloseSession.class)).hasSize(1);
    broker.receipt(again);
    ends(commit);
    Awaitility.await().until(() -> broker.seen(Frame.CloseSession.class).size() == 2);
    assertThat(broker.seen(Frame.CloseSession.class).get(1).sessionId()).isEqualTo(id);
  }

  @Test
  void aCommitWithoutAnswerEndsWithAnUnknownOutcome() throws Exception {
    open("&requestTimeoutMillis=300&maxReconnectDelayMillis=5");
    CompletableFuture<Void> commit = begin(transacted("orders")::commit);
    broker.expect(Frame.Commit.class);
    broker.on(Frame.Hello.class, hello -> List.of(new Frame.Goodbye(FaultCode.CLOSING, "down")));
    broker.cut();
    assertThat(failure(commit).getErrorCode()).isEqualTo("LMQ-33");
  }

  @Test
  void aCommitThatNeverWentOutIsRolledBackAndNotSentLater() throws Exception {
    open("&requestTimeoutMillis=300&maxReconnectDelayMillis=5");
    Session session = transacted("orders");
    Session other = connection.createSession();
    MessageProducer producer = other.createProducer(other.createQueue("orders"));
    broker.on(Frame.Hello.class, hello -> List.of(new Frame.Goodbye(FaultCode.CLOSING, "down")));
    broker.cut();
    Awaitility.await().until(() -> broker.seen(Frame.Hello.class).size() >= 3);
    assertThat(failure(begin(session::commit))).isInstanceOf(TransactionRolledBackException.class);
    broker.on(Frame.Hello.class, hello -> List.of(ScriptedBroker.welcome()));
    isRestored(3);
    CompletableFuture<Void> send = begin(() -> producer.send(other.createTextMessage("b")));
    Frame.Publish run = broker.expect(Frame.Publish.class);
    List<Frame.Attach> attaches = broker.seen(Frame.Attach.class);
    assertThat(run.number()).isEqualTo(attaches.get(attaches.size() - 1).answersFrom());
    broker.receipt(run);
    ends(send);
  }

  @Test
  void aConnectionClosesThoughAListenerWaitsForABrokerThatIsAway() throws Exception {
    Session session = connection.createSession(Session.SESSION_TRANSACTED);
    CompletableFuture<JMSException> committed = new CompletableFuture<>();
    broker.expectToo(Frame.Pull.class);
    session
        .createConsumer(session.createQueue("orders"))
        .setMessageListener(
            message -> {
              try {
                session.commit();
              } catch (JMSException e) {
                committed.complete(e);
              }
            });
    connection.start();
    Frame.Pull pull = broker.expect(Frame.Pull.class);
    broker.nothingThere();
    broker.send(broker.deliver(pull.pulls().get(0), "orders", 1, 0, "a"));
    Awaitility.await().until(() -> !broker.seen(Frame.Commit.class).isEmpty());
    broker.on(Frame.Hello.class, hello -> List.of(new Frame.Goodbye(FaultCode.CLOSING, "down")));
    broker.cut();
    Awaitility.await().until(() -> broker.seen(Frame.Hello.class).size() >= 3);
    ends(begin(connection::close));
    assertThat(committed.get(10, TimeUnit.SECONDS).getErrorCode()).isEqualTo("LMQ-33");
  }

  @Test
  void aNonPersistentSendFailsWhenTheConnectionItWentOutOnIsGivenUp() throws Exception {
    open("&requestTimeoutMillis=200");
    Session session = connection.createSession();
    session.createConsumer(session.createQueue("orders"));
    MessageProducer producer = session.createProducer(session.createQueue("orders"));
    producer.setDeliveryMode(DeliveryMode.NON_PERSISTENT);
    AtomicInteger attached = new AtomicInteger();
    broker.on(
        Frame.AttachConsumer.class,
        attach ->
            attached.incrementAndGet() == 1
                ? List.of()
                : List.of(new Frame.ConsumerAttached(attach.correlation(), broker.idOf("orders"))));
    broker.expectToo(Frame.Hello.class);
    broker.cut();
    broker.expect(Frame.Hello.class);
    CompletableFuture<Exception> told = new CompletableFuture<>();
    producer.send(
        session.createTextMessage("a"),
        new CompletionListener() {
          @Override
          public void onCompletion(Message message) {
            told.completeExceptionally(new AssertionError("nobody has confirmed it"));
          }

          @Override
          public void onException(Message message, Exception exception) {
            told.complete(exception);
          }
        });
    broker.on(Frame.Hello.class, hello -> List.of(ScriptedBroker.welcome()));
    broker.send(ScriptedBroker.welcome());
    assertThat(broker.expect(Frame.Publish.class).number()).isZero();
    Exception cause = told.get(10, TimeUnit.SECONDS);
    assertThat(((JMSException) cause).getErrorCode()).isEqualTo("LMQ-33");
    Awaitility.await().until(() -> attached.get() == 2);
    assertThat(broker.unexpected()).isEmpty();
  }

  @Test
  void aWriteThatFailsWhileTheConnectionIsRestoredIsNotTheEndOfTrying() throws Exception {
    Session session = connection.createSession();
    MessageProducer producer = session.createProducer(session.createQueue("orders"));
    CompletableFuture<Void> send =
        begin(() -> producer.send(session.createTextMessage("x".repeat(500_000))));
    broker.expect(Frame.Publish.class);
    AtomicInteger attached = new AtomicInteger();
    broker.on(
        Frame.AttachProducer.class,
        attach -> {
          broker.send(new Frame.ProducerAttached(attach.correlation(), broker.idOf("orders")));
          if (attached.incrementAndGet() == 1) {
            broker.reset();
          }
          return List.of();
        });
    broker.cut();
    broker.receipt(broker.expect(Frame.Publish.class));
    ends(send);
  }

  @Test
  void aSendToADestinationThatHasGoneFailsAloneAndTheConnectionStays() throws Exception {
    Session session = connection.createSession();
    MessageProducer producer = session.createProducer(session.createQueue("gone"));
    Session transacted = transacted("gone");
    refuseProducers("gone", LostLinkTest::gone);
    broker.cut();
    isRestored(2);
    Awaitility.await()
        .untilAsserted(() -> assertThat(broker.seen(Frame.AttachProducer.class)).hasSize(4));
    session.createProducer(session.createQueue("orders")); // its answer comes after the others
    assertThatThrownBy(() -> producer.send(session.createTextMessage("a")))
        .isInstanceOf(InvalidDestinationException.class)
        .hasMessageContaining("gone");
    assertThatThrownBy(transacted::commit).isInstanceOf(TransactionRolledBackException.class);
    assertThat(broker.unexpected()).isEmpty();
    assertThat(broker.seen(Frame.Attach.class)).hasSize(2);
  }

  @Test
  void closingWhatTheNewConnectionDoesNotHaveSaysNothingToIt() throws Exception {
    Session session = connection.createSession();
    var consumer = session.createConsumer(session.createQueue("orders"));
    Session other = connection.createSession();
    broker.expectToo(Frame.Attach.class);
    broker.cut();
    Frame.Attach attach = broker.expect(Frame.Attach.class);
    consumer.close();
    session.close();
    broker.send(new Frame.Attached(attach.correlation(), 0, List.of(), 1 << 20));
    other.createProducer(other.createQueue("orders"));
    assertThat(broker.seen(Frame.DetachConsumer.class)).isEmpty();
    assertThat(broker.seen(Frame.CloseSession.class)).isEmpty();
    assertThat(broker.seen(Frame.OpenSession.class)).hasSize(3);
  }

  @Test
  void aConsumerWhoseOpeningWasInterruptedIsClosedInTheBroker() throws Exception {
    Session session = connection.createSession();
    broker.expectToo(Frame.AttachConsumer.class);
    CompletableFuture<Thread> thread = new CompletableFuture<>();
    CompletableFuture<Void> opening =
        begin(
            () -> {
              thread.complete(Thread.currentThread());
              session.createConsumer(session.createQueue("orders"));
            });
    Frame.AttachConsumer attach = broker.expect(Frame.AttachConsumer.class);
    thread.get().interrupt();
    assertThat(failure(opening).getErrorCode()).isEqualTo("LMQ-107");
    broker.send(new Frame.ConsumerAttached(attach.correlation(), 1));
    Awaitility.await().until(() -> !broker.seen(Frame.DetachConsumer.class).isEmpty());
    assertThat(broker.seen(Frame.DetachConsumer.class).get(0).consumerId())
        .isEqualTo(attach.consumerId());
    broker.cut();
    isRestored(2);
    connection.createSession();
    assertThat(broker.seen(Frame.AttachConsumer.class)).hasSize(1);
  }

  @Test
  void aSessionWhoseOpeningIsNotAnsweredInTimeIsClosedInTheBroker() throws Exception {
    open("&requestTimeoutMillis=100");
    broker.on(Frame.OpenSession.class, opened -> List.of());
    assertThatThrownBy(() -> connection.createSession())
        .isInstanceOf(JMSException.class)
        .hasMessageContaining("requestTimeoutMillis");
    Awaitility.await().until(() -> !broker.seen(Frame.CloseSession.class).isEmpty());
    assertThat(broker.seen(Frame.CloseSession.class).get(0).sessionId())
        .isEqualTo(broker.seen(Frame.OpenSession.class).get(0).sessionId());
  }

  @Test
  void aConsumerThatTheBrokerHasEndedIsNotOpenedAgain() throws Exception {
    Session session = connection.createSession();
    broker.expectToo(Frame.Pull.class);
    var consumer = session.createConsumer(session.createQueue("orders"));
    connection.start();
    CompletableFuture<Void> receive = begin(consumer::receive);
    Frame.PullOne pull = broker.expect(Frame.Pull.class).pulls().get(0);
    broker.send(
        new Frame.PullDone(
            List.of(
                new Frame.PullEnd(
                    pull.consumerId(), pull.pullId(), FaultCode.DESTINATION_GONE, 0))));
    assertThat(failure(receive).getErrorCode()).isEqualTo("LMQ-21");
    broker.cut();
    isRestored(2);
    connection.createSession();
    assertThat(broker.seen(Frame.AttachConsumer.class)).hasSize(1);
  }

  @Test
  void aSubscriptionThatIsUnknownWhenItsDeletionIsRepeatedWasDeleted() throws Exception {
    Session session = connection.createSession();
    CompletableFuture<Void> deletion = begin(() -> session.unsubscribe("audit"));
    broker.expect(Frame.Unsubscribe.class);
    broker.on(
        Frame.Unsubscribe.class,
        again ->
            List.of(
                new Frame.Fault(again.correlation(), FaultCode.INVALID_SUBSCRIPTION, "none", 0)));
    broker.cut();
    ends(deletion);
    assertThatThrownBy(() -> session.unsubscribe("audit"))
        .isInstanceOf(InvalidDestinationException.class);
  }
}

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
import jakarta.jms.ResourceAllocationException;
import jakarta.jms.Session;
import jakarta.jms.TextMessage;
import jakarta.jms.TransactionRolledBackException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class SendingTest {
  @RegisterExtension final ScriptedBrokerExtension rig = new ScriptedBrokerExtension();

  private ScriptedBroker broker;
  private Connection connection;
  private Session session;
  private MessageProducer producer;

  @BeforeEach
  void start() throws Exception {
    broker = rig.broker();
  }

  private void open(String options, int mode) throws Exception {
    connection = rig.connect(options);
    session = connection.createSession(mode);
    producer = session.createProducer(session.createQueue("orders"));
  }

  private void open(String options) throws Exception {
    open(options, Session.AUTO_ACKNOWLEDGE);
  }

  /** Runs a call on another thread; its failure is the future's. */
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

  private static final class Listener implements CompletionListener {
    final LinkedBlockingQueue<String> told = new LinkedBlockingQueue<>();

    @Override
    public void onCompletion(Message message) {
      told.add("done " + text(message));
    }

    @Override
    public void onException(Message message, Exception e) {
      told.add(((JMSException) e).getErrorCode() + " " + text(message));
    }

    private static String text(Message message) {
      try {
        return ((TextMessage) message).getText();
      } catch (JMSException e) {
        throw new AssertionError(e);
      }
    }

    String next() throws InterruptedException {
      return told.poll(10, TimeUnit.SECONDS);
    }
  }

  @Test
  void aSendReturnsWithTheReceipt() throws Exception {
    open("");
    TextMessage message = session.createTextMessage("first");
    CompletableFuture<Void> sending = begin(() -> producer.send(message));
    Frame.Publish run = broker.expect(Frame.Publish.class);
    assertThat(run.number()).isEqualTo(1);
    assertThat(run.count()).isEqualTo(1);
    assertThat(run.destinationId()).isEqualTo(broker.idOf("orders"));
    assertThat(ScriptedBroker.texts(run.messages())).containsExactly("first");
    assertThat(sending).isNotDone();
    broker.receipt(run);
    sending.get(10, TimeUnit.SECONDS);
    assertThat(message.getJMSMessageID()).matches("ID:[0-9a-f]{32}:1");
    assertThat(message.getJMSDeliveryMode()).isEqualTo(DeliveryMode.PERSISTENT);
    assertThat(message.getJMSDestination()).isEqualTo(new LightmqQueue("orders"));
    assertThat(message.getJMSTimestamp()).isPositive();
  }

  @Test
  void aRefusalIsAnExceptionWithTheBrokersCode() throws Exception {
    open("");
    CompletableFuture<Void> sending = begin(() -> producer.send(session.createTextMessage("x")));
    Frame.Publish run = broker.expect(Frame.Publish.class);
    broker.send(
        new Frame.Receipts(
            List.of(),
            List.of(new Frame.Fault(run.correlation(), FaultCode.DISK_FULL, "full", 0))));
    assertThatThrownBy(() -> sending.get(10, TimeUnit.SECONDS))
        .cause()
        .isInstanceOf(ResourceAllocationException.class)
        .hasMessageContaining("full")
        .extracting(e -> ((JMSException) e).getErrorCode())
        .isEqualTo("LMQ-40");
    // The refusal has spent its number.
    CompletableFuture<Void> next = begin(() -> producer.send(session.createTextMessage("y")));
    Frame.Publish second = broker.expect(Frame.Publish.class);
    assertThat(second.number()).isEqualTo(2);
    broker.receipt(second);
    next.get(10, TimeUnit.SECONDS);
  }

  @Test
  void sendsGatherWhileOneIsOnItsWay() throws Exception {
    open("");
    Listener listener = new Listener();
    producer.send(session.createTextMessage("a"), listener);
    Frame.Publish first = broker.expect(Frame.Publish.class);
    for (String text : List.of("b", "c", "d")) {
      producer.send(session.createTextMessage(text), listener);
    }
    broker.receipt(first);
    Frame.Publish second = broker.expect(Frame.Publish.class);
    assertThat(second.number()).isEqualTo(2);
    assertThat(ScriptedBroker.texts(second.messages())).containsExactly("b", "c", "d");
    assertThat(listener.next()).isEqualTo("done a");
    broker.receipt(second);
    assertThat(List.of(listener.next(), listener.next(), listener.next()))
        .containsExactly("done b", "done c", "done d");
  }

  @Test
  void aFullBatchLeavesWithoutWaiting() throws Exception {
    open("&batchBytes=400");
    Listener listener = new Listener();
    producer.send(session.createTextMessage("a"), listener);
    broker.expect(Frame.Publish.class);
    for (int i = 0; i < 6; i++) {
      producer.send(session.createTextMessage("m" + i), listener);
    }
    Frame.Publish second = broker.expect(Frame.Publish.class);
    assertThat(second.count()).isBetween(2, 6);
    broker.knows(99);
    broker.cut(); // everything is known to be stored
  }

  @Test
  void nonPersistentRunsHaveNoNumber() throws Exception {
    open("");
    producer.setDeliveryMode(DeliveryMode.NON_PERSISTENT);
    CompletableFuture<Void> sending = begin(() -> producer.send(session.createTextMessage("x")));
    Frame.Publish run = broker.expect(Frame.Publish.class);
    assertThat(run.number()).isZero();
    broker.receipt(run);
    sending.get(10, TimeUnit.SECONDS);
  }

  @Test
  void afterALostConnectionTheSameRunsAreSentAgainInOrder() throws Exception {
    open("&batchBytes=1");
    Listener listener = new Listener();
    producer.send(session.createTextMessage("a"), listener);
    Frame.Publish first = broker.expect(Frame.Publish.class);
    producer.send(session.createTextMessage("b"), listener);
    Frame.Publish second = broker.expect(Frame.Publish.class);
    producer.send(session.createTextMessage("c"), listener);
    Frame.Publish third = broker.expect(Frame.Publish.class);
    broker.knows(1);
    broker.cut();
    Frame.Publish secondAgain = broker.expect(Frame.Publish.class);
    Frame.Publish thirdAgain = broker.expect(Frame.Publish.class);
    assertThat(secondAgain).isEqualTo(second);
    assertThat(thirdAgain).isEqualTo(third);
    assertThat(first.number()).isEqualTo(1);
    Frame.Attach attach = broker.seen(Frame.Attach.class).get(1);
    assertThat(attach.linkId()).isEqualTo(broker.seen(Frame.Attach.class).get(0).linkId());
    assertThat(attach.linkEpoch()).isEqualTo(2);
    assertThat(attach.answersFrom()).isEqualTo(1);
    assertThat(listener.next()).isEqualTo("done a");
    broker.send(
        new Frame.Receipts(List.of(new Frame.Done(secondAgain.correlation(), 2)), List.of()));
    assertThat(listener.next()).isEqualTo("done b");
    assertThat(listener.next()).isEqualTo("done c");
  }

  @Test
  void aConnectionLostWhileProducersAreOpenedAgainLosesNothing() throws Exception {
    open("");
    Listener listener = new Listener();
    producer.send(session.createTextMessage("a"), listener);
    Frame.Publish first = broker.expect(Frame.Publish.class);
    broker.expectToo(Frame.AttachProducer.class);
    broker.cut();
    broker.expect(Frame.AttachProducer.class);
    broker.cut();
    Frame.AttachProducer again = broker.expect(Frame.AttachProducer.class);
    broker.send(new Frame.ProducerAttached(again.correlation(), broker.idOf("orders")));
    Frame.Publish second = broker.expect(Frame.Publish.class);
    assertThat(second).isEqualTo(first);
    broker.receipt(second);
    assertThat(listener.next()).isEqualTo("done a");
  }

  @Test
  void whatWasRefusedWhileTheConnectionWasLostIsTold() throws Exception {
    open("&batchBytes=1");
    Listener listener = new Listener();
    producer.send(session.createTextMessage("a"), listener);
    broker.expect(Frame.Publish.class);
    producer.send(session.createTextMessage("b"), listener);
    broker.expect(Frame.Publish.class);
    broker.knows(2, new Frame.NumberedOutcome(2, FaultCode.DISK_FULL, "full"));
    broker.cut();
    assertThat(listener.next()).isEqualTo("done a");
    assertThat(listener.next()).isEqualTo("LMQ-40 b");
  }

  @Test
  void nonPersistentSendsOnTheirWayHaveAnUnknownFate() throws Exception {
    open("");
    producer.setDeliveryMode(DeliveryMode.NON_PERSISTENT);
    Listener listener = new Listener();
    producer.send(session.createTextMessage("a"), listener);
    broker.expect(Frame.Publish.class);
    broker.cut();
    assertThat(listener.next()).isEqualTo("LMQ-33 a");
    CompletableFuture<Void> next = begin(() -> producer.send(session.createTextMessage("b")));
    Frame.Publish run = broker.expect(Frame.Publish.class);
    assertThat(ScriptedBroker.texts(run.messages())).containsExactly("b");
    broker.receipt(run);
    next.get(10, TimeUnit.SECONDS);
  }

  @Test
  void runsToADestinationThatHasGoneFailAndTheOthersCloseUp() throws Exception {
    open("&batchBytes=1");
    MessageProducer other = session.createProducer(session.createQueue("other"));
    Listener listener = new Listener();
    producer.send(session.createTextMessage("a"), listener);
    broker.expect(Frame.Publish.class);
    other.send(session.createTextMessage("b"), listener);
    broker.expect(Frame.Publish.class);
    broker.on(
        Frame.AttachProducer.class,
        attach ->
            List.of(
                new Frame.ProducerAttached(
                    attach.correlation(),
                    attach.destination().name().equals("orders") ? 999 : broker.idOf("other"))));
    broker.cut();
    Frame.Publish again = broker.expect(Frame.Publish.class);
    assertThat(ScriptedBroker.texts(again.messages())).containsExactly("b");
    assertThat(again.number()).isEqualTo(1);
    assertThat(listener.next()).isEqualTo("LMQ-21 a");
    broker.receipt(again);
    assertThat(listener.next()).isEqualTo("done b");
  }

  /** Nobody waits for it, and yet it ends: its listener hears of it when a sender would have. */
  @Test
  void anAsynchronousSendWithoutAReceiptEndsInTime() throws Exception {
    open("&batchBytes=1&requestTimeoutMillis=400&maxReconnectDelayMillis=5");
    Listener listener = new Listener();
    producer.send(session.createTextMessage("a"), listener);
    broker.expect(Frame.Publish.class);
    producer.send(session.createTextMessage("b"), listener);
    broker.expect(Frame.Publish.class);
    broker.on(Frame.Hello.class, hello -> List.of(new Frame.Goodbye(FaultCode.CLOSING, "down")));
    broker.cut();
    Awaitility.await().until(() -> broker.seen(Frame.Hello.class).size() >= 3);
    producer.send(session.createTextMessage("c"), listener);
    assertThat(listener.next()).isEqualTo("LMQ-33 a");
    assertThat(listener.next()).isEqualTo("LMQ-33 b");
    assertThat(listener.next()).isEqualTo("LMQ-5 c");
    broker.on(Frame.Hello.class, hello -> List.of(ScriptedBroker.welcome()));
    Frame.Publish again = broker.expect(Frame.Publish.class);
    assertThat(ScriptedBroker.texts(again.messages())).containsExactly("a");
    broker.receipt(again);
    again = broker.expect(Frame.Publish.class);
    assertThat(ScriptedBroker.texts(again.messages())).containsExactly("b");
    broker.receipt(again);
    producer.send(session.createTextMessage("d"), listener);
    again = broker.expect(Frame.Publish.class); // c does not go out any more
    assertThat(ScriptedBroker.texts(again.messages())).containsExactly("d");
    broker.receipt(again);
    assertThat(listener.next()).isEqualTo("done d");
  }

  @Test
  void withoutFailoverALostConnectionFailsForGood() throws Exception {
    open("&failover=false");
    LinkedBlockingQueue<JMSException> told = new LinkedBlockingQueue<>();
    connection.setExceptionListener(told::add);
    CompletableFuture<Void> sending = begin(() -> producer.send(session.createTextMessage("x")));
    broker.expect(Frame.Publish.class);
    broker.cut();
    assertThatThrownBy(() -> sending.get(10, TimeUnit.SECONDS))
        .cause()
        .isInstanceOf(JMSException.class)
        .extracting(e -> ((JMSException) e).getErrorCode())
        .isEqualTo("LMQ-33");
    assertThat(told.poll(10, TimeUnit.SECONDS)).isNotNull();
    assertThatThrownBy(() -> connection.createSession()).isInstanceOf(JMSException.class);
  }

  @Test
  void withoutCreditASendWaitsAndThenThrows() throws Exception {
    broker.credit(1);
    open("&sendTimeoutMillis=50");
    Listener listener = new Listener();
    producer.send(session.createTextMessage("takes the last credit"), listener);
    Frame.Publish first = broker.expect(Frame.Publish.class);
    producer.send(session.createTextMessage("waits in the client"), listener);
    broker.receipt(first);
    assertThat(listener.next()).startsWith("done");
    assertThatThrownBy(
            () -> {
              // The link notices the missing credit on its own thread, after some of these.
              for (int i = 0; i < 100_000; i++) {
                producer.send(session.createTextMessage("no"), listener);
              }
            })
        .isInstanceOf(ResourceAllocationException.class)
        .hasMessageContaining("sendTimeoutMillis")
        .hasMessageContaining("credit");
    assertThat(broker.unexpected()).isEmpty();
    broker.send(new Frame.Credit(1 << 20));
    Frame.Publish rest = broker.expect(Frame.Publish.class);
    assertThat(ScriptedBroker.texts(rest.messages()).get(0)).isEqualTo("waits in the client");
    broker.on(
        Frame.Publish.class,
        run ->
            List.of(new Frame.Receipts(List.of(new Frame.Done(run.correlation(), 1)), List.of())));
    broker.receipt(rest);
    assertThat(listener.next()).isEqualTo("done waits in the client");
  }

  @Test
  void creditThatComesInTimeLetsTheSendGo() throws Exception {
    broker.credit(1);
    open("");
    Listener listener = new Listener();
    producer.send(session.createTextMessage("a"), listener);
    Frame.Publish first = broker.expect(Frame.Publish.class);
    CompletableFuture<Void> second = begin(() -> producer.send(session.createTextMessage("b")));
    broker.receipt(first);
    assertThat(listener.next()).isEqualTo("done a");
    assertThat(second).isNotDone();
    broker.send(new Frame.Credit(1 << 20));
    broker.receipt(broker.expect(Frame.Publish.class));
    second.get(10, TimeUnit.SECONDS);
  }

  @Test
  void aSendWithoutReceiptTellsThatItsFateIsUnknown() throws Exception {
    open("&requestTimeoutMillis=100");
    assertThatThrownBy(() -> producer.send(session.createTextMessage("x")))
        .isInstanceOf(JMSException.class)
        .hasMessageContaining("may have been stored or not");
    broker.receipt(broker.expect(Frame.Publish.class));
  }

  @Test
  void aMessageAboveTheLimitNamesLimitAndOption() throws Exception {
    open("&messageSizeLimit=2048");
    assertThatThrownBy(() -> producer.send(session.createTextMessage("x".repeat(3000))))
        .isInstanceOf(JMSException.class)
        .hasMessageContaining("2048")
        .hasMessageContaining("messageSizeLimit")
        .extracting(e -> ((JMSException) e).getErrorCode())
        .isEqualTo("LMQ-3");
  }

  @Test
  void producersWithAndWithoutDestinationAreNotMixed() throws Exception {
    open("");
    Message message = session.createMessage();
    MessageProducer any = session.createProducer(null);
    assertThatThrownBy(() -> any.send(message)).isInstanceOf(UnsupportedOperationException.class);
    assertThatThrownBy(() -> any.send(null, message))
        .isInstanceOf(InvalidDestinationException.class);
    assertThatThrownBy(() -> producer.send(session.createQueue("q"), message))
        .isInstanceOf(UnsupportedOperationException.class);
    assertThatThrownBy(() -> producer.send(message, null))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void aTransactionIsSentAsOneCommit() throws Exception {
    open("", Session.SESSION_TRANSACTED);
    producer.send(session.createTextMessage("a"));
    producer.send(session.createTextMessage("b"));
    assertThat(broker.unexpected()).isEmpty();
    CompletableFuture<Void> committing = begin(session::commit);
    Frame.Commit commit = broker.expect(Frame.Commit.class);
    assertThat(commit.number()).isEqualTo(1);
    assertThat(commit.acked()).isEmpty();
    assertThat(commit.runs()).hasSize(1);
    assertThat(ScriptedBroker.texts(commit.runs().get(0).messages())).containsExactly("a", "b");
    broker.receipt(commit);
    committing.get(10, TimeUnit.SECONDS);
    session.commit(); // nothing to say
    producer.send(session.createTextMessage("c"));
    session.rollback();
    session.commit();
    assertThat(broker.unexpected()).isEmpty();
  }

  @Test
  void aCommitIsSentAgainAfterALostConnection() throws Exception {
    open("", Session.SESSION_TRANSACTED);
    producer.send(session.createTextMessage("a"));
    CompletableFuture<Void> committing = begin(session::commit);
    Frame.Commit commit = broker.expect(Frame.Commit.class);
    broker.cut();
    Frame.Commit again = broker.expect(Frame.Commit.class);
    assertThat(again).isEqualTo(commit);
    broker.send(
        new Frame.Receipts(
            List.of(),
            List.of(
                new Frame.Fault(again.correlation(), FaultCode.NOT_IN_FLIGHT, "given away", 0))));
    assertThatThrownBy(() -> committing.get(10, TimeUnit.SECONDS))
        .cause()
        .isInstanceOf(TransactionRolledBackException.class);
  }

  @Test
  void aTransactionAboveTheLimitIsRefusedAtTheSend() throws Exception {
    open("", Session.SESSION_TRANSACTED);
    producer.send(session.createTextMessage("x".repeat(900_000)));
    assertThatThrownBy(() -> producer.send(session.createTextMessage("x".repeat(200_000))))
        .isInstanceOf(ResourceAllocationException.class)
        .hasMessageContaining("1048576");
    session.rollback();
    producer.send(session.createTextMessage("x".repeat(900_000)));
    session.rollback();
  }

  @Test
  void aProducerIsClosedWhenItsAsynchronousSendsAreComplete() throws Exception {
    open("");
    MessageProducer other = session.createProducer(session.createQueue("others"));
    Listener listener = new Listener();
    other.send(session.createTextMessage("waits"), new Listener());
    Frame.Publish waiting = broker.expect(Frame.Publish.class);
    producer.send(session.createTextMessage("a"), listener);
    CompletableFuture<Void> closing = begin(producer::close);
    Frame.Publish run = broker.expect(Frame.Publish.class);
    assertThat(closing).isNotDone();
    broker.receipt(waiting);
    broker.receipt(run);
    closing.get(10, TimeUnit.SECONDS);
    assertThat(listener.told).containsExactly("done a");
    assertThatThrownBy(() -> producer.send(session.createTextMessage("b")))
        .isInstanceOf(jakarta.jms.IllegalStateException.class);
  }

  @Test
  void aProducerGivesUpSendsWithoutReceiptWhenItIsClosed() throws Exception {
    open("&requestTimeoutMillis=500");
    Listener listener = new Listener();
    producer.send(session.createTextMessage("a"), listener);
    broker.expect(Frame.Publish.class);
    producer.close();
    assertThat(listener.told).containsExactly("LMQ-33 a");
  }

  @Test
  void anErrorOfACompletionListenerLeavesTheOthersTheirs() throws Exception {
    open("");
    broker.on(
        Frame.Publish.class,
        run ->
            List.of(new Frame.Receipts(List.of(new Frame.Done(run.correlation(), 1)), List.of())));
    Listener listener = new Listener();
    producer.send(
        session.createTextMessage("a"),
        new CompletionListener() {
          @Override
          public void onCompletion(Message message) {
            throw new AssertionError("thrown by a test's listener");
          }

          @Override
          public void onException(Message message, Exception e) {}
        });
    producer.send(session.createTextMessage("b"), listener);
    assertThat(listener.next()).isEqualTo("done b");
  }

  @Test
  void aCompletionListenerMayStopButNotCloseWhatItBelongsTo() throws Exception {
    open("");
    LinkedBlockingQueue<Object> told = new LinkedBlockingQueue<>();
    producer.send(
        session.createTextMessage("a"),
        new CompletionListener() {
          @Override
          public void onCompletion(Message message) {
            for (Unchecked.Action call :
                List.<Unchecked.Action>of(
                    session::close, connection::close, producer::close, connection::stop)) {
              try {
                call.run();
                told.add("was allowed");
              } catch (JMSException e) {
                told.add(e.getClass());
              }
            }
          }

          @Override
          public void onException(Message message, Exception e) {
            told.add(e);
          }
        });
    broker.receipt(broker.expect(Frame.Publish.class));
    for (int i = 0; i < 3; i++) {
      assertThat(told.poll(10, TimeUnit.SECONDS))
          .isEqualTo(jakarta.jms.IllegalStateException.class);
    }
    assertThat(told.poll(10, TimeUnit.SECONDS)).as("stopping").isEqualTo("was allowed");
  }
}

package io.lightmq.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.lightmq.wire.Frame;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.SequenceRange;
import jakarta.jms.Connection;
import jakarta.jms.IllegalStateException;
import jakarta.jms.JMSConsumer;
import jakarta.jms.JMSContext;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageFormatRuntimeException;
import jakarta.jms.Session;
import jakarta.jms.TextMessage;
import jakarta.jms.Topic;
import jakarta.jms.TransactionRolledBackException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class ReceivingTest {
  @RegisterExtension final ScriptedBrokerExtension rig = new ScriptedBrokerExtension();

  private ScriptedBroker broker;
  private Connection connection;
  private Session session;
  private MessageConsumer consumer;

  @BeforeEach
  void start() throws Exception {
    broker = rig.broker();
  }

  @AfterEach
  void stop() {
    broker.ok(Frame.Return.class);
  }

  private void open(int mode) throws Exception {
    connection = rig.connect("");
    session = connection.createSession(mode);
    consumer = session.createConsumer(session.createQueue("orders"));
    connection.start();
  }

  private <T> CompletableFuture<T> begin(Unchecked.Call<T> call) {
    CompletableFuture<T> future = new CompletableFuture<>();
    rig.threads()
        .execute(
            () -> {
              try {
                future.complete(call.call());
              } catch (JMSException | RuntimeException e) {
                future.completeExceptionally(e);
              }
            });
    return future;
  }

  private Frame.PullOne pull() throws InterruptedException {
    Frame.Pull pull = broker.expect(Frame.Pull.class);
    assertThat(pull.pulls()).hasSize(1);
    return pull.pulls().get(0);
  }

  private static String text(Message message) throws JMSException {
    return ((TextMessage) message).getText();
  }

  private SequenceRange range(long from, int count) {
    return new SequenceRange(4, from, count);
  }

  /** Delivers messages to the next receive, and returns what came first. */
  private String receiveFirst(long sequence, String... texts) throws Exception {
    CompletableFuture<Message> receiving = begin(consumer::receive);
    Frame.PullOne pull = pull();
    broker.send(broker.deliver(pull, "orders", sequence, 0, texts));
    return text(receiving.get(10, TimeUnit.SECONDS));
  }

  @Test
  void nothingIsPulledBeforeStartAndBeforeTheFirstReceive() throws Exception {
    connection = rig.connect("");
    session = connection.createSession();
    consumer = session.createConsumer(session.createQueue("orders"));
    assertThat(consumer.receiveNoWait()).isNull();
    assertThat(consumer.receive(1)).isNull();
    assertThat(broker.seen(Frame.Pull.class)).isEmpty();
    connection.start();
    broker.nothingThere();
    assertThat(consumer.receiveNoWait()).isNull();
    assertThat(broker.seen(Frame.Pull.class).get(0).pulls().get(0).messages()).isEqualTo(16);
  }

  @Test
  void receiveNoWaitAsksTheBrokerAndBelievesIt() throws Exception {
    open(Session.AUTO_ACKNOWLEDGE);
    CompletableFuture<Boolean> receiving = begin(() -> consumer.receiveNoWait() == null);
    Frame.PullOne first = pull();
    Frame.PullOne asked = first.parkMillis() == 0 ? first : pull();
    assertThat(asked.parkMillis()).isZero();
    assertThat(receiving).isNotDone();
    broker.send(
        new Frame.PullDone(
            List.of(new Frame.PullEnd(asked.consumerId(), asked.pullId(), FaultCode.OK, 0))));
    assertThat(receiving.get(10, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void aTimedReceiveMakesSureAtItsEnd() throws Exception {
    open(Session.AUTO_ACKNOWLEDGE);
    CompletableFuture<Message> receiving = begin(() -> consumer.receive(20));
    assertThat(pull().parkMillis()).isEqualTo(500);
    Frame.PullOne sure = pull();
    assertThat(sure.parkMillis()).isZero();
    broker.send(broker.deliver(sure, "orders", 5, 0, "in the last moment"));
    assertThat(text(receiving.get(10, TimeUnit.SECONDS))).isEqualTo("in the last moment");
  }

  @Test
  void autoAcknowledgesEachMessageWithoutWaiting() throws Exception {
    open(Session.AUTO_ACKNOWLEDGE);
    assertThat(receiveFirst(7, "a", "b")).isEqualTo("a");
    Frame.Acknowledge first = nextAcknowledge();
    assertThat(first.correlation()).isZero();
    assertThat(first.acked().get(0).ranges()).containsExactly(range(7, 1));
    assertThat(first.acked().get(0).destinationId()).isEqualTo(broker.idOf("orders"));
    assertThat(text(consumer.receive())).isEqualTo("b");
    assertThat(nextAcknowledge().acked().get(0).ranges()).containsExactly(range(8, 1));
  }

  private Frame.Acknowledge nextAcknowledge() throws InterruptedException {
    broker.nothingThere();
    broker.unexpected().forEach(frame -> assertThat(frame).isNotInstanceOf(Frame.Return.class));
    Frame next = broker.expect(Frame.class);
    while (next instanceof Frame.Pull) {
      next = broker.expect(Frame.class);
    }
    return (Frame.Acknowledge) next;
  }

  @Test
  void dupsOkAcknowledgesManyAtOnce() throws Exception {
    open(Session.DUPS_OK_ACKNOWLEDGE);
    assertThat(receiveFirst(1, "a", "b", "c")).isEqualTo("a");
    consumer.receive();
    consumer.receive();
    Frame.Acknowledge lazy = nextAcknowledge();
    assertThat(lazy.acked()).hasSize(1);
    assertThat(lazy.acked().get(0).ranges()).containsExactly(range(1, 3));
  }

  @Test
  void dupsOkAcknowledgesWhatIsLeftWhenTheSessionCloses() throws Exception {
    open(Session.DUPS_OK_ACKNOWLEDGE);
    assertThat(receiveFirst(1, "a")).isEqualTo("a");
    broker.nothingThere();
    session.close(); // its answer came after the acknowledgement
    assertThat(broker.seen(Frame.Acknowledge.class)).hasSize(1);
  }

  @Test
  void clientAcknowledgesAllThatTheSessionHandedOver() throws Exception {
    open(Session.CLIENT_ACKNOWLEDGE);
    broker.ok(Frame.Acknowledge.class);
    assertThat(receiveFirst(1, "a", "b", "c")).isEqualTo("a");
    Message second = consumer.receive();
    second.acknowledge();
    Frame.Acknowledge sent = broker.seen(Frame.Acknowledge.class).get(0);
    assertThat(sent.correlation()).isPositive();
    assertThat(sent.acked().get(0).ranges()).containsExactly(range(1, 2));
    second.acknowledge(); // nothing is left
    assertThat(broker.seen(Frame.Acknowledge.class)).hasSize(1);
  }

  @Test
  void aLateAcknowledgementIsRefusedWithTheBrokersCode() throws Exception {
    open(Session.CLIENT_ACKNOWLEDGE);
    broker.on(
        Frame.Acknowledge.class,
        ack ->
            List.of(new Frame.Fault(ack.correlation(), FaultCode.NOT_IN_FLIGHT, "1 message", 0)));
    CompletableFuture<Message> receiving = begin(consumer::receive);
    broker.send(broker.deliver(pull(), "orders", 1, 0, "a"));
    Message message = receiving.get(10, TimeUnit.SECONDS);
    assertThatThrownBy(message::acknowledge)
        .isInstanceOf(JMSException.class)
        .extracting(e -> ((JMSException) e).getErrorCode())
        .isEqualTo("LMQ-30");
  }

  @Test
  void recoverGivesBackWhatWasHandedOverAsAttemptedAndTheRestNot() throws Exception {
    open(Session.CLIENT_ACKNOWLEDGE);
    broker.ok(Frame.Return.class);
    assertThat(receiveFirst(1, "a", "b", "c")).isEqualTo("a");
    broker.nothingThere();
    session.recover();
    List<Frame.Return> returned = broker.seen(Frame.Return.class);
    assertThat(returned).hasSize(2);
    assertThat(returned.get(0).attempted()).isTrue();
    assertThat(returned.get(0).returned().get(0).ranges()).containsExactly(range(1, 1));
    assertThat(returned.get(1).attempted()).isFalse();
    assertThat(returned.get(1).returned().get(0).ranges()).containsExactly(range(2, 2));
    CompletableFuture<Message> receiving = begin(consumer::receive);
    broker.send(broker.deliver(lastPull(), "orders", 1, 1, "a"));
    Message again = receiving.get(10, TimeUnit.SECONDS);
    assertThat(again.getJMSRedelivered()).isTrue();
    assertThat(again.getIntProperty("JMSXDeliveryCount")).isEqualTo(2);
  }

  private Frame.PullOne lastPull() {
    return await().until(this::newestPull, newest -> newest.parkMillis() > 0);
  }

  private Frame.PullOne newestPull() {
    return broker.seen(Frame.Pull.class).stream()
        .flatMap(pull -> pull.pulls().stream())
        .reduce((earlier, later) -> later)
        .orElseThrow();
  }

  @Test
  void aFirstDeliveryCountsOne() throws Exception {
    open(Session.AUTO_ACKNOWLEDGE);
    CompletableFuture<Message> receiving = begin(consumer::receive);
    broker.send(broker.deliver(pull(), "orders", 1, 0, "a"));
    Message message = receiving.get(10, TimeUnit.SECONDS);
    assertThat(message.getJMSRedelivered()).isFalse();
    assertThat(message.getIntProperty("JMSXDeliveryCount")).isEqualTo(1);
    assertThat(message.getJMSTimestamp()).isEqualTo(1_000);
  }

  @Test
  void aCommitCarriesTheAcknowledgements() throws Exception {
    open(Session.SESSION_TRANSACTED);
    assertThat(receiveFirst(1, "a", "b")).isEqualTo("a");
    broker.nothingThere();
    CompletableFuture<Boolean> committing =
        begin(
            () -> {
              session.commit();
              return true;
            });
    Frame.Commit commit = (Frame.Commit) skipPulls();
    assertThat(commit.runs()).isEmpty();
    assertThat(commit.number()).isEqualTo(1);
    assertThat(commit.acked().get(0).ranges()).containsExactly(range(1, 1));
    broker.receipt(commit);
    committing.get(10, TimeUnit.SECONDS);
    session.commit();
    assertThat(broker.seen(Frame.Commit.class)).hasSize(1);
  }

  @Test
  void rollbackGivesEverythingBack() throws Exception {
    open(Session.SESSION_TRANSACTED);
    broker.ok(Frame.Return.class);
    assertThat(receiveFirst(1, "a", "b")).isEqualTo("a");
    broker.nothingThere();
    session.rollback();
    assertThat(broker.seen(Frame.Return.class))
        .extracting(Frame.Return::attempted)
        .containsExactly(true, false);
  }

  @Test
  void aTransactionThatLostItsMessagesCannotCommit() throws Exception {
    open(Session.SESSION_TRANSACTED);
    assertThat(receiveFirst(1, "a", "b")).isEqualTo("a");
    broker.nothingThere();
    broker.cut();
    await().until(() -> broker.seen(Frame.AttachConsumer.class).size() == 2);
    assertThatThrownBy(session::commit).isInstanceOf(TransactionRolledBackException.class);
    session.commit(); // a new one
    assertThat(broker.seen(Frame.Commit.class)).isEmpty();
  }

  @Test
  void consumersAreOpenedAgainAndPullAgainAfterALostConnection() throws Exception {
    open(Session.AUTO_ACKNOWLEDGE);
    CompletableFuture<Message> receiving = begin(consumer::receive);
    Frame.PullOne before = pull();
    broker.cut();
    Frame.PullOne after = pull();
    assertThat(after.consumerId()).isEqualTo(before.consumerId());
    List<Frame.AttachConsumer> attached = broker.seen(Frame.AttachConsumer.class);
    assertThat(attached).hasSize(2);
    assertThat(attached.get(1).sessionId()).isEqualTo(attached.get(0).sessionId());
    broker.send(broker.deliver(after, "orders", 1, 0, "after"));
    assertThat(text(receiving.get(10, TimeUnit.SECONDS))).isEqualTo("after");
  }

  @Test
  void aConnectionLostWhileConsumersAreOpenedAgainIsTriedOnceMore() throws Exception {
    open(Session.AUTO_ACKNOWLEDGE);
    CompletableFuture<Message> receiving = begin(consumer::receive);
    pull();
    broker.expectToo(Frame.AttachConsumer.class);
    broker.cut();
    broker.expect(Frame.AttachConsumer.class);
    broker.cut();
    Frame.AttachConsumer again = broker.expect(Frame.AttachConsumer.class);
    broker.send(new Frame.ConsumerAttached(again.correlation(), broker.idOf("orders")));
    broker.send(broker.deliver(pull(), "orders", 1, 0, "at last"));
    assertThat(text(receiving.get(10, TimeUnit.SECONDS))).isEqualTo("at last");
  }

  @Test
  void aConsumerThatCannotBeOpenedAgainFails() throws Exception {
    open(Session.AUTO_ACKNOWLEDGE);
    LinkedBlockingQueue<JMSException> told = new LinkedBlockingQueue<>();
    connection.setExceptionListener(told::add);
    CompletableFuture<Message> receiving = begin(consumer::receive);
    pull();
    broker.on(
        Frame.AttachConsumer.class,
        attach ->
            List.of(
                new Frame.Fault(
                    attach.correlation(), FaultCode.INVALID_DESTINATION, "deleted", 0)));
    broker.cut();
    assertThatThrownBy(() -> receiving.get(10, TimeUnit.SECONDS))
        .cause()
        .isInstanceOf(JMSException.class);
    assertThat(told.poll(10, TimeUnit.SECONDS)).isNotNull();
  }

  @Test
  void aListenerGetsMessagesInOrderAndAcknowledgesEach() throws Exception {
    open(Session.AUTO_ACKNOWLEDGE);
    broker.on(Frame.Acknowledge.class, ack -> List.of());
    LinkedBlockingQueue<String> got = new LinkedBlockingQueue<>();
    consumer.setMessageListener(
        message -> {
          try {
            got.add(text(message) + " on " + Thread.currentThread().getName());
          } catch (JMSException e) {
            throw new AssertionError(e);
          }
        });
    broker.send(broker.deliver(pull(), "orders", 1, 0, "a", "b", "c"));
    assertThat(got.poll(10, TimeUnit.SECONDS)).startsWith("a on session-");
    assertThat(got.poll(10, TimeUnit.SECONDS)).startsWith("b on session-");
    assertThat(got.poll(10, TimeUnit.SECONDS)).startsWith("c on session-");
    broker.nothingThere();
    connection.stop();
    await().until(() -> acknowledged() == 3);
    assertThatThrownBy(consumer::receive).isInstanceOf(IllegalStateException.class);
  }

  private int acknowledged() {
    return broker.seen(Frame.Acknowledge.class).stream()
        .flatMap(ack -> ack.acked().stream())
        .flatMap(acked -> acked.ranges().stream())
        .mapToInt(SequenceRange::count)
        .sum();
  }

  @Test
  void aMessageWhoseListenerFailsIsGivenBackAsAttempted() throws Exception {
    open(Session.AUTO_ACKNOWLEDGE);
    LinkedBlockingQueue<Integer> counts = new LinkedBlockingQueue<>();
    broker.on(Frame.Acknowledge.class, ack -> List.of());
    consumer.setMessageListener(
        message -> {
          try {
            counts.add(message.getIntProperty("JMSXDeliveryCount"));
            if (!message.getJMSRedelivered()) {
              throw new java.lang.IllegalStateException("the first time it fails");
            }
          } catch (JMSException e) {
            throw new AssertionError(e);
          }
        });
    Frame.PullOne first = pull();
    broker.nothingThere();
    broker.send(broker.deliver(first, "orders", 1, 0, "a", "b"));
    Frame.Return failed = (Frame.Return) skipPulls();
    assertThat(failed.attempted()).isTrue();
    assertThat(failed.returned().get(0).ranges()).containsExactly(range(1, 1));
    broker.send(new Frame.Ok(failed.correlation()));
    Frame.Return rest = (Frame.Return) skipPulls();
    assertThat(rest.attempted()).isFalse();
    broker.send(new Frame.Ok(rest.correlation()));
    broker.send(broker.deliver(lastPull(), "orders", 1, 1, "a"));
    assertThat(counts.poll(10, TimeUnit.SECONDS)).isEqualTo(1);
    assertThat(counts.poll(10, TimeUnit.SECONDS)).isEqualTo(2);
  }

  private Frame skipPulls() throws InterruptedException {
    Frame next = broker.expect(Frame.class);
    while (next instanceof Frame.Pull) {
      next = broker.expect(Frame.class);
    }
    return next;
  }

  @Test
  void recoverInAListenerBringsItsMessageAgain() throws Exception {
    open(Session.AUTO_ACKNOWLEDGE);
    LinkedBlockingQueue<Boolean> redelivered = new LinkedBlockingQueue<>();
    broker.on(Frame.Acknowledge.class, ack -> List.of());
    consumer.setMessageListener(
        message -> {
          try {
            redelivered.add(message.getJMSRedelivered());
            if (!message.getJMSRedelivered()) {
              session.recover();
            }
          } catch (JMSException e) {
            throw new AssertionError(e);
          }
        });
    Frame.PullOne first = pull();
    broker.nothingThere();
    broker.send(broker.deliver(first, "orders", 1, 0, "a"));
    Frame.Return given = (Frame.Return) skipPulls();
    assertThat(given.attempted()).isTrue();
    broker.send(new Frame.Ok(given.correlation()));
    broker.send(broker.deliver(lastPull(), "orders", 1, 1, "a"));
    assertThat(redelivered.poll(10, TimeUnit.SECONDS)).isFalse();
    assertThat(redelivered.poll(10, TimeUnit.SECONDS)).isTrue();
    await().until(() -> acknowledged() == 1);
  }

  @Test
  void aListenerMayCloseItsConsumerButNotSessionOrConnection() throws Exception {
    open(Session.AUTO_ACKNOWLEDGE);
    LinkedBlockingQueue<Object> told = new LinkedBlockingQueue<>();
    broker.on(Frame.Acknowledge.class, ack -> List.of());
    consumer.setMessageListener(
        message -> {
          for (Unchecked.Action call :
              List.<Unchecked.Action>of(
                  session::close, connection::close, connection::stop, consumer::close)) {
            try {
              call.run();
              told.add("allowed");
            } catch (JMSException e) {
              told.add(e.getClass());
            }
          }
        });
    broker.ok(Frame.Return.class);
    Frame.PullOne pull = pull();
    broker.on(Frame.Pull.class, again -> List.of());
    broker.send(broker.deliver(pull, "orders", 1, 0, "a"));
    for (int i = 0; i < 3; i++) {
      assertThat(told.poll(10, TimeUnit.SECONDS)).isEqualTo(IllegalStateException.class);
    }
    assertThat(told.poll(10, TimeUnit.SECONDS)).isEqualTo("allowed");
    await().until(() -> !broker.seen(Frame.DetachConsumer.class).isEmpty());
    assertThat(broker.seen(Frame.Acknowledge.class)).hasSize(1);
  }

  @Test
  void aClosedConsumersMessagesStayPartOfTheTransaction() throws Exception {
    open(Session.SESSION_TRANSACTED);
    broker.ok(Frame.Return.class);
    assertThat(receiveFirst(1, "a", "b")).isEqualTo("a");
    broker.nothingThere();
    consumer.close();
    assertThat(broker.seen(Frame.DetachConsumer.class)).isEmpty();
    CompletableFuture<Boolean> committing =
        begin(
            () -> {
              session.commit();
              return true;
            });
    Frame.Commit commit = (Frame.Commit) skipPulls();
    broker.receipt(commit);
    committing.get(10, TimeUnit.SECONDS);
    await().until(() -> !broker.seen(Frame.DetachConsumer.class).isEmpty());
  }

  @Test
  void closingTheConsumerEndsABlockedReceive() throws Exception {
    open(Session.AUTO_ACKNOWLEDGE);
    CompletableFuture<Boolean> receiving = begin(() -> consumer.receive() == null);
    pull();
    consumer.close();
    assertThat(receiving.get(10, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void aBodyOfTheWrongClassLeavesTheMessageToBeReceived() throws Exception {
    try (JMSContext context = new LightmqConnectionFactory(broker.uri("")).createContext()) {
      JMSConsumer body = context.createConsumer(context.createQueue("orders"));
      broker.on(Frame.Acknowledge.class, ack -> List.of());
      CompletableFuture<Object> receiving = begin(() -> body.receiveBody(Integer.class));
      broker.send(broker.deliver(pull(), "orders", 1, 0, "forty-two"));
      assertThatThrownBy(() -> receiving.get(10, TimeUnit.SECONDS))
          .cause()
          .isInstanceOf(MessageFormatRuntimeException.class);
      assertThat(body.receiveBody(String.class)).isEqualTo("forty-two");
    }
  }

  @Test
  void subscriptionsSayWhatTheyAre() throws Exception {
    connection = rig.connect("&clientId=c");
    session = connection.createSession();
    Topic topic = session.createTopic("news");
    session.createConsumer(topic, null, true);
    session.createSharedConsumer(topic, "s");
    session.createDurableConsumer(topic, "d");
    session.createSharedDurableConsumer(topic, "sd", " ");
    assertThat(broker.seen(Frame.AttachConsumer.class))
        .extracting(Frame.AttachConsumer::subscribe)
        .containsExactly(
            Frame.Subscribe.PLAIN,
            Frame.Subscribe.SHARED,
            Frame.Subscribe.DURABLE,
            Frame.Subscribe.SHARED_DURABLE);
    assertThat(broker.seen(Frame.AttachConsumer.class).get(0).noLocal()).isTrue();
    assertThat(broker.seen(Frame.AttachConsumer.class).get(2).subscription()).isEqualTo("d");
  }

  @Test
  void aDurableSubscriptionNeedsAClientId() throws Exception {
    open(Session.AUTO_ACKNOWLEDGE);
    Topic topic = session.createTopic("news");
    assertThatThrownBy(() -> session.createDurableConsumer(topic, "d"))
        .isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> session.createDurableConsumer(topic, ""))
        .isInstanceOf(JMSException.class);
  }

  @Test
  void temporaryDestinationsAreMadeAgainUnderANewName() throws Exception {
    AtomicInteger made = new AtomicInteger();
    broker.on(
        Frame.CreateTemporary.class,
        create ->
            List.of(
                new Frame.TemporaryCreated(
                    create.correlation(),
                    new DestinationName(create.kind(), "temporary-" + made.incrementAndGet()))));
    open(Session.AUTO_ACKNOWLEDGE);
    jakarta.jms.TemporaryQueue temporary = session.createTemporaryQueue();
    assertThat(temporary.getQueueName()).isEqualTo("temporary-1");
    session.createConsumer(temporary);
    broker.cut();
    await().until(() -> temporary.getQueueName().equals("temporary-2"));
    await().until(() -> broker.seen(Frame.AttachConsumer.class).size() == 4);
    assertThat(broker.seen(Frame.AttachConsumer.class).get(3).destination().name())
        .isEqualTo("temporary-2");
  }

  @Test
  void aConsumerOfAnotherConnectionsTemporaryQueueIsRefused() throws Exception {
    broker.on(
        Frame.CreateTemporary.class,
        create ->
            List.of(
                new Frame.TemporaryCreated(
                    create.correlation(), new DestinationName(create.kind(), "t"))));
    open(Session.AUTO_ACKNOWLEDGE);
    jakarta.jms.TemporaryQueue temporary = session.createTemporaryQueue();
    try (Connection other = new LightmqConnectionFactory(broker.uri("")).createConnection()) {
      Session elsewhere = other.createSession();
      assertThatThrownBy(() -> elsewhere.createConsumer(temporary))
          .isInstanceOf(jakarta.jms.InvalidDestinationException.class);
    }
    broker.cut();
  }
}

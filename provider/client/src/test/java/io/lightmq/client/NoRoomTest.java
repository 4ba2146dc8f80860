package io.lightmq.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.lightmq.wire.Frame;
import io.lightmq.wire.entry.FaultCode;
import jakarta.jms.Connection;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageListener;
import jakarta.jms.MessageProducer;
import jakarta.jms.ResourceAllocationException;
import jakarta.jms.ServerSession;
import jakarta.jms.Session;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Whoever fails because the broker has no room has made no failed attempt. */
@Timeout(60)
class NoRoomTest {
  @RegisterExtension final ScriptedBrokerExtension rig = new ScriptedBrokerExtension().withPools();

  private ScriptedBroker broker;
  private PlayedQueue queue;
  private Connection connection;
  private MessageConsumer consumer;
  private volatile FaultCode refusal = FaultCode.DISK_FULL;

  @BeforeEach
  void start() throws Exception {
    broker = rig.broker();
    queue = new PlayedQueue(broker);
    broker.on(
        Frame.Publish.class,
        run -> List.of(new Frame.Fault(run.correlation(), refusal, "refused by the test", 0)));
    connection = rig.connect("&lingerMillis=0");
    connection.start();
  }

  private static MessageProducer producer(Session session) throws JMSException {
    return session.createProducer(session.createQueue("replies"));
  }

  /** One that sends on with the producer, and wraps what that throws. */
  private static MessageListener sendingOn(MessageProducer producer) {
    return message -> {
      try {
        producer.send(message);
      } catch (JMSException e) {
        throw new IllegalStateException("no reply", new RuntimeException(e));
      }
    };
  }

  private void isReturned(boolean attempted) {
    await().until(() -> queue.returned(attempted).contains(1L));
    assertThat(queue.returned(!attempted)).doesNotContain(1L);
  }

  // ---- listeners ----

  @ParameterizedTest
  @ValueSource(ints = {Session.AUTO_ACKNOWLEDGE, Session.DUPS_OK_ACKNOWLEDGE})
  void aListenerWhoseSendIsRefusedForWantOfRoomHasNotFailed(int mode) throws Exception {
    Session session = connection.createSession(mode);
    consumer = session.createConsumer(session.createQueue("orders"));
    consumer.setMessageListener(sendingOn(producer(session)));
    queue.give(1, 0, "a", "b");
    isReturned(false);
    assertThat(broker.seen(Frame.Return.class))
        .as("no cause of a dead letter")
        .allMatch(given -> given.cause() == null || given.cause().isEmpty());
  }

  @ParameterizedTest
  @EnumSource(
      value = FaultCode.class,
      names = {"DISK_FULL", "MEMORY_FULL", "LIMIT_REACHED", "TOO_LARGE", "NOT_AUTHORIZED"})
  void itDependsOnTheReason(FaultCode code) throws Exception {
    refusal = code;
    Session session = connection.createSession();
    consumer = session.createConsumer(session.createQueue("orders"));
    consumer.setMessageListener(sendingOn(producer(session)));
    queue.give(1, 0, "a");
    isReturned(code == FaultCode.TOO_LARGE || code == FaultCode.NOT_AUTHORIZED);
  }

  @Test
  void whatAnApplicationThrowsByItselfIsAFailedAttempt() throws Exception {
    Session session = connection.createSession();
    consumer = session.createConsumer(session.createQueue("orders"));
    consumer.setMessageListener(
        message -> {
          throw new IllegalStateException(new ResourceAllocationException("no room in my pool"));
        });
    queue.give(1, 0, "a");
    isReturned(true);
  }

  @Test
  void aListenerThatRecoversItsSessionForThatHasNotFailed() throws Exception {
    Session session = connection.createSession();
    MessageProducer producer = producer(session);
    consumer = session.createConsumer(session.createQueue("orders"));
    consumer.setMessageListener(
        message -> {
          try {
            producer.send(message);
          } catch (JMSException e) {
            Unchecked.run(session::recover);
          }
        });
    queue.give(1, 0, "a");
    isReturned(false);
  }

  @Test
  void aListenerOfAPoolsSessionHasNotFailedEither() throws Exception {
    Session session = connection.createSession();
    session.setMessageListener(sendingOn(producer(session)));
    ServerSession pooled =
        new ServerSession() {
          @Override
          public Session getSession() {
            return session;
          }

          @Override
          public void start() {
            session.run();
          }
        };
    connection.createConnectionConsumer(session.createQueue("orders"), null, () -> pooled, 1);
    queue.give(1, 0, "a", "b");
    isReturned(false);
  }

  // ---- what the application gives back ----

  private Message received(Session session) throws JMSException {
    consumer = session.createConsumer(session.createQueue("orders"));
    queue.give(1, 0, "a");
    return consumer.receive(10_000);
  }

  private static void refused(Unchecked.Action action) {
    assertThatThrownBy(action::run).isInstanceOf(ResourceAllocationException.class);
  }

  @ParameterizedTest
  @ValueSource(ints = {Session.CLIENT_ACKNOWLEDGE, LightmqJms.INDIVIDUAL_ACKNOWLEDGE})
  void aRecoverAfterARefusedSendIsNoFailedAttemptButTheNextIs(int mode) throws Exception {
    Session session = connection.createSession(mode);
    MessageProducer producer = producer(session);
    Message message = received(session);
    refused(() -> producer.send(message));
    session.recover();
    isReturned(false);
    queue.give(2, 0, "again");
    assertThat(consumer.receive(10_000)).isNotNull();
    session.recover();
    assertThat(queue.returned(true)).containsExactly(2L);
  }

  @Test
  void aRollbackBecauseThereIsNoProducerToBeHadIsNoFailedAttempt() throws Exception {
    broker.on(
        Frame.AttachProducer.class,
        attach ->
            List.of(new Frame.Fault(attach.correlation(), FaultCode.LIMIT_REACHED, "too many", 0)));
    Session session = connection.createSession(Session.SESSION_TRANSACTED);
    assertThat(received(session)).isNotNull();
    refused(() -> producer(session));
    session.rollback();
    isReturned(false);
  }

  @Test
  void aSessionThatIsClosedForThatHasNotFailed() throws Exception {
    Session session = connection.createSession(Session.CLIENT_ACKNOWLEDGE);
    MessageProducer producer = producer(session);
    Message message = received(session);
    refused(() -> producer.send(message));
    session.close();
    isReturned(false);
  }

  @Test
  void anAsynchronousSendThatIsRefusedCountsToo() throws Exception {
    Session session = connection.createSession(Session.CLIENT_ACKNOWLEDGE);
    MessageProducer producer = producer(session);
    Message message = received(session);
    PlayedCompletion told = new PlayedCompletion();
    producer.send(message, told);
    assertThat(told.failure()).isInstanceOf(ResourceAllocationException.class);
    session.recover();
    isReturned(false);
  }

  @Test
  void anAcknowledgementThatSucceedsEndsWhatWasRefusedBefore() throws Exception {
    Session session = connection.createSession(Session.CLIENT_ACKNOWLEDGE);
    MessageProducer producer = producer(session);
    Message message = received(session);
    refused(() -> producer.send(message));
    message.acknowledge();
    queue.give(2, 0, "next");
    assertThat(consumer.receive(10_000)).isNotNull();
    session.recover();
    assertThat(queue.returned(true)).containsExactly(2L);
  }

  // ---- what the refusal does not belong to ----

  @ParameterizedTest
  @ValueSource(ints = {Session.AUTO_ACKNOWLEDGE, Session.DUPS_OK_ACKNOWLEDGE})
  void aRefusalThatAListenerHasCopedWithIsNotThatOfTheNextMessage(int mode) throws Exception {
    Session session = connection.createSession(mode);
    MessageProducer producer = producer(session);
    AtomicLong calls = new AtomicLong();
    consumer = session.createConsumer(session.createQueue("orders"));
    consumer.setMessageListener(
        message -> {
          if (calls.incrementAndGet() == 1) {
            refused(() -> producer.send(message));
          } else if (calls.get() == 2) {
            Unchecked.run(session::recover);
          }
        });
    queue.give(1, 0, "a");
    await().until(() -> calls.get() == 1);
    queue.give(2, 0, "b");
    await().until(() -> queue.returned(true).contains(2L));
    assertThat(queue.returned(false)).doesNotContain(2L);
  }

  /** A transacted session that has just had something refused for want of room. */
  private Session refusedInTransaction() throws Exception {
    broker.on(
        Frame.AttachProducer.class,
        attach ->
            List.of(new Frame.Fault(attach.correlation(), FaultCode.LIMIT_REACHED, "too many", 0)));
    Session session = connection.createSession(Session.SESSION_TRANSACTED);
    consumer = session.createConsumer(session.createQueue("orders"));
    refused(() -> producer(session));
    return session;
  }

  private void theNextRollbackCounts(Session session) throws Exception {
    queue.give(2, 0, "next");
    assertThat(consumer.receive(10_000)).isNotNull();
    session.rollback();
    assertThat(queue.returned(true)).containsExactly(2L);
  }

  @Test
  void anEmptyCommitEndsWhatWasRefusedBefore() throws Exception {
    Session session = refusedInTransaction();
    session.commit();
    theNextRollbackCounts(session);
  }

  @Test
  void aCommitThatFailsEndsItToo() throws Exception {
    broker.on(
        Frame.Commit.class,
        commit ->
            List.of(new Frame.Fault(commit.correlation(), FaultCode.NOT_AUTHORIZED, "no", 0)));
    Session session = refusedInTransaction();
    queue.give(1, 0, "a");
    assertThat(consumer.receive(10_000)).isNotNull();
    assertThatThrownBy(session::commit).isInstanceOf(JMSException.class);
    theNextRollbackCounts(session);
  }

  // ---- the pause ----

  @Test
  void theListenersOfASessionRestAfterIt() {
    AtomicLong now = new AtomicLong(5);
    ListenerPause pause = new ListenerPause(now::get);
    pause.failed();
    assertThat(pause.nanosLeft()).as("the first failure of a listener's").isZero();
    pause.succeeded();
    for (long millis : new long[] {160, 320, 640, 1_000, 1_000}) {
      pause.refused();
      assertThat(pause.nanosLeft()).isEqualTo(millis * 1_000_000);
    }
    pause.succeeded();
    pause.refused();
    assertThat(pause.nanosLeft()).as("after a success in between").isEqualTo(160_000_000);
    pause.failed();
    assertThat(pause.nanosLeft()).isEqualTo(320_000_000);
    now.addAndGet(320_000_000);
    assertThat(pause.nanosLeft()).isZero();
  }
}

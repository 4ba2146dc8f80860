package io.lightmq.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.lightmq.wire.Frame;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.SequenceRange;
import jakarta.jms.Connection;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.Session;
import jakarta.jms.TextMessage;
import jakarta.jms.TransactionRolledBackException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Messages that go back to the broker, and what is lost with a connection. The broker here answers
 * pulls as a real one does: a pull replaces the parked one, which then gets no answer.
 */
class GivingBackTest {
  @RegisterExtension final ScriptedBrokerExtension rig = new ScriptedBrokerExtension();

  private ScriptedBroker broker;
  private Connection connection;
  private Session session;
  private MessageConsumer consumer;

  /** What the queue can give: sequences and how often each was delivered before. */
  private final List<Frame.Deliver> ready = new ArrayList<>();

  private Frame.PullOne parked;

  @BeforeEach
  void start() throws Exception {
    broker = rig.broker();
    broker.ok(Frame.Return.class);
    broker.on(
        Frame.Acknowledge.class,
        ack -> ack.correlation() == 0 ? List.of() : List.of(new Frame.Ok(ack.correlation())));
    broker.on(Frame.Pull.class, this::answer);
  }

  private void open(int mode) throws Exception {
    connection = rig.connect("");
    session = connection.createSession(mode);
    consumer = session.createConsumer(session.createQueue("orders"));
    connection.start();
  }

  private synchronized List<Frame> answer(Frame.Pull pull) {
    List<Frame> answers = new ArrayList<>();
    for (Frame.PullOne one : pull.pulls()) {
      parked = null;
      if (!ready.isEmpty()) {
        answers.add(answering(one, ready.remove(0)));
      } else if (one.parkMillis() == 0) {
        answers.add(end(one, FaultCode.OK));
      } else {
        parked = one;
      }
    }
    return answers;
  }

  private static Frame answering(Frame.PullOne one, Frame.Deliver what) {
    return new Frame.Deliver(
        one.consumerId(),
        one.pullId(),
        what.count(),
        what.seen(),
        what.references(),
        what.entries());
  }

  private static Frame end(Frame.PullOne one, FaultCode code) {
    return new Frame.PullDone(List.of(new Frame.PullEnd(one.consumerId(), one.pullId(), code, 5)));
  }

  /** Gives messages to the parked pull, or to the next one. */
  private synchronized void give(long sequence, int earlier, String... texts) {
    Frame.PullOne any = new Frame.PullOne(1, 1, 1, 1, 0);
    Frame.Deliver delivery = broker.deliver(any, "orders", sequence, earlier, texts);
    Frame.PullOne waiting = parked;
    parked = null;
    if (waiting == null) {
      ready.add(delivery);
    } else {
      broker.send(answering(waiting, delivery));
    }
  }

  private String receive() throws JMSException {
    Message message = consumer.receive(10_000);
    return message == null ? "nothing" : ((TextMessage) message).getText();
  }

  private void loseConnection() throws Exception {
    int attached = broker.seen(Frame.AttachConsumer.class).size();
    synchronized (this) {
      parked = null;
    }
    broker.cut();
    await().until(() -> broker.seen(Frame.AttachConsumer.class).size() == attached + 1);
  }

  private List<SequenceRange> returned(boolean attempted) {
    return broker.seen(Frame.Return.class).stream()
        .filter(given -> given.attempted() == attempted)
        .flatMap(given -> given.returned().stream())
        .flatMap(places -> places.ranges().stream())
        .toList();
  }

  private static SequenceRange range(long from, int count) {
    return new SequenceRange(4, from, count);
  }

  @Test
  void aCommitThatLostItsMessagesGivesBackWhatCameLater() throws Exception {
    open(Session.SESSION_TRANSACTED);
    give(1, 0, "a");
    assertThat(receive()).isEqualTo("a");
    loseConnection();
    give(1, 1, "a", "b", "c");
    assertThat(receive()).isEqualTo("a");
    assertThat(receive()).isEqualTo("b");
    assertThatThrownBy(session::commit).isInstanceOf(TransactionRolledBackException.class);
    assertThat(returned(true)).as("no application has failed").isEmpty();
    assertThat(returned(false)).contains(range(1, 2), range(3, 1));
  }

  @Test
  void aRollbackAfterALostConnectionGivesBackWhatCameLater() throws Exception {
    open(Session.SESSION_TRANSACTED);
    give(1, 0, "a");
    assertThat(receive()).isEqualTo("a");
    loseConnection();
    give(1, 1, "a");
    assertThat(receive()).isEqualTo("a");
    session.rollback();
    assertThat(returned(true)).containsExactly(range(1, 1));
  }

  @Test
  void messagesThatWereLostAreNotAcknowledgedInTheNameOfTheirCopies() throws Exception {
    open(Session.CLIENT_ACKNOWLEDGE);
    give(1, 0, "a", "b");
    consumer.receive(10_000);
    Message b = consumer.receive(10_000);
    loseConnection();
    give(1, 1, "a", "b");
    assertThat(receive()).isEqualTo("a");
    assertThatThrownBy(b::acknowledge)
        .isInstanceOf(JMSException.class)
        .hasMessageContaining("come again");
    assertThat(broker.seen(Frame.Acknowledge.class)).isEmpty();
    assertThat(returned(true)).as("no application has failed").isEmpty();
    assertThat(returned(false)).containsExactly(range(1, 1), range(2, 1));
    give(1, 2, "a", "b");
    assertThat(receive()).isEqualTo("a");
    Message again = consumer.receive(10_000);
    again.acknowledge();
    assertThat(broker.seen(Frame.Acknowledge.class).get(0).acked().get(0).ranges())
        .containsExactly(range(1, 2));
  }

  @Test
  void recoverForgetsWhatWasLostWithAConnection() throws Exception {
    open(Session.CLIENT_ACKNOWLEDGE);
    give(1, 0, "a");
    assertThat(receive()).isEqualTo("a");
    loseConnection();
    session.recover();
    assertThat(broker.seen(Frame.Return.class)).isEmpty();
    give(1, 1, "a");
    consumer.receive(10_000).acknowledge();
    assertThat(broker.seen(Frame.Acknowledge.class)).hasSize(1);
  }

  @Test
  void whatComesWhileMessagesGoBackDoesNotOvertakeThem() throws Exception {
    open(Session.SESSION_TRANSACTED);
    give(1, 0, "a", "b");
    assertThat(receive()).isEqualTo("a");
    broker.on(Frame.Return.class, this::takeBackWhileMoreArrives);
    session.rollback();
    give(1, 1, "a", "b", "c");
    assertThat(List.of(receive(), receive(), receive())).containsExactly("a", "b", "c");
  }

  @Test
  void whatComesWhileAListenersMessageGoesBackDoesNotOvertakeIt() throws Exception {
    open(Session.AUTO_ACKNOWLEDGE);
    broker.on(Frame.Return.class, this::takeBackWhileMoreArrives);
    LinkedBlockingQueue<String> got = new LinkedBlockingQueue<>();
    List<String> failed = new ArrayList<>();
    consumer.setMessageListener(
        message -> {
          String text = text(message);
          if (failed.isEmpty()) {
            failed.add(text);
            throw new java.lang.IllegalStateException("the first time it fails");
          }
          got.add(text);
        });
    give(1, 0, "a", "b");
    await().until(() -> !returned(false).isEmpty());
    give(1, 1, "a", "b", "c");
    assertThat(got.poll(10, TimeUnit.SECONDS)).isEqualTo("a");
    assertThat(got.poll(10, TimeUnit.SECONDS)).isEqualTo("b");
    assertThat(got.poll(10, TimeUnit.SECONDS)).isEqualTo("c");
  }

  /** A message is sent in the moment in which the return comes: it goes to a pull that is open. */
  private synchronized List<Frame> takeBackWhileMoreArrives(Frame.Return given) {
    if (parked != null) {
      give(3, 0, "c");
    }
    return List.of(new Frame.Ok(given.correlation()));
  }

  @Test
  void whatIsOnItsWayAtARollbackGoesBackToo() throws Exception {
    open(Session.SESSION_TRANSACTED);
    give(1, 0, "a");
    assertThat(receive()).isEqualTo("a");
    await().until(() -> parkedNow() != null);
    broker.on(
        Frame.Pull.class,
        pull -> {
          List<Frame> answers = new ArrayList<>();
          Frame.PullOne crossed = parkedNow();
          if (crossed != null) {
            give(2, 0, "b");
          }
          answers.addAll(answer(pull));
          return answers;
        });
    session.rollback();
    assertThat(returned(true)).containsExactly(range(1, 1));
    assertThat(returned(false)).containsExactly(range(2, 1));
  }

  private synchronized Frame.PullOne parkedNow() {
    return parked;
  }

  @Test
  void anErrorInAListenerIsAFailedDelivery() throws Exception {
    open(Session.AUTO_ACKNOWLEDGE);
    LinkedBlockingQueue<JMSException> told = new LinkedBlockingQueue<>();
    connection.setExceptionListener(told::add);
    LinkedBlockingQueue<String> got = new LinkedBlockingQueue<>();
    List<String> failed = new ArrayList<>();
    consumer.setMessageListener(
        message -> {
          if (failed.isEmpty()) {
            failed.add("once");
            throw new NoClassDefFoundError("a class of the application");
          }
          got.add(text(message));
        });
    give(1, 0, "a");
    await().until(() -> !returned(true).isEmpty());
    give(1, 1, "a");
    assertThat(got.poll(10, TimeUnit.SECONDS)).isEqualTo("a");
    assertThat(told.poll(10, TimeUnit.SECONDS)).hasRootCauseInstanceOf(NoClassDefFoundError.class);
  }

  @Test
  void aBrokerThatPutsAPullOffIsNotAnEmptyQueue() throws Exception {
    open(Session.AUTO_ACKNOWLEDGE);
    AtomicInteger putOff = new AtomicInteger();
    broker.on(
        Frame.Pull.class,
        pull ->
            putOff.incrementAndGet() <= 2
                ? pull.pulls().stream().map(one -> end(one, FaultCode.RETRY_LATER)).toList()
                : answer(pull));
    give(1, 0, "a");
    Message message = consumer.receiveNoWait();
    assertThat(message).isNotNull();
    assertThat(text(message)).isEqualTo("a");
    assertThat(putOff.get()).isGreaterThan(2);
  }

  private static String text(Message message) {
    try {
      return ((TextMessage) message).getText();
    } catch (JMSException e) {
      throw new AssertionError(e);
    }
  }
}

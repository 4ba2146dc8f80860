package io.lightmq.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.wire.Frame;
import jakarta.jms.Connection;
import jakarta.jms.InvalidDestinationException;
import jakarta.jms.JMSException;
import jakarta.jms.MessageProducer;
import jakarta.jms.Session;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Numbered runs and commits whose answers come out of order, and then the connection is lost. */
class ResendingTest {
  private final List<CompletableFuture<Void>> sends = new ArrayList<>();
  private final List<Frame.Publish> runs = new ArrayList<>();
  @RegisterExtension final ScriptedBrokerExtension rig = new ScriptedBrokerExtension();

  private ScriptedBroker broker;
  private Connection connection;

  @BeforeEach
  void start() throws Exception {
    broker = rig.broker();
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

  /** Sends from a session of its own and takes the run. */
  private void send(String queue, String text) throws Exception {
    Session session = connection.createSession();
    MessageProducer producer = session.createProducer(session.createQueue(queue));
    sends.add(begin(() -> producer.send(session.createTextMessage(text))));
    Frame.Publish run = broker.expect(Frame.Publish.class);
    assertThat(ScriptedBroker.texts(run.messages())).containsExactly(text);
    runs.add(run);
  }

  private void send(String text) throws Exception {
    send("orders", text);
  }

  private void isSent(int index) throws Exception {
    sends.get(index).get(10, TimeUnit.SECONDS);
  }

  private void answer(int index) throws Exception {
    broker.receipt(runs.get(index));
    isSent(index);
  }

  /** The run comes again under its number with the same messages. */
  private Frame.Publish comesAgain(int index) throws InterruptedException {
    Frame.Publish again = broker.expect(Frame.Publish.class);
    Frame.Publish first = runs.get(index);
    assertThat(again.number()).isEqualTo(first.number());
    assertThat(again.count()).isEqualTo(first.count());
    assertThat(again.destinationId()).isEqualTo(first.destinationId());
    assertThat(again.messages()).isEqualTo(first.messages());
    return again;
  }

  private long answersFromOfTheLastAttach() {
    List<Frame.Attach> attaches = broker.seen(Frame.Attach.class);
    return attaches.get(attaches.size() - 1).answersFrom();
  }

  /** The next number proves that neither a hole nor a number used twice is left. */
  private void theNextNumberIs(long number) throws Exception {
    send("next");
    assertThat(runs.get(runs.size() - 1).number()).isEqualTo(number);
    answer(runs.size() - 1);
    assertThat(broker.unexpected()).isEmpty();
  }

  @Test
  void whatWasAnsweredBeforeALowerNumberIsSentAgainWithIt() throws Exception {
    send("a");
    send("b");
    send("c");
    answer(1);
    broker.knows(0);
    broker.cut();
    Frame.Publish first = comesAgain(0);
    Frame.Publish second = comesAgain(1);
    Frame.Publish third = comesAgain(2);
    assertThat(answersFromOfTheLastAttach()).isEqualTo(1);
    broker.receipt(first);
    broker.receipt(second);
    broker.receipt(third);
    isSent(0);
    isSent(2);
    theNextNumberIs(4);
  }

  @Test
  void answeredNumbersAboveTheBrokersLastAreSentAgain() throws Exception {
    send("a");
    send("b");
    send("c");
    answer(1);
    answer(2);
    broker.knows(1);
    broker.cut();
    Frame.Publish second = comesAgain(1);
    Frame.Publish third = comesAgain(2);
    isSent(0);
    assertThat(answersFromOfTheLastAttach()).isEqualTo(1);
    broker.receipt(third);
    broker.cut(); // the broker has lost both once more
    broker.receipt(comesAgain(1));
    broker.receipt(comesAgain(2));
    assertThat(answersFromOfTheLastAttach()).isEqualTo(2);
    assertThat(second.number()).isEqualTo(2);
    theNextNumberIs(4);
  }

  @Test
  void nothingIsSentAgainIfTheBrokersLastIsTheAnsweredNumber() throws Exception {
    send("a");
    send("b");
    answer(1);
    broker.knows(2);
    broker.cut();
    isSent(0);
    theNextNumberIs(3);
    broker.knows(3);
    broker.cut();
    theNextNumberIs(4);
    assertThat(answersFromOfTheLastAttach()).isEqualTo(4);
  }

  @Test
  void aLowerAnswerReleasesTheHigherOnesThatCameBefore() throws Exception {
    send("a");
    send("b");
    send("c");
    answer(1);
    answer(0);
    broker.knows(2);
    broker.cut();
    Frame.Publish third = comesAgain(2);
    assertThat(answersFromOfTheLastAttach()).isEqualTo(3);
    broker.receipt(third);
    isSent(2);
    theNextNumberIs(4);
  }

  @Test
  void whatIsKeptCountsAsUnconfirmed() throws Exception {
    open("&maxUnconfirmedBytes=2000&sendTimeoutMillis=50");
    send("a");
    send("x".repeat(1_800));
    answer(1);
    Session session = connection.createSession();
    MessageProducer producer = session.createProducer(session.createQueue("orders"));
    assertThatThrownBy(() -> producer.send(session.createTextMessage("y".repeat(200))))
        .isInstanceOf(JMSException.class)
        .hasMessageContaining("maxUnconfirmedBytes");
    answer(0);
    theNextNumberIs(3);
  }

  private CompletableFuture<Void> commit(String text) throws Exception {
    Session session = connection.createSession(Session.SESSION_TRANSACTED);
    MessageProducer producer = session.createProducer(session.createQueue("orders"));
    producer.send(session.createTextMessage(text));
    return begin(session::commit);
  }

  @Test
  void anAnsweredCommitIsSentAgainWithALowerNumber() throws Exception {
    send("a");
    CompletableFuture<Void> committing = commit("b");
    Frame.Commit commit = broker.expect(Frame.Commit.class);
    assertThat(commit.number()).isEqualTo(2);
    broker.receipt(commit);
    committing.get(10, TimeUnit.SECONDS);
    broker.knows(0);
    broker.cut();
    broker.receipt(comesAgain(0));
    Frame.Commit again = broker.expect(Frame.Commit.class);
    assertThat(again.number()).isEqualTo(2);
    assertThat(again.runs()).isEqualTo(commit.runs());
    broker.receipt(again);
    isSent(0);
    theNextNumberIs(3);
  }

  @Test
  void beyondTheBytesThatAreKeptACommitWaitsForLowerNumbers() throws Exception {
    open("&maxUnconfirmedBytes=1000");
    send("a");
    CompletableFuture<Void> small = commit("b");
    broker.receipt(broker.expect(Frame.Commit.class));
    small.get(10, TimeUnit.SECONDS);
    CompletableFuture<Void> large = commit("c".repeat(1_000));
    broker.receipt(broker.expect(Frame.Commit.class));
    connection.createSession().close(); // its answer came after the receipt
    assertThat(large).isNotDone();
    answer(0);
    large.get(10, TimeUnit.SECONDS);
    theNextNumberIs(4);
  }

  @Test
  void numbersCloseUpBehindADestinationThatHasGoneThoughTheBrokerHasTakenSome() throws Exception {
    send("orders", "a");
    send("gone", "b");
    send("orders", "c");
    send("gone", "d");
    send("orders", "e");
    answer(3);
    broker.on(
        Frame.AttachProducer.class,
        attach ->
            List.of(
                new Frame.ProducerAttached(
                    attach.correlation(),
                    attach.destination().name().equals("gone") ? 999 : broker.idOf("orders"))));
    broker.knows(1);
    broker.cut();
    Frame.Publish third = broker.expect(Frame.Publish.class);
    Frame.Publish fifth = broker.expect(Frame.Publish.class);
    assertThat(third.number()).isEqualTo(2);
    assertThat(fifth.number()).isEqualTo(3);
    assertThat(third.messages()).isEqualTo(runs.get(2).messages());
    isSent(0);
    assertThatThrownBy(() -> isSent(1)).cause().isInstanceOf(InvalidDestinationException.class);
    broker.knows(2); // it has taken one of the two under the new number
    broker.cut();
    Frame.Publish again = broker.expect(Frame.Publish.class);
    assertThat(again.number()).isEqualTo(3);
    assertThat(again.messages()).isEqualTo(runs.get(4).messages());
    isSent(2);
    broker.receipt(again);
    isSent(4);
    theNextNumberIs(4);
  }
}

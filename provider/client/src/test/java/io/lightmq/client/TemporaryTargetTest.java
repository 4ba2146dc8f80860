package io.lightmq.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.wire.Frame;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.TemporaryName;
import jakarta.jms.Connection;
import jakarta.jms.JMSException;
import jakarta.jms.MessageProducer;
import jakarta.jms.Queue;
import jakarta.jms.Session;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * What is on its way to a temporary destination when the broker dies. The broker that starts anew
 * has the destination under the same name, but with another id.
 */
class TemporaryTargetTest {
  private static final String REPLIES =
      TemporaryName.of(DestinationKind.TEMPORARY_QUEUE, new byte[TemporaryName.BYTES]).name();
  private static final long NEW_ID = 999;

  @RegisterExtension final ScriptedBrokerExtension rig = new ScriptedBrokerExtension();

  private ScriptedBroker broker;
  private Connection connection;

  @BeforeEach
  void start() throws Exception {
    broker = rig.broker();
    broker.nothingThere();
    connection = rig.connect("&batchBytes=1");
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

  private void restart() throws Exception {
    broker.on(
        Frame.AttachProducer.class,
        attach -> {
          String name = attach.destination().name();
          long id = name.equals(REPLIES) ? NEW_ID : broker.idOf(name);
          return List.of(new Frame.ProducerAttached(attach.correlation(), id));
        });
    broker.cut();
  }

  @Test
  void aReplyIsSentAgainToTheSameName() throws Exception {
    Session session = connection.createSession(Session.AUTO_ACKNOWLEDGE);
    Queue replies = session.createQueue(REPLIES);
    MessageProducer producer = session.createProducer(replies);
    CompletableFuture<Void> sent = begin(() -> producer.send(session.createTextMessage("a")));
    Frame.Publish first = broker.expect(Frame.Publish.class);
    assertThat(first.destinationId()).isNotEqualTo(NEW_ID);
    restart();
    Frame.Publish again = broker.expect(Frame.Publish.class);
    assertThat(again.destinationId()).isEqualTo(NEW_ID);
    assertThat(again.number()).isEqualTo(first.number());
    broker.receipt(again);
    sent.get(10, TimeUnit.SECONDS);
  }

  @Test
  void aCommitWithAReplyIsSentAgainToTheSameName() throws Exception {
    Session session = connection.createSession(Session.SESSION_TRANSACTED);
    session.createProducer(session.createQueue(REPLIES)).send(session.createTextMessage("a"));
    CompletableFuture<Void> committed = begin(session::commit);
    Frame.Commit first = broker.expect(Frame.Commit.class);
    restart();
    Frame.Commit again = broker.expect(Frame.Commit.class);
    assertThat(again.runs()).extracting(Frame.StagedRun::destinationId).containsExactly(NEW_ID);
    assertThat(again.number()).isEqualTo(first.number());
    broker.receipt(again);
    committed.get(10, TimeUnit.SECONDS);
  }

  @Test
  void aReplyThatWasTakenIsNotSentAgainBehindWhatWasNot() throws Exception {
    Session orders = connection.createSession(Session.AUTO_ACKNOWLEDGE);
    MessageProducer first = orders.createProducer(orders.createQueue("orders"));
    Session replies = connection.createSession(Session.AUTO_ACKNOWLEDGE);
    MessageProducer second = replies.createProducer(replies.createQueue(REPLIES));
    CompletableFuture<Void> slow = begin(() -> first.send(orders.createTextMessage("a")));
    Frame.Publish order = broker.expect(Frame.Publish.class);
    CompletableFuture<Void> taken = begin(() -> second.send(replies.createTextMessage("b")));
    broker.receipt(broker.expect(Frame.Publish.class));
    taken.get(10, TimeUnit.SECONDS);
    restart();
    Frame.Publish again = broker.expect(Frame.Publish.class);
    assertThat(again.number()).isEqualTo(order.number());
    broker.receipt(again);
    slow.get(10, TimeUnit.SECONDS);
    CompletableFuture<Void> next = begin(() -> first.send(orders.createTextMessage("c")));
    Frame.Publish last = broker.expect(Frame.Publish.class);
    assertThat(last.destinationId()).isEqualTo(order.destinationId());
    assertThat(last.number()).isEqualTo(order.number() + 1);
    broker.receipt(last);
    next.get(10, TimeUnit.SECONDS);
  }

  @Test
  void neitherIsACommitThatHasOnlyReplies() throws Exception {
    Session orders = connection.createSession(Session.AUTO_ACKNOWLEDGE);
    MessageProducer first = orders.createProducer(orders.createQueue("orders"));
    Session replies = connection.createSession(Session.SESSION_TRANSACTED);
    replies.createProducer(replies.createQueue(REPLIES)).send(replies.createTextMessage("b"));
    CompletableFuture<Void> slow = begin(() -> first.send(orders.createTextMessage("a")));
    broker.expect(Frame.Publish.class);
    CompletableFuture<Void> committed = begin(replies::commit);
    broker.receipt(broker.expect(Frame.Commit.class));
    restart();
    broker.receipt(broker.expect(Frame.Publish.class));
    slow.get(10, TimeUnit.SECONDS);
    committed.get(10, TimeUnit.SECONDS);
    assertThat(broker.seen(Frame.Commit.class)).hasSize(1);
  }
}

package io.lightmq.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.wire.Frame;
import io.lightmq.wire.Protocol;
import io.lightmq.wire.entry.FaultCode;
import jakarta.jms.Connection;
import jakarta.jms.JMSException;
import jakarta.jms.MessageProducer;
import jakarta.jms.ResourceAllocationException;
import jakarta.jms.Session;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The broker has forgotten the link: nothing that may be stored is sent a second time. */
class ForgottenLinkTest {
  @RegisterExtension final ScriptedBrokerExtension rig = new ScriptedBrokerExtension();

  private ScriptedBroker broker;
  private Connection connection;

  @BeforeEach
  void start() throws Exception {
    broker = rig.broker();
  }

  private void open() throws JMSException {
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

  private CompletableFuture<Void> send(String text) throws JMSException {
    Session session = connection.createSession();
    MessageProducer producer = session.createProducer(session.createQueue("orders"));
    return begin(() -> producer.send(session.createTextMessage(text)));
  }

  private CompletableFuture<Void> commit(String text) throws JMSException {
    Session session = connection.createSession(Session.SESSION_TRANSACTED);
    session.createProducer(session.createQueue("orders")).send(session.createTextMessage(text));
    return begin(session::commit);
  }

  private static void hasUnknownOutcome(CompletableFuture<Void> call)
      throws InterruptedException, TimeoutException {
    try {
      call.get(10, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      assertThat(e.getCause()).isInstanceOf(JMSException.class).hasMessageContaining("forgotten");
      assertThat(((JMSException) e.getCause()).getErrorCode())
          .isEqualTo("LMQ-" + FaultCode.OUTCOME_UNKNOWN.code());
      return;
    }
    throw new AssertionError("it was told to be done");
  }

  @Test
  void whatHadGoneOutEndsAsUnknownAndWhatHadNotIsSent() throws Exception {
    broker.knowsSince(1);
    open();
    CompletableFuture<Void> run = send("run");
    assertThat(broker.expect(Frame.Publish.class).number()).isEqualTo(1);
    CompletableFuture<Void> commit = commit("commit");
    assertThat(broker.expect(Frame.Commit.class).number()).isEqualTo(2);
    broker.knowsSince(2);
    broker.cut();
    hasUnknownOutcome(run);
    hasUnknownOutcome(commit);
    CompletableFuture<Void> next = send("next");
    Frame.Publish publish = broker.expect(Frame.Publish.class);
    assertThat(ScriptedBroker.texts(publish.messages())).containsExactly("next");
    broker.knows(0);
    broker.cut(); // in the same life of the link in the broker: sent again
    Frame.Publish again = broker.expect(Frame.Publish.class);
    assertThat(again.number()).isEqualTo(publish.number());
    broker.receipt(again);
    next.get(10, TimeUnit.SECONDS);
    assertThat(broker.unexpected()).isEmpty();
  }

  @Test
  void aLostAnswerToTheAttachDoesNotMakeTheLinkKnown() throws Exception {
    broker.knowsSince(1);
    open();
    CompletableFuture<Void> run = send("run");
    broker.expect(Frame.Publish.class);
    broker.knowsSince(2);
    AtomicInteger attaches = new AtomicInteger();
    broker.on(
        Frame.Attach.class,
        attach -> {
          if (attaches.incrementAndGet() == 1) {
            broker.reset(); // the broker has made the link anew, and the client does not hear of it
            return List.of();
          }
          return List.of(new Frame.Attached(attach.correlation(), 0, List.of(), 1 << 20, 2));
        });
    broker.cut();
    hasUnknownOutcome(run);
    assertThat(broker.unexpected()).isEmpty();
  }

  @Test
  void whatWasAnsweredIsNotSentAgainToABrokerThatHasForgottenIt() throws Exception {
    broker.knowsSince(1);
    open();
    CompletableFuture<Void> first = send("first");
    broker.expect(Frame.Publish.class);
    CompletableFuture<Void> second = send("second");
    broker.receipt(broker.expect(Frame.Publish.class));
    second.get(10, TimeUnit.SECONDS);
    broker.knowsSince(2);
    broker.cut();
    hasUnknownOutcome(first);
    CompletableFuture<Void> next = send("next");
    Frame.Publish publish = broker.expect(Frame.Publish.class);
    assertThat(ScriptedBroker.texts(publish.messages())).containsExactly("next");
    broker.receipt(publish);
    next.get(10, TimeUnit.SECONDS);
  }

  @Test
  void aBrokerOfBeforeIsSentAgainWhatItHasNotTaken() throws Exception {
    open();
    assertThat(broker.seen(Frame.Hello.class).get(0).features() & Protocol.LINK_KNOWN).isNotZero();
    CompletableFuture<Void> run = send("run");
    broker.expect(Frame.Publish.class);
    broker.cut();
    broker.receipt(broker.expect(Frame.Publish.class));
    run.get(10, TimeUnit.SECONDS);
  }

  /** Refuses the first attaches as a broker does that keeps no more links. */
  private AtomicInteger refuseAttaches(int count) {
    AtomicInteger attaches = new AtomicInteger();
    broker.on(
        Frame.Attach.class,
        attach ->
            attaches.incrementAndGet() <= count
                ? List.of(
                    new Frame.Fault(
                        attach.correlation(), FaultCode.RETRY_LATER, "too many links", 5),
                    new Frame.Goodbye(FaultCode.RETRY_LATER, "too many links"))
                : List.of(new Frame.Attached(attach.correlation(), 0, List.of(), 1 << 20)));
    return attaches;
  }

  @Test
  void anAttachThatMaySucceedLaterIsTriedAgain() throws Exception {
    open();
    CompletableFuture<Void> run = send("run");
    broker.expect(Frame.Publish.class);
    AtomicInteger attaches = refuseAttaches(2);
    broker.cut();
    broker.receipt(broker.expect(Frame.Publish.class));
    run.get(10, TimeUnit.SECONDS);
    assertThat(attaches).hasValue(3);
  }

  @Test
  void theFirstAttachIsTriedAgainToo() throws Exception {
    AtomicInteger attaches = refuseAttaches(2);
    open();
    assertThat(attaches).hasValue(3);
  }

  @Test
  void theFirstAttachIsGivenUpInTheTimeOfARequest() {
    refuseAttaches(Integer.MAX_VALUE);
    LightmqConnectionFactory factory =
        new LightmqConnectionFactory(broker.uri("&requestTimeoutMillis=50"));
    assertThatThrownBy(factory::createConnection)
        .isInstanceOf(ResourceAllocationException.class)
        .hasMessageContaining("too many links");
  }
}

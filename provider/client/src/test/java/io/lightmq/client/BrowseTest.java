package io.lightmq.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.wire.Frame;
import io.lightmq.wire.entry.FaultCode;
import jakarta.jms.Connection;
import jakarta.jms.JMSException;
import jakarta.jms.JMSRuntimeException;
import jakarta.jms.QueueBrowser;
import jakarta.jms.Session;
import jakarta.jms.TextMessage;
import java.util.Enumeration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What a browser asks the broker, and what becomes of it when the broker does not answer. */
class BrowseTest {
  @RegisterExtension final ScriptedBrokerExtension rig = new ScriptedBrokerExtension();

  private ScriptedBroker broker;
  private Connection connection;
  private Session session;

  @BeforeEach
  void start() throws Exception {
    broker = rig.broker();
    open("");
  }

  private void open(String options) throws Exception {
    if (connection != null) {
      connection.close();
    }
    connection = rig.connect(options);
    session = connection.createSession();
  }

  private Enumeration<?> look() throws JMSException {
    QueueBrowser browser = session.createBrowser(session.createQueue("orders"));
    return browser.getEnumeration();
  }

  private CompletableFuture<String> next(Enumeration<?> messages) {
    CompletableFuture<String> future = new CompletableFuture<>();
    rig.threads()
        .execute(
            () -> {
              try {
                future.complete(
                    messages.hasMoreElements()
                        ? ((TextMessage) messages.nextElement()).getText()
                        : "the end");
              } catch (JMSException | RuntimeException e) {
                future.completeExceptionally(e);
              }
            });
    return future;
  }

  private Frame.PullOne pull() throws InterruptedException {
    Frame.Pull pull = broker.expect(Frame.Pull.class);
    assertThat(pull.pulls()).hasSize(1);
    assertThat(pull.pulls().get(0).parkMillis()).as("a browser does not wait").isZero();
    return pull.pulls().get(0);
  }

  private void end(Frame.PullOne pull, FaultCode code, int retryMillis) {
    broker.send(
        new Frame.PullDone(
            List.of(new Frame.PullEnd(pull.consumerId(), pull.pullId(), code, retryMillis))));
  }

  private static String value(CompletableFuture<String> answer) throws Exception {
    return answer.get(10, TimeUnit.SECONDS);
  }

  @Test
  void aLookIsFetchedAsItIsAskedForAndClosedAtItsEnd() throws Exception {
    Enumeration<?> messages = look();
    assertThat(broker.seen(Frame.AttachConsumer.class))
        .as("one to see whether it may, one for the look")
        .hasSize(2)
        .allMatch(attach -> attach.subscribe() == Frame.Subscribe.BROWSE);
    assertThat(broker.seen(Frame.Pull.class)).isEmpty();
    CompletableFuture<String> first = next(messages);
    broker.send(broker.deliver(pull(), "orders", 7, 0, "a", "b"));
    assertThat(value(first)).isEqualTo("a");
    assertThat(value(next(messages))).isEqualTo("b");
    assertThat(broker.seen(Frame.Pull.class)).hasSize(1);
    CompletableFuture<String> last = next(messages);
    end(pull(), FaultCode.OK, 0);
    assertThat(value(last)).isEqualTo("the end");
    assertThat(value(next(messages))).isEqualTo("the end");
    Awaitility.await()
        .untilAsserted(() -> assertThat(broker.seen(Frame.DetachConsumer.class)).hasSize(2));
    assertThat(broker.seen(Frame.Acknowledge.class)).isEmpty();
    assertThat(broker.seen(Frame.Return.class)).isEmpty();
  }

  @Test
  void aBrokerThatHasLookedInVainSoFarIsAskedAgain() throws Exception {
    CompletableFuture<String> answer = next(look());
    end(pull(), FaultCode.RETRY_LATER, 0);
    end(pull(), FaultCode.RETRY_LATER, 20);
    broker.send(broker.deliver(pull(), "orders", 7, 2, "a"));
    assertThat(value(answer)).isEqualTo("a");
  }

  @Test
  void afterALostConnectionWhatWasShownDoesNotComeAgain() throws Exception {
    Enumeration<?> messages = look();
    CompletableFuture<String> first = next(messages);
    broker.send(broker.deliver(pull(), "orders", 7, 0, "a"));
    assertThat(value(first)).isEqualTo("a");
    CompletableFuture<String> second = next(messages);
    pull();
    broker.cut();
    Frame.PullOne again = pull();
    broker.send(broker.deliver(again, "orders", 7, 0, "a", "b"));
    assertThat(value(second)).isEqualTo("b");
    assertThat(broker.seen(Frame.Attach.class)).hasSize(2);
  }

  @Test
  void aLookThatFailsSaysWhyAndAQueueThatIsGoneHasNoMore() throws Exception {
    Enumeration<?> damaged = look();
    CompletableFuture<String> answer = next(damaged);
    end(pull(), FaultCode.DAMAGED, 0);
    assertThatThrownBy(() -> value(answer))
        .hasCauseInstanceOf(JMSRuntimeException.class)
        .hasMessageContaining("browsing orders: the broker says DAMAGED");
    assertThatThrownBy(damaged::nextElement)
        .isInstanceOfSatisfying(
            JMSRuntimeException.class,
            failure -> assertThat(failure.getErrorCode()).isEqualTo("LMQ-44"));
    CompletableFuture<String> gone = next(look());
    end(pull(), FaultCode.DESTINATION_GONE, 0);
    assertThat(value(gone)).isEqualTo("the end");
  }

  @Test
  void aBrokerThatDoesNotAnswerIsNotWaitedForForEver() throws Exception {
    open("&requestTimeoutMillis=300");
    CompletableFuture<String> answer = next(look());
    pull();
    assertThatThrownBy(() -> value(answer))
        .hasMessageContaining("browsing orders: the broker has not answered for 300 ms");
  }

  @Test
  void closingTheSessionEndsWhoWaitsForMore() throws Exception {
    CompletableFuture<String> answer = next(look());
    pull();
    session.close();
    assertThat(value(answer)).isEqualTo("the end");
  }
}

package io.lightmq.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.wire.Frame;
import io.lightmq.wire.entry.FaultCode;
import jakarta.jms.Connection;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.ResourceAllocationException;
import jakarta.jms.Session;
import jakarta.jms.TextMessage;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A broker that answers everything but pulls, or these late. An answer to a request may take ten
 * minutes here, so whoever waits for one instead of for the time of the call fails.
 */
@Timeout(60)
class SilentPullsTest {
  private static final long NO_WAIT = -1;

  @RegisterExtension final ScriptedBrokerExtension rig = new ScriptedBrokerExtension();

  private ScriptedBroker broker;
  private Connection connection;
  private Session session;
  private MessageConsumer consumer;

  @BeforeEach
  void start() throws Exception {
    broker = rig.broker();
    broker.ok(Frame.Return.class);
    broker.on(Frame.Acknowledge.class, ack -> List.of());
    connection = rig.connect("&requestTimeoutMillis=600000");
    session = connection.createSession();
    consumer = session.createConsumer(session.createQueue("orders"));
    connection.start();
  }

  @AfterEach
  void stop() throws Exception {
    broker.close(); // or the close would wait for its answers
  }

  private CompletableFuture<String> receiving(long millis) {
    return CompletableFuture.supplyAsync(
        () -> {
          try {
            Message message =
                millis == NO_WAIT ? consumer.receiveNoWait() : consumer.receive(millis);
            return message == null ? "nothing" : ((TextMessage) message).getText();
          } catch (JMSException e) {
            throw new AssertionError(e);
          }
        });
  }

  private String received(long millis) throws Exception {
    return receiving(millis).get(20, TimeUnit.SECONDS);
  }

  private Frame.PullOne pull() throws InterruptedException {
    return broker.expect(Frame.Pull.class).pulls().get(0);
  }

  @ParameterizedTest
  @ValueSource(longs = {NO_WAIT, 1, 1_200})
  void aReceiveEndsThoughThePullHasNoAnswer(long millis) throws Exception {
    assertThat(received(millis)).isEqualTo("nothing");
    assertThat(received(millis)).as("once more").isEqualTo("nothing");
  }

  @Test
  void aReceiveEndsThoughAnEarlierPullHasNoAnswerToo() throws Exception {
    assertThat(received(NO_WAIT)).isEqualTo("nothing");
    assertThat(received(1_200)).isEqualTo("nothing");
    assertThat(received(NO_WAIT)).isEqualTo("nothing");
  }

  @ParameterizedTest
  @ValueSource(longs = {NO_WAIT, 1_200})
  void whatComesTooLateIsThereForTheNextReceive(long millis) throws Exception {
    CompletableFuture<String> receiving = receiving(millis);
    Frame.PullOne first = pull();
    assertThat(receiving.get(20, TimeUnit.SECONDS)).isEqualTo("nothing");
    broker.send(broker.deliver(first, "orders", 1, 0, "a", "b"));
    broker.nothingThere();
    connection.createSession(); // answered behind the delivery
    assertThat(received(NO_WAIT)).isEqualTo("a");
    assertThat(received(NO_WAIT)).isEqualTo("b");
    assertThat(received(NO_WAIT)).isEqualTo("nothing");
    assertThat(broker.seen(Frame.Return.class)).isEmpty();
  }

  @Test
  void answersToAGivenUpPullAndToTheNextBothCount() throws Exception {
    CompletableFuture<String> early = receiving(NO_WAIT);
    Frame.PullOne first = pull();
    assertThat(early.get(20, TimeUnit.SECONDS)).isEqualTo("nothing");
    CompletableFuture<String> late = receiving(NO_WAIT);
    Frame.PullOne second = pull();
    broker.nothingThere();
    broker.send(broker.deliver(first, "orders", 1, 0, "a"));
    broker.send(broker.deliver(second, "orders", 2, 0, "b"));
    assertThat(late.get(20, TimeUnit.SECONDS)).isEqualTo("a");
    assertThat(received(10_000)).isEqualTo("b");
    assertThat(received(NO_WAIT)).isEqualTo("nothing");
  }

  @Test
  void aBrokerThatOnlyPutsOffIsNotTakenForAnEmptyQueue() throws Exception {
    broker.on(
        Frame.Pull.class,
        pull ->
            List.of(
                new Frame.PullDone(
                    pull.pulls().stream()
                        .map(
                            one ->
                                new Frame.PullEnd(
                                    one.consumerId(), one.pullId(), FaultCode.RETRY_LATER, 5))
                        .toList())));
    assertThatThrownBy(() -> consumer.receiveNoWait())
        .isInstanceOf(ResourceAllocationException.class)
        .hasMessageContaining("later");
    assertThatThrownBy(() -> consumer.receive(1_200))
        .isInstanceOf(ResourceAllocationException.class);
  }
}

package io.lightmq.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.wire.Frame;
import io.lightmq.wire.entry.FaultCode;
import jakarta.jms.Connection;
import jakarta.jms.JMSException;
import jakarta.jms.MessageConsumer;
import jakarta.jms.Session;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** When a consumer asks for messages, and for how many. */
class PullingTest {
  private static final int FIRST_WINDOW = 16;

  @RegisterExtension final ScriptedBrokerExtension rig = new ScriptedBrokerExtension();

  private ScriptedBroker broker;
  private Connection connection;
  private MessageConsumer consumer;

  @BeforeEach
  void start() throws Exception {
    broker = rig.broker();
    broker.ok(Frame.Return.class);
    broker.on(Frame.Acknowledge.class, ack -> List.of());
    connection = rig.connect("");
    Session session = connection.createSession();
    consumer = session.createConsumer(session.createQueue("orders"));
    connection.start();
  }

  private Frame.PullOne pull() throws InterruptedException {
    Frame.Pull pull = broker.expect(Frame.Pull.class);
    assertThat(pull.pulls()).hasSize(1);
    return pull.pulls().get(0);
  }

  private void deliver(Frame.PullOne pull, long sequence, int count) throws Exception {
    broker.send(
        broker.deliver(
            pull, "orders", sequence, 0, Collections.nCopies(count, "x").toArray(new String[0])));
  }

  private void end(Frame.PullOne pull) throws Exception {
    broker.send(
        new Frame.PullDone(
            List.of(new Frame.PullEnd(pull.consumerId(), pull.pullId(), FaultCode.OK, 0))));
  }

  private CompletableFuture<Boolean> receiving() {
    return CompletableFuture.supplyAsync(
        () -> {
          try {
            return consumer.receive() != null;
          } catch (JMSException e) {
            throw new AssertionError(e);
          }
        });
  }

  @Test
  void whileSomebodyWaitsAnEndedPullIsFollowedByAnother() throws Exception {
    CompletableFuture<Boolean> receiving = receiving();
    end(pull());
    end(pull());
    deliver(pull(), 1, 1);
    assertThat(receiving.get(10, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void aConsumerThatNobodyAsksAnyMoreLeavesTheMessagesToOthers() throws Exception {
    CompletableFuture<Boolean> receiving = receiving();
    deliver(pull(), 1, 1);
    assertThat(receiving.get(10, TimeUnit.SECONDS)).isTrue();
    Frame.PullOne ahead = pull();
    assertThat(ahead.parkMillis()).as("asked for while the first is processed").isPositive();
    end(ahead);
    broker.nothingThere();
    assertThat(consumer.receiveNoWait()).isNull();
    connection.createSession(); // asked behind any pull that the answer may have led to
    List<Frame.PullOne> all =
        broker.seen(Frame.Pull.class).stream().flatMap(seen -> seen.pulls().stream()).toList();
    assertThat(all).last().extracting(Frame.PullOne::parkMillis).isEqualTo(0);
  }

  @Test
  void theWindowGrowsOnlyWithWhatIsUsed() throws Exception {
    CompletableFuture<Boolean> receiving = receiving();
    Frame.PullOne first = pull();
    assertThat(first.messages()).isEqualTo(FIRST_WINDOW);
    deliver(first, 1, FIRST_WINDOW);
    assertThat(receiving.get(10, TimeUnit.SECONDS)).isTrue();
    for (int taken = 1; taken < FIRST_WINDOW / 2; taken++) {
      assertThat(consumer.receive()).isNotNull();
    }
    assertThat(broker.unexpected()).as("pulls before half is used").isEmpty();
    assertThat(consumer.receive()).isNotNull();
    Frame.PullOne second = pull();
    assertThat(second.messages()).isEqualTo(FIRST_WINDOW / 2);
    deliver(second, FIRST_WINDOW + 1, FIRST_WINDOW / 2);
    for (int taken = 0; taken < FIRST_WINDOW / 2; taken++) {
      assertThat(consumer.receive()).isNotNull();
    }
    assertThat(pull().messages())
        .as("the window has doubled, and is half full or emptier")
        .isBetween(FIRST_WINDOW, 2 * FIRST_WINDOW);
  }
}

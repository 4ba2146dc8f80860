package io.lightmq.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.wire.Frame;
import io.lightmq.wire.entry.FaultCode;
import jakarta.jms.Connection;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.Session;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** With {@code prefetchMessages=0} a consumer holds nothing but the message it was asked for. */
class PullingOnDemandTest {
  private static final long WAIT_MILLIS = 10_000;

  @RegisterExtension final ScriptedBrokerExtension rig = new ScriptedBrokerExtension();

  private ScriptedBroker broker;
  private Connection connection;

  @BeforeEach
  void start() throws Exception {
    broker = rig.broker();
    broker.ok(Frame.Return.class);
    broker.on(Frame.Acknowledge.class, ack -> List.of());
    connection = rig.connect("&prefetchMessages=0");
    connection.start();
  }

  @AfterEach
  void stop() {
    broker.nothingThere();
  }

  private MessageConsumer consumer(int mode) throws JMSException {
    Session session = connection.createSession(mode);
    return session.createConsumer(session.createQueue("orders"));
  }

  private Frame.PullOne pull() throws InterruptedException {
    Frame.Pull pull = broker.expect(Frame.Pull.class);
    assertThat(pull.pulls()).hasSize(1);
    assertThat(pull.pulls().get(0).messages()).isOne();
    return pull.pulls().get(0);
  }

  private void deliver(Frame.PullOne pull, long sequence) throws Exception {
    broker.send(broker.deliver(pull, "orders", sequence, 0, new String[] {"x"}));
  }

  private static CompletableFuture<Message> receiving(MessageConsumer consumer) {
    return CompletableFuture.supplyAsync(
        () -> {
          try {
            return consumer.receive();
          } catch (JMSException e) {
            throw new AssertionError(e);
          }
        });
  }

  /** Whatever the client had to send before it sends this has come then. */
  private void nothingIsAskedFor() throws Exception {
    connection.createSession();
    assertThat(broker.unexpected()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(ints = {Session.AUTO_ACKNOWLEDGE, Session.CLIENT_ACKNOWLEDGE})
  void oneIsAskedForWhileSomebodyWaits(int mode) throws Exception {
    MessageConsumer consumer = consumer(mode);
    nothingIsAskedFor();
    for (int sequence = 1; sequence <= 3; sequence++) {
      CompletableFuture<Message> receiving = receiving(consumer);
      deliver(pull(), sequence);
      assertThat(receiving.get(WAIT_MILLIS, TimeUnit.MILLISECONDS)).isNotNull();
      nothingIsAskedFor();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {Session.AUTO_ACKNOWLEDGE, Session.CLIENT_ACKNOWLEDGE})
  void aListenerGetsTheNextWhenItHasDoneTheOneBefore(int mode) throws Exception {
    LinkedBlockingQueue<Message> running = new LinkedBlockingQueue<>();
    LinkedBlockingQueue<Boolean> goOn = new LinkedBlockingQueue<>();
    consumer(mode)
        .setMessageListener(
            message -> {
              running.add(message);
              try {
                assertThat(goOn.poll(WAIT_MILLIS, TimeUnit.MILLISECONDS)).isNotNull();
              } catch (InterruptedException e) {
                throw new AssertionError(e);
              }
            });
    for (int sequence = 1; sequence <= 3; sequence++) {
      deliver(pull(), sequence);
      assertThat(running.poll(WAIT_MILLIS, TimeUnit.MILLISECONDS)).isNotNull();
      nothingIsAskedFor();
      goOn.add(true);
    }
    pull();
  }

  @Test
  void whatComesWhenNobodyWaitsAnyMoreGoesBackUncounted() throws Exception {
    MessageConsumer consumer = consumer(Session.AUTO_ACKNOWLEDGE);
    consumer.setMessageListener(message -> {});
    Frame.PullOne open = pull();
    consumer.setMessageListener(null);
    broker.expectToo(Frame.Return.class);
    deliver(open, 1);
    Frame.Return back = broker.expect(Frame.Return.class);
    assertThat(back.attempted()).isFalse();
    assertThat(back.returned()).hasSize(1);
    broker.ok(Frame.Return.class);
    broker.send(new Frame.Ok(back.correlation()));
  }

  @Test
  void whatComesToAStoppedConnectionGoesBackAndIsAskedForAgain() throws Exception {
    CompletableFuture<Message> receiving = receiving(consumer(Session.AUTO_ACKNOWLEDGE));
    Frame.PullOne open = pull();
    connection.stop();
    broker.expectToo(Frame.Return.class);
    deliver(open, 1);
    Frame.Return back = broker.expect(Frame.Return.class);
    broker.send(new Frame.Ok(back.correlation()));
    nothingIsAskedFor();
    connection.start();
    deliver(pull(), 1);
    assertThat(receiving.get(WAIT_MILLIS, TimeUnit.MILLISECONDS)).isNotNull();
  }

  @Test
  void aBrowserLooksInSmallSteps() throws Exception {
    Session session = connection.createSession();
    assertThat(Collections.list(browsed(session))).isEmpty();
  }

  private java.util.Enumeration<?> browsed(Session session) throws Exception {
    broker.nothingThere();
    return session.createBrowser(session.createQueue("orders")).getEnumeration();
  }

  @Test
  void aReceiveThatEndsLeavesNothingOnItsWay() throws Exception {
    MessageConsumer consumer = consumer(Session.AUTO_ACKNOWLEDGE);
    CompletableFuture<Message> receiving =
        CompletableFuture.supplyAsync(
            () -> {
              try {
                return consumer.receiveNoWait();
              } catch (JMSException e) {
                throw new AssertionError(e);
              }
            });
    Frame.PullOne last = pull();
    assertThat(last.parkMillis()).isZero();
    broker.send(
        new Frame.PullDone(
            List.of(new Frame.PullEnd(last.consumerId(), last.pullId(), FaultCode.OK, 0))));
    assertThat(receiving.get(WAIT_MILLIS, TimeUnit.MILLISECONDS)).isNull();
    nothingIsAskedFor();
  }
}

package io.lightmq.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lightmq.wire.Frame;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.SequenceRange;
import jakarta.jms.Connection;
import jakarta.jms.JMSException;
import jakarta.jms.ServerSession;
import jakarta.jms.Session;
import jakarta.jms.TextMessage;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** With {@code prefetchMessages=0} a connection consumer holds nothing while its pool is busy. */
@Timeout(60)
class PoolsOnDemandTest {
  private final Semaphore pooled = new Semaphore(0);
  private final LinkedBlockingQueue<Integer> asked = new LinkedBlockingQueue<>();
  private final LinkedBlockingQueue<Integer> started = new LinkedBlockingQueue<>();
  private final List<String> got = new CopyOnWriteArrayList<>();
  @RegisterExtension final ScriptedBrokerExtension rig = new ScriptedBrokerExtension().withPools();

  private ScriptedBroker broker;
  private Connection connection;
  private Session session;
  private volatile boolean fails;

  @BeforeEach
  void start() throws Exception {
    broker = rig.broker();
    broker.ok(Frame.Return.class);
    broker.on(Frame.Acknowledge.class, ack -> List.of());
    connection = rig.connect("&prefetchMessages=0");
    session = connection.createSession();
    session.setMessageListener(message -> got.add(text((TextMessage) message)));
    connection.createConnectionConsumer(session.createQueue("orders"), null, this::given, 10);
    connection.start();
  }

  @AfterEach
  void stop() {
    broker.nothingThere();
    fails = true; // a pool that gives nothing any more
    pooled.release(1_000);
  }

  private static String text(TextMessage message) {
    return Unchecked.get(message::getText);
  }

  /** The pool gives its session when the test says so. */
  private ServerSession given() throws JMSException {
    asked.add(1);
    try {
      if (!pooled.tryAcquire(30, TimeUnit.SECONDS) || fails) {
        throw new JMSException("the pool has no session");
      }
    } catch (InterruptedException e) {
      throw new JMSException("interrupted");
    }
    return new ServerSession() {
      @Override
      public Session getSession() {
        return session;
      }

      @Override
      public void start() {
        session.run();
        started.add(1);
      }
    };
  }

  private Frame.PullOne pull() throws InterruptedException {
    Frame.PullOne pull = broker.expect(Frame.Pull.class).pulls().get(0);
    assertThat(pull.messages()).isOne();
    return pull;
  }

  private void deliver(Frame.PullOne pull, long sequence, String text) {
    broker.send(broker.deliver(pull, "orders", sequence, 0, text));
  }

  private void isAsked() throws InterruptedException {
    assertThat(asked.poll(10, TimeUnit.SECONDS)).as("the pool is asked").isNotNull();
  }

  private void isStarted() throws InterruptedException {
    assertThat(started.poll(10, TimeUnit.SECONDS)).as("a session is started").isNotNull();
  }

  private List<SequenceRange> returned() {
    return broker.seen(Frame.Return.class).stream()
        .peek(given -> assertThat(given.attempted()).isFalse())
        .flatMap(given -> given.returned().stream())
        .flatMap(places -> places.ranges().stream())
        .toList();
  }

  private static SequenceRange one(long sequence) {
    return new SequenceRange(4, sequence, 1);
  }

  @Test
  void whatThePoolHasNoSessionForGoesBackAndIsAskedForOnceThereIsOne() throws Exception {
    deliver(pull(), 1, "a");
    isAsked();
    await().until(() -> returned().equals(List.of(one(1))));
    assertThat(broker.unexpected()).as("nothing is asked for meanwhile").isEmpty();
    pooled.release();
    Frame.PullOne now = pull();
    assertThat(now.parkMillis()).as("the session does not wait for messages").isZero();
    deliver(now, 1, "a");
    isStarted();
    assertThat(got).containsExactly("a");
    pull();
    assertThat(returned()).hasSize(1);
  }

  @Test
  void ifItIsGoneByThenTheSessionIsStartedWithNothing() throws Exception {
    deliver(pull(), 1, "a");
    isAsked();
    await().until(() -> returned().equals(List.of(one(1))));
    pooled.release();
    Frame.PullOne now = pull();
    broker.send(
        new Frame.PullDone(
            List.of(new Frame.PullEnd(now.consumerId(), now.pullId(), FaultCode.OK, 0))));
    isStarted();
    assertThat(got).isEmpty();
    assertThat(pull().parkMillis()).as("now it waits again, without a session").isPositive();
    assertThat(asked).isEmpty();
  }

  @Test
  void whatAPoolHasFailedForIsNotHeldUntilItIsAskedAgain() throws Exception {
    fails = true;
    pooled.release();
    deliver(pull(), 1, "a");
    isAsked();
    await().until(() -> returned().equals(List.of(one(1))));
    fails = false;
    deliver(pull(), 1, "a");
    isAsked();
    pooled.release();
    await()
        .until(
            () -> {
              broker.nothingThere(); // if it took longer than a message is held, it is asked for
              return !started.isEmpty();
            });
  }
}

package io.lightmq.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.lightmq.wire.Frame;
import jakarta.jms.CompletionListener;
import jakarta.jms.Connection;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageProducer;
import jakarta.jms.ResourceAllocationException;
import jakarta.jms.Session;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Sends whose receipts are there, and whose completion listener is slow. */
class CompletionBoundTest {
  private static final int MAX_BYTES = 2_000;

  private final CountDownLatch goOn = new CountDownLatch(1);
  private final LinkedBlockingQueue<String> told = new LinkedBlockingQueue<>();
  @RegisterExtension final ScriptedBrokerExtension rig = new ScriptedBrokerExtension();

  private ScriptedBroker broker;
  private Connection connection;
  private Session session;
  private MessageProducer producer;

  /** Waits with its first call; then runs what the test wants. */
  private class Slow implements CompletionListener {
    @Override
    public void onCompletion(Message message) {
      told.add("done");
      try {
        assertThat(goOn.await(10, TimeUnit.SECONDS)).isTrue();
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    }

    @Override
    public void onException(Message message, Exception exception) {
      told.add(exception.toString());
    }
  }

  @BeforeEach
  void start() throws Exception {
    broker = rig.broker();
    broker.on(
        Frame.Publish.class,
        run ->
            List.of(new Frame.Receipts(List.of(new Frame.Done(run.correlation(), 1)), List.of())));
  }

  private void open(int mode, int sendTimeoutMillis) throws Exception {
    connection =
        rig.connect(
            "&lingerMillis=0&maxUnconfirmedBytes="
                + MAX_BYTES
                + "&sendTimeoutMillis="
                + sendTimeoutMillis);
    session = connection.createSession(mode);
    producer = session.createProducer(session.createQueue("orders"));
  }

  @AfterEach
  void stop() {
    goOn.countDown();
  }

  private int fill(CompletionListener listener) throws JMSException {
    int sent = 0;
    while (true) {
      try {
        producer.send(session.createTextMessage("x".repeat(100)), listener);
        sent++;
      } catch (ResourceAllocationException e) {
        assertThat(e).hasMessageContaining("completion listeners").hasMessageContaining("not sent");
        return sent;
      }
      assertThat(sent).as("sends that wait for their listener").isLessThan(MAX_BYTES / 100);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {Session.AUTO_ACKNOWLEDGE, Session.SESSION_TRANSACTED})
  void beyondTheBoundASendWaitsAndFails(int mode) throws Exception {
    open(mode, 100);
    int sent = fill(new Slow());
    assertThat(sent).isGreaterThan(2);
    goOn.countDown();
    for (int i = 0; i < sent; i++) {
      assertThat(told.poll(10, TimeUnit.SECONDS)).isEqualTo("done");
    }
    producer.send(session.createTextMessage("after"), new Slow());
    assertThat(told.poll(10, TimeUnit.SECONDS)).isEqualTo("done");
  }

  @Test
  void aSendThatWaitsGoesOutWhenAListenerReturns() throws Exception {
    open(Session.AUTO_ACKNOWLEDGE, 60_000);
    Slow slow = new Slow();
    int count = MAX_BYTES / 50;
    CompletableFuture<Thread> sender = new CompletableFuture<>();
    CompletableFuture<Void> sending =
        CompletableFuture.runAsync(
            () -> {
              sender.complete(Thread.currentThread());
              try {
                for (int i = 0; i < count; i++) {
                  producer.send(session.createTextMessage("x".repeat(100)), slow);
                }
              } catch (JMSException e) {
                throw new AssertionError(e);
              }
            });
    Thread waiting = sender.get(10, TimeUnit.SECONDS);
    await().until(() -> waiting.getState() == Thread.State.TIMED_WAITING);
    assertThat(sending).isNotDone();
    goOn.countDown();
    sending.get(10, TimeUnit.SECONDS);
    for (int i = 0; i < count; i++) {
      assertThat(told.poll(10, TimeUnit.SECONDS)).isEqualTo("done");
    }
  }

  @Test
  void aListenersOwnSendsDoNotWaitForItButHaveABoundToo() throws Exception {
    open(Session.AUTO_ACKNOWLEDGE, 60_000);
    CompletableFuture<Integer> sent = new CompletableFuture<>();
    CompletionListener counting =
        new CompletionListener() {
          @Override
          public void onCompletion(Message message) {
            told.add("done");
            if (sent.isDone()) {
              return;
            }
            int count = 0;
            try {
              while (count < MAX_BYTES / 10) {
                producer.send(session.createTextMessage("x".repeat(100)), this);
                count++;
              }
            } catch (ResourceAllocationException e) {
              sent.complete(count);
            } catch (JMSException e) {
              sent.completeExceptionally(e);
            }
          }

          @Override
          public void onException(Message message, Exception exception) {
            told.add(exception.toString());
          }
        };
    producer.send(session.createTextMessage("first"), counting);
    int count = sent.get(10, TimeUnit.SECONDS);
    assertThat(count).isBetween(MAX_BYTES / 200, 2 * MAX_BYTES / 100);
    for (int i = 0; i <= count; i++) {
      assertThat(told.poll(10, TimeUnit.SECONDS)).isEqualTo("done");
    }
  }

  @Test
  void aSendThatFailsBeforeItGoesOutKeepsNoPlace() throws Exception {
    open(Session.SESSION_TRANSACTED, 100);
    broker.on(
        Frame.Commit.class,
        commit ->
            List.of(
                new Frame.Receipts(List.of(new Frame.Done(commit.correlation(), 1)), List.of())));
    goOn.countDown();
    String half = "x".repeat(600_000);
    for (int round = 0; round < 3; round++) {
      producer.send(session.createTextMessage(half), new Slow());
      assertThat(told.poll(10, TimeUnit.SECONDS)).isEqualTo("done");
      assertThatThrownBy(() -> producer.send(session.createTextMessage(half), new Slow()))
          .hasMessageContaining("the transaction has");
      session.commit();
    }
  }
}

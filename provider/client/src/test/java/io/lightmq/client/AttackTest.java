package io.lightmq.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lightmq.wire.Frame;
import jakarta.jms.CompletionListener;
import jakarta.jms.Connection;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageProducer;
import jakarta.jms.Session;
import jakarta.jms.TextMessage;
import jakarta.jms.TransactionRolledBackException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Applications that do what they should not, at the worst moment. */
class AttackTest {
  private final CountDownLatch inListener = new CountDownLatch(1);
  private final CountDownLatch goOn = new CountDownLatch(1);
  private final LinkedBlockingQueue<String> got = new LinkedBlockingQueue<>();

  @RegisterExtension
  final ScriptedBrokerExtension rig = new ScriptedBrokerExtension().interruptingThreads();

  private ScriptedBroker broker;
  private PlayedQueue queue;
  private Connection connection;
  private Session session;
  private MessageConsumer consumer;

  @BeforeEach
  void start() throws Exception {
    broker = rig.broker();
    queue = new PlayedQueue(broker);
  }

  @AfterEach
  void stop() {
    goOn.countDown();
  }

  private void open(int mode) throws Exception {
    connection = rig.connect("");
    session = connection.createSession(mode);
    consumer = session.createConsumer(session.createQueue("orders"));
    connection.start();
  }

  private static String text(Message message) {
    try {
      return ((TextMessage) message).getText() + (message.getJMSRedelivered() ? " again" : "");
    } catch (JMSException e) {
      throw new AssertionError(e);
    }
  }

  private String next() throws InterruptedException {
    return got.poll(10, TimeUnit.SECONDS);
  }

  private void waitOnce() {
    inListener.countDown();
    try {
      assertThat(goOn.await(10, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private void loseConnection() throws Exception {
    int attached = broker.seen(Frame.AttachConsumer.class).size();
    queue.lost();
    broker.cut();
    await().until(() -> broker.seen(Frame.AttachConsumer.class).size() == attached + 1);
  }

  private int settled() {
    return broker.seen(Frame.Acknowledge.class).size() + broker.seen(Frame.Commit.class).size();
  }

  /** The listener's message is lost with the connection while it runs, and comes again once. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3, 101})
  void whatAListenerHasWhenTheConnectionGoesComesAgainFlagged(int mode) throws Exception {
    open(mode);
    LinkedBlockingQueue<JMSException> refused = new LinkedBlockingQueue<>();
    broker.on(
        Frame.Commit.class,
        commit -> {
          broker.receipt(commit);
          return List.of();
        });
    consumer.setMessageListener(
        message -> {
          got.add(text(message));
          waitOnce();
          try {
            if (mode == Session.SESSION_TRANSACTED) {
              session.commit();
            } else {
              message.acknowledge();
            }
          } catch (JMSException e) {
            refused.add(e);
          }
        });
    queue.give(1, 0, "a");
    assertThat(next()).isEqualTo("a");
    loseConnection();
    assertThat(settled()).isZero();
    queue.give(1, 1, "a", "b");
    goOn.countDown();
    boolean together = mode == Session.SESSION_TRANSACTED || mode == Session.CLIENT_ACKNOWLEDGE;
    if (together) { // what came behind the lost message goes back to it, unseen
      await().until(() -> queue.returned(false).equals(List.of(1L)));
      queue.give(1, 1, "a", "b");
    }
    assertThat(List.of(next(), next())).containsExactly("a again", "b again");
    connection.stop();
    if (mode == Session.SESSION_TRANSACTED) {
      assertThat(refused).hasSize(1).first().isInstanceOf(TransactionRolledBackException.class);
      assertThat(broker.seen(Frame.Commit.class)).hasSize(2);
    } else if (mode == Session.CLIENT_ACKNOWLEDGE || mode == LightmqJms.INDIVIDUAL_ACKNOWLEDGE) {
      assertThat(refused).extracting(JMSException::getErrorCode).containsExactly("LMQ-30");
      assertThat(broker.seen(Frame.Acknowledge.class)).hasSize(2);
    } else {
      assertThat(refused).isEmpty();
    }
    assertThat(queue.returned(true)).isEmpty();
    assertThat(queue.returned(false)).hasSize(together ? 1 : 0);
  }

  /** What is acknowledged before it comes is given to the listener though its connection goes. */
  @Test
  void inModeNoneWhatHasComeIsNotLostWithTheConnection() throws Exception {
    open(LightmqJms.NO_ACKNOWLEDGE);
    consumer.setMessageListener(
        message -> {
          waitOnce();
          got.add(text(message));
        });
    queue.give(1, 0, "a", "b");
    assertThat(inListener.await(10, TimeUnit.SECONDS)).isTrue();
    loseConnection();
    queue.give(3, 0, "c");
    goOn.countDown();
    assertThat(List.of(next(), next(), next())).containsExactly("a", "b", "c");
    connection.stop();
    assertThat(settled()).isZero();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 100, 101, 0})
  void anErrorInAListenerEndsNothing(int mode) throws Exception {
    open(mode);
    AtomicInteger calls = new AtomicInteger();
    List<String> told = new CopyOnWriteArrayList<>();
    connection.setExceptionListener(e -> told.add(e.getMessage()));
    consumer.setMessageListener(
        message -> {
          got.add(text(message));
          Thread.currentThread().interrupt();
          if (calls.incrementAndGet() == 1) {
            throw new StackOverflowError("in the listener");
          }
        });
    queue.give(1, 0, "a");
    assertThat(next()).isEqualTo("a");
    if (mode == Session.AUTO_ACKNOWLEDGE || mode == Session.DUPS_OK_ACKNOWLEDGE) {
      await().until(() -> queue.returned(true).equals(List.of(1L)));
    }
    queue.give(2, 0, "b");
    assertThat(next()).isEqualTo("b");
    await().until(() -> told.size() == 1);
    assertThat(told.get(0)).contains("StackOverflowError");
  }

  @Test
  void anotherListenerIsSetThoughMoreMessagesWait() throws Exception {
    open(Session.AUTO_ACKNOWLEDGE);
    consumer.setMessageListener(
        message -> {
          got.add("first " + text(message));
          waitOnce();
        });
    queue.give(1, 0, "a", "b", "c");
    assertThat(inListener.await(10, TimeUnit.SECONDS)).isTrue();
    CompletableFuture<Thread> setter = new CompletableFuture<>();
    CompletableFuture<Void> set =
        CompletableFuture.runAsync(
            () -> {
              setter.complete(Thread.currentThread());
              try {
                consumer.setMessageListener(message -> got.add("second " + text(message)));
              } catch (JMSException e) {
                throw new AssertionError(e);
              }
            },
            rig.threads());
    Thread setting = setter.get(10, TimeUnit.SECONDS);
    await().until(() -> setting.getState() == Thread.State.WAITING);
    goOn.countDown();
    set.get(10, TimeUnit.SECONDS);
    assertThat(List.of(next(), next(), next())).containsExactly("first a", "second b", "second c");
  }

  @Test
  void aListenerMayCloseItsConsumerSendAndSetAnotherListener() throws Exception {
    open(Session.AUTO_ACKNOWLEDGE);
    MessageConsumer other = session.createConsumer(session.createQueue("others"));
    MessageProducer producer = session.createProducer(session.createQueue("replies"));
    broker.on(
        Frame.Publish.class,
        run ->
            List.of(new Frame.Receipts(List.of(new Frame.Done(run.correlation(), 1)), List.of())));
    consumer.setMessageListener(
        message -> {
          try {
            producer.send(session.createTextMessage("reply"));
            other.setMessageListener(ignored -> {});
            other.setMessageListener(null);
            consumer.close();
            got.add(text(message));
          } catch (JMSException e) {
            got.add(e.toString());
          }
        });
    queue.give(1, 0, "a", "b");
    assertThat(next()).isEqualTo("a");
    await().until(() -> broker.seen(Frame.DetachConsumer.class).size() == 1);
    assertThat(queue.returned(false)).containsExactly(2L);
    assertThat(got).isEmpty();
  }

  /** Everything at once, many times: whoever is late hears so, and nothing hangs or is left. */
  @Test
  void threadsThatReceiveSendCommitAndCloseAtOnceAllEnd() throws Exception {
    broker.credit(1L << 40); // what is sent until the close takes effect is not bounded here
    broker.on(
        Frame.Publish.class,
        run ->
            List.of(new Frame.Receipts(List.of(new Frame.Done(run.correlation(), 1)), List.of())));
    broker.on(
        Frame.Commit.class,
        commit ->
            List.of(
                new Frame.Receipts(List.of(new Frame.Done(commit.correlation(), 1)), List.of())));
    for (int round = 0; round < 60; round++) {
      open(round % 2 == 0 ? Session.SESSION_TRANSACTED : Session.CLIENT_ACKNOWLEDGE);
      Session used = session;
      MessageConsumer from = consumer;
      MessageProducer producer = used.createProducer(used.createQueue("orders"));
      AtomicInteger pending = new AtomicInteger();
      CompletionListener counting = counting(pending);
      queue.give(1, 0, "a", "b", "c");
      List<CompletableFuture<Void>> all = new ArrayList<>();
      all.add(untilItFails(from::receiveNoWait));
      all.add(
          untilItFails(
              () -> {
                pending.incrementAndGet();
                try {
                  producer.send(used.createTextMessage("x"), counting);
                } catch (JMSException | RuntimeException e) {
                  pending.decrementAndGet();
                  throw e;
                }
              }));
      all.add(
          untilItFails(
              () -> {
                if (used.getTransacted()) {
                  used.commit();
                } else {
                  used.recover();
                }
              }));
      Unchecked.Action close =
          switch (round % 3) {
            case 0 -> used::close;
            case 1 -> connection::close;
            default ->
                () -> {
                  Thread.currentThread().interrupt();
                  used.close();
                  assertThat(Thread.interrupted()).isTrue();
                };
          };
      all.add(CompletableFuture.runAsync(() -> ran(close), rig.threads()));
      for (CompletableFuture<Void> each : all) {
        each.get(20, TimeUnit.SECONDS);
      }
      await().until(() -> pending.get() == 0);
      connection.close();
      queue.lost();
      assertThat(ClientThreads.alive()).as("round %d", round).isEmpty();
    }
  }

  private static CompletionListener counting(AtomicInteger pending) {
    return new CompletionListener() {
      @Override
      public void onCompletion(Message message) {
        pending.decrementAndGet();
      }

      @Override
      public void onException(Message message, Exception exception) {
        pending.decrementAndGet();
      }
    };
  }

  private static void ran(Unchecked.Action action) {
    try {
      action.run();
    } catch (JMSException e) {
      throw new AssertionError(e);
    }
  }

  /** Calls again and again; ends with the first call on what is closed. */
  private CompletableFuture<Void> untilItFails(Unchecked.Action call) {
    return CompletableFuture.runAsync(
        () -> {
          while (true) {
            try {
              call.run();
            } catch (jakarta.jms.IllegalStateException e) {
              return;
            } catch (JMSException e) {
              got.add(e.toString());
            }
          }
        },
        rig.threads());
  }
}

package io.lightmq.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.lightmq.wire.Frame;
import jakarta.jms.Connection;
import jakarta.jms.IllegalStateException;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageListener;
import jakarta.jms.ServerSession;
import jakarta.jms.Session;
import jakarta.jms.TextMessage;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is begun, goes on and goes back while a session or connection is closed, frame by frame. */
@Timeout(60)
class ListenersGoOnTest {
  private final CountDownLatch goOn = new CountDownLatch(1);
  private final List<String> got = new CopyOnWriteArrayList<>();
  private final List<Throwable> failures = new CopyOnWriteArrayList<>();
  @RegisterExtension final ScriptedBrokerExtension rig = new ScriptedBrokerExtension().withPools();

  private ScriptedBroker broker;
  private Connection connection;

  @BeforeEach
  void start() throws Exception {
    broker = rig.broker();
    broker.ok(Frame.Return.class);
    broker.on(
        Frame.Acknowledge.class,
        ack -> ack.correlation() == 0 ? List.of() : List.of(new Frame.Ok(ack.correlation())));
    broker.on(Frame.Commit.class, commit -> List.of(done(commit)));
    broker.on(Frame.Publish.class, run -> List.of(done(run)));
    connection = rig.connect("");
    connection.start();
  }

  private static Frame done(Frame publishOrCommit) {
    return new Frame.Receipts(List.of(new Frame.Done(publishOrCommit.correlation(), 1)), List.of());
  }

  @AfterEach
  void stop() throws Exception {
    goOn.countDown();
    connection.close();
    broker.close();
    assertThat(failures).as("what a listener was refused").isEmpty();
  }

  private CompletableFuture<Void> begin(Unchecked.Action call) {
    CompletableFuture<Void> future = new CompletableFuture<>();
    rig.threads()
        .execute(
            () -> {
              try {
                call.run();
                future.complete(null);
              } catch (JMSException | RuntimeException | Error e) {
                future.completeExceptionally(e);
              }
            });
    return future;
  }

  /** Waits, then does its work. */
  private MessageListener listener(CountDownLatch begun, Unchecked.Action work) {
    return message -> {
      try {
        got.add(((TextMessage) message).getText());
        begun.countDown();
        assertThat(goOn.await(20, TimeUnit.SECONDS)).isTrue();
        work.run();
      } catch (InterruptedException | JMSException | RuntimeException | Error e) {
        failures.add(e);
      }
    };
  }

  /** The next pull of the consumer that was opened last, but for so many. */
  private Frame.PullOne pull(int later) throws InterruptedException {
    List<Frame.AttachConsumer> opened = broker.seen(Frame.AttachConsumer.class);
    int consumerId = opened.get(opened.size() - 1 - later).consumerId();
    while (true) {
      for (Frame.PullOne one : broker.expect(Frame.Pull.class).pulls()) {
        if (one.consumerId() == consumerId) {
          return one;
        }
      }
    }
  }

  private Frame.PullOne pull() throws InterruptedException {
    return pull(0);
  }

  private List<Long> returned(boolean attempted) {
    return broker.seen(Frame.Return.class).stream()
        .filter(given -> given.attempted() == attempted)
        .flatMap(given -> given.returned().stream())
        .flatMap(places -> places.ranges().stream())
        .flatMap(
            range ->
                java.util.stream.LongStream.range(0, range.count()).mapToObj(i -> range.from() + i))
        .sorted()
        .toList();
  }

  /** A session whose listener has begun with message 1 of 1 to 3. */
  private Session working(int mode, Unchecked.Action... work) throws Exception {
    Session session = connection.createSession(mode);
    MessageConsumer consumer = session.createConsumer(session.createQueue("orders"));
    CountDownLatch begun = new CountDownLatch(1);
    consumer.setMessageListener(
        listener(
            begun,
            () -> {
              if (mode == Session.SESSION_TRANSACTED) {
                session.commit();
              }
              for (Unchecked.Action each : work) {
                each.run();
              }
            }));
    broker.send(broker.deliver(pull(), "orders", 1, 0, "a", "b", "c"));
    assertThat(begun.await(10, TimeUnit.SECONDS)).isTrue();
    return session;
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3, 101})
  void whatIsNotBegunGoesBackAtOnceAndUncounted(int mode) throws Exception {
    Session session = working(mode);
    CompletableFuture<Void> closing = begin(session::close);
    await().until(() -> returned(false).equals(List.of(2L, 3L)));
    assertThat(closing).as("the listener runs").isNotDone();
    assertThat(broker.seen(Frame.CloseSession.class)).isEmpty();
    goOn.countDown();
    closing.get(10, TimeUnit.SECONDS);
    assertThat(got).containsExactly("a");
    assertThat(returned(true)).isEqualTo(mode == 2 || mode == 101 ? List.of(1L) : List.of());
  }

  @Test
  void aMessageThatComesLateGoesBackToo() throws Exception {
    Session session = working(Session.AUTO_ACKNOWLEDGE);
    Frame.PullOne open = new Frame.PullOne(consumerId(), 2, 1, 1, 500);
    CompletableFuture<Void> closing = begin(session::close);
    await().until(() -> returned(false).size() == 2);
    broker.send(broker.deliver(open, "orders", 9, 0, "late"));
    await().until(() -> returned(false).equals(List.of(2L, 3L, 9L)));
    goOn.countDown();
    closing.get(10, TimeUnit.SECONDS);
    assertThat(got).containsExactly("a");
  }

  private int consumerId() {
    return broker.seen(Frame.AttachConsumer.class).get(0).consumerId();
  }

  @Test
  void theCommitOfAListenerGoesOutBeforeTheSessionIsClosed() throws Exception {
    Session session = working(Session.SESSION_TRANSACTED);
    CompletableFuture<Void> closing = begin(session::close);
    await().until(() -> returned(false).size() == 2);
    assertThat(broker.seen(Frame.Commit.class)).isEmpty();
    goOn.countDown();
    closing.get(10, TimeUnit.SECONDS);
    assertThat(broker.seen(Frame.Commit.class)).hasSize(1);
    assertThat(broker.seen(Frame.CloseSession.class)).hasSize(1);
    assertThat(returned(true)).isEmpty();
  }

  @Test
  void allSessionsOfAConnectionStopAtOnceAndNoneIsClosedBeforeTheLastListener() throws Exception {
    List<Session> sessions = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      sessions.add(working(Session.SESSION_TRANSACTED));
    }
    Session idle = connection.createSession();
    CompletableFuture<Void> closing = begin(connection::close);
    await().until(() -> returned(false).size() == 6);
    idle.createProducer(idle.createQueue("replies")).send(idle.createTextMessage("still open"));
    assertThat(broker.seen(Frame.CloseSession.class)).isEmpty();
    goOn.countDown();
    closing.get(10, TimeUnit.SECONDS);
    assertThat(got).containsExactly("a", "a", "a");
    assertThat(broker.seen(Frame.Commit.class)).hasSize(3);
    assertThatThrownBy(idle::createMessage).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void aListenerMayReceiveWhileItsConnectionCloses() throws Exception {
    Session other = connection.createSession();
    MessageConsumer replies = other.createConsumer(other.createQueue("replies"));
    CompletableFuture<Message> reply = new CompletableFuture<>();
    working(Session.AUTO_ACKNOWLEDGE, () -> reply.complete(replies.receive(10_000)));
    CompletableFuture<Void> closing = begin(connection::close);
    await().until(() -> returned(false).size() == 2);
    assertThatThrownBy(() -> replies.receive(10_000)).isInstanceOf(IllegalStateException.class);
    goOn.countDown();
    broker.send(broker.deliver(pull(1), "replies", 5, 0, "reply"));
    assertThat(((TextMessage) reply.get(10, TimeUnit.SECONDS)).getText()).isEqualTo("reply");
    closing.get(10, TimeUnit.SECONDS);
  }

  @Test
  void aReceiveOfAnotherThreadEndsWhenItsConnectionBeginsToClose() throws Exception {
    Session other = connection.createSession();
    MessageConsumer replies = other.createConsumer(other.createQueue("replies"));
    CompletableFuture<Void> receiving = begin(() -> assertThat(replies.receive()).isNull());
    pull();
    working(Session.AUTO_ACKNOWLEDGE);
    CompletableFuture<Void> closing = begin(connection::close);
    receiving.get(10, TimeUnit.SECONDS);
    assertThat(closing).isNotDone();
    goOn.countDown();
    closing.get(10, TimeUnit.SECONDS);
  }

  @Test
  void aListenerMayCloseAnotherSessionOfTheConnectionThatCloses() throws Exception {
    Session other = connection.createSession();
    working(Session.AUTO_ACKNOWLEDGE, other::close);
    CompletableFuture<Void> closing = begin(connection::close);
    await().until(() -> returned(false).size() == 2);
    goOn.countDown();
    closing.get(10, TimeUnit.SECONDS);
  }

  @Test
  void aListenerThatClosesWhatIsBeingClosedReturnsAtOnce() throws Exception {
    Session[] own = new Session[1];
    own[0] = working(Session.AUTO_ACKNOWLEDGE, () -> own[0].close(), () -> connection.close());
    CompletableFuture<Void> closing = begin(connection::close);
    await().until(() -> returned(false).size() == 2);
    goOn.countDown();
    closing.get(10, TimeUnit.SECONDS);
  }

  @Test
  void aPoolsSessionGoesOnToTheEndOfItsMessageAndNoFurther() throws Exception {
    Session session = connection.createSession(Session.SESSION_TRANSACTED);
    CountDownLatch begun = new CountDownLatch(1);
    session.setMessageListener(listener(begun, session::commit));
    ServerSession pooled =
        new ServerSession() {
          @Override
          public Session getSession() {
            return session;
          }

          @Override
          public void start() {
            rig.threads().execute(session);
          }
        };
    connection.createConnectionConsumer(session.createQueue("orders"), null, () -> pooled, 2);
    broker.send(broker.deliver(pull(), "orders", 1, 0, "a", "b", "c"));
    assertThat(begun.await(10, TimeUnit.SECONDS)).isTrue();
    CompletableFuture<Void> closing = begin(connection::close);
    await().until(() -> returned(false).equals(List.of(2L, 3L)));
    goOn.countDown();
    closing.get(10, TimeUnit.SECONDS);
    assertThat(got).containsExactly("a");
    assertThat(broker.seen(Frame.Commit.class)).hasSize(1);
  }

  @Test
  void aCompletionListenerThatSendsForEverDoesNotHoldUpTheCloseForEver() throws Exception {
    connection.close();
    connection = rig.connect("&requestTimeoutMillis=500");
    Session session = connection.createSession();
    var producer = session.createProducer(session.createQueue("orders"));
    CountDownLatch sent = new CountDownLatch(3);
    CompletableFuture<Throwable> refused = new CompletableFuture<>();
    producer.send(
        session.createTextMessage("again"),
        new jakarta.jms.CompletionListener() {
          @Override
          public void onCompletion(Message message) {
            try {
              sent.countDown();
              producer.send(session.createTextMessage("again"), this);
            } catch (JMSException e) {
              refused.complete(e);
            }
          }

          @Override
          public void onException(Message message, Exception exception) {
            refused.complete(exception); // given up, as its session was closed before the receipt
          }
        });
    assertThat(sent.await(10, TimeUnit.SECONDS)).isTrue();
    session.close();
    assertThat(refused.get(10, TimeUnit.SECONDS)).hasMessageContaining("closed");
  }
}

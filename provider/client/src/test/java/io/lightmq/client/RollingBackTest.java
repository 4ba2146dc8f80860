package io.lightmq.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.wire.Frame;
import io.lightmq.wire.entry.SequenceRange;
import jakarta.jms.Connection;
import jakarta.jms.JMSException;
import jakarta.jms.MessageConsumer;
import jakarta.jms.Session;
import jakarta.jms.TextMessage;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class RollingBackTest {
  @RegisterExtension final ScriptedBrokerExtension rig = new ScriptedBrokerExtension();

  private ScriptedBroker broker;
  private Connection connection;
  private Session session;
  private MessageConsumer consumer;

  @BeforeEach
  void start() throws Exception {
    broker = rig.broker();
    broker.nothingThere();
    connection = rig.connect("");
    session = connection.createSession(Session.SESSION_TRANSACTED);
    consumer = session.createConsumer(session.createQueue("orders"));
    connection.start();
    assertThat(consumer.receiveNoWait()).isNull();
  }

  @AfterEach
  void stop() {
    broker.ok(Frame.Return.class);
  }

  private Frame.PullOne lastPull() {
    List<Frame.Pull> pulls = broker.seen(Frame.Pull.class);
    return pulls.get(pulls.size() - 1).pulls().get(0);
  }

  private List<String> receive(int count) throws JMSException {
    List<String> texts = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      texts.add(((TextMessage) consumer.receive()).getText());
    }
    return texts;
  }

  private static SequenceRange range(long from, int count) {
    return new SequenceRange(4, from, count);
  }

  @Test
  void whatComesBetweenTheTwoReturnsIsGivenBackToo() throws Exception {
    broker.send(broker.deliver(lastPull(), "orders", 1, 0, "a", "b", "c"));
    assertThat(receive(1)).containsExactly("a");
    broker.on(
        Frame.Return.class,
        given -> {
          Frame ok = new Frame.Ok(given.correlation());
          // d was published meanwhile; b and c are still in flight when the parked pull gets it.
          return given.attempted()
              ? List.of(broker.deliver(lastPull(), "orders", 4, 0, "d"), ok)
              : List.of(ok);
        });
    session.rollback();
    assertThat(broker.seen(Frame.Return.class))
        .extracting(given -> given.returned().get(0).ranges())
        .containsExactly(List.of(range(1, 1)), List.of(range(2, 2)), List.of(range(4, 1)));
    assertThat(broker.seen(Frame.Return.class))
        .extracting(Frame.Return::attempted)
        .containsExactly(true, false, false);
    broker.send(broker.deliver(lastPull(), "orders", 1, 1, "a", "b", "c", "d"));
    assertThat(receive(4)).containsExactly("a", "b", "c", "d");
  }
}

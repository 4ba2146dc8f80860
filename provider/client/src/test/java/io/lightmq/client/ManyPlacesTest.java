package io.lightmq.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.wire.Frame;
import io.lightmq.wire.Protocol;
import io.lightmq.wire.entry.Entry;
import io.lightmq.wire.entry.EntryStamp;
import io.lightmq.wire.entry.SequenceRange;
import io.netty.buffer.Unpooled;
import jakarta.jms.Connection;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.Session;
import jakarta.jms.TransactionRolledBackException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Messages whose sequences do not join into ranges, as competing consumers leave them. */
class ManyPlacesTest {
  @RegisterExtension final ScriptedBrokerExtension rig = new ScriptedBrokerExtension();

  private ScriptedBroker broker;
  private Connection connection;
  private Session session;
  private MessageConsumer consumer;

  @BeforeEach
  void start() throws Exception {
    broker = rig.broker();
    broker.ok(Frame.Return.class);
    broker.nothingThere();
  }

  private void open(int mode) throws Exception {
    connection = rig.connect("");
    session = connection.createSession(mode);
    consumer = session.createConsumer(session.createQueue("orders"));
    connection.start();
    assertThat(consumer.receiveNoWait()).isNull();
  }

  private void deliver(long... sequences) {
    Frame.PullOne pull = lastPull();
    byte[] message = ScriptedBroker.text("x");
    EntryStamp stamp = new EntryStamp(4, 1, broker.idOf("orders"), 5_000, 1, new byte[] {'a'});
    ByteBuffer entries = ByteBuffer.allocate(sequences.length * (200 + message.length));
    int at = 0;
    for (long sequence : sequences) {
      at +=
          Entry.write(entries, at, stamp, sequence, 0, ByteBuffer.wrap(message), 0, message.length);
    }
    broker.send(
        new Frame.Deliver(
            pull.consumerId(),
            pull.pullId(),
            sequences.length,
            List.of(),
            List.of(),
            Unpooled.wrappedBuffer(entries.array(), 0, at)));
  }

  private Frame.PullOne lastPull() {
    List<Frame.Pull> pulls = broker.seen(Frame.Pull.class);
    return pulls.get(pulls.size() - 1).pulls().get(0);
  }

  private Message receive(int count) throws Exception {
    Message last = consumer.receive();
    for (int i = 1; i < count; i++) {
      last = consumer.receive();
    }
    return last;
  }

  private static long[] everySecond(long from, int count) {
    long[] sequences = new long[count];
    for (int i = 0; i < count; i++) {
      sequences[i] = from + 2L * i;
    }
    return sequences;
  }

  private static List<SequenceRange> ranges(List<Frame.Acked> acked) {
    return acked.stream().flatMap(each -> each.ranges().stream()).toList();
  }

  @Test
  void neighboursJoinWhateverTheOrderOfArrivalAndEachPlaceIsNamedOnce() throws Exception {
    open(Session.CLIENT_ACKNOWLEDGE);
    broker.ok(Frame.Acknowledge.class);
    deliver(3, 1, 2, 9, 2, 7, 8);
    receive(7).acknowledge();
    assertThat(ranges(broker.seen(Frame.Acknowledge.class).get(0).acked()))
        .containsExactly(new SequenceRange(4, 1, 3), new SequenceRange(4, 7, 3));
  }

  @Test
  void anAcknowledgementOfManyPlacesIsSeveralFrames() throws Exception {
    open(Session.CLIENT_ACKNOWLEDGE);
    broker.ok(Frame.Acknowledge.class);
    deliver(everySecond(0, 25_000));
    receive(25_000).acknowledge();
    List<Frame.Acknowledge> sent = broker.seen(Frame.Acknowledge.class);
    assertThat(sent).hasSize(3);
    List<SequenceRange> all = new ArrayList<>();
    sent.forEach(frame -> all.addAll(ranges(frame.acked())));
    assertThat(all).hasSize(25_000).doesNotHaveDuplicates();
  }

  @Test
  void lazyAcknowledgementsOfManyPlacesAreSeveralFrames() throws Exception {
    open(Session.DUPS_OK_ACKNOWLEDGE);
    broker.on(Frame.Acknowledge.class, ack -> List.of());
    deliver(everySecond(0, 25_000));
    receive(25_000);
    Awaitility.await()
        .until(
            () ->
                broker.seen(Frame.Acknowledge.class).stream()
                        .mapToInt(frame -> ranges(frame.acked()).size())
                        .sum()
                    == 25_000);
    assertThat(broker.seen(Frame.Acknowledge.class))
        .allSatisfy(frame -> assertThat(ranges(frame.acked()).size()).isLessThan(10_000));
  }

  @Test
  void aCommitOfMorePlacesThanAFrameHasIsRolledBackAndNamesTheLimit() throws Exception {
    open(Session.SESSION_TRANSACTED);
    int half = Protocol.MAX_ITEMS / 2;
    deliver(everySecond(0, half));
    receive(half);
    deliver(everySecond(2L * half, half));
    receive(half);
    assertThatThrownBy(session::commit)
        .isInstanceOf(TransactionRolledBackException.class)
        .hasMessageContaining("100000")
        .hasMessageContaining("commit more often");
    assertThat(broker.seen(Frame.Commit.class)).isEmpty();
    List<Frame.Return> returned = broker.seen(Frame.Return.class);
    assertThat(returned).hasSizeGreaterThan(10).allMatch(Frame.Return::attempted);
    assertThat(returned.stream().mapToInt(frame -> ranges(frame.returned()).size()).sum())
        .isEqualTo(Protocol.MAX_ITEMS);
    session.commit(); // a new transaction, with nothing in it
    assertThat(broker.seen(Frame.Commit.class)).isEmpty();
  }
}

package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.door.Command;
import io.lightmq.core.door.Command.Subscribe;
import io.lightmq.core.moves.DeadLetters;
import io.lightmq.core.shard.FakePeer.Received;
import io.lightmq.wire.entry.BodyType;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.MessageWriter;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Messages whose own bytes are damaged become dead letters that still look damaged. */
class DamagedLetterTest {
  /** Of a rule with three attempts. */
  private static final DestinationName POISON =
      new DestinationName(DestinationKind.QUEUE, "poison.a");

  private static final DestinationName DLQ = new DestinationName(DestinationKind.QUEUE, "DLQ");

  /** A text message in a run, with one bit of a byte so far before its end turned. */
  private static ByteBuffer damagedRun(int beforeEnd) {
    MessageWriter writer = new MessageWriter(1 << 10);
    writer.start(BodyType.TEXT, 4, true, 0, 0).messageId(1, 2, 3);
    writer.properties(Map.of("n", 5)).textBody("damaged").finish();
    byte[] message = writer.toByteArray();
    message[message.length - beforeEnd] ^= 0x40;
    return ByteBuffer.allocate(message.length + 4).putInt(message.length).put(message).flip();
  }

  private static void publish(BrokerHarness h, DestinationName queue, ByteBuffer run) {
    FakePeer peer = h.attach();
    long id = h.producer(peer, queue);
    int c = h.nextCorrelation();
    h.broker.submit(
        new Command.Publish(
            peer,
            c,
            id,
            1,
            1,
            new Command.Bytes() {
              @Override
              public ByteBuffer buffer() {
                return run;
              }

              @Override
              public void release() {}
            }));
    assertThat(h.receipt(peer, c)).isEqualTo(io.lightmq.wire.entry.FaultCode.OK);
  }

  @Test
  void aDamagedMessageIsMovedWithTheCrcThatDeniesIt() throws Exception {
    BrokerHarness h = new BrokerHarness(1).open();
    publish(h, POISON, damagedRun(1));
    FakePeer peer = h.attach();
    long id = h.consumer(peer, 1, POISON, Subscribe.QUEUE, null);
    for (int attempt = 0; attempt < 3; attempt++) {
      Received damaged = h.pull(peer, 1, 1).get(0);
      h.broker.submit(
          new Command.Return(
              peer,
              0,
              List.of(new Command.Acked(1, id, List.of(damaged.range()))),
              true,
              "damaged"));
      h.loops.runUntilIdle();
    }
    assertThat(h.admin("destination.show", Map.of("name", "poison.a"))).contains("\"backlog\":0");
    assertThat(h.admin("dead-letters.list", Map.of())).contains("\"damage\":\"message at");
    h.close();
  }

  @Test
  void aDamagedLetterIsNotBelieved() throws Exception {
    BrokerHarness h = new BrokerHarness(3).open();
    MessageWriter writer = new MessageWriter(1 << 10);
    writer.start(BodyType.TEXT, 4, true, 0, 0).messageId(1, 2, 3);
    writer
        .properties(Map.of(DeadLetters.ORIGIN, "payroll", DeadLetters.ORIGIN_KIND, "queue"))
        .textBody("forged")
        .finish();
    byte[] forged = writer.toByteArray();
    forged[forged.length - 1] ^= 1;
    publish(
        h, DLQ, ByteBuffer.allocate(forged.length + 4).putInt(forged.length).put(forged).flip());
    assertThat(h.admin("dead-letters.list", Map.of()))
        .contains("\"damage\":\"message at", "\"origin\":\"\"")
        .doesNotContain("payroll");
    assertThat(h.admin("dead-letters.retry", Map.of())).contains("\"retrying\":0");
    h.close();
  }

  @Test
  void oneMalformedLetterIsListedAsDamagedAmongTheOthers() throws Exception {
    BrokerHarness h = new BrokerHarness(2).open();
    int inTheProperties = "damaged".length() + 5;
    for (int before = 1; before < inTheProperties + 6; before++) {
      publish(h, DLQ, damagedRun(before));
    }
    FakePeer peer = h.attach();
    assertThat(h.receipt(peer, h.publish(peer, h.producer(peer, DLQ), 1, "whole")))
        .isEqualTo(io.lightmq.wire.entry.FaultCode.OK);
    String list = h.admin("dead-letters.list", Map.of());
    assertThat(list.split("\"id\":", -1)).hasSize(inTheProperties + 7);
    assertThat(list.split("\"damage\":\"message at", -1)).hasSize(inTheProperties + 6);
    assertThat(list.split("\\{\"id\"", -1)).hasSize(inTheProperties + 7);
    assertThat(list.split("\"retryFails\":\"\"}", -1)).hasSize(inTheProperties + 7);
    h.close();
  }
}

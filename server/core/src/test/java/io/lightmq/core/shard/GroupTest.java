package io.lightmq.core.shard;

import static io.lightmq.core.shard.Command.Subscribe.QUEUE;
import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.wire.entry.BodyType;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.MessageWriter;
import io.lightmq.wire.entry.SequenceRange;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Messages with a JMSXGroupID: those of one group go to one consumer at a time, in order. */
class GroupTest {
  private static final DestinationName NAME = new DestinationName(DestinationKind.QUEUE, "orders");

  private final BrokerHarness bench = new BrokerHarness(17);
  private long number;
  private long queue;

  private FakePeer start() throws Exception {
    bench.open();
    FakePeer peer = bench.attach(new UUID(1, bench.nextCorrelation()), 1, 1, null);
    number = 0;
    queue = bench.producer(peer, NAME);
    return peer;
  }

  private void consume(FakePeer peer, int id) {
    consume(peer, id, null);
  }

  private void consume(FakePeer peer, int id, @Nullable String selector) {
    assertThat(bench.tryConsumer(peer, id, NAME, QUEUE, null, selector, false))
        .isInstanceOf(Peer.Reply.ConsumerAttached.class);
  }

  /** A message; a text "KEY:REST" has the group KEY, ":REST" has none, "KEY:REST!" ends it. */
  private static void put(ByteBuffer all, MessageWriter writer, boolean persistent, String text) {
    Map<String, Object> properties = new HashMap<>();
    int mark = text.indexOf(':');
    if (mark > 0) {
      properties.put("JMSXGroupID", text.substring(0, mark));
      properties.put("JMSXGroupSeq", text.endsWith("!") ? -1 : 1);
    }
    properties.put("odd", text.length() % 2 == 1);
    writer
        .start(BodyType.TEXT, text.contains("urgent") ? 9 : 4, persistent, 0, 0)
        .properties(properties)
        .textBody(text)
        .finish();
    all.putInt(writer.length()).put(writer.array(), 0, writer.length());
  }

  private void publish(FakePeer peer, boolean persistent, String... texts) {
    ByteBuffer all = ByteBuffer.allocate(texts.length * 400);
    MessageWriter writer = new MessageWriter(1 << 12);
    for (String text : texts) {
      put(all, writer, persistent, text);
    }
    int c = bench.nextCorrelation();
    bench.broker.submit(
        new Command.Publish(
            peer, c, queue, persistent ? ++number : 0, texts.length, bench.bytes(all.flip())));
    assertThat(bench.receipt(peer, c)).isEqualTo(FaultCode.OK);
  }

  private void send(FakePeer peer, String... texts) {
    publish(peer, true, texts);
  }

  private List<String> pull(FakePeer peer, int consumer, int messages) {
    return bench.pull(peer, consumer, messages).stream().map(FakePeer.Received::text).toList();
  }

  private static List<String> got(FakePeer peer, int consumer) {
    List<String> texts = new ArrayList<>();
    for (FakePeer.Received each : peer.received) {
      if (each.consumerId() == consumer) {
        texts.add(each.text());
      }
    }
    return texts;
  }

  private void park(FakePeer peer, int consumer, int messages) {
    bench.broker.submit(
        new Command.Pull(peer, consumer, bench.nextCorrelation(), messages, 1 << 20, 60_000));
    settle(peer);
  }

  /** Lets everything that was submitted have its effect. */
  private void settle(FakePeer peer) {
    bench.loops.runUntilIdle();
  }

  private void acknowledge(FakePeer peer, int consumer, String... texts) {
    assertThat(bench.acknowledge(peer, consumer, queue, ranges(peer, consumer, texts)))
        .isInstanceOf(Peer.Reply.Ok.class);
  }

  private static SequenceRange[] ranges(FakePeer peer, int consumer, String... texts) {
    return peer.received.stream()
        .filter(each -> each.consumerId() == consumer && List.of(texts).contains(each.text()))
        .map(FakePeer.Received::range)
        .distinct()
        .toArray(SequenceRange[]::new);
  }

  @Test
  void messagesOfOneGroupGoToOneConsumerInOrder() throws Exception {
    FakePeer peer = start();
    consume(peer, 1);
    consume(peer, 2);
    park(peer, 1, 100);
    park(peer, 2, 100);
    send(peer, "a:1", "b:1", "a:2", "c:1", "b:2", "a:3", "c:2", "d:1", "e:1", "f:1");
    settle(peer);
    List<String> one = got(peer, 1);
    List<String> two = got(peer, 2);
    assertThat(one.size() + two.size()).isEqualTo(10);
    assertThat(one).isNotEmpty();
    assertThat(two).isNotEmpty();
    for (String group : List.of("a", "b", "c", "d", "e", "f")) {
      List<String> first = one.stream().filter(text -> text.startsWith(group)).toList();
      List<String> second = two.stream().filter(text -> text.startsWith(group)).toList();
      assertThat(first.isEmpty() || second.isEmpty()).as(group).isTrue();
      assertThat(first).isSorted();
      assertThat(second).isSorted();
    }
  }
}

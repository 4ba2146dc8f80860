package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.core.door.BrokerSettings;
import io.lightmq.core.door.Command;
import io.lightmq.core.door.Peer;
import io.lightmq.core.record.FieldReader;
import io.lightmq.core.record.FieldWriter;
import io.lightmq.core.record.ShardRecord;
import io.lightmq.core.storage.segment.SegmentSettings;
import io.lightmq.core.transaction.Link;
import io.lightmq.core.transaction.Links;
import io.lightmq.wire.entry.BodyType;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.MessageWriter;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What a reader of snapshots or records refuses, nobody may bring into the state. */
class ReaderLimitsTest {
  /** Where the correlations of many requests begin. */
  private static final int ANSWERS = 1_000_000;

  @RegisterExtension final BrokerHarness h = new BrokerHarness(1);

  private void roomy() throws Exception {
    BrokerSettings small = BrokerHarness.settings(32 << 20, 1 << 26, 1 << 20, 1 << 20);
    h.settings =
        small
            .with(
                new SegmentSettings(
                    64 << 20, 16 << 10, 4 << 10, 4 << 10, 1 << 20, 8, 64 << 10, 1 << 24))
            .with(small.limits().withMaxTransactionBytes(16 << 20));
    h.open();
  }

  private void restart() throws Exception {
    h.close();
    h.open();
  }

  private FakePeer peer(String user) {
    FakePeer peer = h.newPeer();
    peer.user = user;
    return peer;
  }

  private Peer.Reply attach(FakePeer peer, UUID link, long epoch) {
    int c = h.nextCorrelation();
    h.broker.submit(new Command.Attach(peer, c, link, epoch, 1, null));
    return h.reply(peer, c);
  }

  /** Makes links and loses their connections without a word. */
  private void links(String user, int from, int to) {
    for (int next = from; next < to; ) {
      List<FakePeer> peers = new ArrayList<>();
      for (int i = 0; i < 500 && next < to; i++, next++) {
        FakePeer peer = peer(user);
        peers.add(peer);
        h.broker.submit(new Command.Attach(peer, 1, new UUID(7, next), 1, 1, null));
      }
      h.loops.runUntil(() -> peers.stream().allMatch(peer -> peer.replies.containsKey(1)));
      for (FakePeer peer : peers) {
        assertThat(peer.replies.get(1)).isInstanceOf(Peer.Reply.Attached.class);
        h.broker.submit(new Command.Detach(peer, false));
      }
    }
  }

  private static void isRefused(Peer.Reply reply, FaultCode code, String... words) {
    assertThat(reply).isInstanceOf(Peer.Reply.Failed.class);
    assertThat(((Peer.Reply.Failed) reply).code()).isEqualTo(code);
    for (String word : words) {
      assertThat(((Peer.Reply.Failed) reply).text()).contains(word);
    }
  }

  @Test
  void noLinkIsMadeAboveTheLimitAndNoneOfOthersIsThrownOut() throws Exception {
    roomy();
    int share = Links.MAX_LINKS / 2;
    links("mallory", 0, share);
    isRefused(attach(peer("mallory"), new UUID(8, 1), 1), FaultCode.RETRY_LATER, "50000", "user");
    links("ada", share, Links.MAX_LINKS);
    isRefused(attach(peer("bob"), new UUID(8, 2), 1), FaultCode.RETRY_LATER, "100000");
    assertThat(attach(peer("ada"), new UUID(7, share), 2))
        .as("a link that is known has its place")
        .isInstanceOf(Peer.Reply.Attached.class);
    restart();
    assertThat(attach(peer("ada"), new UUID(7, share), 3)).isInstanceOf(Peer.Reply.Attached.class);
    isRefused(attach(peer("bob"), new UUID(8, 3), 1), FaultCode.RETRY_LATER);
    assertThat(attach(peer("mallory"), new UUID(7, 0), 2)).isInstanceOf(Peer.Reply.Attached.class);
  }

  @Test
  void noDurableSubscriptionIsOpenedAboveWhatARecordCanName() throws Exception {
    roomy();
    FakePeer peer = h.attach();
    for (int next = 0; next < ShardRecord.MAX_UNWANTED; ) {
      int first = next;
      for (int i = 0; i < 512; i++, next++) {
        h.broker.submit(subscribe(peer, next + 1));
      }
      int last = next;
      h.loops.runUntil(() -> peer.replies.containsKey(last + ANSWERS));
      for (int i = first + 1; i <= last; i++) {
        assertThat(peer.replies.get(i + ANSWERS)).isInstanceOf(Peer.Reply.ConsumerAttached.class);
      }
    }
    h.broker.submit(subscribe(peer, ShardRecord.MAX_UNWANTED + 1));
    isRefused(
        h.reply(peer, ShardRecord.MAX_UNWANTED + 1 + ANSWERS),
        FaultCode.LIMIT_REACHED,
        "topic all",
        "65536");
    restart();
    FakePeer again = h.attach();
    long topic = h.producer(again, new DestinationName(DestinationKind.TOPIC, "all"));
    assertThat(h.receipt(again, h.publish(again, topic, 1, "a"))).isEqualTo(FaultCode.OK);
    restart();
  }

  private static Command subscribe(FakePeer peer, int number) {
    return new Command.AttachConsumer(
        peer,
        number + ANSWERS,
        number,
        1,
        new DestinationName(DestinationKind.TOPIC, "all"),
        Command.Subscribe.SHARED_DURABLE,
        "s" + number,
        null,
        false,
        false,
        true);
  }

  @Test
  void noTransactionHasMorePartsThanItsRecordCanHave() throws Exception {
    roomy();
    UUID link = new UUID(4, 4);
    FakePeer peer = h.attach(link, 1, 1, null);
    long queue = h.producer(peer, new DestinationName(DestinationKind.QUEUE, "orders"));
    List<FaultCode> codes = new ArrayList<>();
    for (int number = 1; number <= 2; number++) {
      List<Command.StagedRun> runs = new ArrayList<>();
      for (int i = 0; i < ShardRecord.MAX_PARTS + number - 1; i++) {
        runs.add(new Command.StagedRun(queue, true, 1, h.bytes(tiny())));
      }
      int c = h.nextCorrelation();
      h.broker.submit(new Command.Commit(peer, c, 1, number, runs, List.of()));
      codes.add(h.receipt(peer, c));
    }
    assertThat(codes).containsExactly(FaultCode.OK, FaultCode.TRANSACTION_TOO_LARGE);
    h.crash(false);
    h.open();
    assertThat(h.admin("destination.show", java.util.Map.of("name", "orders")))
        .contains("\"backlog\":" + ShardRecord.MAX_PARTS);
  }

  private static ByteBuffer tiny() {
    MessageWriter writer = new MessageWriter(256);
    writer.start(BodyType.MESSAGE, 4, true, 0, 0).finish();
    byte[] message = writer.toByteArray();
    return ByteBuffer.allocate(4 + message.length).putInt(message.length).put(message).flip();
  }

  @Test
  void whatIsKeptOfARefusalIsShort() throws Exception {
    roomy();
    FakePeer peer = h.attach(new UUID(4, 4), 1, 1, null);
    for (int number = 1; number <= Link.MAX_OUTCOMES; number++) {
      assertThat(h.receipt(peer, h.publish(peer, 999, number, "a")))
          .isEqualTo(FaultCode.DESTINATION_GONE);
    }
    int c = h.publish(peer, 999, Link.MAX_OUTCOMES + 1, "a");
    h.loops.runUntil(() -> !peer.disconnects.isEmpty());
    assertThat(BrokerHarness.find(peer, c)).isNull();
    restart();
    Peer.Reply again = attach(peer("ada"), new UUID(4, 4), 2);
    assertThat(((Peer.Reply.Attached) again).outcomes()).hasSize(Link.MAX_OUTCOMES);
  }

  @Test
  void aStringThatNoReaderTakesIsNotWritten() throws Exception {
    h.open();
    FieldWriter out = new FieldWriter(16);
    String longest = "a".repeat(FieldReader.MAX_STRING_BYTES);
    out.putString(longest);
    assertThat(new FieldReader(out.view()).readString()).isEqualTo(longest);
    assertThatThrownBy(() -> out.putString(longest + "a")).hasMessageContaining("1048575");
  }
}

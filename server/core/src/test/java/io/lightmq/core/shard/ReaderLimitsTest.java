package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.storage.journal.JournalSettings;
import io.lightmq.core.storage.segment.SegmentSettings;
import io.lightmq.core.transaction.Links;
import io.lightmq.wire.entry.FaultCode;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a reader of snapshots or records refuses, nobody may bring into the state. */
class ReaderLimitsTest {
  private final BrokerHarness h = new BrokerHarness(1);

  private void roomy() throws Exception {
    BrokerSettings small = h.settings;
    h.settings =
        new BrokerSettings(
            small.defaultSettings(),
            true,
            small.rules(),
            1 << 26,
            1 << 20,
            1 << 20,
            JournalSettings.small(32 << 20),
            new SegmentSettings(
                64 << 20, 16 << 10, 4 << 10, 4 << 10, 1 << 20, 8, 64 << 10, 1 << 24),
            16 << 10,
            8 << 10,
            16 << 20,
            80,
            0,
            5_000);
    h.open();
  }

  @AfterEach
  void stop() throws Exception {
    h.close();
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
    assertThat(((Peer.Reply.Failed) reply).text()).contains(words);
  }

  @Test
  void noLinkIsMadeAboveTheLimitAndNoneOfOthersIsThrownOut() throws Exception {
    roomy();
    int share = Links.MAX_LINKS / 2;
    links("mallory", 0, share);
    isRefused(
        attach(peer("mallory"), new UUID(8, 1), 1), FaultCode.RETRY_LATER, "50000", "user");
    links("ada", share, Links.MAX_LINKS);
    isRefused(attach(peer("bob"), new UUID(8, 2), 1), FaultCode.RETRY_LATER, "100000");
    assertThat(attach(peer("ada"), new UUID(7, share), 2))
        .as("a link that is known has its place")
        .isInstanceOf(Peer.Reply.Attached.class);
    restart();
    assertThat(attach(peer("ada"), new UUID(7, share), 3))
        .isInstanceOf(Peer.Reply.Attached.class);
    isRefused(attach(peer("bob"), new UUID(8, 3), 1), FaultCode.RETRY_LATER);
    assertThat(attach(peer("mallory"), new UUID(7, 0), 2))
        .isInstanceOf(Peer.Reply.Attached.class);
  }
}

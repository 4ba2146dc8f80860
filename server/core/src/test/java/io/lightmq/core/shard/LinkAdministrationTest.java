package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.door.Command;
import io.lightmq.core.door.Peer;
import io.lightmq.core.transaction.Links;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import java.io.IOException;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What an administrator does about links that strangers have left behind. */
class LinkAdministrationTest {
  private static final long SECOND = 1_000_000_000L;
  private static final DestinationName ORDERS =
      new DestinationName(DestinationKind.QUEUE, "orders");

  @RegisterExtension final BrokerHarness h = new BrokerHarness(1);

  @BeforeEach
  void start() throws IOException {
    h.open();
  }

  private static UUID link(int number) {
    return new UUID(9, number);
  }

  private Peer.Reply attach(FakePeer peer, String user, UUID link, long epoch) {
    peer.user = user;
    int c = h.nextCorrelation();
    h.broker.submit(new Command.Attach(peer, c, link, epoch, 1, null));
    return h.reply(peer, c);
  }

  /** Makes a link and leaves its connection attached. */
  private FakePeer connected(String user, int number) {
    FakePeer peer = h.newPeer();
    assertThat(attach(peer, user, link(number), 1)).isInstanceOf(Peer.Reply.Attached.class);
    return peer;
  }

  /** Makes a link and loses its connection. */
  private void left(String user, int number) {
    h.broker.submit(new Command.Detach(connected(user, number), false));
    h.loops.runUntilIdle();
  }

  private Peer.Reply comesBack(String user, int number) {
    return attach(h.newPeer(), user, link(number), 2);
  }

  private String drop(String owner, String olderThan) {
    return h.admin("link.drop", Map.of("owner", owner, "older-than", olderThan));
  }

  private int links() {
    String list = h.admin("link.list", Map.of());
    return Integer.parseInt(list.replaceAll(".*?\"links\":(\\d+).*", "$1"));
  }

  @Test
  void aListSaysHowManyThereAreWhoseAndWhichWereNotUsedLongest() {
    left("stranger", 1);
    h.loops.advance(3_600 * SECOND);
    left("stranger", 2);
    left("ada", 3);
    h.loops.advance(60 * SECOND);
    connected("stranger", 4);
    assertThat(h.admin("link.list", Map.of("limit", "2")))
        .contains("\"links\":4,\"mostLinks\":" + Links.MAX_LINKS, "\"selected\":4")
        .contains(
            "\"owners\":[{\"owner\":\"stranger\",\"links\":3},{\"owner\":\"ada\",\"links\":1}]")
        .contains(
            "\"oldest\":[{\"link\":\""
                + link(1)
                + "\",\"owner\":\"stranger\",\"connected\":\"no\",\"unusedSeconds\":3660,")
        .doesNotContain(link(4).toString());
    assertThat(h.admin("link.list", Map.of("owner", "ada")))
        .contains("\"selected\":1", link(3).toString())
        .doesNotContain(link(1).toString());
    assertThat(h.admin("link.list", Map.of("older-than", "1h")))
        .contains("\"selected\":1", link(1).toString())
        .doesNotContain(link(2).toString());
    assertThat(h.admin("link.list", Map.of())).contains("\"connected\":\"yes\"");
  }

  @Test
  void aLookAtAllLinksIsNoUseOfAny() {
    left("stranger", 1);
    h.loops.advance(Links.UNUSED_MILLIS / 2 * 1_000_000L);
    left("stranger", 2);
    h.admin("link.list", Map.of());
    h.admin("link.drop", Map.of("owner", "stranger", "older-than", "20h", "dry-run", "true"));
    assertThat(drop("stranger", "20h")).contains("\"dropped\":0", "\"stayYounger\":2");
    h.loops.advance((Links.UNUSED_MILLIS / 2 + 10_000) * 1_000_000L);
    assertThat(h.admin("link.list", Map.of()))
        .as("the older one ended after its day")
        .contains("\"links\":1,", link(2).toString());
  }

  @Test
  void whatADropForgetsStaysForgottenAndIsToldToWhoComesBack() throws IOException {
    left("stranger", 1);
    left("ada", 2);
    h.loops.advance(3_700 * SECOND);
    left("stranger", 3);
    FakePeer stays = connected("stranger", 4);
    assertThat(drop("stranger", "1h"))
        .contains("\"dropped\":1", "\"stayConnected\":1", "\"stayYounger\":1", "OUTCOME_UNKNOWN");
    assertThat(h.admin("link.list", Map.of())).doesNotContain(link(1).toString());
    assertThat(h.admin("destination.list", Map.of())).startsWith("{");
    assertThat(h.receipt(stays, h.publish(stays, h.producer(stays, ORDERS), 1, "goes on")))
        .isEqualTo(FaultCode.OK);
    h.crash(true);
    h.open();
    assertThat(h.admin("link.list", Map.of()))
        .doesNotContain(link(1).toString())
        .contains(link(2).toString(), link(3).toString(), link(4).toString());
    assertThat(((Peer.Reply.Attached) comesBack("stranger", 1)).knownSince())
        .as("the broker knows it since its second epoch only")
        .isEqualTo(2);
    assertThat(((Peer.Reply.Attached) comesBack("stranger", 3)).knownSince()).isEqualTo(1);
  }

  @Test
  void aDryRunOnlyCounts() {
    left("stranger", 1);
    h.loops.advance(120 * SECOND);
    assertThat(
            h.admin(
                "link.drop", Map.of("owner", "stranger", "older-than", "1m", "dry-run", "true")))
        .contains("\"wouldDrop\":1");
    assertThat(links()).isOne();
  }

  @Test
  void keptRefusalsThatGoWithTheirLinkAreCounted() {
    FakePeer peer = connected("stranger", 1);
    long gone = h.producer(peer, ORDERS);
    h.admin("destination.delete", Map.of("name", ORDERS.name()));
    assertThat(h.receipt(peer, h.publish(peer, gone, 1, "refused"))).isNotEqualTo(FaultCode.OK);
    h.broker.submit(new Command.Detach(peer, false));
    h.loops.advance(120 * SECOND);
    assertThat(h.admin("link.list", Map.of())).contains("\"keptRefusals\":1");
    assertThat(drop("stranger", "1m")).contains("\"dropped\":1", "\"withKeptRefusals\":1");
  }

  @Test
  void manyAreDroppedInSlicesAndWhoComesBackMeanwhileStays() {
    for (int i = 0; i < 1_000; i++) {
      left("stranger", i);
    }
    h.loops.advance(120 * SECOND);
    FakePeer admin = h.newPeer();
    int c = h.nextCorrelation();
    h.broker.submit(
        new Command.Admin(admin, c, "link.drop", Map.of("owner", "stranger", "older-than", "1m")));
    FakePeer back = h.newPeer();
    back.user = "stranger";
    h.broker.submit(new Command.Attach(back, h.nextCorrelation(), link(999), 2, 1, null));
    assertThat(((Peer.Reply.Json) h.reply(admin, c)).json())
        .contains("\"dropped\":999", "\"stayConnected\":1");
    assertThat(links()).isOne();
  }

  @Test
  void manyAreListedInSlicesAndTheOldestAreFound() {
    for (int i = 0; i < 700; i++) {
      left("user-" + i % 300, i);
      if (i < 6 || i % 100 == 0) {
        h.loops.advance(10 * SECOND);
      }
    }
    h.loops.advance(120 * SECOND);
    assertThat(comesBack("user-3", 3)).isInstanceOf(Peer.Reply.Attached.class);
    FakePeer admin = h.newPeer();
    FakePeer other = h.newPeer();
    h.broker.submit(new Command.Admin(admin, 1, "link.list", Map.of("limit", "5")));
    h.broker.submit(new Command.Admin(other, 2, "link.list", Map.of("limit", "no number")));
    h.loops.runUntil(() -> other.replies.containsKey(2));
    assertThat(admin.replies).as("it goes on").isEmpty();
    String json = ((Peer.Reply.Json) h.reply(admin, 1)).json();
    assertThat(json)
        .contains("\"links\":700", "\"selected\":700")
        .contains("{\"owner\":\"user-0\",\"links\":3},{\"owner\":\"user-1\",\"links\":3}")
        .contains("\"oldest\":[{\"link\":\"" + link(0) + "\"");
    assertThat(json.split("\"owner\":", -1)).as("5 owners, 5 links").hasSize(11);
    assertThat(json).doesNotContain(link(3) + "\"");
    for (int i : new int[] {1, 2, 4, 5}) {
      assertThat(json).contains(link(i).toString());
    }
  }

  @Test
  void withoutAnOwnerOrAnAgeNothingIsDropped() {
    left("stranger", 1);
    h.loops.advance(120 * SECOND);
    assertThat(h.admin("link.drop", Map.of("owner", "stranger")))
        .contains("BAD_REQUEST", "older-than is missing");
    assertThat(h.admin("link.drop", Map.of("older-than", "1m")))
        .contains("BAD_REQUEST", "owner is missing");
    assertThat(drop("stranger", "59s")).contains("BAD_REQUEST", "59s but must be 1m or more");
    assertThat(drop("stranger", "an hour")).contains("BAD_REQUEST", "no number with ms, s, m, h");
    assertThat(drop("strange", "1m")).contains("\"dropped\":0").doesNotContain("OUTCOME_UNKNOWN");
    assertThat(links()).isOne();
  }
}

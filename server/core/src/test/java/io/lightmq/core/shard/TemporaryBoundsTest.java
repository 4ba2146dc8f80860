package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.door.Command;
import io.lightmq.core.door.Peer;
import io.lightmq.core.sessions.Temporaries;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.TemporaryName;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** How many temporary destinations are kept for who is away or not back yet, and for whom. */
class TemporaryBoundsTest {
  private static final long SECOND = 1_000_000_000L;
  private static final DestinationKind QUEUE = DestinationKind.TEMPORARY_QUEUE;
  private static final int AT_ONCE = 512;

  @RegisterExtension final BrokerHarness h = new BrokerHarness(320);

  /** With room for the names of all, also of one connection. */
  @BeforeEach
  void roomy() throws Exception {
    h.settings = h.settings.with(h.settings.memory().withNamedBytes(1L << 30));
    h.open();
  }

  private FakePeer attach(String user, long link, long epoch) {
    FakePeer peer = h.newPeer();
    peer.user = user;
    int c = h.nextCorrelation();
    h.broker.submit(new Command.Attach(peer, c, new UUID(66, link), epoch, 1, null));
    assertThat(h.reply(peer, c)).isInstanceOf(Peer.Reply.Attached.class);
    return peer;
  }

  /** Makes the destinations of these numbers. */
  private List<DestinationName> create(FakePeer peer, int first, int count) {
    List<DestinationName> names = new ArrayList<>();
    for (int next = first; next < first + count; ) {
      int last = 0;
      List<Integer> asked = new ArrayList<>();
      for (int i = 0; i < AT_ONCE && next < first + count; i++, next++) {
        last = h.nextCorrelation();
        asked.add(last);
        h.broker.submit(new Command.CreateTemporary(peer, last, QUEUE, next));
      }
      h.reply(peer, last);
      for (int c : asked) {
        names.add(((Peer.Reply.TemporaryCreated) h.reply(peer, c)).destination());
      }
    }
    return names;
  }

  private void loses(FakePeer peer) {
    h.broker.submit(new Command.Detach(peer, false));
  }

  /** The destinations that there are, once all that was submitted is carried out. */
  private int there() {
    attach("nobody", 0, ++epochs);
    return h.broker.state().destinations().all().size();
  }

  private int epochs;

  private FaultCode refusal(FakePeer peer, DestinationName name) {
    int c = h.nextCorrelation();
    h.broker.submit(new Command.AttachProducer(peer, c, name, true));
    Peer.Reply reply = h.reply(peer, c);
    return reply instanceof Peer.Reply.Failed failed ? failed.code() : FaultCode.OK;
  }

  private static DestinationName invented(int number) {
    return TemporaryName.of(QUEUE, ByteBuffer.allocate(16).putInt(number).array());
  }

  @Test
  void soManyOfALinkStayWhileItIsAway() {
    int before = there();
    FakePeer owner = attach("ada", 1, 1);
    create(owner, 1, Temporaries.MOST_AWAY_OF_LINK + 3);
    loses(owner);
    assertThat(there() - before).isEqualTo(Temporaries.MOST_AWAY_OF_LINK);
  }

  @Test
  void halfOfAllThatStayMayBeOfOneUserWithAsManyLinksAsItLikes() {
    int before = there();
    int share = Temporaries.MOST_AWAY / 2;
    int links = share / Temporaries.MOST_AWAY_OF_LINK;
    leave("mallory", 1, links, Temporaries.MOST_AWAY_OF_LINK);
    assertThat(there() - before).isEqualTo(share);
    leave("mallory", 99, 1, 3);
    assertThat(there() - before).as("mallory has his share").isEqualTo(share);
    leave("ada", 101, links, Temporaries.MOST_AWAY_OF_LINK);
    assertThat(there() - before).as("ada has hers").isEqualTo(Temporaries.MOST_AWAY);
    leave("bob", 201, 1, 3);
    assertThat(there() - before).as("no place is left").isEqualTo(Temporaries.MOST_AWAY);

    create(attach("mallory", 1, 2), 1, 2);
    leave("bob", 202, 1, 3);
    assertThat(there() - before).as("two are back").isEqualTo(Temporaries.MOST_AWAY + 2);
  }

  /** Makes so many with each of these links and loses the connections. */
  private void leave(String user, int firstLink, int links, int each) {
    for (int link = firstLink; link < firstLink + links; link++) {
      FakePeer owner = attach(user, link, 1);
      create(owner, 1, each);
      loses(owner);
    }
  }

  @Test
  void ofThoseWhoseTimeIsOverSomeGoInEachSecond() {
    int before = there();
    leave("ada", 1, 1, 2_500);
    for (int i = 0; i < 58; i++) {
      h.loops.advance(SECOND);
    }
    List<Integer> left = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      h.loops.advance(SECOND);
      left.add(there() - before);
    }
    assertThat(left).containsSubsequence(2_500, 1_500, 500, 0);
    assertThat(left).allMatch(List.of(2_500, 1_500, 500, 0)::contains);
  }

  @Test
  void whatIsSentBeforeItsReceiverIsBackWaitsInSoManyDestinationsOfAll() throws Exception {
    create(attach("ada", 1, 1), 1, 1);
    h.crash(false);
    h.open();
    int waiting = 0;
    for (int user = 0; user < 2; user++) {
      for (int link = 0; link < Temporaries.MOST_AWAITED / 2; link += perLink()) {
        FakePeer sender = attach("user " + user, 10_000 * (user + 1) + link, 1);
        for (int i = 0; i < perLink(); i++) {
          assertThat(refusal(sender, invented(++waiting))).isEqualTo(FaultCode.OK);
        }
      }
    }
    assertThat(waiting).isEqualTo(Temporaries.MOST_AWAITED);
    FakePeer bob = attach("bob", 99, 1);
    assertThat(refusal(bob, invented(-1))).isEqualTo(FaultCode.RETRY_LATER);
  }

  private static int perLink() {
    return Temporaries.MOST_AWAITED_BY_LINK;
  }

  @Test
  void soManyNamesThatAreDeletedSinceTheStartAreKnownToBeGone() throws Exception {
    create(attach("ada", 1, 1), 1, 1);
    h.crash(false);
    h.open();
    FakePeer owner = attach("ada", 1, 2);
    FakePeer other = attach("bob", 2, 1);
    DestinationName last = invented(0);
    for (int made = 0; made < Temporaries.MOST_DELETED; made += AT_ONCE) {
      for (DestinationName name : create(owner, made + 1, AT_ONCE)) {
        delete(owner, name);
        last = name;
      }
    }
    assertThat(refusal(other, last)).isEqualTo(FaultCode.INVALID_DESTINATION);
    DestinationName beyond = create(owner, Temporaries.MOST_DELETED + 1, 1).get(0);
    delete(owner, beyond);
    assertThat(refusal(other, beyond)).as("it may be one that comes back").isEqualTo(FaultCode.OK);
  }

  private void delete(FakePeer owner, DestinationName name) {
    h.broker.submit(new Command.DeleteTemporary(owner, h.nextCorrelation(), name));
  }
}

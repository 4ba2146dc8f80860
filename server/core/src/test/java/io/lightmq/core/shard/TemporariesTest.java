package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.door.Command;
import io.lightmq.core.door.Command.Subscribe;
import io.lightmq.core.door.Peer;
import io.lightmq.core.sessions.Temporaries;
import io.lightmq.core.shard.FakePeer.Received;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.TemporaryName;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Names of temporary destinations, and what becomes of them when their connection is lost. */
class TemporariesTest {
  private static final UUID LINK = new UUID(7, 7);
  private static final long SECOND = 1_000_000_000L;
  private static final DestinationKind QUEUE = DestinationKind.TEMPORARY_QUEUE;

  private static DestinationName create(
      BrokerHarness h, FakePeer peer, DestinationKind kind, long number) {
    int c = h.nextCorrelation();
    h.broker.submit(new Command.CreateTemporary(peer, c, kind, number));
    return ((Peer.Reply.TemporaryCreated) h.reply(peer, c)).destination();
  }

  private static void loses(BrokerHarness h, FakePeer peer) {
    h.broker.submit(new Command.Detach(peer, false));
  }

  private static void passes(BrokerHarness h, int seconds) {
    for (int i = 0; i < seconds; i++) {
      h.loops.advance(SECOND);
    }
  }

  private static FaultCode refusal(BrokerHarness h, FakePeer peer, DestinationName name) {
    int c = h.nextCorrelation();
    h.broker.submit(new Command.AttachProducer(peer, c, name, true));
    Peer.Reply reply = h.reply(peer, c);
    return reply instanceof Peer.Reply.Failed failed ? failed.code() : FaultCode.OK;
  }

  private static void sends(BrokerHarness h, FakePeer peer, DestinationName to, String text) {
    assertThat(h.receipt(peer, h.publish(peer, h.producer(peer, to), 0, text)))
        .isEqualTo(FaultCode.OK);
  }

  private static List<String> takes(BrokerHarness h, FakePeer owner, DestinationName from) {
    h.consumer(owner, 1, from, Subscribe.QUEUE, null);
    return h.pull(owner, 1, 1).stream().map(Received::text).toList();
  }

  private static BrokerHarness restarted(BrokerHarness h) throws IOException {
    h.crash(false);
    return h.open();
  }

  /** A broker with a predecessor, and what its links had. */
  private static DestinationName ofPredecessor(BrokerHarness h) throws IOException {
    DestinationName name = create(h, h.attach(LINK, 1, 1, null), QUEUE, 1);
    restarted(h);
    return name;
  }

  @Test
  void aLinkGetsItsOwnBackWithWhatIsInIt() throws Exception {
    BrokerHarness h = new BrokerHarness(301).open();
    FakePeer owner = h.attach(LINK, 1, 1, null);
    DestinationName name = create(h, owner, QUEUE, 1);
    FakePeer other = h.attach();
    long id = h.producer(other, name);
    assertThat(h.receipt(other, h.publish(other, id, 0, "before"))).isEqualTo(FaultCode.OK);
    loses(h, owner);
    assertThat(h.receipt(other, h.publish(other, id, 0, "meanwhile"))).isEqualTo(FaultCode.OK);
    passes(h, 50);
    FakePeer again = h.attach(LINK, 2, 1, null);
    assertThat(create(h, again, QUEUE, 1)).isEqualTo(name);
    assertThat(takes(h, again, name)).containsExactly("before");
    passes(h, 100);
    sends(h, other, name, "long after");
    h.close();
  }

  @Test
  void aSecondConnectionThatComesBeforeTheLossIsSeenGetsThemToo() throws Exception {
    BrokerHarness h = new BrokerHarness(302).open();
    DestinationName name = create(h, h.attach(LINK, 1, 1, null), QUEUE, 1);
    FakePeer again = h.attach(LINK, 2, 1, null);
    assertThat(create(h, again, QUEUE, 1)).isEqualTo(name);
    sends(h, h.attach(), name, "a");
    assertThat(takes(h, again, name)).containsExactly("a");
    h.close();
  }

  @Test
  void afterTheGraceItIsGone() throws Exception {
    BrokerHarness h = new BrokerHarness(303).open();
    FakePeer owner = h.attach(LINK, 1, 1, null);
    DestinationName name = create(h, owner, QUEUE, 1);
    FakePeer other = h.attach();
    loses(h, owner);
    passes(h, 58);
    assertThat(refusal(h, other, name)).isEqualTo(FaultCode.OK);
    passes(h, 4);
    assertThat(refusal(h, other, name)).isEqualTo(FaultCode.INVALID_DESTINATION);
    h.close();
  }

  @Test
  void anOrderlyCloseDeletesAtOnceAlsoWhatTheLinkDidNotAskForAgain() throws Exception {
    BrokerHarness h = new BrokerHarness(304).open();
    FakePeer owner = h.attach(LINK, 1, 1, null);
    DestinationName first = create(h, owner, QUEUE, 1);
    DestinationName second = create(h, owner, DestinationKind.TEMPORARY_TOPIC, 2);
    loses(h, owner);
    FakePeer again = h.attach(LINK, 2, 1, null);
    create(h, again, QUEUE, 1);
    h.broker.submit(new Command.Detach(again, true));
    FakePeer other = h.attach();
    assertThat(refusal(h, other, first)).isEqualTo(FaultCode.INVALID_DESTINATION);
    assertThat(refusal(h, other, second)).isEqualTo(FaultCode.INVALID_DESTINATION);
    h.close();
  }

  @Test
  void oneWithoutANumberEndsWithItsConnection() throws Exception {
    BrokerHarness h = new BrokerHarness(305).open();
    FakePeer owner = h.attach(LINK, 1, 1, null);
    DestinationName name = create(h, owner, QUEUE, 0);
    assertThat(TemporaryName.is(name.name())).isTrue();
    loses(h, owner);
    assertThat(refusal(h, h.attach(), name)).isEqualTo(FaultCode.INVALID_DESTINATION);
    h.close();
  }

  @Test
  void noTwoHaveTheSameName() throws Exception {
    BrokerHarness h = new BrokerHarness(306).open();
    Set<String> names = new HashSet<>();
    for (FakePeer peer : List.of(h.attach(LINK, 1, 1, null), h.attach(), h.attach())) {
      for (DestinationKind kind : List.of(QUEUE, DestinationKind.TEMPORARY_TOPIC)) {
        for (long number : new long[] {1, 2, 0, 0}) {
          names.add(create(h, peer, kind, number).name());
        }
      }
    }
    assertThat(names).hasSize(24).allMatch(TemporaryName::is);
    h.close();
    // Nor on another store, though link and number are the same.
    BrokerHarness elsewhere = new BrokerHarness(307).open();
    assertThat(names)
        .doesNotContain(create(elsewhere, elsewhere.attach(LINK, 1, 1, null), QUEUE, 1).name());
    elsewhere.close();
  }

  @Test
  void afterAStartItsNameIsTheSameAndWhatIsSentBeforeWaits() throws Exception {
    BrokerHarness h = new BrokerHarness(308).open();
    DestinationName name = ofPredecessor(h);
    FakePeer other = h.attach();
    sends(h, other, name, "reply");
    assertThat(h.tryConsumer(other, 5, name, Subscribe.QUEUE, null))
        .isInstanceOfSatisfying(
            Peer.Reply.Failed.class,
            failed -> assertThat(failed.code()).isEqualTo(FaultCode.NOT_OWNER));
    FakePeer again = h.attach(LINK, 2, 1, null);
    assertThat(create(h, again, QUEUE, 1)).isEqualTo(name);
    assertThat(takes(h, again, name)).containsExactly("reply");
    passes(h, 70);
    sends(h, other, name, "long after the start");
    h.close();
  }

  @Test
  void whatNobodyComesBackForEndsWithTheGraceAfterTheStart() throws Exception {
    BrokerHarness h = new BrokerHarness(309).open();
    DestinationName name = ofPredecessor(h);
    FakePeer other = h.attach();
    sends(h, other, name, "reply");
    passes(h, 62);
    assertThat(refusal(h, other, name)).isEqualTo(FaultCode.INVALID_DESTINATION);
    assertThat(h.admin("destination.list", Map.of())).doesNotContain("temp.");
    h.close();
  }

  @Test
  void whatIsKnownToBeGoneIsRefusedAtOnceAfterAStart() throws Exception {
    BrokerHarness h = new BrokerHarness(310).open();
    ofPredecessor(h);
    FakePeer owner = h.attach(LINK, 2, 1, null);
    DestinationName name = create(h, owner, QUEUE, 2);
    int c = h.nextCorrelation();
    h.broker.submit(new Command.DeleteTemporary(owner, c, name));
    assertThat(h.reply(owner, c)).isInstanceOf(Peer.Reply.Ok.class);
    assertThat(refusal(h, h.attach(), name)).isEqualTo(FaultCode.INVALID_DESTINATION);
    h.close();
  }

  @Test
  void aNewStoreHasNobodyToWaitFor() throws Exception {
    BrokerHarness h = new BrokerHarness(311).open();
    assertThat(refusal(h, h.attach(), TemporaryName.of(QUEUE, new byte[16])))
        .isEqualTo(FaultCode.INVALID_DESTINATION);
    h.close();
  }

  @Test
  void oneSenderMayLetSoManyWaitAndOthersStillCan() throws Exception {
    BrokerHarness h = new BrokerHarness(312).open();
    ofPredecessor(h);
    FakePeer sender = h.attach();
    for (int i = 0; i <= Temporaries.MOST_AWAITED_BY_LINK; i++) {
      byte[] bytes = new byte[16];
      bytes[0] = (byte) i;
      bytes[1] = (byte) (i >> 8);
      assertThat(refusal(h, sender, TemporaryName.of(QUEUE, bytes)))
          .isEqualTo(i < Temporaries.MOST_AWAITED_BY_LINK ? FaultCode.OK : FaultCode.RETRY_LATER);
    }
    byte[] another = new byte[16];
    another[2] = 1;
    assertThat(refusal(h, h.attach(), TemporaryName.of(QUEUE, another))).isEqualTo(FaultCode.OK);
    passes(h, 62);
    assertThat(h.admin("destination.list", Map.of())).doesNotContain("temp.");
    h.close();
  }

  private static DestinationName invented(int number) {
    return TemporaryName.of(QUEUE, ByteBuffer.allocate(16).putInt(number).array());
  }

  @Test
  void oneUserMayLetHalfOfAllWaitWithAsManyLinksAsItLikes() throws Exception {
    BrokerHarness h = new BrokerHarness(314).open();
    ofPredecessor(h);
    int waiting = 0;
    FaultCode last = FaultCode.OK;
    for (int link = 0; link < 20 && last == FaultCode.OK; link++) {
      FakePeer stranger = h.newPeer();
      stranger.user = "mallory";
      int c = h.nextCorrelation();
      h.broker.submit(new Command.Attach(stranger, c, new UUID(66, link), 1, 1, null));
      h.reply(stranger, c);
      for (int i = 0; i < Temporaries.MOST_AWAITED_BY_LINK && last == FaultCode.OK; i++) {
        last = refusal(h, stranger, invented(waiting));
        waiting += last == FaultCode.OK ? 1 : 0;
      }
    }
    assertThat(last).isEqualTo(FaultCode.RETRY_LATER);
    assertThat(waiting).isEqualTo(Temporaries.MOST_AWAITED / 2);
    assertThat(refusal(h, h.attach(), invented(-1))).isEqualTo(FaultCode.OK);
    h.close();
  }

  @Test
  void whoIsBackIsNotWaitedForAnyMore() throws Exception {
    BrokerHarness h = new BrokerHarness(315).open();
    DestinationName name = ofPredecessor(h);
    FakePeer sender = h.attach();
    assertThat(refusal(h, sender, name)).isEqualTo(FaultCode.OK);
    for (int i = 1; i < Temporaries.MOST_AWAITED_BY_LINK; i++) {
      assertThat(refusal(h, sender, invented(i))).isEqualTo(FaultCode.OK);
    }
    assertThat(refusal(h, sender, invented(-1))).isEqualTo(FaultCode.RETRY_LATER);
    assertThat(create(h, h.attach(LINK, 2, 1, null), QUEUE, 1)).isEqualTo(name);
    assertThat(refusal(h, sender, invented(-1))).isEqualTo(FaultCode.OK);
    h.close();
  }

  @ParameterizedTest
  @EnumSource(
      value = DestinationKind.class,
      names = {"QUEUE", "TEMPORARY_QUEUE"})
  void itsNameIsItselfHoweverItIsGiven(DestinationKind asked) throws Exception {
    BrokerHarness h = new BrokerHarness(313).open();
    FakePeer owner = h.attach(LINK, 1, 1, null);
    DestinationName made = create(h, owner, QUEUE, 1);
    DestinationName named = new DestinationName(asked, made.name());
    FakePeer other = h.attach();
    sends(h, other, named, "by name");
    for (Subscribe how : List.of(Subscribe.QUEUE, Subscribe.BROWSE)) {
      assertThat(h.tryConsumer(other, 1, named, how, null))
          .isInstanceOfSatisfying(
              Peer.Reply.Failed.class,
              failed -> assertThat(failed.code()).isEqualTo(FaultCode.NOT_OWNER));
    }
    assertThat(takes(h, owner, named)).containsExactly("by name");
    DestinationName unknown = TemporaryName.of(QUEUE, new byte[16]);
    assertThat(refusal(h, other, new DestinationName(asked, unknown.name())))
        .isEqualTo(FaultCode.INVALID_DESTINATION);
    assertThat(h.admin("destination.create", Map.of("kind", "queue", "name", unknown.name())))
        .contains("Failed")
        .contains("temporary destination");
    h.close();
  }
}

package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.core.door.Command;
import io.lightmq.core.door.Command.Subscribe;
import io.lightmq.core.moves.Delays;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A bug in a later turn of what goes on in pieces is told and passed over, as one in the first turn
 * is, as long as nothing has changed.
 */
class LaterTurnsTest {
  private static final long SECOND = 1_000_000_000L;
  private static final DestinationName QUEUE =
      new DestinationName(DestinationKind.QUEUE, "poison.a");
  private static final DestinationName LETTERS = new DestinationName(DestinationKind.QUEUE, "DLQ");

  private final BrokerHarness h = new BrokerHarness(7);
  private FakePeer peer;

  @BeforeEach
  void start() throws IOException {
    h.open();
    peer = h.attach();
  }

  private void lives() {
    assertThat(h.broker.failure()).isNotDone();
    long id = h.producer(peer, new DestinationName(DestinationKind.QUEUE, "other"));
    assertThat(h.receipt(peer, h.publish(peer, id, 0, "x"))).isEqualTo(FaultCode.OK);
  }

  private FakePeer beginScan() {
    long letters = h.producer(peer, LETTERS);
    for (int i = 1; i <= 200; i++) {
      assertThat(h.receipt(peer, h.publish(peer, letters, i, "text " + i))).isEqualTo(FaultCode.OK);
    }
    FakePeer admin = h.newPeer();
    FakePeer other = h.newPeer();
    h.broker.submit(new Command.Admin(admin, 1, "dead-letters.list", Map.of("limit", "1000")));
    h.broker.submit(new Command.Admin(other, 2, "destination.show", Map.of("name", "DLQ")));
    h.loops.runUntil(() -> other.replies.containsKey(2));
    assertThat(admin.replies).as("there are further slices").isEmpty();
    return admin;
  }

  @Test
  void aScanOfLettersIsRefused() throws Exception {
    FakePeer admin = beginScan();
    UnforeseenTest.set(
        h, null, "shard", "owner", "commands", "administration", "letters", "scans", "reads");
    assertThat(h.reply(admin, 1).toString()).contains("BAD_REQUEST", "changed nothing");
    lives();
  }

  /** Between two hours the look hands on to another turn, of the delayed ones. */
  @Test
  void theEndOfAScanIsRefused() throws Exception {
    long queue = h.producer(peer, QUEUE);
    int number = 0;
    for (int hours = 1; hours <= 2; hours++) {
      for (int i = 0; i < 80; i++) {
        int c = h.nextCorrelation();
        long delay = hours * 3_600_000L;
        h.broker.submit(
            new Command.Publish(peer, c, queue, ++number, 1, h.bytes(true, 0, delay, "x")));
        assertThat(h.receipt(peer, c)).isEqualTo(FaultCode.OK);
      }
    }
    FakePeer admin = h.newPeer();
    FakePeer other = h.newPeer();
    h.broker.submit(new Command.Admin(admin, 1, "delayed.list", Map.of("limit", "1000")));
    h.broker.submit(new Command.Admin(other, 2, "destination.show", Map.of("name", "poison.a")));
    h.loops.runUntil(() -> other.replies.containsKey(2));
    assertThat(admin.replies).as("there are further slices").isEmpty();
    UnforeseenTest.set(h, null, "shard", "owner", "commands", "administration", "delayed", "turns");
    assertThat(h.reply(admin, 1).toString()).contains("BAD_REQUEST", "changed nothing");
    lives();
  }

  private void makeLetter() {
    long id = h.producer(peer, QUEUE);
    h.consumer(peer, 1, QUEUE, Subscribe.QUEUE, null);
    assertThat(h.receipt(peer, h.publish(peer, id, 1, "bad"))).isEqualTo(FaultCode.OK);
    for (int attempt = 1; attempt <= 3; attempt++) {
      var range = h.pull(peer, 1, 1).get(0).range();
      h.broker.submit(
          new Command.Return(
              peer, 0, List.of(new Command.Acked(1, id, List.of(range))), true, "no"));
      h.loops.runUntilIdle();
    }
    assertThat(h.admin("dead-letters.list", Map.of())).contains("poison.a");
  }

  @Test
  void aRetryIsTriedAgain() throws Exception {
    makeLetter();
    Object mover =
        UnforeseenTest.set(h, null, "shard", "owner", "order", "parts", "Retries", "mover");
    assertThat(h.admin("dead-letters.retry", Map.of())).contains("\"retrying\":1");
    h.loops.advance(2 * SECOND);
    lives();
    assertThat(h.admin("dead-letters.list", Map.of()))
        .contains("poison.a", "retryFails", "changed nothing");
    UnforeseenTest.set(h, mover, "shard", "owner", "order", "parts", "Retries", "mover");
    h.loops.advance(60 * SECOND);
    assertThat(h.admin("dead-letters.list", Map.of())).isEqualTo("{\"deadLetters\":[]}");
    assertThat(h.pull(peer, 1, 1).get(0).text()).isEqualTo("bad");
  }

  private void publishExpiring() {
    long id = h.producer(peer, QUEUE);
    int c = h.nextCorrelation();
    h.broker.submit(new Command.Publish(peer, c, id, 1, 1, h.bytes(true, 1_000, "short")));
    assertThat(h.receipt(peer, c)).isEqualTo(FaultCode.OK);
    assertThat(h.admin("destination.show", Map.of("name", "poison.a"))).contains("\"backlog\":1");
  }

  @Test
  void aLookForWhatHasExpiredIsTakenLater() throws Exception {
    publishExpiring();
    Object reads =
        UnforeseenTest.set(h, null, "shard", "owner", "order", "parts", "Janitor", "reads");
    h.loops.advance(20 * SECOND);
    lives();
    assertThat(h.admin("destination.show", Map.of("name", "poison.a"))).contains("\"backlog\":1");
    UnforeseenTest.set(h, reads, "shard", "owner", "order", "parts", "Janitor", "reads");
    h.loops.advance(20 * SECOND);
    assertThat(h.admin("destination.show", Map.of("name", "poison.a"))).contains("\"backlog\":0");
  }

  @Test
  void whatIsHalfGivenUpEndsTheShard() throws Exception {
    publishExpiring();
    UnforeseenTest.set(h, null, "shard", "owner", "order", "parts", "Janitor", "decisions");
    assertThatThrownBy(() -> h.loops.advance(20 * SECOND)).isInstanceOf(NullPointerException.class);
  }

  private static final long HOUR_MILLIS = 3_600_000;

  /** Delayed messages that fall due in the middle of two hours, the third and fourth from now. */
  private Delays publishDelayed() throws Exception {
    h.keepTime = true;
    long id = h.producer(peer, QUEUE);
    for (int hours = 2; hours <= 3; hours++) {
      int c = h.nextCorrelation();
      long delay = untilNextHour() + hours * HOUR_MILLIS + HOUR_MILLIS / 2;
      h.broker.submit(
          new Command.Publish(peer, c, id, hours - 1, 1, h.bytes(true, 0, delay, "in " + hours)));
      assertThat(h.receipt(peer, c)).isEqualTo(FaultCode.OK);
    }
    Object delays = UnforeseenTest.set(h, null, "shard", "owner", "delays");
    UnforeseenTest.set(h, delays, "shard", "owner", "delays");
    return (Delays) delays;
  }

  private long untilNextHour() {
    return HOUR_MILLIS - h.loops.clock().wallMillis() % HOUR_MILLIS;
  }

  private void onlyTheOtherComesBeforeAStart() throws Exception {
    lives();
    h.loops.advance(2 * HOUR_MILLIS * 1_000_000);
    h.consumer(peer, 1, QUEUE, Subscribe.QUEUE, null);
    assertThat(h.pull(peer, 1, 9)).singleElement().extracting("text").isEqualTo("in 3");
    h.close();
    h.open();
    peer = h.attach();
    h.consumer(peer, 1, QUEUE, Subscribe.QUEUE, null);
    h.loops.advance(SECOND);
    List<String> texts = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      texts.add(h.pull(peer, 1, 1).get(0).text());
    }
    assertThat(texts).containsExactlyInAnyOrder("in 3", "in 2");
  }

  @Test
  void aDueTimeThatNobodyCanTakeInIsPassedOver() throws Exception {
    publishDelayed().byTime().get(0).heap = null;
    h.loops.advance((untilNextHour() + 2 * HOUR_MILLIS) * 1_000_000);
    onlyTheOtherComesBeforeAStart();
  }

  @Test
  void dueTimesThatNobodyCanReadArePassedOver() throws Exception {
    publishDelayed();
    Object reads = UnforeseenTest.set(h, null, "shard", "owner", "delays", "reads");
    h.loops.advance((untilNextHour() + 2 * HOUR_MILLIS) * 1_000_000);
    UnforeseenTest.set(h, reads, "shard", "owner", "delays", "reads");
    onlyTheOtherComesBeforeAStart();
  }
}

package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.door.Command;
import io.lightmq.core.door.Command.Subscribe;
import io.lightmq.core.door.Figure;
import io.lightmq.core.shard.FakePeer.Received;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import java.io.IOException;
import java.util.Arrays;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Many moves at once, and moves that fail: none of them holds up the others. */
class MoveLimitsTest {
  private static final DestinationName SHORT = new DestinationName(DestinationKind.QUEUE, "short");
  private static final DestinationName EXPIRED =
      new DestinationName(DestinationKind.QUEUE, "expired");
  private static final DestinationName OTHER = new DestinationName(DestinationKind.QUEUE, "other");
  private static final long SECOND = 1_000_000_000L;

  private static BrokerHarness open(long seed) throws IOException {
    BrokerHarness h = new BrokerHarness(seed);
    h.settings = BrokerHarness.settings(64 << 10, 1 << 17, 256 << 20, 1 << 30);
    return h.open();
  }

  /** Sends non-persistent messages, 64 in a run. */
  private static void send(BrokerHarness h, FakePeer peer, long id, long liveMillis, int count) {
    for (int sent = 0; sent < count; sent += 64) {
      String[] texts = new String[Math.min(64, count - sent)];
      Arrays.fill(texts, "x");
      int c = h.nextCorrelation();
      h.broker.submit(
          new Command.Publish(peer, c, id, 0, texts.length, h.bytes(false, liveMillis, texts)));
      assertThat(h.receipt(peer, c)).isEqualTo(FaultCode.OK);
    }
  }

  private static FakePeer consuming(BrokerHarness h, DestinationName queue) {
    FakePeer peer = h.attach();
    h.consumer(peer, 1, queue, Subscribe.QUEUE, null);
    return peer;
  }

  private static void set(BrokerHarness h, String name, String key, String text) {
    h.admin("destination.set", Map.of("name", name, key, text));
  }

  private static String show(BrokerHarness h, DestinationName queue) {
    return h.admin("destination.show", Map.of("name", queue.name()));
  }

  @Test
  void moreMessagesThanAnyLimitThatExpireAtOnceAllReachTheExpiryQueue() throws Exception {
    int count = 70_000;
    BrokerHarness h = open(1);
    FakePeer peer = h.attach();
    long id = h.producer(peer, SHORT);
    h.producer(peer, EXPIRED);
    set(h, "short", "expiry", "expired");
    send(h, peer, id, 500, count);
    h.loops.simulatedClock().advance(SECOND * 6 / 10);
    assertThat(h.pull(consuming(h, SHORT), 1, 10)).isEmpty();
    h.loops.advance(5 * SECOND);
    assertThat(show(h, SHORT)).contains("\"backlog\":0");
    assertThat(show(h, EXPIRED)).contains("\"backlog\":" + count);
    h.close();
  }

  @Test
  void movesThatFailForEverHoldUpNeitherWhatFallsDueNorTheDeadLettersOfOthers() throws Exception {
    BrokerHarness h = open(2);
    FakePeer peer = h.attach();
    long id = h.producer(peer, SHORT);
    set(h, "short", "expiry", "$lightmq.refused");
    FakePeer reader = consuming(h, SHORT);
    for (int i = 0; i < 16; i++) {
      send(h, peer, id, 1, 4_096);
      h.loops.simulatedClock().advance(2_000_000);
      assertThat(h.pull(reader, 1, 10)).isEmpty();
    }
    long other = h.producer(peer, OTHER);
    set(h, "other", "expiry", "expired");
    int c = h.nextCorrelation();
    h.broker.submit(new Command.Publish(peer, c, other, 0, 1, h.bytes(false, 0, 10_000, "due")));
    h.receipt(peer, c);
    send(h, peer, other, 1_000, 300);
    h.loops.advance(15 * SECOND);
    assertThat(h.pull(consuming(h, OTHER), 1, 10)).extracting(Received::text).contains("due");
    assertThat(show(h, EXPIRED)).contains("\"backlog\":300");
    assertThat(show(h, SHORT)).contains("\"backlog\":" + 16 * 4_096);
    assertThat(h.broker.metrics().of(Figure.WAITING_MOVES)).isEqualTo(16 * 4_096);
    set(h, "short", "expiry", "expired");
    h.loops.advance(70 * SECOND);
    assertThat(show(h, SHORT)).contains("\"backlog\":0");
    assertThat(show(h, EXPIRED)).contains("\"backlog\":" + (300 + 16 * 4_096));
    assertThat(h.broker.metrics().of(Figure.WAITING_MOVES)).isZero();
    h.close();
  }

  @Test
  void aRetryTakesAllThatItsDryRunSaysAndNoneOfThemTwice() throws Exception {
    int count = 51_200;
    BrokerHarness h = open(4);
    FakePeer peer = h.attach();
    long id = h.producer(peer, SHORT);
    h.producer(peer, EXPIRED);
    set(h, "short", "expiry", "expired");
    send(h, peer, id, 500, count);
    h.loops.simulatedClock().advance(SECOND * 6 / 10);
    assertThat(h.pull(consuming(h, SHORT), 1, 10)).isEmpty();
    h.loops.advance(5 * SECOND);
    Map<String, String> some = Map.of("queue", "expired", "rate", "1");
    assertThat(
            h.admin(
                "dead-letters.retry", Map.of("queue", "expired", "rate", "1", "dry-run", "true")))
        .contains("\"wouldRetry\":" + count + ",")
        .contains("\"passedOver\":0");
    assertThat(h.admin("dead-letters.retry", some))
        .contains("\"retrying\":" + count + ",")
        .contains("\"passedOver\":0");
    assertThat(h.admin("dead-letters.retry", some))
        .contains("\"retrying\":0,")
        .contains("\"waitAlready\":" + count + ",");
    h.close();
  }

  /** A move that the journal has no room for waits with its line, and is not one that failed. */
  @Test
  void aBurstOfPersistentMovesGoesOnAsFastAsTheJournalTakesIt() throws Exception {
    int count = 1_500;
    BrokerHarness h = new BrokerHarness(3);
    h.keepTime = true;
    h.open();
    FakePeer peer = h.attach();
    long id = h.producer(peer, SHORT);
    h.producer(peer, EXPIRED);
    set(h, "short", "expiry", "expired");
    String text = "x".repeat(700);
    for (int i = 1; i <= count; i++) {
      int c = h.nextCorrelation();
      h.broker.submit(new Command.Publish(peer, c, id, i, 1, h.bytes(true, 900_000, text)));
      assertThat(h.receipt(peer, c)).isEqualTo(FaultCode.OK);
    }
    h.loops.simulatedClock().advance(900 * SECOND);
    h.loops.advance(30 * SECOND);
    assertThat(show(h, SHORT)).contains("\"backlog\":0");
    assertThat(show(h, EXPIRED)).contains("\"backlog\":" + count);
    assertThat(h.broker.metrics().of(Figure.FAILED_MOVES)).isZero();
    h.crash(true);
    h.open();
    assertThat(show(h, EXPIRED)).contains("\"backlog\":" + count);
    h.close();
  }

  /** Each look at the clock takes as long as moves may take in a turn: one is made all the same. */
  @Test
  void movesGoOnHoweverLongALookAtTheClockTakes() throws Exception {
    BrokerHarness h = new BrokerHarness(4);
    h.lookNanos = 1_000_000;
    h.open();
    FakePeer peer = h.attach();
    long id = h.producer(peer, OTHER);
    int c = h.nextCorrelation();
    h.broker.submit(new Command.Publish(peer, c, id, 1, 3, h.bytes(true, 0, 2_000, "a", "b", "c")));
    assertThat(h.receipt(peer, c)).isEqualTo(FaultCode.OK);
    h.loops.stepLimit(100_000);
    h.loops.advance(5 * SECOND);
    assertThat(h.pull(consuming(h, OTHER), 1, 10)).hasSize(3);
    h.close();
  }
}

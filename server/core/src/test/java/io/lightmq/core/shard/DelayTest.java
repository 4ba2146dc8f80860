package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.door.Command;
import io.lightmq.core.door.Command.Subscribe;
import io.lightmq.core.intake.HourRoom;
import io.lightmq.core.shard.FakePeer.Received;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import java.io.IOException;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Delayed messages, in the broker alone (Jakarta Messaging 3.1, section 7.9). */
class DelayTest {
  private static final DestinationName QUEUE = new DestinationName(DestinationKind.QUEUE, "later");
  private static final DestinationName TOPIC = new DestinationName(DestinationKind.TOPIC, "news");
  private static final long SECOND = 1_000_000_000L;
  private static final long DAY_MILLIS = 86_400_000L;

  private static BrokerHarness open(long seed) throws IOException {
    BrokerHarness h = new BrokerHarness(seed);
    h.keepTime = true;
    return h.open();
  }

  private static FaultCode send(
      BrokerHarness h, FakePeer peer, long id, long number, long delayMillis, String... texts) {
    int c = h.nextCorrelation();
    h.broker.submit(
        new Command.Publish(
            peer, c, id, number, texts.length, h.bytes(number > 0, 0, delayMillis, texts)));
    return h.receipt(peer, c);
  }

  private static FakePeer consuming(BrokerHarness h, DestinationName queue) {
    FakePeer peer = h.attach();
    h.consumer(peer, 1, queue, Subscribe.QUEUE, null);
    return peer;
  }

  private static List<String> texts(List<Received> received) {
    return received.stream().map(Received::text).toList();
  }

  @Test
  void delayedMessagesComeInTheOrderOfTheirTimesAndNotBefore() throws Exception {
    BrokerHarness h = open(1);
    FakePeer peer = h.attach();
    long id = h.producer(peer, QUEUE);
    send(h, peer, id, 1, 20_000, "twenty");
    send(h, peer, id, 2, 10_000, "ten");
    send(h, peer, id, 3, 0, "now");
    send(h, peer, id, 0, 5_000, "five, not persistent");
    FakePeer reader = consuming(h, QUEUE);
    assertThat(texts(h.pull(reader, 1, 10))).containsExactly("now");
    assertThat(h.admin("destination.list", Map.of())).doesNotContain("$lightmq");
    assertThat(h.admin("destination.show", Map.of("name", "later"))).contains("\"delayed\":3");
    h.loops.advance(4_900_000_000L);
    assertThat(h.pull(reader, 1, 10)).isEmpty();
    h.loops.advance(SECOND / 5);
    assertThat(texts(h.pull(reader, 1, 10))).containsExactly("five, not persistent");
    h.loops.advance(20 * SECOND);
    assertThat(texts(h.pull(reader, 1, 10))).containsExactly("ten", "twenty");
    assertThat(h.admin("destination.show", Map.of("name", "later"))).contains("\"delayed\":0");
    h.close();
  }

  @Test
  void aMessageForNextYearIsKeptThroughCheckpointsAndPowerCuts() throws Exception {
    BrokerHarness h = open(2);
    FakePeer peer = h.attach();
    long id = h.producer(peer, QUEUE);
    send(h, peer, id, 1, 365 * DAY_MILLIS, "next year");
    send(h, peer, id, 0, 2 * DAY_MILLIS, "gone with the restart");
    h.crash(true);
    h.open();
    for (int quarter = 0; quarter < 4; quarter++) {
      h.loops.simulatedClock().advance(91 * DAY_MILLIS * 1_000_000L);
      h.close();
      h.open();
    }
    FakePeer reader = consuming(h, QUEUE);
    assertThat(h.pull(reader, 1, 10)).isEmpty();
    h.loops.simulatedClock().advance(DAY_MILLIS * 1_000_000L);
    h.loops.advance(SECOND);
    assertThat(texts(h.pull(reader, 1, 10))).containsExactly("next year");
    h.close();
  }

  @Test
  void aRunWithSeveralDelaysCountsOnceThroughARepetition() throws Exception {
    BrokerHarness h = open(3);
    UUID link = new UUID(7, 7);
    FakePeer peer = h.attach(link, 1, 1, null);
    long id = h.producer(peer, QUEUE);
    int commit = h.nextCorrelation();
    h.broker.submit(
        new Command.Commit(
            peer,
            commit,
            1,
            1,
            List.of(
                new Command.StagedRun(id, true, 1, h.bytes(true, 0, "now")),
                new Command.StagedRun(id, true, 2, h.bytes(true, 0, 3_600_000, "a", "b")),
                new Command.StagedRun(id, false, 1, h.bytes(false, 0, 1_000, "fast"))),
            List.of()));
    assertThat(h.receipt(peer, commit)).isEqualTo(FaultCode.OK);
    h.crash(false);
    h.open();
    FakePeer again = h.attach(link, 2, 1, null);
    assertThat(send(h, again, id, 1, 0, "repeated")).isEqualTo(FaultCode.OK);
    FakePeer reader = consuming(h, QUEUE);
    assertThat(texts(h.pull(reader, 1, 10))).containsExactly("now");
    h.loops.advance(3_601 * SECOND);
    assertThat(texts(h.pull(reader, 1, 10))).containsExactly("a", "b");
    h.close();
  }

  @Test
  void aDelayedMessageOfATopicGoesToWhoHadSubscribedWhenItWasSent() throws Exception {
    BrokerHarness h = open(4);
    FakePeer peer = h.attach(new UUID(4, 4), 1, 1, "client");
    long id = h.producer(peer, TOPIC);
    h.consumer(peer, 1, TOPIC, Subscribe.PLAIN, null);
    h.consumer(peer, 2, TOPIC, Subscribe.DURABLE, "older");
    h.consumer(peer, 3, TOPIC, Subscribe.SHARED, "shared");
    send(h, peer, id, 1, 10_000, "persistent");
    send(h, peer, id, 0, 10_000, "not");
    h.consumer(peer, 4, TOPIC, Subscribe.PLAIN, null);
    h.consumer(peer, 5, TOPIC, Subscribe.DURABLE, "younger");
    h.consumer(peer, 6, TOPIC, Subscribe.SHARED, "younger, shared");
    h.consumer(peer, 7, TOPIC, Subscribe.SHARED, "shared");
    send(h, peer, id, 2, 9_000, "second");
    h.loops.advance(11 * SECOND);
    for (int old = 1; old <= 3; old++) {
      assertThat(texts(h.pull(peer, old, 10)))
          .containsExactlyInAnyOrder("persistent", "not", "second");
    }
    for (int young = 4; young <= 6; young++) {
      assertThat(texts(h.pull(peer, young, 10))).containsExactly("second");
    }
    h.close();
  }

  @Test
  void whoSubscribesAfterTheSendGetsNothingOfItThroughRestartsToo() throws Exception {
    BrokerHarness h = open(14);
    UUID link = new UUID(4, 5);
    FakePeer peer = h.attach(link, 1, 1, "client");
    long id = h.producer(peer, TOPIC);
    h.consumer(peer, 1, TOPIC, Subscribe.DURABLE, "older");
    h.consumer(peer, 2, TOPIC, Subscribe.PLAIN, null);
    send(h, peer, id, 1, 7_200_000, "first");
    h.consumer(peer, 3, TOPIC, Subscribe.DURABLE, "between");
    send(h, peer, id, 2, 7_200_000, "second");
    h.crash(true);
    h.open();
    FakePeer again = h.attach(link, 2, 1, "client");
    h.consumer(again, 4, TOPIC, Subscribe.DURABLE, "younger");
    h.consumer(again, 5, TOPIC, Subscribe.PLAIN, null);
    h.close();
    h.open();
    FakePeer last = h.attach(link, 3, 1, "client");
    h.consumer(last, 6, TOPIC, Subscribe.PLAIN, null);
    h.loops.advance(7_201 * SECOND);
    h.consumer(last, 1, TOPIC, Subscribe.DURABLE, "older");
    h.consumer(last, 3, TOPIC, Subscribe.DURABLE, "between");
    h.consumer(last, 4, TOPIC, Subscribe.DURABLE, "younger");
    assertThat(texts(h.pull(last, 1, 10))).containsExactly("first", "second");
    assertThat(texts(h.pull(last, 3, 10))).containsExactly("second");
    assertThat(h.pull(last, 4, 10)).isEmpty();
    assertThat(h.pull(last, 6, 10)).isEmpty();
    assertThat(h.admin("destination.show", Map.of("name", "news"))).contains("\"delayed\":0");
    h.close();
  }

  @Test
  void whatExpiresBeforeItIsDueIsNeverDeliveredAndADeletedQueueIsSkipped() throws Exception {
    BrokerHarness h = open(5);
    FakePeer peer = h.attach();
    long id = h.producer(peer, QUEUE);
    int c = h.nextCorrelation();
    h.broker.submit(
        new Command.Publish(peer, c, id, 1, 1, h.bytes(true, 5_000, 10_000, "too late")));
    h.receipt(peer, c);
    h.admin("destination.set", Map.of("name", "later", "expiry", "expired"));
    h.loops.advance(11 * SECOND);
    assertThat(h.pull(consuming(h, QUEUE), 1, 10)).isEmpty();
    FakePeer expired = consuming(h, new DestinationName(DestinationKind.QUEUE, "expired"));
    assertThat(texts(h.pull(expired, 1, 10))).containsExactly("too late");
    assertThat(expired.properties.get(0))
        .containsEntry("JMS_LightMQ_Reason", "expired")
        .containsEntry("JMS_LightMQ_Origin", "later");
    send(h, peer, id, 2, 10_000, "nowhere");
    h.admin("destination.delete", Map.of("name", "later", "force", "true"));
    h.loops.advance(20 * SECOND);
    assertThat(h.pull(consuming(h, QUEUE), 1, 10)).isEmpty();
    h.close();
  }

  @Test
  void whatExpiresBeforeItIsDueIsDroppedIfTheExpiryQueueIsItsOwn() throws Exception {
    BrokerHarness h = open(7);
    FakePeer peer = h.attach();
    long id = h.producer(peer, QUEUE);
    h.admin("destination.set", Map.of("name", "later", "expiry", "later"));
    int c = h.nextCorrelation();
    h.broker.submit(
        new Command.Publish(peer, c, id, 1, 1, h.bytes(true, 5_000, 10_000, "too late")));
    h.receipt(peer, c);
    c = h.nextCorrelation();
    h.broker.submit(new Command.Publish(peer, c, id, 2, 1, h.bytes(true, 5_000, "expires")));
    h.receipt(peer, c);
    h.loops.advance(11 * SECOND);
    assertThat(h.pull(consuming(h, QUEUE), 1, 10)).isEmpty();
    assertThat(h.admin("destination.show", Map.of("name", "later")))
        .contains("\"backlog\":0")
        .contains("\"delayed\":0");
    h.close();
  }

  @Test
  void whatExpiresBeforeItIsDueHoldsUpNothingIfItsQueueTakesNothing() throws Exception {
    BrokerHarness h = open(9);
    FakePeer peer = h.attach();
    long id = h.producer(peer, QUEUE);
    h.admin("destination.set", Map.of("name", "later", "expiry", "$lightmq.refused"));
    for (int number = 1; number <= 3; number++) {
      int c = h.nextCorrelation();
      h.broker.submit(
          new Command.Publish(peer, c, id, number, 1, h.bytes(true, 5_000, 10_000, "too late")));
      h.receipt(peer, c);
    }
    send(h, peer, id, 4, 10_001, "due");
    send(h, peer, id, 5, 12_000, "due later");
    h.loops.advance(13 * SECOND);
    FakePeer reader = consuming(h, QUEUE);
    assertThat(texts(h.pull(reader, 1, 10))).containsExactly("due", "due later");
    assertThat(h.admin("destination.show", Map.of("name", "later"))).contains("\"delayed\":3");
    h.admin("destination.set", Map.of("name", "later", "expiry", "expired"));
    h.loops.advance(61 * SECOND);
    FakePeer expired = consuming(h, new DestinationName(DestinationKind.QUEUE, "expired"));
    assertThat(h.pull(expired, 1, 10)).hasSize(3);
    assertThat(h.admin("destination.show", Map.of("name", "later"))).contains("\"delayed\":0");
    h.close();
  }

  @Test
  void anExpiryQueueThatBecomesItsOwnMeanwhileGetsNothingBack() throws Exception {
    BrokerHarness h = open(8);
    FakePeer peer = h.attach();
    long id = h.producer(peer, QUEUE);
    h.admin("destination.set", Map.of("name", "later", "expiry", "$lightmq.refused"));
    int c = h.nextCorrelation();
    h.broker.submit(new Command.Publish(peer, c, id, 1, 1, h.bytes(true, 5_000, "expires")));
    h.receipt(peer, c);
    h.loops.advance(8 * SECOND);
    assertThat(h.admin("destination.show", Map.of("name", "later"))).contains("\"backlog\":1");
    h.admin("destination.set", Map.of("name", "later", "expiry", "later"));
    h.loops.advance(60 * SECOND);
    assertThat(h.pull(consuming(h, QUEUE), 1, 10)).isEmpty();
    assertThat(h.admin("destination.show", Map.of("name", "later"))).contains("\"backlog\":0");
    h.close();
  }

  @Test
  void moreHoursThanTheLimitAreRefusedAndEmptyOnesGiveTheirPlaceBack() throws Exception {
    BrokerHarness h = new BrokerHarness(9);
    h.settings = BrokerHarness.settings(4 << 20, 1 << 20);
    int most = 400;
    int ofOne = 300;
    h.settings =
        h.settings.with(h.settings.memory().withNamedBytes(2L * most * HourRoom.HOLDER_BYTES));
    h.open();
    FakePeer peer = h.attach();
    long id = h.producer(peer, new DestinationName(DestinationKind.QUEUE, "fast.later"));
    long other = h.producer(peer, new DestinationName(DestinationKind.QUEUE, "fast.other"));
    long number = 0;
    long hour = 3_600_000;
    for (int i = 1; i <= ofOne; i++) {
      assertThat(send(h, peer, id, ++number, i * hour, "x")).isEqualTo(FaultCode.OK);
      peer.receipts.clear();
    }
    assertThat(send(h, peer, id, ++number, 1_000 * hour, "x")).isEqualTo(FaultCode.LIMIT_REACHED);
    assertThat(peer.receipts.get(0).text()).contains("of one destination are " + ofOne);
    assertThat(send(h, peer, id, ++number, 7 * hour, "of a known hour")).isEqualTo(FaultCode.OK);
    assertThat(send(h, peer, id, ++number, 0, "now")).isEqualTo(FaultCode.OK);
    assertThat(h.admin("destination.show", Map.of("name", "fast.later")))
        .contains("\"delayed\":" + (ofOne + 1));
    for (int i = 1; i <= most - ofOne; i++) {
      assertThat(send(h, peer, other, ++number, i * hour, "x")).isEqualTo(FaultCode.OK);
    }
    peer.receipts.clear();
    assertThat(send(h, peer, other, ++number, 1_000 * hour, "x"))
        .isEqualTo(FaultCode.LIMIT_REACHED);
    assertThat(peer.receipts.get(0).text()).contains("of all destinations are " + most);
    h.producer(peer, new DestinationName(DestinationKind.QUEUE, "still.room"));
    h.loops.simulatedClock().advance(3_601 * SECOND);
    h.loops.advance(20 * SECOND);
    assertThat(send(h, peer, id, ++number, 1_000 * hour, "x")).isEqualTo(FaultCode.OK);
    h.close();
  }

  @Test
  void delayedMessagesAreListedByHoursAndOneThatIsCancelledNeverComes() throws Exception {
    BrokerHarness h = open(10);
    FakePeer peer = h.attach();
    long id = h.producer(peer, QUEUE);
    long topic = h.producer(peer, TOPIC);
    send(h, peer, id, 1, 7_200_000, "in two hours");
    send(h, peer, id, 2, 20_000, "soon");
    send(h, peer, topic, 3, 20_000, "news");
    send(h, peer, id, 0, 10_000, "not persistent");
    String all = h.admin("delayed.list", Map.of());
    assertThat(all.split("\"dueMillis\"")).hasSize(5);
    assertThat(all.indexOf("\"dueInSeconds\":20,"))
        .isLessThan(all.indexOf("\"dueInSeconds\":7200,"));
    assertThat(h.admin("delayed.list", Map.of("destination", "news")))
        .contains("\"kind\":\"topic\"")
        .doesNotContain("later");
    assertThat(h.admin("delayed.list", Map.of("limit", "2")).split("\"dueMillis\"")).hasSize(3);
    assertThat(h.admin("delayed.list", Map.of("destination", "none")))
        .isEqualTo("{\"delayed\":[]}");
    // The messages of this test have no id, so the first that is found is cancelled.
    String cancelled = h.admin("delayed.cancel", Map.of("id", "null", "destination", "later"));
    assertThat(cancelled).contains("\"destination\":\"later\"");
    assertThat(h.admin("destination.show", Map.of("name", "later"))).contains("\"delayed\":2");
    h.crash(true);
    h.open();
    FakePeer reader = consuming(h, QUEUE);
    h.loops.advance(7_300 * SECOND);
    assertThat(texts(h.pull(reader, 1, 10))).containsExactly("in two hours");
    assertThat(h.admin("delayed.cancel", Map.of("id", "null"))).contains("no delayed message");
    assertThat(h.admin("delayed.cancel", Map.of())).contains("argument id is missing");
    h.close();
  }

  /** {@code -Dlightmq.delayed=100000} is the full size. */
  @Test
  void noneIsEarlyNoneIsLostAndNoneIsLateByASecondThroughThreePowerCuts() throws Exception {
    int count = Integer.getInteger("lightmq.delayed", 3_000);
    BrokerHarness h = new BrokerHarness(6);
    h.keepTime = true;
    h.settings = BrokerHarness.settings(Math.max(1 << 18, count * 40 / 4096 * 4096), 1 << 17);
    h.open();
    Random random = new Random(6);
    FakePeer peer = h.attach(new UUID(1, 1), 1, 1, null);
    long id = h.producer(peer, QUEUE);
    long[] dues = new long[count];
    for (int i = 0; i < count; i++) {
      long delay = 60_000 + random.nextInt(3_600_000);
      dues[i] = h.loops.clock().wallMillis() + delay;
      assertThat(send(h, peer, id, i + 1, delay, Integer.toString(i))).isEqualTo(FaultCode.OK);
    }
    Arrivals arrivals = new Arrivals(h, id, dues);
    long begin = h.loops.clock().nanos();
    arrivals.read();
    for (int minute = 0; minute <= 61; minute++) {
      if (minute == 15 || minute == 30 || minute == 45) {
        h.crash(minute != 30);
        h.open();
        arrivals.read();
      }
      h.loops.advance(Math.max(0, begin + minute * 60 * SECOND - h.loops.clock().nanos()));
    }
    if (Boolean.getBoolean("lightmq.show")) {
      System.out.println(count + " delayed messages: the latest by " + arrivals.latest + " ms");
    }
    assertThat(arrivals.came.cardinality()).isEqualTo(count);
    assertThat(arrivals.extra).as("acknowledged, and came again").isZero();
    assertThat(arrivals.latest).isLessThan(100);
    h.close();
  }

  /** A consumer whose pull is always open, and what came to it when. */
  private static final class Arrivals {
    private final BrokerHarness h;
    private final long id;
    private final long[] dues;
    private final BitSet came = new BitSet();
    private final FakePeer[] readers;
    private final int[] acknowledgements;
    private long latest;
    private int extra;

    Arrivals(BrokerHarness h, long id, long[] dues) {
      this.h = h;
      this.id = id;
      this.dues = dues;
      this.readers = new FakePeer[dues.length];
      this.acknowledgements = new int[dues.length];
    }

    void read() {
      FakePeer reader = consuming(h, QUEUE);
      reader.onReceived = each -> took(reader, each);
      pull(reader);
    }

    private void pull(FakePeer reader) {
      h.broker.submit(new Command.Pull(reader, 1, h.nextCorrelation(), 1_000, 1 << 20, 3_700_000));
    }

    private void took(FakePeer reader, Received each) {
      int number = Integer.parseInt(each.text());
      long now = h.loops.clock().wallMillis();
      assertThat(now).isGreaterThanOrEqualTo(dues[number]);
      latest = Math.max(latest, now - dues[number]);
      FakePeer before = readers[number];
      extra += before != null && before.replies.containsKey(acknowledgements[number]) ? 1 : 0;
      came.set(number);
      int c = h.nextCorrelation();
      readers[number] = reader;
      acknowledgements[number] = c;
      h.broker.submit(
          new Command.Acknowledge(
              reader, c, List.of(new Command.Acked(1, id, List.of(each.range())))));
      pull(reader);
    }
  }
}

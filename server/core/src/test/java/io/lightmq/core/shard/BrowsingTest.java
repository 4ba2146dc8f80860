package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.delivery.Browsers;
import io.lightmq.core.door.Command;
import io.lightmq.core.door.Command.Subscribe;
import io.lightmq.core.door.Peer;
import io.lightmq.core.shard.BrokerHarness.Sample;
import io.lightmq.core.shard.FakePeer.Received;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Section 4.8 of the specification: a browser sees what is there and changes nothing. */
class BrowsingTest {
  private static final DestinationName QUEUE = new DestinationName(DestinationKind.QUEUE, "q");
  private static final UUID LINK = new UUID(8, 8);
  private static final int MUCH = 1 << 20;

  private long number;

  private void publish(BrokerHarness h, FakePeer peer, long id, Sample... run) {
    int c = h.nextCorrelation();
    h.broker.submit(
        new Command.Publish(peer, c, id, ++number, run.length, h.bytes(true, 0, List.of(run))));
    assertThat(h.receipt(peer, c)).isEqualTo(FaultCode.OK);
  }

  private void publishMany(BrokerHarness h, FakePeer peer, long id, int from, int to) {
    for (int i = from; i < to; i++) {
      publish(h, peer, id, new Sample(i % 3 + 3, "m" + i + "-" + "x".repeat(300)));
    }
  }

  private static List<String> texts(List<Received> received) {
    return received.stream().map(each -> each.text().split("-")[0]).toList();
  }

  private static FakePeer browser(BrokerHarness h) {
    FakePeer peer = h.attach();
    h.consumer(peer, 1, QUEUE, Subscribe.BROWSE, null);
    return peer;
  }

  private static FakePeer consumer(BrokerHarness h) {
    FakePeer peer = h.attach();
    h.consumer(peer, 1, QUEUE, Subscribe.QUEUE, null);
    return peer;
  }

  private static List<String> drain(BrokerHarness h, FakePeer consumer) {
    List<String> all = new ArrayList<>();
    List<Received> got = h.pull(consumer, 1, 10);
    while (!got.isEmpty()) {
      assertThat(got).allMatch(each -> each.deliveries() == 0);
      all.addAll(texts(got));
      got = h.pull(consumer, 1, 10);
    }
    return all;
  }

  @Test
  void aBrowserSeesWhatWaitsInTheOrderOfDeliveryAndChangesNothing() throws Exception {
    BrokerHarness h = new BrokerHarness(61).open();
    FakePeer peer = h.attach(LINK, 1, 1, null);
    long id = h.producer(peer, QUEUE);
    publish(h, peer, id, new Sample(4, "a"), new Sample(4, "b"), new Sample(9, "c"));
    int c = h.publish(peer, id, 0, "light");
    assertThat(h.receipt(peer, c)).isEqualTo(FaultCode.OK);
    publish(h, peer, id, new Sample(0, "d"), new Sample(4, "e"));
    FakePeer first = browser(h);
    FakePeer second = browser(h);
    String before = h.admin("destination.show", Map.of("name", "q"));
    List<String> all = List.of("c", "a", "b", "light", "e", "d");
    assertThat(texts(h.browse(first, 1, 2, MUCH))).isEqualTo(all);
    assertThat(texts(h.browse(first, 1, 2, MUCH))).as("a look that is over").isEmpty();
    assertThat(texts(h.browse(second, 1, 100, MUCH))).isEqualTo(all);
    assertThat(h.admin("destination.show", Map.of("name", "q"))).isEqualTo(before);
    assertThat(drain(h, consumer(h))).isEqualTo(all);
    h.close();
  }

  @Test
  void whatIsInFlightIsShownAndWhatIsAcknowledgedMeanwhileIsNot() throws Exception {
    BrokerHarness h = new BrokerHarness(62).open();
    FakePeer peer = h.attach(LINK, 1, 1, null);
    long id = h.producer(peer, QUEUE);
    publish(h, peer, id, new Sample(4, "a"), new Sample(4, "b"), new Sample(4, "c"));
    FakePeer consumer = consumer(h);
    List<Received> held = h.pull(consumer, 1, 2);
    assertThat(texts(held)).containsExactly("a", "b");
    FakePeer early = browser(h);
    h.acknowledge(consumer, 1, id, held.get(0).range());
    publish(h, peer, id, new Sample(9, "later"));
    assertThat(texts(h.browse(early, 1, 1, MUCH))).containsExactly("b", "c");
    assertThat(texts(h.browse(browser(h), 1, 10, MUCH))).containsExactly("later", "b", "c");
    // The consumer still holds what it had.
    assertThat(h.acknowledge(consumer, 1, id, held.get(1).range()))
        .isInstanceOf(Peer.Reply.Ok.class);
    h.close();
  }

  @Test
  void whatHasBeenDeliveredBeforeIsFlaggedAsItIsForConsumers() throws Exception {
    BrokerHarness h = new BrokerHarness(63).open();
    FakePeer peer = h.attach(LINK, 1, 1, null);
    long id = h.producer(peer, QUEUE);
    publish(h, peer, id, new Sample(4, "a"), new Sample(4, "b"));
    FakePeer consumer = consumer(h);
    List<Received> got = h.pull(consumer, 1, 1);
    int c = h.nextCorrelation();
    h.broker.submit(
        new Command.Return(
            consumer, c, List.of(new Command.Acked(1, id, List.of(got.get(0).range()))), true));
    h.reply(consumer, c);
    assertThat(h.browse(browser(h), 1, 10, MUCH))
        .extracting(Received::deliveries)
        .containsExactly(1, 0);
    h.close();
  }

  @Test
  void whatLiesInJournalAndSegmentsIsShownToo() throws Exception {
    BrokerHarness h = new BrokerHarness(64);
    h.settings = BrokerHarness.settings(64 << 10, 1 << 15);
    h.open();
    FakePeer peer = h.attach(LINK, 1, 1, null);
    long id = h.producer(peer, QUEUE);
    publishMany(h, peer, id, 0, 60);
    h.broker.wantCheckpoint();
    h.loops.advance(3_000_000_000L);
    assertThat(h.broker.metrics().checkpoints().done()).isPositive();
    publishMany(h, peer, id, 60, 180);
    List<String> expected = new ArrayList<>();
    for (int priority : new int[] {5, 4, 3}) {
      for (int i = 0; i < 180; i++) {
        if (i % 3 + 3 == priority) {
          expected.add("m" + i);
        }
      }
    }
    assertThat(texts(h.browse(browser(h), 1, 1000, MUCH))).isEqualTo(expected);
    assertThat(texts(h.browse(browser(h), 1, 7, 1000))).isEqualTo(expected);
    h.crash(false);
    h.open();
    FakePeer half = browser(h);
    h.broker.submit(new Command.Pull(half, 1, 1_000_000, 20, MUCH, 0));
    h.loops.runUntil(() -> half.received.size() == 20);
    FakePeer consumer = consumer(h);
    List<Received> taken = h.pull(consumer, 1, 60);
    while (taken.size() < 60) {
      taken = new ArrayList<>(taken);
      taken.addAll(h.pull(consumer, 1, 60 - taken.size()));
    }
    for (Received each : taken) {
      h.acknowledge(consumer, 1, id, each.range());
    }
    assertThat(texts(h.browse(half, 1, 100, MUCH))).isEqualTo(expected.subList(60, 180));
    h.close();
  }

  @Test
  void aLookThatIsLeftBehindKeepsNoMessageOnTheDisk() throws Exception {
    BrokerHarness h = new BrokerHarness(65).open();
    FakePeer peer = h.attach(LINK, 1, 1, null);
    long id = h.producer(peer, QUEUE);
    publishMany(h, peer, id, 0, 40);
    FakePeer browser = browser(h);
    FakePeer consumer = consumer(h);
    int acknowledged = 0;
    List<Received> got = h.pull(consumer, 1, 10);
    while (!got.isEmpty()) {
      for (Received each : got) {
        h.acknowledge(consumer, 1, id, each.range());
        acknowledged++;
      }
      got = h.pull(consumer, 1, 10);
    }
    assertThat(acknowledged).isEqualTo(40);
    for (int i = 0; i < 3; i++) {
      h.broker.wantCheckpoint();
      h.loops.advance(3_000_000_000L);
    }
    assertThat(h.broker.metrics().checkpoints().segmentBytes()).isZero();
    assertThat(h.browse(browser, 1, 10, MUCH)).isEmpty();
    h.close();
  }

  @Test
  void whatHasExpiredIsPassedOverAndStaysForTheNextConsumerToGiveUp() throws Exception {
    BrokerHarness h = new BrokerHarness(66).open();
    FakePeer peer = h.attach(LINK, 1, 1, null);
    long id = h.producer(peer, QUEUE);
    int c = h.nextCorrelation();
    h.broker.submit(new Command.Publish(peer, c, id, 1, 1, h.bytes(true, 500, "short-lived")));
    assertThat(h.receipt(peer, c)).isEqualTo(FaultCode.OK);
    number = 1;
    publish(h, peer, id, new Sample(4, "stays"));
    assertThat(texts(h.browse(browser(h), 1, 10, MUCH))).containsExactly("short", "stays");
    h.loops.advance(1_000_000_000L);
    String before = h.admin("destination.show", Map.of("name", "q"));
    assertThat(texts(h.browse(browser(h), 1, 10, MUCH))).containsExactly("stays");
    assertThat(h.admin("destination.show", Map.of("name", "q"))).isEqualTo(before);
    h.close();
  }

  @Test
  void aTemporaryQueueIsBrowsedByItsConnectionAloneUntilItIsDeleted() throws Exception {
    BrokerHarness h = new BrokerHarness(67).open();
    FakePeer owner = h.attach(LINK, 1, 1, null);
    int c = h.nextCorrelation();
    h.broker.submit(new Command.CreateTemporary(owner, c, DestinationKind.TEMPORARY_QUEUE));
    DestinationName name = ((Peer.Reply.TemporaryCreated) h.reply(owner, c)).destination();
    long id = h.producer(owner, name);
    assertThat(h.receipt(owner, h.publish(owner, id, 0, "a"))).isEqualTo(FaultCode.OK);
    FakePeer other = h.attach();
    for (Subscribe how : List.of(Subscribe.QUEUE, Subscribe.BROWSE)) {
      assertThat(h.tryConsumer(other, 3, name, how, null))
          .isInstanceOfSatisfying(
              Peer.Reply.Failed.class,
              failed -> assertThat(failed.code()).isEqualTo(FaultCode.NOT_OWNER));
    }
    h.consumer(owner, 1, name, Subscribe.BROWSE, null);
    h.consumer(owner, 2, name, Subscribe.BROWSE, null);
    assertThat(texts(h.browse(owner, 1, 10, MUCH))).containsExactly("a");
    int d = h.nextCorrelation();
    h.broker.submit(new Command.DeleteTemporary(owner, d, name));
    assertThat(h.reply(owner, d)).as("a browser is no consumer").isInstanceOf(Peer.Reply.Ok.class);
    h.broker.submit(new Command.Pull(owner, 2, 77, 10, MUCH, 0));
    h.loops.runUntil(() -> owner.pullsDone.contains("2/77/" + FaultCode.DESTINATION_GONE));
    h.close();
  }

  @Test
  void aTopicCannotBeBrowsedAndAnIdIsUsedOnce() throws Exception {
    BrokerHarness h = new BrokerHarness(68).open();
    FakePeer peer = h.attach();
    DestinationName topic = new DestinationName(DestinationKind.TOPIC, "t");
    assertThat(h.tryConsumer(peer, 1, topic, Subscribe.BROWSE, null))
        .isInstanceOfSatisfying(
            Peer.Reply.Failed.class,
            failed -> assertThat(failed.code()).isEqualTo(FaultCode.INVALID_DESTINATION));
    h.consumer(peer, 1, QUEUE, Subscribe.BROWSE, null);
    h.broker.submit(
        new Command.AttachConsumer(
            peer, 500, 1, 1, QUEUE, Subscribe.QUEUE, null, null, false, false, true));
    h.loops.runUntil(() -> !peer.disconnects.isEmpty());
    assertThat(peer.disconnects.get(0)).contains("consumer 1 is open already");
    h.close();
  }

  @Test
  void aClosedBrowserIsGoneAndAFullConnectionIsWaitedFor() throws Exception {
    BrokerHarness h = new BrokerHarness(69).open();
    FakePeer peer = h.attach(LINK, 1, 1, null);
    publish(h, peer, h.producer(peer, QUEUE), new Sample(4, "a"));
    FakePeer browser = browser(h);
    browser.writable = false;
    h.broker.submit(new Command.Pull(browser, 1, 5, 10, MUCH, 0));
    h.loops.runUntilIdle();
    assertThat(browser.received).isEmpty();
    assertThat(browser.pullsDone).isEmpty();
    browser.writable = true;
    h.broker.submit(new Command.Writable(browser));
    h.loops.runUntil(() -> browser.received.size() == 1);
    int c = h.nextCorrelation();
    h.broker.submit(new Command.DetachConsumer(browser, c, 1));
    assertThat(h.reply(browser, c)).isInstanceOf(Peer.Reply.Ok.class);
    h.broker.submit(new Command.Pull(browser, 1, 6, 10, MUCH, 0));
    h.loops.runUntil(() -> browser.pullsDone.contains("1/6/" + FaultCode.DESTINATION_GONE));
    h.consumer(browser, 1, QUEUE, Subscribe.BROWSE, null);
    int s = h.nextCorrelation();
    h.broker.submit(new Command.CloseSession(browser, s, 1));
    h.reply(browser, s);
    h.broker.submit(new Command.Pull(browser, 1, 7, 10, MUCH, 0));
    h.loops.runUntil(() -> browser.pullsDone.contains("1/7/" + FaultCode.DESTINATION_GONE));
    assertThat(browser.openBuffers).isZero();
    h.close();
  }

  private static FakePeer browser(BrokerHarness h, String selector) {
    FakePeer peer = h.attach();
    assertThat(h.tryConsumer(peer, 1, QUEUE, Subscribe.BROWSE, null, selector, false))
        .isInstanceOf(Peer.Reply.ConsumerAttached.class);
    return peer;
  }

  @Test
  void aSelectorChoosesInMemoryAndInFiles() throws Exception {
    BrokerHarness h = new BrokerHarness(70);
    h.settings = BrokerHarness.settings(64 << 10, 1 << 15);
    h.open();
    FakePeer peer = h.attach(LINK, 1, 1, null);
    long id = h.producer(peer, QUEUE);
    publishMany(h, peer, id, 0, 60);
    h.broker.wantCheckpoint();
    h.loops.advance(3_000_000_000L);
    publishMany(h, peer, id, 60, 180);
    assertThat(h.receipt(peer, h.publish(peer, id, 0, "light"))).isEqualTo(FaultCode.OK);
    List<String> expected = new ArrayList<>();
    for (int i = 1; i < 180; i += 3) {
      expected.add("m" + i);
    }
    expected.add("light");
    assertThat(texts(h.browse(browser(h, "JMSPriority = 4"), 1, 1000, MUCH))).isEqualTo(expected);
    assertThat(texts(h.browse(browser(h, "JMSPriority = 4"), 1, 3, 2000))).isEqualTo(expected);
    assertThat(h.browse(browser(h, "JMSPriority = 7"), 1, 10, MUCH)).isEmpty();
    assertThat(texts(h.browse(browser(h, "JMSDeliveryMode = 'NON_PERSISTENT'"), 1, 10, MUCH)))
        .containsExactly("light");
    h.close();
  }

  @Test
  void aPullLooksAtSomeMessagesOnlyHoweverFewItsSelectorWants() throws Exception {
    BrokerHarness h = new BrokerHarness(71);
    h.settings = BrokerHarness.settings(8 << 20, 8 << 20);
    h.open();
    FakePeer peer = h.attach(LINK, 1, 1, null);
    long id = h.producer(peer, QUEUE);
    Sample[] run = new Sample[50];
    java.util.Arrays.setAll(run, i -> new Sample(4, "m" + i));
    int runs = Browsers.MAX_LOOKED_AT / 50 + 5;
    for (int i = 0; i < runs; i++) {
      publish(h, peer, id, run);
    }
    publish(h, peer, id, new Sample(3, "wanted"));
    FakePeer browser = browser(h, "JMSPriority = 3");
    h.broker.submit(new Command.Pull(browser, 1, 9, 10, MUCH, 0));
    h.loops.runUntil(() -> browser.pullsDone.contains("1/9/" + FaultCode.RETRY_LATER));
    assertThat(texts(h.browse(browser, 1, 10, MUCH))).containsExactly("wanted");
    h.close();
  }

  @Test
  void aBadSelectorIsRefusedAndNothingIsOpen() throws Exception {
    BrokerHarness h = new BrokerHarness(72).open();
    FakePeer peer = h.attach();
    assertThat(h.tryConsumer(peer, 1, QUEUE, Subscribe.BROWSE, null, "colour = ", false))
        .isInstanceOfSatisfying(
            Peer.Reply.Failed.class,
            failed -> assertThat(failed.code()).isEqualTo(FaultCode.INVALID_SELECTOR));
    h.consumer(peer, 1, QUEUE, Subscribe.BROWSE, null);
    assertThat(h.browse(peer, 1, 10, MUCH)).isEmpty();
    h.close();
  }

  @Test
  void unloggedMessagesThatOverflowedAreShownAndStayWhereTheyAre() throws Exception {
    BrokerHarness h = new BrokerHarness(73);
    h.settings = BrokerHarness.settings(64 << 10, 1 << 17, 16 << 10, 1 << 20);
    h.open();
    FakePeer peer = h.attach();
    long id = h.producer(peer, QUEUE);
    List<String> expected = new ArrayList<>();
    String pad = "-" + "x".repeat(1_000);
    for (int i = 0; i < 120; i++) {
      int priority = i % 2 == 0 ? 4 : 8;
      int c = h.nextCorrelation();
      List<Sample> run = List.of(new Sample(priority, "m" + i + pad));
      h.broker.submit(new Command.Publish(peer, c, id, 0, 1, h.bytes(false, 0, run)));
      assertThat(h.receipt(peer, c)).isEqualTo(FaultCode.OK);
      expected.add(priority == 8 ? expected.size() / 2 : expected.size(), "m" + i);
    }
    h.loops.advance(1_100_000_000L);
    long overflowed = h.broker.metrics().overflow().bytes();
    assertThat(overflowed).isGreaterThan(80 << 10);
    assertThat(texts(h.browse(browser(h), 1, 1000, MUCH))).isEqualTo(expected);
    assertThat(texts(h.browse(browser(h), 1, 5, 3_000))).isEqualTo(expected);
    assertThat(texts(h.browse(browser(h, "JMSPriority = 8"), 1, 50, MUCH)))
        .isEqualTo(expected.subList(0, 60));
    FakePeer half = browser(h);
    h.broker.submit(new Command.Pull(half, 1, 1_000_000, 10, MUCH, 0));
    h.loops.runUntil(() -> half.received.size() == 10);
    h.loops.advance(1_100_000_000L);
    assertThat(h.broker.metrics().overflow().bytes()).isEqualTo(overflowed);
    FakePeer consumer = consumer(h);
    int consumed = 0;
    for (List<Received> got = h.pull(consumer, 1, 9);
        !got.isEmpty();
        got = h.pull(consumer, 1, 9)) {
      for (Received each : got) {
        assertThat(each.text()).startsWith(expected.get(consumed++) + "-");
        h.acknowledge(consumer, 1, id, each.range());
      }
    }
    assertThat(consumed).isEqualTo(120);
    assertThat(h.browse(half, 1, 10, MUCH)).isEmpty();
    h.loops.advance(1_100_000_000L);
    assertThat(h.broker.metrics().overflow().bytes()).as("a look keeps no file").isZero();
    h.close();
  }
}

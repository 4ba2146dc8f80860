package io.lightmq.core.shard;

import static io.lightmq.core.door.Command.Subscribe.QUEUE;
import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.door.Command;
import io.lightmq.core.door.Peer;
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
    assertThat(bench.receipt(peer, submit(peer, persistent, texts))).isEqualTo(FaultCode.OK);
  }

  private int submit(FakePeer peer, boolean persistent, String... texts) {
    ByteBuffer all = ByteBuffer.allocate(texts.length * 400);
    MessageWriter writer = new MessageWriter(1 << 12);
    for (String text : texts) {
      put(all, writer, persistent, text);
    }
    int c = bench.nextCorrelation();
    bench.broker.submit(
        new Command.Publish(
            peer, c, queue, persistent ? ++number : 0, texts.length, bench.bytes(all.flip())));
    return c;
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

  // ---- who owns what ----

  @Test
  void oneGroupStaysWithItsConsumerWhileOthersWait() throws Exception {
    FakePeer peer = start();
    consume(peer, 1);
    consume(peer, 2);
    park(peer, 1, 1);
    park(peer, 2, 1);
    send(peer, "a:1");
    settle(peer);
    int owner = got(peer, 1).isEmpty() ? 2 : 1;
    park(peer, 3 - owner, 10);
    send(peer, "a:2", "a:3");
    settle(peer);
    assertThat(got(peer, 3 - owner)).isEmpty();
    acknowledge(peer, owner, "a:1");
    settle(peer);
    assertThat(got(peer, 3 - owner)).isEmpty();
    park(peer, owner, 10);
    assertThat(got(peer, owner)).containsExactly("a:1", "a:2", "a:3");
  }

  @Test
  void whatHasNoGroupGoesToAnybody() throws Exception {
    FakePeer peer = start();
    consume(peer, 1);
    consume(peer, 2);
    send(peer, "a:1");
    assertThat(pull(peer, 1, 1)).containsExactly("a:1");
    park(peer, 2, 1);
    send(peer, ":1");
    settle(peer);
    assertThat(got(peer, 2)).containsExactly(":1");
    send(peer, ":2");
    assertThat(pull(peer, 1, 5)).containsExactly(":2");
  }

  /** One message of each of 300 groups. */
  private List<String> sendToAll(FakePeer peer, String rest) throws Exception {
    List<String> all = new ArrayList<>();
    for (int from = 0; from < 300; from += 20) {
      String[] some = new String[20];
      for (int i = 0; i < 20; i++) {
        some[i] = "g" + (from + i) + ":" + rest;
      }
      send(peer, some);
      all.addAll(List.of(some));
    }
    return all;
  }

  @Test
  void aNewConsumerTakesOverAGroupOnlyWhenNothingOfItIsInFlight() throws Exception {
    FakePeer peer = start();
    consume(peer, 1);
    List<String> first = sendToAll(peer, "1");
    assertThat(pull(peer, 1, 300)).isEqualTo(first);
    sendToAll(peer, "2");
    consume(peer, 2);
    park(peer, 2, 300);
    assertThat(got(peer, 2)).isEmpty();
    acknowledge(peer, 1, first.subList(0, 299).toArray(String[]::new));
    settle(peer);
    assertThat(got(peer, 2)).isNotEmpty();
    acknowledge(peer, 1, first.get(299));
    park(peer, 2, 300);
    park(peer, 1, 300);
    assertThat(got(peer, 2).size() + got(peer, 1).size()).isEqualTo(600);
    assertThat(got(peer, 2)).hasSizeBetween(100, 200).doesNotContainAnyElementsOf(got(peer, 1));
  }

  @Test
  void threeConsumersOwnEquallyManyGroupsButForOne() throws Exception {
    FakePeer peer = start();
    for (int id = 1; id <= 3; id++) {
      consume(peer, id);
      park(peer, id, 300);
    }
    sendToAll(peer, "1");
    for (int id = 1; id <= 3; id++) {
      park(peer, id, 300);
      assertThat(got(peer, id)).hasSizeBetween(60, 140);
    }
  }

  @Test
  void aConsumerThatGoesLeavesItsGroupsInOrderToTheOthers() throws Exception {
    FakePeer peer = start();
    FakePeer other = bench.attach(new UUID(2, 2), 1, 1, null);
    consume(peer, 1);
    consume(other, 2);
    send(peer, "a:1", "a:2", "a:3", "a:4");
    assertThat(pull(peer, 1, 2)).containsExactly("a:1", "a:2");
    park(other, 2, 10);
    assertThat(got(other, 2)).isEmpty();
    bench.broker.submit(new Command.DetachConsumer(peer, 0, 1));
    settle(peer);
    assertThat(got(other, 2)).containsExactly("a:1", "a:2", "a:3", "a:4");
  }

  @Test
  void aConsumerWhoseConnectionIsLostLeavesItsGroupsFlagged() throws Exception {
    FakePeer peer = start();
    FakePeer other = bench.attach(new UUID(2, 2), 1, 1, null);
    consume(other, 1);
    consume(peer, 2);
    send(peer, "a:1", "a:2", "a:3");
    assertThat(pull(other, 1, 2)).containsExactly("a:1", "a:2");
    park(peer, 2, 10);
    bench.broker.submit(new Command.Detach(other, false));
    settle(peer);
    assertThat(got(peer, 2)).containsExactly("a:1", "a:2", "a:3");
    assertThat(peer.received).extracting(FakePeer.Received::deliveries).containsExactly(1, 1, 0);
  }

  @Test
  void theLastMessageOfAGroupFreesItsGroupBucketOnceItIsSettled() throws Exception {
    FakePeer peer = start();
    consume(peer, 1);
    consume(peer, 2);
    park(peer, 2, 10);
    park(peer, 1, 10);
    send(peer, "a:1", "a:2!", "a:3");
    settle(peer);
    int owner = got(peer, 1).isEmpty() ? 2 : 1;
    assertThat(got(peer, owner)).containsExactly("a:1", "a:2!");
    park(peer, owner, 10);
    assertThat(got(peer, owner)).hasSize(2);
    acknowledge(peer, owner, "a:1");
    settle(peer);
    assertThat(got(peer, 1).size() + got(peer, 2).size()).isEqualTo(2);
    acknowledge(peer, owner, "a:2!");
    settle(peer);
    assertThat(got(peer, 1).size() + got(peer, 2).size()).isEqualTo(3);
  }

  @Test
  void aConsumerAloneNeedNotSettleTheLastOfAGroupForTheNext() throws Exception {
    FakePeer peer = start();
    consume(peer, 1);
    send(peer, "a:1", "a:2!", "a:3");
    assertThat(pull(peer, 1, 2)).containsExactly("a:1", "a:2!");
    assertThat(pull(peer, 1, 2)).containsExactly("a:3");
  }

  @Test
  void anIdleConsumerLosesItsGroupsToOneThatWaitsForTenSeconds() throws Exception {
    FakePeer peer = start();
    consume(peer, 1);
    consume(peer, 2);
    List<String> first = sendToAll(peer, "1");
    assertThat(pull(peer, 1, 300)).isEqualTo(first);
    acknowledge(peer, 1, first.toArray(String[]::new));
    park(peer, 2, 300);
    sendToAll(peer, "2");
    for (int i = 0; i < 20; i++) {
      park(peer, 2, 300);
    }
    int own = got(peer, 2).size();
    assertThat(own).isBetween(100, 200);
    bench.loops.advance(9_000_000_000L);
    assertThat(got(peer, 2)).hasSize(own);
    bench.loops.advance(2_000_000_000L);
    assertThat(got(peer, 2)).hasSize(300).doesNotHaveDuplicates();
  }

  // ---- what else happens to messages ----

  @Test
  void afterARestartGroupsAreKnownBeforeAnythingIsGivenOut() throws Exception {
    FakePeer peer = start();
    send(peer, "a:1", "a:2", "b:1", "c:1");
    bench.close();
    FakePeer again = start();
    consume(again, 1);
    consume(again, 2);
    park(again, 1, 1);
    park(again, 2, 10);
    park(again, 1, 10);
    int owner = got(again, 1).contains("a:1") ? 1 : 2;
    assertThat(got(again, owner)).containsSubsequence("a:1", "a:2");
    assertThat(got(again, 1).size() + got(again, 2).size()).isEqualTo(4);
    assertThat(bench.admin("destination.show", Map.of("name", "orders"))).contains("groupBuckets");
  }

  @Test
  void groupsOfMessagesThatAreNotPersistentAreForgottenWithThem() throws Exception {
    FakePeer peer = start();
    publish(peer, false, "a:1");
    assertThat(bench.admin("destination.show", Map.of("name", "orders"))).contains("groupBuckets");
    bench.close();
    start();
    assertThat(bench.admin("destination.show", Map.of("name", "orders")))
        .doesNotContain("groupBuckets");
  }

  @Test
  void theFirstGroupComesWhileOtherMessagesAreInFlight() throws Exception {
    FakePeer peer = start();
    consume(peer, 1);
    consume(peer, 2);
    send(peer, ":1", ":2", ":3", ":4");
    assertThat(pull(peer, 1, 2)).containsExactly(":1", ":2");
    send(peer, "a:1", "a:2", ":5");
    assertThat(pull(peer, 2, 1)).containsExactly(":3");
    park(peer, 2, 10);
    park(peer, 1, 10);
    List<String> all = new ArrayList<>(got(peer, 1));
    all.addAll(got(peer, 2));
    assertThat(all).containsExactlyInAnyOrder(":1", ":2", ":3", ":4", ":5", "a:1", "a:2");
    acknowledge(peer, 1, ":1", ":2");
    assertThat(bench.admin("destination.show", Map.of("name", "orders"))).contains("\"moving\":0");
  }

  @Test
  void aMessageWithoutAGroupThatIsNotVisibleYetWhenTheFirstGroupComesIsNotForgotten()
      throws Exception {
    int early = 0;
    for (int steps = 0; steps < 40; steps++) {
      GroupTest one = new GroupTest();
      FakePeer peer = one.start();
      one.consume(peer, 1);
      one.submit(peer, true, ":1");
      one.submit(peer, true, "a:1");
      for (int i = 0; i < steps; i++) {
        one.bench.loops.step();
      }
      early += peer.receipts.isEmpty() ? 1 : 0;
      one.park(peer, 1, 10);
      one.park(peer, 1, 10);
      assertThat(got(peer, 1)).as("after %d steps", steps).containsExactly(":1", "a:1");
    }
    assertThat(early).isPositive();
  }

  @Test
  void ownAndLooseMessagesComeInOneOrderHighestPriorityFirst() throws Exception {
    FakePeer peer = start();
    consume(peer, 1);
    send(peer, "a:1", ":1");
    publish(peer, false, "a:2", ":2");
    send(peer, "b:1", "a:urgent", ":urgent");
    publish(peer, false, "b:urgent");
    send(peer, ":3");
    assertThat(pull(peer, 1, 100))
        .containsExactly("a:urgent", ":urgent", "b:urgent", "a:1", ":1", "a:2", ":2", "b:1", ":3");
  }

  @Test
  void whatIsAcknowledgedInATransactionMovesItsGroupOnceThatIsCommitted() throws Exception {
    FakePeer peer = start();
    FakePeer other = bench.attach(new UUID(2, 2), 1, 1, null);
    consume(peer, 1);
    consume(other, 2);
    List<String> first = sendToAll(peer, "1");
    assertThat(pull(peer, 1, 300)).isEqualTo(first);
    sendToAll(peer, "2");
    park(other, 2, 300);
    assertThat(got(other, 2)).isEmpty();
    bench.broker.submit(
        new Command.Commit(
            peer,
            bench.nextCorrelation(),
            1,
            ++number,
            List.of(),
            List.of(
                new Command.Acked(
                    1, queue, List.of(ranges(peer, 1, first.toArray(String[]::new)))))));
    settle(peer);
    assertThat(got(other, 2)).isNotEmpty().allMatch(text -> text.endsWith(":2"));
  }

  @Test
  void aMessageThatWaitsForItsNextAttemptHoldsUpItsOwnGroupOnly() throws Exception {
    FakePeer peer = start();
    assertThat(
            bench.admin(
                "destination.set",
                Map.of("kind", "queue", "name", "orders", "redelivery-delay", "10s")))
        .contains("10s");
    consume(peer, 1);
    send(peer, "a:1", "a:2", "b:1", ":1");
    assertThat(pull(peer, 1, 1)).containsExactly("a:1");
    bench.broker.submit(
        new Command.Return(
            peer,
            bench.nextCorrelation(),
            List.of(new Command.Acked(1, queue, List.of(ranges(peer, 1, "a:1")))),
            true));
    settle(peer);
    assertThat(pull(peer, 1, 10)).containsExactly("b:1", ":1");
    park(peer, 1, 10);
    bench.loops.advance(11_000_000_000L);
    assertThat(got(peer, 1)).containsExactly("a:1", "b:1", ":1", "a:1", "a:2");
  }

  @Test
  void consumersWithEqualSelectorsShareTheGroupsThatMatch() throws Exception {
    FakePeer peer = start();
    consume(peer, 1, "odd = true");
    consume(peer, 2, "odd = true");
    park(peer, 1, 1);
    park(peer, 2, 1);
    send(peer, "a:1", "a:12", "a:2", "a:34", "a:3");
    settle(peer);
    int owner = got(peer, 1).isEmpty() ? 2 : 1;
    park(peer, 3 - owner, 10);
    park(peer, owner, 10);
    assertThat(got(peer, owner)).containsExactly("a:1", "a:2", "a:3");
    assertThat(got(peer, 3 - owner)).isEmpty();
  }

  @Test
  void aConsumerThatAcknowledgesByPullingGetsItsGroupsInOrder() throws Exception {
    FakePeer peer = start();
    bench.tryConsumer(peer, 1, NAME, QUEUE, null, null, true);
    bench.tryConsumer(peer, 2, NAME, QUEUE, null, null, true);
    for (int n = 1; n <= 4; n++) {
      sendToAll(peer, String.valueOf(n));
    }
    Map<String, List<String>> groups = new HashMap<>();
    for (int round = 0; round < 100; round++) {
      pull(peer, 1 + round % 2, 30);
    }
    for (FakePeer.Received each : peer.received) {
      groups
          .computeIfAbsent(
              each.text().substring(0, each.text().indexOf(':')), key -> new ArrayList<>())
          .add(each.text());
    }
    assertThat(groups).hasSize(300);
    groups.values().forEach(texts -> assertThat(texts).hasSize(4).isSorted());
  }
}

package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.door.Command;
import io.lightmq.core.door.Command.Subscribe;
import io.lightmq.core.door.Peer;
import io.lightmq.core.shard.FakePeer.Received;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.SequenceRange;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Failed attempts: counted, waited for, and given up; in the broker alone. */
class DeadLetterTest {
  /** Of a rule with three attempts. */
  private static final DestinationName POISON =
      new DestinationName(DestinationKind.QUEUE, "poison.a");

  private static final DestinationName DLQ = new DestinationName(DestinationKind.QUEUE, "DLQ");

  private static FakePeer consuming(BrokerHarness h, DestinationName queue) {
    FakePeer peer = h.attach();
    h.consumer(peer, 1, queue, Subscribe.QUEUE, null);
    return peer;
  }

  private static long send(BrokerHarness h, DestinationName queue, String... texts) {
    FakePeer peer = h.attach();
    long id = h.producer(peer, queue);
    h.receipt(peer, h.publish(peer, id, 1, texts));
    return id;
  }

  private static void fail(BrokerHarness h, FakePeer peer, long id, Received message) {
    h.broker.submit(
        new Command.Return(
            peer,
            0,
            List.of(new Command.Acked(1, id, List.of(message.range()))),
            true,
            "java.lang.IllegalStateException: no"));
    h.loops.runUntilIdle();
  }

  private static void set(BrokerHarness h, DestinationName queue, String key, String text) {
    h.admin("destination.set", Map.of("name", queue.name(), key, text));
  }

  @Test
  void aMessageThatFailsTooOftenGoesToTheDeadLetterQueueAndSaysWhy() throws Exception {
    BrokerHarness h = new BrokerHarness(1).open();
    long id = send(h, POISON, "bad", "good");
    FakePeer peer = consuming(h, POISON);
    for (int attempt = 1; attempt <= 3; attempt++) {
      Received bad = h.pull(peer, 1, 1).get(0);
      assertThat(bad.text()).isEqualTo("bad");
      assertThat(bad.deliveries()).isEqualTo(attempt - 1);
      fail(h, peer, id, bad);
    }
    assertThat(h.pull(peer, 1, 10))
        .extracting(Received::text, Received::deliveries)
        .containsExactly(org.assertj.core.groups.Tuple.tuple("good", 0));
    assertThat(peer.properties.get(3)).containsOnlyKeys("n");
    FakePeer dead = consuming(h, DLQ);
    Received letter = h.pull(dead, 1, 10).get(0);
    assertThat(letter.text()).isEqualTo("bad");
    assertThat(letter.deliveries()).isZero();
    assertThat(dead.properties.get(0))
        .containsEntry("JMS_LightMQ_Origin", "poison.a")
        .containsEntry("JMS_LightMQ_OriginKind", "queue")
        .containsEntry("JMS_LightMQ_Reason", "max-attempts")
        .containsEntry("JMS_LightMQ_Attempts", 3)
        .containsEntry("JMS_LightMQ_ConsumerUser", "ada")
        .containsEntry("JMS_LightMQ_ConsumerConnection", peer.connectionId)
        .containsEntry("JMS_LightMQ_Exception", "java.lang.IllegalStateException: no");
    h.close();
  }

  @Test
  void aQueueThatItsFirstLetterWouldMakeHasNoLettersButOneThatNothingNamesIsRefused()
      throws Exception {
    BrokerHarness h = new BrokerHarness(1).open();
    for (String queue : List.of("", "DLQ", "letters", "fast.letters")) {
      Map<String, String> arguments = queue.isEmpty() ? Map.of() : Map.of("queue", queue);
      if (queue.equals("letters")) {
        assertThat(h.admin("dead-letters.list", arguments))
            .contains("INVALID_DESTINATION", "there is no queue letters", "dead letters go to DLQ");
        h.admin("destination.create", Map.of("name", "orders", "dead-letter", queue));
      } else if (queue.equals("fast.letters")) {
        h.admin("destination.create", Map.of("name", queue)); // it is there, and empty
      }
      assertThat(h.admin("dead-letters.list", arguments)).isEqualTo("{\"deadLetters\":[]}");
      assertThat(h.admin("dead-letters.retry", arguments))
          .contains("\"retrying\":0", "\"unresolved\":0");
    }
    assertThat(h.admin("dead-letters.show", Map.of("id", "ID:1")))
        .contains("no message with id ID:1 waits in DLQ");
    assertThat(h.admin("dead-letters.show", Map.of())).contains("argument id is missing");
    assertThat(h.admin("dead-letters.list", Map.of("limit", "0"))).contains("must be 1 to 1000");
    assertThat(h.admin("destination.list", Map.of())).doesNotContain("DLQ");
    h.close();
  }

  @Test
  void attemptsAreKeptThroughPowerCutsAndCheckpointsAndTheMoveIsWholeOrNot() throws Exception {
    BrokerHarness h = new BrokerHarness(2).open();
    long id = send(h, POISON, "bad");
    for (int attempt = 1; attempt <= 3; attempt++) {
      FakePeer peer = consuming(h, POISON);
      fail(h, peer, id, h.pull(peer, 1, 1).get(0));
      if (attempt == 2) {
        h.close();
      } else {
        h.crash(true);
      }
      h.open();
    }
    // What the last cut found half done is done when the next consumer comes.
    assertThat(h.pull(consuming(h, POISON), 1, 1)).isEmpty();
    h.loops.runUntilIdle();
    assertThat(h.pull(consuming(h, DLQ), 1, 10)).extracting(Received::text).containsExactly("bad");
    h.close();
  }

  /** A minute later a lost link does not come back, and a view comes to what it had last. */
  private static void waitForTheLink(BrokerHarness h, String... rest) {
    h.loops.advance(61_000_000_000L);
    FakePeer peer = consuming(h, POISON);
    assertThat(h.pull(peer, 1, 10)).extracting(Received::text).containsExactly(rest);
    h.broker.submit(new Command.DetachConsumer(peer, 0, 1));
    h.loops.runUntilIdle();
  }

  @Test
  void aLostConnectionCountsWhatItsSessionHadBegunAndNoNeighbour() throws Exception {
    BrokerHarness h = new BrokerHarness(3).open();
    long id = send(h, POISON, "bad", "x", "y", "z");
    for (int process = 1; process <= 3; process++) {
      FakePeer peer = consuming(h, POISON);
      h.broker.submit(new Command.Begun(peer, 1, true, List.of()));
      List<Received> got = h.pull(peer, 1, 10);
      assertThat(got).extracting(Received::text).containsExactly("bad", "x", "y", "z");
      h.broker.submit(new Command.Detach(peer, false));
      h.loops.runUntilIdle();
    }
    waitForTheLink(h, "x", "y", "z");
    assertThat(h.pull(consuming(h, DLQ), 1, 10)).extracting(Received::text).containsExactly("bad");
    // A session that tells exactly what it has begun.
    for (int process = 1; process <= 3; process++) {
      FakePeer peer = consuming(h, POISON);
      List<Received> got = h.pull(peer, 1, 10);
      SequenceRange second = got.get(1).range();
      h.broker.submit(
          new Command.Begun(peer, 1, false, List.of(new Command.Acked(1, id, List.of(second)))));
      h.broker.submit(new Command.Detach(peer, false));
      h.loops.runUntilIdle();
    }
    waitForTheLink(h, "x", "z");
    assertThat(h.pull(consuming(h, DLQ), 1, 10)).extracting(Received::text).containsExactly("y");
    // A session that told nothing, since it acknowledges what it hands over.
    for (int process = 1; process <= 5; process++) {
      FakePeer peer = consuming(h, POISON);
      assertThat(h.pull(peer, 1, 10)).extracting(Received::text).containsExactly("x", "z");
      h.broker.submit(new Command.Detach(peer, false));
      h.loops.runUntilIdle();
    }
    h.close();
  }

  @Test
  void inOrderTheOthersWaitWithAFailedMessage() throws Exception {
    BrokerHarness h = new BrokerHarness(4).open();
    long id = send(h, POISON, "a", "b");
    set(h, POISON, "redelivery-delay", "10s,60s");
    FakePeer peer = consuming(h, POISON);
    fail(h, peer, id, h.pull(peer, 1, 1).get(0));
    assertThat(h.pull(peer, 1, 10)).isEmpty();
    h.loops.advance(9_900_000_000L);
    assertThat(h.pull(peer, 1, 10)).isEmpty();
    h.loops.advance(200_000_000L);
    List<Received> got = new ArrayList<>(h.pull(peer, 1, 10));
    assertThat(got).extracting(Received::text).containsExactly("a", "b");
    fail(h, peer, id, got.get(0));
    h.loops.advance(59_000_000_000L);
    assertThat(h.pull(peer, 1, 10)).isEmpty();
    h.loops.advance(2_000_000_000L);
    assertThat(h.pull(peer, 1, 10)).extracting(Received::text).containsExactly("a");
    h.close();
  }

  @Test
  void withoutOrderTheOthersGoOnAndAPurgeTakesWhatWaits() throws Exception {
    BrokerHarness h = new BrokerHarness(5).open();
    long id = send(h, POISON, "a", "b", "c");
    set(h, POISON, "redelivery-delay", "10s");
    set(h, POISON, "redelivery-order", "non-blocking");
    FakePeer peer = consuming(h, POISON);
    fail(h, peer, id, h.pull(peer, 1, 1).get(0));
    List<Received> got = new ArrayList<>(h.pull(peer, 1, 10));
    assertThat(got).extracting(Received::text).containsExactly("b", "c");
    h.loops.advance(10_100_000_000L);
    assertThat(h.pull(peer, 1, 10)).extracting(Received::text).containsExactly("a");
    fail(h, peer, id, got.get(0));
    assertThat(h.admin("destination.purge", Map.of("name", "poison.a"))).contains("\"messages\":1");
    h.loops.advance(20_000_000_000L);
    assertThat(h.pull(peer, 1, 10)).isEmpty();
    h.close();
  }

  @Test
  void aConsumerWithASelectorThatWaitsGetsDeadLettersAsTheyCome() throws Exception {
    BrokerHarness h = new BrokerHarness(1).open();
    FakePeer dead = h.attach();
    for (String[] each :
        new String[][] {
          {"1", "JMS_LightMQ_Origin = 'poison.a'"}, {"2", "JMSCorrelationID = 'k3'"}
        }) {
      int consumer = Integer.parseInt(each[0]);
      assertThat(h.tryConsumer(dead, consumer, DLQ, Subscribe.QUEUE, null, each[1], false))
          .isInstanceOf(Peer.Reply.ConsumerAttached.class);
      h.broker.submit(new Command.Pull(dead, consumer, 70 + consumer, 1, 1 << 20, 60_000));
    }
    long id = send(h, POISON, "bad", "four");
    FakePeer peer = consuming(h, POISON);
    for (int attempt = 1; attempt <= 3; attempt++) {
      for (Received each : h.pull(peer, 1, 2)) {
        fail(h, peer, id, each);
      }
    }
    h.loops.runUntilIdle();
    assertThat(dead.received).extracting(Received::text).contains("bad");
    assertThat(dead.received).extracting(Received::consumerId).contains(1);
    h.close();
  }

  @Test
  void deadLettersOfTheDeadLetterQueueStayAndWithoutOneTheyAreDropped() throws Exception {
    BrokerHarness h = new BrokerHarness(6).open();
    long id = send(h, POISON, "a");
    set(h, POISON, "dead-letter", "poison.a");
    FakePeer peer = consuming(h, POISON);
    for (int i = 0; i < 5; i++) {
      fail(h, peer, id, h.pull(peer, 1, 1).get(0));
    }
    Received still = h.pull(peer, 1, 1).get(0);
    set(h, POISON, "dead-letter", "none");
    fail(h, peer, id, still);
    assertThat(h.pull(peer, 1, 1)).isEmpty();
    assertThat(h.admin("destination.show", Map.of("name", "poison.a"))).contains("\"backlog\":0");
    h.close();
  }

  @Test
  void deadLettersAreListedShownAndRetriedAtARateWithNoAttemptsBehindThem() throws Exception {
    BrokerHarness h = new BrokerHarness(7).open();
    long id = send(h, POISON, "a", "b", "c");
    FakePeer peer = consuming(h, POISON);
    for (int i = 0; i < 9; i++) {
      fail(h, peer, id, h.pull(peer, 1, 1).get(0));
    }
    String list = h.admin("dead-letters.list", Map.of("destination", "poison.a", "limit", "2"));
    assertThat(list)
        .contains("\"origin\":\"poison.a\"")
        .contains("\"reason\":\"max-attempts\"")
        .contains("\"attempts\":\"3\"");
    assertThat(list.split("\"origin\"")).hasSize(3);
    assertThat(h.admin("dead-letters.list", Map.of("destination", "other")))
        .isEqualTo("{\"deadLetters\":[]}");
    assertThat(h.admin("dead-letters.show", Map.of("id", "null"))).contains("\"excerpt\":\"a\"");
    assertThat(h.admin("dead-letters.retry", Map.of("dry-run", "true")))
        .contains("\"wouldRetry\":3");
    assertThat(h.admin("dead-letters.retry", Map.of("rate", "2"))).contains("\"retrying\":3");
    h.loops.advance(1_000_000_000L);
    List<Received> first = new ArrayList<>(h.pull(peer, 1, 10));
    first.addAll(h.pull(peer, 1, 10));
    assertThat(first).extracting(Received::text).containsExactly("a", "b");
    assertThat(first).extracting(Received::deliveries).containsOnly(0);
    assertThat(peer.properties.get(peer.properties.size() - 1)).containsOnlyKeys("n");
    h.loops.advance(2_000_000_000L);
    assertThat(h.pull(peer, 1, 10)).extracting(Received::text).containsExactly("c");
    assertThat(h.admin("dead-letters.retry", Map.of("rate", "0"))).contains("must be 1 to");
    assertThat(h.admin("dead-letters.list", Map.of("queue", "none"))).contains("no queue none");
    h.close();
  }

  @Test
  void aLetterWhoseOriginIsGoneStaysReadableAndIsRetriedOnceTheOriginIsBack() throws Exception {
    BrokerHarness h = new BrokerHarness(8);
    h.withoutCreation();
    h.open();
    h.admin("destination.create", Map.of("name", "DLQ", "max-attempts", "0"));
    for (String each : List.of("poison.a", "poison.b")) {
      h.admin("destination.create", Map.of("name", each));
    }
    DestinationName other = new DestinationName(DestinationKind.QUEUE, "poison.b");
    for (DestinationName each : List.of(POISON, other)) {
      long id = send(h, each, "from " + each.name());
      FakePeer peer = consuming(h, each);
      for (int i = 0; i < 3; i++) {
        fail(h, peer, id, h.pull(peer, 1, 1).get(0));
      }
      h.broker.submit(new Command.Detach(peer, true));
    }
    h.admin("destination.delete", Map.of("name", "poison.a"));
    assertThat(h.admin("dead-letters.retry", Map.of("dry-run", "true")))
        .contains("\"wouldRetry\":1")
        .contains("\"unresolved\":1");
    assertThat(h.admin("dead-letters.retry", Map.of()))
        .contains("\"retrying\":1")
        .contains("\"unresolved\":1")
        .contains("\"origin\":\"poison.a\"")
        .contains("queue poison.a does not exist");
    h.loops.advance(5_000_000_000L);
    assertThat(h.pull(consuming(h, other), 1, 1)).hasSize(1);
    assertThat(h.admin("dead-letters.list", Map.of()))
        .contains("\"origin\":\"poison.a\"")
        .contains("queue poison.a does not exist");
    FakePeer reader = consuming(h, DLQ);
    assertThat(h.pull(reader, 1, 10)).extracting(Received::text).containsExactly("from poison.a");
    h.broker.submit(new Command.Detach(reader, true));
    h.admin("destination.create", Map.of("name", "poison.a"));
    h.loops.advance(61_000_000_000L);
    assertThat(h.pull(consuming(h, POISON), 1, 10))
        .extracting(Received::text)
        .containsExactly("from poison.a");
    assertThat(h.admin("dead-letters.list", Map.of())).isEqualTo("{\"deadLetters\":[]}");
    h.close();
  }

  @Test
  void aRetryThatIsRefusedOnItsWayLeavesTheLetterToWhoReadsTheQueue() throws Exception {
    BrokerHarness h = new BrokerHarness(9);
    h.withoutCreation();
    h.open();
    h.admin("destination.create", Map.of("name", "DLQ", "max-attempts", "0"));
    h.admin("destination.create", Map.of("name", "poison.a"));
    long id = send(h, POISON, "bad");
    FakePeer peer = consuming(h, POISON);
    for (int i = 0; i < 3; i++) {
      fail(h, peer, id, h.pull(peer, 1, 1).get(0));
    }
    assertThat(h.admin("dead-letters.retry", Map.of())).contains("\"retrying\":1");
    h.admin("destination.delete", Map.of("name", "poison.a", "force", "true"));
    h.loops.advance(2_000_000_000L);
    assertThat(h.admin("dead-letters.list", Map.of())).contains("queue poison.a does not exist");
    FakePeer reader = consuming(h, DLQ);
    Received letter = h.pull(reader, 1, 10).get(0);
    h.acknowledge(reader, 1, letter.destinationId(), letter.range());
    h.admin("destination.create", Map.of("name", "poison.a"));
    h.loops.advance(120_000_000_000L);
    assertThat(h.pull(consuming(h, POISON), 1, 10)).isEmpty();
    h.close();
  }

  @Test
  void anOrderlyStopOfTheBrokerCountsNoAttempt() throws Exception {
    BrokerHarness h = new BrokerHarness(10).open();
    long id = send(h, POISON, "a", "b");
    for (int start = 0; start < 5; start++) {
      FakePeer listening = consuming(h, POISON);
      h.broker.submit(new Command.Begun(listening, 1, true, List.of()));
      assertThat(h.pull(listening, 1, 1)).extracting(Received::text).containsExactly("a");
      FakePeer explicit = consuming(h, POISON);
      Received second = h.pull(explicit, 1, 1).get(0);
      assertThat(second.text()).isEqualTo("b");
      h.broker.submit(
          new Command.Begun(
              explicit, 1, false, List.of(new Command.Acked(1, id, List.of(second.range())))));
      h.close();
      h.open();
    }
    FakePeer peer = consuming(h, POISON);
    assertThat(h.pull(peer, 1, 10)).extracting(Received::text).containsExactly("a", "b");
    h.close();
  }

  @Test
  void whatWaitsForItsNextAttemptCountsAsDeliveredOnlyAsOftenAsItWas() throws Exception {
    BrokerHarness h = new BrokerHarness(11).open();
    long id = send(h, POISON, "a");
    set(h, POISON, "redelivery-delay", "60s");
    set(h, POISON, "redelivery-order", "non-blocking");
    FakePeer peer = consuming(h, POISON);
    fail(h, peer, id, h.pull(peer, 1, 1).get(0));
    h.broker.submit(new Command.Detach(peer, true));
    h.broker.wantCheckpoint();
    h.loops.advance(1_000_000_000L);
    h.crash(false);
    h.open();
    assertThat(h.pull(consuming(h, POISON), 1, 1))
        .extracting(Received::text, Received::deliveries)
        .containsExactly(org.assertj.core.groups.Tuple.tuple("a", 1));
    h.close();
  }

  @Test
  void whatWaitsForAMoveCountsAsDeliveredOnlyAsOftenAsItWas() throws Exception {
    BrokerHarness h = new BrokerHarness(12).open();
    long id = send(h, POISON, "bad");
    set(h, POISON, "dead-letter", "$lightmq.refused");
    FakePeer peer = consuming(h, POISON);
    for (int i = 0; i < 3; i++) {
      fail(h, peer, id, h.pull(peer, 1, 1).get(0));
    }
    assertThat(h.pull(peer, 1, 1)).isEmpty();
    h.broker.submit(new Command.Detach(peer, true));
    h.broker.wantCheckpoint();
    h.loops.advance(1_000_000_000L);
    h.crash(false);
    h.open();
    set(h, POISON, "max-attempts", "0");
    assertThat(h.pull(consuming(h, POISON), 1, 1))
        .extracting(Received::text, Received::deliveries)
        .containsExactly(org.assertj.core.groups.Tuple.tuple("bad", 3));
    h.close();
  }

  @Test
  void whatIsNoDeadLetterAfterAllComesToAConsumerThatWaits() throws Exception {
    BrokerHarness h = new BrokerHarness(15).open();
    long id = send(h, POISON, "bad");
    set(h, POISON, "dead-letter", "$lightmq.refused");
    FakePeer peer = consuming(h, POISON);
    for (int i = 0; i < 3; i++) {
      fail(h, peer, id, h.pull(peer, 1, 1).get(0));
    }
    h.loops.advance(1_000_000_000L);
    set(h, POISON, "max-attempts", "0");
    int before = peer.received.size();
    h.broker.submit(new Command.Pull(peer, 1, h.nextCorrelation(), 1, 1 << 20, 60_000));
    h.loops.advance(10_000_000_000L);
    assertThat(peer.received.subList(before, peer.received.size()))
        .extracting(Received::text)
        .containsExactly("bad");
    h.close();
  }

  @Test
  void whatASessionGaveBackAndDidNotBeginAgainIsNotChargedWhenItsConnectionIsLost()
      throws Exception {
    for (boolean attempted : new boolean[] {true, false}) {
      BrokerHarness h = new BrokerHarness(13).open();
      long id = send(h, POISON, "a", "b");
      FakePeer peer = consuming(h, POISON);
      List<Received> got = h.pull(peer, 1, 2);
      begin(h, peer, id, got);
      List<SequenceRange> ranges = got.stream().map(Received::range).toList();
      h.broker.submit(
          new Command.Return(peer, 0, List.of(new Command.Acked(1, id, ranges)), attempted));
      h.loops.runUntilIdle();
      got = h.pull(peer, 1, 2);
      assertThat(got).extracting(Received::text).containsExactly("a", "b");
      begin(h, peer, id, got.subList(0, 1));
      h.broker.submit(new Command.Detach(peer, false));
      for (int process = attempted ? 1 : 0; process < 2; process++) {
        FakePeer next = consuming(h, POISON);
        got = h.pull(next, 1, 2);
        begin(h, next, id, got.subList(1, 2));
        h.broker.submit(new Command.Detach(next, false));
      }
      assertThat(h.pull(consuming(h, POISON), 1, 2))
          .extracting(Received::text)
          .containsExactly("a", "b");
      h.close();
    }
  }

  @Test
  void aLetterOfATopicGoesBackToItsOwnSubscriptionAndToNoOther() throws Exception {
    BrokerHarness h = new BrokerHarness(14).open();
    DestinationName topic = new DestinationName(DestinationKind.TOPIC, "poison.news");
    FakePeer peer = h.attach(new java.util.UUID(3, 3), 1, 1, "ada");
    long id = h.producer(peer, topic);
    h.consumer(peer, 1, topic, Subscribe.DURABLE, "one");
    h.consumer(peer, 2, topic, Subscribe.DURABLE, "two");
    h.consumer(peer, 3, topic, Subscribe.PLAIN, null);
    h.receipt(peer, h.publish(peer, id, 1, "news"));
    for (int consumer = 2; consumer <= 3; consumer++) {
      Received each = h.pull(peer, consumer, 10).get(0);
      h.acknowledge(peer, consumer, id, each.range());
    }
    for (int i = 0; i < 3; i++) {
      fail(h, peer, id, h.pull(peer, 1, 1).get(0));
    }
    assertThat(h.admin("dead-letters.retry", Map.of())).contains("\"retrying\":1");
    h.loops.advance(2_000_000_000L);
    h.crash(true);
    h.open();
    FakePeer again = h.attach(new java.util.UUID(3, 4), 1, 1, "ada");
    h.consumer(again, 1, topic, Subscribe.DURABLE, "one");
    h.consumer(again, 2, topic, Subscribe.DURABLE, "two");
    assertThat(h.pull(again, 2, 10)).isEmpty();
    Received back = h.pull(again, 1, 10).get(0);
    assertThat(back.text()).isEqualTo("news");
    for (int i = 0; i < 3; i++) {
      fail(h, again, id, i == 0 ? back : h.pull(again, 1, 1).get(0));
    }
    h.broker.submit(new Command.DetachConsumer(again, h.nextCorrelation(), 1));
    h.broker.submit(new Command.Unsubscribe(again, h.nextCorrelation(), "one"));
    assertThat(h.admin("dead-letters.retry", Map.of()))
        .contains("\"unresolved\":1")
        .contains("there is no topic poison.news, subscription one of client id ada");
    h.close();
  }

  /** Another selector is another subscription, though its name is the same. */
  @Test
  void aLetterThatItsSubscriptionWantsNoMoreStaysWhereItIs() throws Exception {
    BrokerHarness h = new BrokerHarness(19).open();
    DestinationName topic = new DestinationName(DestinationKind.TOPIC, "poison.news");
    FakePeer peer = h.attach(new java.util.UUID(3, 5), 1, 1, "ada");
    long id = h.producer(peer, topic);
    h.consumer(peer, 1, topic, Subscribe.DURABLE, "one");
    h.receipt(peer, h.publish(peer, id, 1, "news"));
    for (int i = 0; i < 3; i++) {
      fail(h, peer, id, h.pull(peer, 1, 1).get(0));
    }
    h.broker.submit(new Command.DetachConsumer(peer, h.nextCorrelation(), 1));
    h.tryConsumer(peer, 2, topic, Subscribe.DURABLE, "one", "n = 5", false);
    assertThat(h.admin("dead-letters.retry", Map.of())).contains("\"retrying\":1");
    h.loops.advance(2_000_000_000L);
    assertThat(h.pull(peer, 2, 10)).isEmpty();
    assertThat(h.admin("dead-letters.list", Map.of()))
        .contains("subscription \\\"one\\\" does not want it, its selector is \\\"n = 5\\\"");
    h.close();
  }

  @Test
  void aLetterThatCanNeverGoBackIsNamedAndNotTried() throws Exception {
    BrokerHarness h = new BrokerHarness(16).open();
    DestinationName topic = new DestinationName(DestinationKind.TOPIC, "poison.news");
    FakePeer peer = h.attach();
    long id = h.producer(peer, topic);
    h.consumer(peer, 1, topic, Subscribe.PLAIN, null);
    h.receipt(peer, h.publish(peer, id, 1, "news"));
    for (int i = 0; i < 3; i++) {
      fail(h, peer, id, h.pull(peer, 1, 1).get(0));
    }
    h.loops.advance(1_000_000_000L);
    for (int i = 0; i < 2; i++) {
      assertThat(h.admin("dead-letters.retry", Map.of("id", "null")))
          .contains("\"unresolved\":1")
          .contains("\"waitAlready\":0")
          .contains("without a name");
    }
    h.loops.advance(10_000_000_000L);
    assertThat(h.admin("dead-letters.list", Map.of())).contains("\"retryFails\":\"\"");
    assertThat(h.admin("dead-letters.retry", Map.of("id", "ID:other")))
        .contains("no message with id ID:other waits in DLQ");
    h.close();
  }

  @Test
  void ofTwoRetriesAtOnceOneTakesTheLetters() throws Exception {
    BrokerHarness h = new BrokerHarness(18).open();
    long id = send(h, POISON, "a", "b", "c");
    FakePeer peer = consuming(h, POISON);
    for (int i = 0; i < 9; i++) {
      fail(h, peer, id, h.pull(peer, 1, 1).get(0));
    }
    List<Integer> asked = new ArrayList<>();
    for (int i = 0; i < 1_500; i++) {
      int c = h.nextCorrelation();
      h.broker.submit(new Command.Admin(peer, c, "dead-letters.retry", Map.of()));
      asked.add(c);
      h.loops.advance(1_000_000L);
    }
    assertThat(asked.stream().mapToInt(c -> retrying(h.reply(peer, c))).sum()).isEqualTo(3);
    h.close();
  }

  private static int retrying(Peer.Reply reply) {
    String json = ((Peer.Reply.Json) reply).json();
    return Integer.parseInt(json.replaceAll(".*\"retrying\":(\\d+).*", "$1"));
  }

  private static void begin(BrokerHarness h, FakePeer peer, long id, List<Received> some) {
    List<SequenceRange> ranges = some.stream().map(Received::range).toList();
    h.broker.submit(new Command.Begun(peer, 1, false, List.of(new Command.Acked(1, id, ranges))));
    h.loops.runUntilIdle();
  }
}

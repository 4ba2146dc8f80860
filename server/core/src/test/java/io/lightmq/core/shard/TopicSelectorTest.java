package io.lightmq.core.shard;

import static io.lightmq.core.door.Command.Subscribe.DURABLE;
import static io.lightmq.core.door.Command.Subscribe.PLAIN;
import static io.lightmq.core.door.Command.Subscribe.SHARED;
import static io.lightmq.core.door.Command.Subscribe.SHARED_DURABLE;
import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.door.Command;
import io.lightmq.core.door.Peer;
import io.lightmq.core.sessions.DurableSubscriptions;
import io.lightmq.core.shard.BrokerMetrics.SubscriptionUse;
import io.lightmq.wire.entry.BodyType;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.MessageWriter;
import io.lightmq.wire.entry.SequenceRange;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Subscriptions of a topic with selectors: each gets what it wants and keeps nothing else. */
class TopicSelectorTest {
  private static final DestinationName TOPIC = new DestinationName(DestinationKind.TOPIC, "prices");
  private static final DestinationName OTHER = new DestinationName(DestinationKind.TOPIC, "other");

  @RegisterExtension final BrokerHarness bench = new BrokerHarness(7);
  private final UUID link = new UUID(1, 1);
  private long number;

  private Peer.Reply attach(
      FakePeer peer,
      int id,
      DestinationName topic,
      Command.Subscribe kind,
      @Nullable String name,
      @Nullable String selector,
      boolean noLocal) {
    int c = bench.nextCorrelation();
    bench.broker.submit(
        new Command.AttachConsumer(
            peer, c, id, 1, topic, kind, name, selector, noLocal, false, true));
    return bench.reply(peer, c);
  }

  private long attached(
      FakePeer peer,
      int id,
      Command.Subscribe kind,
      @Nullable String name,
      @Nullable String selector) {
    Peer.Reply reply = attach(peer, id, TOPIC, kind, name, selector, false);
    assertThat(reply).isInstanceOf(Peer.Reply.ConsumerAttached.class);
    return ((Peer.Reply.ConsumerAttached) reply).destinationId();
  }

  private static FaultCode code(Peer.Reply reply) {
    return reply instanceof Peer.Reply.Failed failed ? failed.code() : FaultCode.OK;
  }

  private void detach(FakePeer peer, int id) {
    int c = bench.nextCorrelation();
    bench.broker.submit(new Command.DetachConsumer(peer, c, id));
    assertThat(bench.reply(peer, c)).isInstanceOf(Peer.Reply.Ok.class);
  }

  /** Messages with the property n of their texts, of priority n % 2 if they are to be mixed. */
  private static Command.Bytes run(boolean persistent, boolean mixed, int... numbers) {
    MessageWriter writer = new MessageWriter(1 << 12);
    ByteBuffer all = ByteBuffer.allocate(1 << 16);
    for (int n : numbers) {
      writer
          .start(BodyType.TEXT, mixed ? 4 + n % 2 : 4, persistent, 0, 0)
          .properties(Map.of("n", n))
          .textBody("m" + n)
          .finish();
      all.putInt(writer.length()).put(writer.array(), 0, writer.length());
    }
    all.flip();
    return new Command.Bytes() {
      @Override
      public ByteBuffer buffer() {
        return all;
      }

      @Override
      public void release() {}
    };
  }

  private void publish(
      FakePeer peer, long topic, boolean persistent, boolean mixed, int... numbers) {
    int c = bench.nextCorrelation();
    long run = persistent ? ++number : 0;
    bench.broker.submit(
        new Command.Publish(peer, c, topic, run, numbers.length, run(persistent, mixed, numbers)));
    assertThat(bench.receipt(peer, c)).isEqualTo(FaultCode.OK);
  }

  private List<String> take(FakePeer peer, int consumer, long topic) {
    List<String> texts = new ArrayList<>();
    List<FakePeer.Received> some = bench.pull(peer, consumer, 100);
    while (!some.isEmpty()) {
      for (FakePeer.Received each : some) {
        texts.add(each.text());
        bench.acknowledge(
            peer, consumer, topic, new SequenceRange(each.lane(), each.sequence(), 1));
      }
      some = bench.pull(peer, consumer, 100);
    }
    return texts;
  }

  private SubscriptionUse use(String name) {
    return bench.broker.metrics().destinations().stream()
        .flatMap(destination -> destination.subscriptions().stream())
        .filter(subscription -> subscription.name().equals(name))
        .findFirst()
        .orElseThrow();
  }

  private void takeMetrics() {
    BrokerMetrics before = bench.broker.metrics();
    bench.loops.runUntil(() -> bench.broker.metrics() != before);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void eachKindGetsWhatItWantsAndCountsNothingElse(boolean persistent) throws Exception {
    bench.open();
    FakePeer peer = bench.attach(link, 1, 1, "desk");
    long topic = attached(peer, 1, DURABLE, "few", "n > 6");
    attached(peer, 2, SHARED_DURABLE, "even", "n = 2 OR n = 4 OR n = 6 OR n = 8");
    attached(peer, 3, PLAIN, null, "n BETWEEN 3 AND 4");
    attached(peer, 4, SHARED, "none", "n > 100");
    attached(peer, 5, PLAIN, null, null);
    publish(peer, topic, persistent, false, 1, 2, 3, 4);
    publish(peer, topic, persistent, true, 5, 6, 7, 8);
    takeMetrics();
    assertThat(use("few").backlog().messages()).isEqualTo(2);
    assertThat(use("even").backlog().messages()).isEqualTo(4);
    assertThat(use("none").backlog().messages()).isZero();
    assertThat(use("few").selector().evaluations()).isEqualTo(8);
    assertThat(use("").selector().evaluations()).isEqualTo(8);
    assertThat(take(peer, 4, topic)).isEmpty();
    assertThat(take(peer, 1, topic)).containsExactly("m7", "m8");
    assertThat(take(peer, 2, topic)).containsExactly("m2", "m4", "m6", "m8");
    assertThat(take(peer, 3, topic)).containsExactly("m3", "m4");
    assertThat(take(peer, 5, topic))
        .containsExactly("m5", "m7", "m1", "m2", "m3", "m4", "m6", "m8");
  }

  @Test
  void whatNobodyWantsIsStoredNowhere() throws Exception {
    bench.open();
    FakePeer peer = bench.attach(link, 1, 1, "desk");
    long topic = attached(peer, 1, DURABLE, "few", "n > 6");
    attached(peer, 2, PLAIN, null, "n > 8");
    takeMetrics();
    long appended = bench.broker.metrics().journal().usedBytes();
    publish(peer, topic, true, false, 1, 2, 3);
    publish(peer, topic, true, true, 4, 5, 6);
    publish(peer, topic, false, false, 1, 2, 3);
    takeMetrics();
    assertThat(bench.broker.metrics().journal().usedBytes()).isEqualTo(appended);
    publish(peer, topic, true, true, 4, 7, 5, 6, 8, 9);
    assertThat(take(peer, 1, topic)).containsExactly("m7", "m9", "m8");
    assertThat(take(peer, 2, topic)).containsExactly("m9");
  }

  @Test
  void whatNoDurableSubscriptionWantsIsNotInTheJournal() throws Exception {
    bench.open();
    FakePeer peer = bench.attach(link, 1, 1, "desk");
    long topic = attached(peer, 1, DURABLE, "few", "n > 6");
    attached(peer, 2, PLAIN, null, null);
    publish(peer, topic, true, false, 7);
    publish(peer, topic, true, false, 1, 2);
    publish(peer, topic, true, false, 8, 3);
    assertThat(bench.pull(peer, 2, 100))
        .extracting(FakePeer.Received::lane)
        .startsWith(4, 132, 132);
    assertThat(take(peer, 1, topic)).containsExactly("m7", "m8");
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void selectorsAndWhatTheyTookSurviveCrashesAndCheckpoints(boolean checkpoint) throws Exception {
    bench.open();
    FakePeer peer = bench.attach(link, 1, 1, "desk");
    long topic = attached(peer, 1, DURABLE, "few", "n > 6");
    attached(peer, 2, SHARED_DURABLE, "all", null);
    publish(peer, topic, true, false, 1, 7, 2, 8);
    publish(peer, topic, true, true, 9, 3, 10);
    if (checkpoint) {
      bench.close();
    } else {
      bench.crash(true);
    }
    bench.open();
    peer = bench.attach(link, 2, 1, "desk");
    assertThat(code(attach(peer, 3, TOPIC, SHARED_DURABLE, "all", "n > 6", false)))
        .isEqualTo(FaultCode.OK);
    detach(peer, 3);
    attached(peer, 1, DURABLE, "few", "n > 6");
    publish(peer, topic, true, false, 4, 11);
    assertThat(take(peer, 1, topic)).containsExactly("m9", "m7", "m8", "m10", "m11");
  }

  @Test
  void aBadSelectorIsRefusedAndChangesNothing() throws Exception {
    bench.open();
    FakePeer peer = bench.attach(link, 1, 1, "desk");
    long topic = attached(peer, 1, DURABLE, "d", "n > 1");
    detach(peer, 1);
    publish(peer, topic, true, false, 5);
    for (Command.Subscribe kind :
        new Command.Subscribe[] {PLAIN, SHARED, DURABLE, SHARED_DURABLE}) {
      Peer.Reply reply = attach(peer, 2, OTHER, kind, kind == PLAIN ? null : "x", "n >", false);
      assertThat(code(reply)).isEqualTo(FaultCode.INVALID_SELECTOR);
      assertThat(((Peer.Reply.Failed) reply).text()).contains("column 4").contains("expected");
    }
    assertThat(code(attach(peer, 2, TOPIC, DURABLE, "d", "n = = 1", false)))
        .isEqualTo(FaultCode.INVALID_SELECTOR);
    assertThat(bench.admin("destination.list", Map.of())).doesNotContain("other");
    attached(peer, 1, DURABLE, "d", "n > 1");
    assertThat(take(peer, 1, topic)).containsExactly("m5");
  }

  @Test
  void anotherSelectorTopicOrNoLocalMakesAnotherSubscription() throws Exception {
    bench.open();
    FakePeer peer = bench.attach(link, 1, 1, "desk");
    long topic = attached(peer, 1, DURABLE, "d", "n > 1");
    publish(peer, topic, true, false, 5);
    assertThat(code(attach(peer, 2, TOPIC, DURABLE, "d", "n > 2", false)))
        .isEqualTo(FaultCode.IN_USE);
    detach(peer, 1);
    attached(peer, 1, DURABLE, "d", "n > 2");
    assertThat(take(peer, 1, topic)).isEmpty();
    publish(peer, topic, true, false, 2, 3);
    detach(peer, 1);
    attached(peer, 1, DURABLE, "d", "n > 2");
    assertThat(take(peer, 1, topic)).containsExactly("m3");
    publish(peer, topic, true, false, 4);
    detach(peer, 1);
    attached(peer, 1, DURABLE, "d", "  ");
    assertThat(take(peer, 1, topic)).isEmpty();
    publish(peer, topic, true, false, 1);
    detach(peer, 1);
    attached(peer, 1, DURABLE, "d", null);
    assertThat(take(peer, 1, topic)).containsExactly("m1");
    detach(peer, 1);
    assertThat(code(attach(peer, 1, OTHER, DURABLE, "d", null, false))).isEqualTo(FaultCode.OK);
    detach(peer, 1);
    bench.crash(true);
    bench.open();
    peer = bench.attach(link, 2, 1, "desk");
    publish(peer, topic, true, false, 6);
    assertThat(bench.admin("destination.show", Map.of("name", "prices", "kind", "topic")))
        .doesNotContain("\"d\"");
  }

  @Test
  void sharedSubscriptionsInUseKeepTheirSelector() throws Exception {
    bench.open();
    FakePeer peer = bench.attach(link, 1, 1, null);
    for (Command.Subscribe kind : new Command.Subscribe[] {SHARED, SHARED_DURABLE}) {
      attached(peer, 1, kind, "s", "n > 1");
      attached(peer, 2, kind, "s", "n > 1");
      assertThat(code(attach(peer, 3, TOPIC, kind, "s", "n > 2", false)))
          .isEqualTo(FaultCode.IN_USE);
      assertThat(code(attach(peer, 3, TOPIC, kind, "s", null, false))).isEqualTo(FaultCode.IN_USE);
      detach(peer, 1);
      detach(peer, 2);
      attached(peer, 1, kind, "s", "n > 2");
      detach(peer, 1);
    }
  }

  @Test
  void noLocalLeavesOutTheConnectionsOrTheClientsOwn() throws Exception {
    bench.open();
    FakePeer peer = bench.attach(link, 1, 1, "desk");
    FakePeer stranger = bench.attach(new UUID(2, 2), 1, 1, "other");
    attach(peer, 1, TOPIC, DURABLE, "d", "n > 1", true);
    Peer.Reply plain = attach(peer, 2, TOPIC, PLAIN, null, null, true);
    long topic = ((Peer.Reply.ConsumerAttached) plain).destinationId();
    publish(peer, topic, true, false, 1, 2);
    publish(peer, topic, false, false, 3);
    number = 0;
    publish(stranger, topic, true, false, 1, 4);
    publish(stranger, topic, false, false, 5);
    assertThat(take(peer, 1, topic)).containsExactly("m4", "m5");
    assertThat(take(peer, 2, topic)).containsExactly("m1", "m4", "m5");
    // The client's next connection is the same client, also while nobody consumes.
    int c = bench.nextCorrelation();
    bench.broker.submit(new Command.Detach(peer, true));
    bench.broker.submit(
        new Command.Attach(peer = bench.newPeer(), c, new UUID(3, 3), 1, 1, "desk"));
    bench.reply(peer, c);
    number = 0;
    publish(peer, topic, true, false, 6);
    attach(peer, 1, TOPIC, DURABLE, "d", "n > 1", true);
    assertThat(take(peer, 1, topic)).isEmpty();
  }

  @Test
  void aTransactionIsSelectedLikeRuns() throws Exception {
    bench.open();
    FakePeer peer = bench.attach(link, 1, 1, "desk");
    long topic = attached(peer, 1, DURABLE, "few", "n > 6");
    attached(peer, 2, PLAIN, null, "n < 3");
    int c = bench.nextCorrelation();
    bench.broker.submit(
        new Command.Commit(
            peer,
            c,
            1,
            ++number,
            List.of(
                new Command.StagedRun(topic, true, 4, run(true, true, 1, 7, 4, 8)),
                new Command.StagedRun(topic, true, 2, run(true, false, 2, 9)),
                new Command.StagedRun(topic, false, 3, run(false, false, 2, 5, 10)),
                new Command.StagedRun(topic, true, 1, run(true, false, 5))),
            List.of()));
    assertThat(bench.receipt(peer, c)).isEqualTo(FaultCode.OK);
    assertThat(take(peer, 1, topic)).containsExactly("m7", "m8", "m9", "m10");
    assertThat(take(peer, 2, topic)).containsExactly("m1", "m2", "m2");
  }

  @Test
  void aCommitKeepsTheOrderOfPersistentMessagesOfWhichADurableSubscriptionWantsSome()
      throws Exception {
    bench.open();
    FakePeer peer = bench.attach(link, 1, 1, "me");
    long topic = bench.producer(peer, TOPIC);
    attached(peer, 1, DURABLE, "odd", "n = 1 OR n = 3");
    attached(peer, 2, PLAIN, null, null);
    int c = bench.nextCorrelation();
    List<Command.StagedRun> runs = new ArrayList<>();
    for (int n = 1; n <= 4; n++) {
      // Messages of the other delivery mode between them keep them from being one run.
      runs.add(new Command.StagedRun(topic, true, 1, run(true, false, n)));
      runs.add(new Command.StagedRun(topic, false, 1, run(false, false, 10 + n)));
    }
    bench.broker.submit(new Command.Commit(peer, c, 1, ++number, runs, List.of()));
    assertThat(bench.receipt(peer, c)).isEqualTo(FaultCode.OK);
    List<String> all = take(peer, 2, topic);
    assertThat(all).filteredOn(text -> text.length() == 2).containsExactly("m1", "m2", "m3", "m4");
    assertThat(all)
        .filteredOn(text -> text.length() == 3)
        .containsExactly("m11", "m12", "m13", "m14");
    assertThat(take(peer, 1, topic)).containsExactly("m1", "m3");
  }

  @Test
  void oneEvaluationServesAllWithTheSameSelector() throws Exception {
    bench.open();
    FakePeer peer = bench.attach(link, 1, 1, "desk");
    long topic = 0;
    for (int i = 1; i <= 10; i++) {
      topic = attached(peer, i, SHARED_DURABLE, "s" + i, i % 2 == 0 ? "n > 6" : "n>6");
    }
    publish(peer, topic, true, false, 1, 7);
    takeMetrics();
    // All ten show the figures of the one filter that they share.
    assertThat(use("s1").selector().evaluations()).isEqualTo(2);
    assertThat(use("s10").selector().evaluations()).isEqualTo(2);
    for (int i = 1; i <= 10; i++) {
      assertThat(take(peer, i, topic)).containsExactly("m7");
    }
  }

  @Test
  void durableSubscriptionsWithSelectorsAreLimitedPerTopic() throws Exception {
    bench.open();
    FakePeer peer = bench.attach(link, 1, 1, "desk");
    for (int i = 0; i < DurableSubscriptions.MAX_PARTIAL_DURABLE; i++) {
      attached(peer, i, SHARED_DURABLE, "s" + i, "n > " + i);
    }
    Peer.Reply reply = attach(peer, 5_000, TOPIC, SHARED_DURABLE, "more", "n > 6", false);
    assertThat(code(reply)).isEqualTo(FaultCode.LIMIT_REACHED);
    attached(peer, 5_001, SHARED_DURABLE, "more", null);
    detach(peer, 0);
    attached(peer, 0, SHARED_DURABLE, "s0", "n > 1000");
  }
}

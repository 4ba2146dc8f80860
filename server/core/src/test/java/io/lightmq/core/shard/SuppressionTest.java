package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.door.Command;
import io.lightmq.core.door.Command.Subscribe;
import io.lightmq.core.door.Figure;
import io.lightmq.core.door.Peer;
import io.lightmq.core.shard.FakePeer.Received;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.SequenceRange;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Duplicates by a property: a text "KEY#REST" has the key KEY. */
class SuppressionTest {
  private static final DestinationName QUEUE = new DestinationName(DestinationKind.QUEUE, "once");
  private static final DestinationName TOPIC = new DestinationName(DestinationKind.TOPIC, "news");

  @RegisterExtension final BrokerHarness h = new BrokerHarness(21);
  private FakePeer peer;
  private long queue;
  private long number;

  @BeforeEach
  void open() throws IOException {
    h.open();
    h.admin("destination.create", Map.of("kind", "queue", "name", "once"));
    set("property:key");
    connect();
  }

  private void set(String text) {
    String answer = h.admin("destination.set", Map.of("name", "once", "suppress-duplicates", text));
    assertThat(answer).contains("\"suppress-duplicates\":\"");
  }

  private void connect() {
    peer = h.attach(new UUID(1, h.nextCorrelation()), 1, 1, "c");
    number = 0;
    queue = h.producer(peer, QUEUE);
    h.consumer(peer, 1, QUEUE, Subscribe.QUEUE, null);
  }

  private void publish(String... texts) {
    for (String text : texts) {
      assertThat(h.receipt(peer, h.publish(peer, queue, ++number, text))).isEqualTo(FaultCode.OK);
    }
  }

  private List<Received> pull(int messages) {
    return h.pull(peer, 1, messages);
  }

  private List<String> texts(List<Received> received) {
    return received.stream().map(Received::text).toList();
  }

  private Peer.Reply acknowledge(List<Received> received) {
    return h.acknowledge(
        peer, 1, queue, received.stream().map(Received::range).toArray(SequenceRange[]::new));
  }

  private void giveBack(List<Received> received) {
    List<SequenceRange> ranges = received.stream().map(Received::range).toList();
    h.broker.submit(
        new Command.Return(peer, 0, List.of(new Command.Acked(1, queue, ranges)), true));
    h.loops.runUntilIdle();
  }

  private BrokerMetrics.SubscriptionUse use() {
    h.loops.advance(1_100_000_000L);
    return h.broker.metrics().destinations().stream()
        .filter(each -> each.name().equals(QUEUE))
        .findFirst()
        .orElseThrow()
        .subscriptions()
        .get(0);
  }

  @Test
  void whatIsInFlightUnderTheSameKeyWaitsAndIsThenSuppressed() {
    publish("a#1", "b#1", "a#2", "a#3", "c#1");
    List<Received> got = pull(10);
    assertThat(texts(got)).containsExactly("a#1", "b#1", "c#1");
    assertThat(pull(10)).isEmpty();
    assertThat(acknowledge(got)).isInstanceOf(Peer.Reply.Ok.class);
    assertThat(pull(10)).isEmpty();
    assertThat(use().backlog().messages()).isZero();
    assertThat(use().settled().suppressed()).isEqualTo(2);
    assertThat(use().settled().acknowledged()).isEqualTo(3);
    assertThat(h.broker.metrics().of(Figure.SUPPRESSED)).isEqualTo(2);
  }

  @Test
  void whatIsGivenBackComesAgainFirstAndItsDuplicatesWaitOn() {
    publish("a#1", "a#2");
    List<Received> got = pull(10);
    assertThat(texts(got)).containsExactly("a#1");
    giveBack(got);
    got = pull(10);
    assertThat(texts(got)).containsExactly("a#1");
    acknowledge(got);
    publish("a#3");
    assertThat(pull(10)).isEmpty();
    assertThat(use().backlog().messages()).isZero();
  }

  @Test
  void aConsumerThatGoesLetsTheNextOneHaveIt() {
    publish("a#1", "a#2");
    pull(10);
    h.broker.submit(new Command.Detach(peer, false));
    h.loops.runUntilIdle();
    connect();
    List<Received> got = pull(10);
    assertThat(texts(got)).containsExactly("a#1");
    assertThat(got.get(0).deliveries()).isEqualTo(1);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void theWindowSurvivesCrashes(boolean snapshot) throws IOException {
    publish("a#1", "b#1");
    acknowledge(pull(1));
    if (snapshot) {
      h.broker.wantCheckpoint();
      h.loops.advance(2_000_000_000L);
      assertThat(h.broker.metrics().checkpoints().done()).isPositive();
    }
    h.crash(true);
    h.open();
    connect();
    publish("a#2", "b#2", "c#1");
    List<String> got = new ArrayList<>();
    for (List<Received> some = pull(10); !some.isEmpty(); some = pull(10)) {
      got.addAll(texts(some));
      acknowledge(some);
    }
    assertThat(got).containsExactly("b#1", "c#1");
    assertThat(use().settled().suppressed()).isEqualTo(2);
  }

  /** Else a start would know other keys than a snapshot, and a replica others than its leader. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void theKeysOfNonPersistentMessagesLiveAsLongAsTheProcess(boolean snapshot) throws IOException {
    set("property:key,keys=2");
    publish("a#1", "b#1");
    acknowledge(pull(10));
    h.publish(peer, queue, 0, "c#1", "d#1", "e#1");
    h.loops.runUntilIdle();
    acknowledge(pull(10));
    h.publish(peer, queue, 0, "d#2", "e#2");
    publish("a#2", "b#2");
    assertThat(pull(10)).isEmpty();
    assertThat(use().settled().suppressed()).isEqualTo(4);
    if (snapshot) {
      h.broker.wantCheckpoint();
      h.loops.advance(2_000_000_000L);
      assertThat(h.broker.metrics().checkpoints().done()).isPositive();
    }
    h.crash(true);
    h.open();
    connect();
    publish("a#4", "d#4", "b#4", "e#4");
    assertThat(texts(pull(10))).containsExactly("d#4", "e#4");
  }

  @Test
  void anAcknowledgementWhoseKeyIsNotKnownAnyMoreIsRefused() throws IOException {
    publish("a#1", "a#2");
    List<Received> got = pull(10);
    h.crash(false);
    h.open();
    connect();
    assertThat(acknowledge(got)).isInstanceOf(Peer.Reply.Failed.class);
    got = pull(10);
    assertThat(texts(got)).containsExactly("a#1");
    acknowledge(got);
    assertThat(pull(10)).isEmpty();
  }

  @Test
  void aTransactionCarriesItsKeysAndARolledBackOneDoesNot() throws IOException {
    publish("a#1", "a#2", "b#1", "b#2");
    List<Received> got = pull(10);
    assertThat(texts(got)).containsExactly("a#1", "b#1");
    giveBack(got.subList(1, 2));
    int c = h.nextCorrelation();
    h.broker.submit(
        new Command.Commit(
            peer,
            c,
            1,
            ++number,
            List.of(),
            List.of(new Command.Acked(1, queue, List.of(got.get(0).range())))));
    assertThat(h.receipt(peer, c)).isEqualTo(FaultCode.OK);
    h.crash(true);
    h.open();
    connect();
    assertThat(texts(pull(10))).containsExactly("b#1");
  }

  @Test
  void whatHasNoKeyIsNeverADuplicate() {
    publish("x", "x", "x");
    List<Received> got = pull(10);
    assertThat(got).hasSize(3);
    acknowledge(got);
    publish("x");
    assertThat(pull(10)).hasSize(1);
  }

  @Test
  void aKeyThatHasLeftTheWindowIsNewAgain() {
    set("property:key,keys=2,time=10s");
    publish("a#1", "b#1", "c#1");
    acknowledge(pull(10));
    publish("a#2", "b#2", "c#2");
    List<Received> got = pull(10);
    assertThat(texts(got)).containsExactly("a#2");
    h.loops.advance(11_000_000_000L);
    publish("b#3", "c#3");
    assertThat(texts(pull(10))).containsExactly("b#3", "c#3");
  }

  @Test
  void whatIsReadFromFilesIsSuppressedToo() {
    List<String> wanted = new ArrayList<>();
    String pad = "#" + "y".repeat(2_000);
    for (int i = 0; i < 150; i++) {
      publish(i + pad);
      wanted.add(i + pad);
      if (i % 3 == 0) {
        publish(i / 3 + pad + "again");
      }
    }
    List<String> got = new ArrayList<>();
    for (List<Received> some = pull(10); !some.isEmpty(); some = pull(10)) {
      got.addAll(texts(some));
      acknowledge(some);
    }
    assertThat(got).isEqualTo(wanted);
    assertThat(use().settled().suppressed()).isEqualTo(50);
  }

  @Test
  void nonPersistentMessagesInFilesAreSuppressedToo() {
    List<String> wanted = new ArrayList<>();
    String pad = "#" + "y".repeat(4_000);
    for (int i = 0; i < 400; i++) {
      h.publish(peer, queue, 0, i + pad, (i / 2) + pad + "again");
      h.loops.runUntilIdle();
      wanted.add(i + pad);
    }
    assertThat(use().backlog().messages()).isEqualTo(800);
    assertThat(h.broker.metrics().overflow().movedMessages()).isPositive();
    List<String> got = new ArrayList<>();
    for (List<Received> some = pull(10); !some.isEmpty(); some = pull(10)) {
      got.addAll(texts(some));
      acknowledge(some);
    }
    assertThat(got).isEqualTo(wanted);
    assertThat(use().settled().suppressed()).isEqualTo(400);
  }

  @Test
  void eachSubscriptionOfATopicHasAWindowOfItsOwn() {
    h.admin(
        "destination.create",
        Map.of("kind", "topic", "name", "news", "suppress-duplicates", "property:key"));
    long topic = h.producer(peer, TOPIC);
    h.consumer(peer, 2, TOPIC, Subscribe.DURABLE, "one");
    h.consumer(peer, 3, TOPIC, Subscribe.PLAIN, null);
    h.receipt(peer, h.publish(peer, topic, ++number, "a#1"));
    List<Received> got = h.pull(peer, 2, 10);
    assertThat(texts(got)).containsExactly("a#1");
    h.acknowledge(peer, 2, topic, got.get(0).range());
    h.receipt(peer, h.publish(peer, topic, ++number, "a#2"));
    assertThat(h.pull(peer, 2, 10)).isEmpty();
    got = h.pull(peer, 3, 10);
    assertThat(texts(got)).containsExactly("a#1");
    h.acknowledge(peer, 3, topic, got.get(0).range());
    assertThat(h.pull(peer, 3, 10)).isEmpty();
  }

  @Test
  void aWaitingDuplicateIsFreeWhenTheSettingGoes() {
    publish("a#1", "a#2");
    List<Received> first = pull(10);
    set("none");
    assertThat(texts(pull(10))).containsExactly("a#2");
    assertThat(acknowledge(first)).isInstanceOf(Peer.Reply.Ok.class);
  }

  @Test
  void whatWasInFlightWhenTheSettingCameMayBeAcknowledged() {
    set("none");
    publish("a#1");
    List<Received> first = pull(10);
    set("property:key");
    assertThat(acknowledge(first)).isInstanceOf(Peer.Reply.Ok.class);
  }

  @Test
  void beyondItsBoundOfWaitingOnesNothingIsGivenOutUntilTheFirstIsSettled() {
    publish("a#1");
    List<Received> first = pull(1);
    for (int run = 0; run < 210; run++) {
      String[] texts = new String[50];
      Arrays.fill(texts, "a#2");
      assertThat(h.receipt(peer, h.publish(peer, queue, ++number, texts))).isEqualTo(FaultCode.OK);
    }
    while (use().backlog().inFlight() < 10_001) {
      assertThat(pull(1_000)).isEmpty();
    }
    publish("b#1");
    assertThat(pull(1_000)).isEmpty();
    acknowledge(first);
    assertThat(texts(pull(1_000))).containsExactly("b#1");
    assertThat(use().settled().suppressed()).isEqualTo(210 * 50);
  }

  @Test
  void aWrongSettingIsAnsweredWithWhatWouldBeRight() {
    String answer =
        h.admin("destination.set", Map.of("name", "once", "suppress-duplicates", "maybe"));
    assertThat(answer).contains("message-id or property:NAME");
  }
}

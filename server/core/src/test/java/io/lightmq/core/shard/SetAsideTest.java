package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.door.Command;
import io.lightmq.core.door.Command.Subscribe;
import io.lightmq.core.door.Figure;
import io.lightmq.core.door.Peer;
import io.lightmq.core.shard.FakePeer.Received;
import io.lightmq.core.sim.FaultyDisk;
import io.lightmq.core.storage.DiskFile;
import io.lightmq.core.storage.segment.SegmentSettings;
import io.lightmq.wire.entry.BodyType;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.MessageWriter;
import io.lightmq.wire.entry.SequenceRange;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What cannot be read is set aside and told; all the rest is delivered, to whoever wants it. */
class SetAsideTest {
  private static final DestinationName QUEUE = new DestinationName(DestinationKind.QUEUE, "orders");
  private static final DestinationName TOPIC = new DestinationName(DestinationKind.TOPIC, "news");
  private static final int COUNT = 60;

  @RegisterExtension final BrokerHarness h = new BrokerHarness(7);
  private FakePeer peer;

  /** Sectors that the device does not give, as texts that lie in them. */
  private final List<String> unreadable = new ArrayList<>();

  private static String text(int number) {
    return "m" + number + "-" + "x".repeat(300);
  }

  private static int number(Received received) {
    return Integer.parseInt(received.text().substring(1, received.text().indexOf('-')));
  }

  private static List<Integer> without(Integer... missing) {
    List<Integer> all = new ArrayList<>(IntStream.range(0, COUNT).boxed().toList());
    all.removeAll(List.of(missing));
    return all;
  }

  /** A stopped broker whose messages lie in a segment. */
  private void stored(DestinationName name, long delayMillis) throws IOException {
    h.open();
    send(name, delayMillis);
    h.close();
  }

  private void send(DestinationName name, long delayMillis) {
    FakePeer sender = h.attach();
    long id = h.producer(sender, name);
    for (int i = 0; i < COUNT; i++) {
      int c = h.nextCorrelation();
      h.broker.submit(
          new Command.Publish(sender, c, id, i + 1, 1, h.bytes(true, 0, delayMillis, text(i))));
      assertThat(h.receipt(sender, c)).isEqualTo(FaultCode.OK);
    }
  }

  private void flip(int number) throws IOException {
    for (String each : h.disk.list("segments")) {
      int at = find(each, "m" + number + "-");
      if (at >= 0) {
        h.disk.flip("segments/" + each, at + 100, 3);
      }
    }
  }

  private int find(String segment, String text) throws IOException {
    byte[] bytes = h.disk.contents("segments/" + segment);
    return new String(bytes, StandardCharsets.ISO_8859_1).indexOf(text);
  }

  /** Zeros in the sector of 512 bytes in which a message's text begins. */
  private void zero(int number) throws IOException {
    for (String each : h.disk.list("segments")) {
      int at = find(each, "m" + number + "-") & ~511;
      if (at >= 0) {
        byte[] bytes = h.disk.contents("segments/" + each);
        java.util.Arrays.fill(bytes, at, at + 512, (byte) 0);
        h.disk.replace("segments/" + each, bytes);
      }
    }
  }

  private long consume(DestinationName name, Subscribe subscribe, String named) {
    peer = h.attach(new UUID(1, h.nextCorrelation()), 1, 1, named == null ? null : "ada");
    return h.consumer(peer, 1, name, subscribe, named);
  }

  private List<Integer> drain(long id) {
    List<Integer> numbers = new ArrayList<>();
    for (List<Received> got = h.pull(peer, 1, 7); !got.isEmpty(); got = h.pull(peer, 1, 7)) {
      got.forEach(each -> numbers.add(number(each)));
      h.acknowledge(peer, 1, id, got.stream().map(Received::range).toArray(SequenceRange[]::new));
    }
    return numbers;
  }

  private String damaged(String verb) {
    return h.admin("damaged." + verb, Map.of());
  }

  /** Where a message's text lies in the journal: the file, and the offset in it. */
  private Map.Entry<String, Integer> inJournal(int number) throws IOException {
    for (String each : h.disk.list("journal")) {
      byte[] bytes = h.disk.contents("journal/" + each);
      int at = new String(bytes, StandardCharsets.ISO_8859_1).indexOf("m" + number + "-");
      if (at >= 0) {
        return Map.entry("journal/" + each, at);
      }
    }
    throw new AssertionError("message " + number + " is not in the journal");
  }

  /** Neither what is damaged in the journal nor its neighbours are lost by a checkpoint. */
  @ParameterizedTest
  @ValueSource(ints = {0, 100, 303})
  void aDamagedMessageInTheJournalDoesNotEndACheckpoint(int from) throws Exception {
    h.open();
    send(QUEUE, 0);
    List<Map.Entry<String, Integer>> places =
        List.of(inJournal(20), inJournal(21), inJournal(COUNT - 1));
    for (var place : places) {
      h.disk.flip(place.getKey(), place.getValue() + from, 3);
    }
    h.close(); // with a checkpoint
    for (var place : places) {
      // Start reads the journal as long as it has not been written over; here it is not the matter.
      h.disk.flip(place.getKey(), place.getValue() + from, 3);
    }
    h.open();
    assertThat(drain(consume(QUEUE, Subscribe.QUEUE, null))).isEqualTo(without(20, 21, COUNT - 1));
    assertThat(damaged("list")).contains("\"destination\":\"orders\"");
    assertThat(h.admin("destination.show", Map.of("name", "orders"))).contains("\"damaged\":3");
    assertThat(h.broker.failure()).isNotDone();
    assertThat(damaged("drop")).doesNotContain("error");
    h.close();
    h.open();
    assertThat(h.admin("destination.show", Map.of("name", "orders"))).contains("\"backlog\":0");
  }

  @Test
  void allButTheDamagedMessageIsDeliveredAlsoAfterAnyEnd() throws Exception {
    stored(QUEUE, 0);
    flip(20);
    h.open();
    long id = consume(QUEUE, Subscribe.QUEUE, null);
    assertThat(drain(id)).isEqualTo(without(20));
    assertThat(peer.pullsDone).last().asString().endsWith("/" + FaultCode.OK);
    assertThat(h.admin("destination.show", Map.of("name", "orders")))
        .contains("\"backlog\":1")
        .contains("\"damaged\":1");
    String list = damaged("list");
    assertThat(list).contains("\"destination\":\"orders\"").contains("\"messages\":1}");
    h.loops.advance(2_000_000_000L);
    assertThat(h.broker.metrics().of(Figure.DAMAGED_NOW)).isEqualTo(1);
    assertThat(h.broker.metrics().of(Figure.SET_ASIDE)).isEqualTo(1);
    h.crash(true);
    h.open();
    assertThat(damaged("list")).isEqualTo(list);
    assertThat(drain(consume(QUEUE, Subscribe.QUEUE, null))).isEmpty();
    h.close();
    h.open();
    assertThat(damaged("list")).isEqualTo(list);
    assertThat(drain(consume(QUEUE, Subscribe.QUEUE, null))).isEmpty();
    assertThat(h.admin("destination.purge", Map.of("name", "orders"))).contains("\"messages\":0");
    assertThat(damaged("list")).isEqualTo(list);
  }

  @Test
  void whatIsRetriedComesOnceItCanBeReadAndIsSetAsideAgainIfNot() throws Exception {
    stored(QUEUE, 0);
    flip(20);
    flip(21);
    h.open();
    long id = consume(QUEUE, Subscribe.QUEUE, null);
    assertThat(drain(id)).isEqualTo(without(20, 21));
    assertThat(damaged("retry")).contains("\"retried\":2");
    assertThat(drain(id)).isEmpty();
    assertThat(damaged("list")).contains("\"messages\":2}");
    flip(20); // healed
    assertThat(damaged("retry")).contains("\"retried\":2");
    assertThat(drain(id)).containsExactly(20);
    assertThat(damaged("list")).contains("\"messages\":1}");
  }

  @Test
  void whatIsDroppedIsGoneForGood() throws Exception {
    stored(QUEUE, 0);
    flip(20);
    h.open();
    long id = consume(QUEUE, Subscribe.QUEUE, null);
    drain(id);
    assertThat(damaged("drop")).contains("\"dropped\":1");
    assertThat(damaged("list")).contains("\"damaged\":[]");
    assertThat(h.admin("destination.show", Map.of("name", "orders"))).contains("\"backlog\":0");
    h.crash(true);
    h.open();
    assertThat(h.admin("destination.show", Map.of("name", "orders"))).contains("\"backlog\":0");
  }

  @Test
  void behindAZeroedSectorTheNextWholeMessageIsFound() throws Exception {
    stored(QUEUE, 0);
    zero(20);
    h.open();
    List<Integer> got = drain(consume(QUEUE, Subscribe.QUEUE, null));
    assertThat(got.size()).isBetween(COUNT - 3, COUNT - 1);
    assertThat(got).contains(17, 23).doesNotContain(20).isSorted();
  }

  @Test
  void aSectorThatTheDeviceDoesNotGiveTakesOnlyWhatLiesInIt() throws Exception {
    h.wrap =
        disk ->
            new FaultyDisk(disk) {
              @Override
              protected int read(DiskFile file, long at, ByteBuffer into) throws IOException {
                String name = file.name();
                for (String each : unreadable) {
                  String plain = name.substring(name.lastIndexOf('/') + 1);
                  long bad = name.contains("segments") ? find(plain, each) & ~511L : -1;
                  if (bad >= 0 && at < bad + 512 && bad < at + into.remaining()) {
                    throw new IOException("Input/output error");
                  }
                }
                return super.read(file, at, into);
              }
            };
    stored(QUEUE, 0);
    unreadable.add("m20-");
    h.open();
    long id = consume(QUEUE, Subscribe.QUEUE, null);
    List<Integer> got = drain(id);
    assertThat(got.size()).isBetween(COUNT - 13, COUNT - 1);
    assertThat(got).doesNotContain(20).isSorted().contains(0, COUNT - 1);
    unreadable.clear();
    damaged("retry");
    List<Integer> rest = drain(id);
    got.addAll(rest);
    assertThat(rest).contains(20);
    assertThat(got).containsExactlyInAnyOrderElementsOf(without());
  }

  @Test
  void eachDurableSubscriptionGetsTheRest() throws Exception {
    h.open();
    for (String name : List.of("one", "other")) {
      consume(TOPIC, Subscribe.DURABLE, name);
      h.broker.submit(new Command.Detach(peer, true));
      h.loops.runUntilIdle();
    }
    send(TOPIC, 0);
    h.close();
    flip(20);
    flip(59);
    h.open();
    for (String name : List.of("one", "other")) {
      assertThat(drain(consume(TOPIC, Subscribe.DURABLE, name))).isEqualTo(without(20, 59));
      h.broker.submit(new Command.Detach(peer, true));
      h.loops.runUntilIdle();
    }
    assertThat(damaged("list")).contains("\"kind\":\"topic\"").contains("\"messages\":2}");
    damaged("drop");
    assertThat(h.admin("destination.show", Map.of("name", "news", "kind", "topic")))
        .contains("\"backlog\":0");
  }

  @Test
  void whatWaitsForItsNextAttemptIsGivenOutOnceThoughItIsRetriedMeanwhile() throws Exception {
    h.open();
    for (String name : List.of("one", "other")) {
      peer = h.attach(new UUID(3, name.length()), 1, 1, name);
      h.consumer(peer, 1, TOPIC, Subscribe.DURABLE, "s");
      h.broker.submit(new Command.Detach(peer, true));
      h.loops.runUntilIdle();
    }
    send(TOPIC, 0);
    h.admin("destination.set", Map.of("name", "news", "redelivery-order", "non-blocking"));
    h.admin("destination.set", Map.of("name", "news", "redelivery-delay", "30s"));
    h.close();
    h.open();
    FakePeer one = h.attach(new UUID(4, 1), 1, 1, "one");
    long id = h.consumer(one, 1, TOPIC, Subscribe.DURABLE, "s");
    List<Received> before = new ArrayList<>();
    while (before.size() < 41) {
      before.addAll(h.pull(one, 1, 41 - before.size()));
    }
    Received failed = before.get(40);
    h.broker.submit(
        new Command.Return(
            one, 0, List.of(new Command.Acked(1, id, List.of(failed.range()))), true));
    h.loops.runUntilIdle();
    flip(40);
    peer = h.attach(new UUID(4, 2), 1, 1, "other");
    assertThat(drain(h.consumer(peer, 1, TOPIC, Subscribe.DURABLE, "s"))).isEqualTo(without(40));
    assertThat(damaged("list")).contains("\"messages\":1}");
    flip(40); // healed
    assertThat(damaged("retry")).contains("\"retried\":1");
    List<Integer> got = new ArrayList<>();
    for (int i = 0; i < 45; i++) {
      h.pull(one, 1, 1).forEach(each -> got.add(number(each)));
      h.loops.advance(1_000_000_000L);
    }
    assertThat(got).containsOnlyOnce(40).doesNotHaveDuplicates();
  }

  @Test
  void aLookPassesOverIt() throws Exception {
    stored(QUEUE, 0);
    flip(20);
    h.open();
    consume(QUEUE, Subscribe.BROWSE, null);
    List<Integer> seen = new ArrayList<>();
    h.browse(peer, 1, 7, 1 << 20).forEach(each -> seen.add(number(each)));
    assertThat(seen).isEqualTo(without(20));
  }

  @Test
  void aSelectorsViewLooksOnBehindItAndLooksAgainAtWhatIsRetried() throws Exception {
    for (String selector :
        List.of("n >= 0", "JMSCorrelationID = 'k" + text(20).length() % 7 + "'")) {
      stored(QUEUE, 0);
      flip(20);
      h.open();
      peer = h.attach();
      Peer.Reply reply = h.tryConsumer(peer, 1, QUEUE, Subscribe.QUEUE, null, selector, false);
      long id = ((Peer.Reply.ConsumerAttached) reply).destinationId();
      List<Integer> got = drain(id);
      assertThat(got).doesNotContain(20).contains(21, 59).isSorted();
      flip(20);
      damaged("retry");
      assertThat(drain(id)).containsExactly(20);
      h.admin("destination.delete", Map.of("name", "orders", "force", "true"));
      h.close();
    }
    h.open();
  }

  /** Beyond what an index of ids knows, spans without the id are passed over, not read. */
  @Test
  void aSelectorForAnIdLooksOnBehindDamageInASpanBehindOthersThatItPassedOver() throws Exception {
    int many = (1 << 16) + 1_500;
    h.settings =
        BrokerHarness.settings(4 << 20, 1 << 20)
            .with(
                new SegmentSettings(
                    4 << 20, 16 << 10, 4 << 10, 4 << 10, 1 << 20, 8, 64 << 10, 2 << 20));
    h.open();
    FakePeer sender = h.attach();
    long id = h.producer(sender, QUEUE);
    MessageWriter writer = new MessageWriter(1 << 12);
    for (int from = 0, run = 1; from < many; from += 100, run++) {
      ByteBuffer all = ByteBuffer.allocate(1 << 16);
      for (int n = from; n < from + 100; n++) {
        writer
            .start(BodyType.TEXT, 4, true, 0, 0)
            .correlationId("c" + n)
            .textBody("m" + n + "-" + "x".repeat(100))
            .finish();
        all.putInt(writer.length()).put(writer.array(), 0, writer.length());
      }
      int c = h.nextCorrelation();
      h.broker.submit(new Command.Publish(sender, c, id, run, 100, h.bytes(all.flip())));
      assertThat(h.receipt(sender, c)).isEqualTo(FaultCode.OK);
    }
    h.close();
    for (int n = many - 700; n < many - 300; n++) {
      flip(n); // among them the first of the span in which what is looked for lies
    }
    h.open();
    peer = h.attach(new UUID(1, h.nextCorrelation()), 1, 1, null);
    for (int consumer = 1; consumer <= 2; consumer++) {
      int wanted = many - 301 + consumer;
      h.tryConsumer(
          peer,
          consumer,
          QUEUE,
          Subscribe.QUEUE,
          null,
          "JMSCorrelationID = 'c" + wanted + "'",
          false);
      List<Received> got = List.of();
      for (int pull = 0; pull < 20 && got.isEmpty(); pull++) {
        got = h.pull(peer, consumer, 7);
        h.loops.advance(2_000_000_000L);
      }
      assertThat(got).extracting(SetAsideTest::number).containsExactly(wanted);
    }
  }

  @Test
  void groupsGoOnBehindIt() throws Exception {
    h.groups = 5;
    stored(QUEUE, 0);
    flip(20);
    h.open();
    assertThat(drain(consume(QUEUE, Subscribe.QUEUE, null))).hasSize(COUNT - 1).doesNotContain(20);
  }

  @Test
  void delayedMessagesBehindItFallDue() throws Exception {
    h.keepTime = true;
    stored(QUEUE, 10_000);
    flip(20);
    h.open();
    h.loops.advance(11_000_000_000L);
    long id = consume(QUEUE, Subscribe.QUEUE, null);
    assertThat(drain(id)).containsExactlyInAnyOrderElementsOf(without(20));
    assertThat(damaged("list"))
        .contains("\"destination\":\"orders\"")
        .contains("\"delayed\":\"true\"")
        .contains("\"messages\":1}");
    flip(20);
    damaged("retry");
    h.loops.advance(1_000_000_000L);
    assertThat(drain(id)).containsExactly(20);
  }

  @Test
  void deadLettersBehindItAreMoved() throws Exception {
    DestinationName poison = new DestinationName(DestinationKind.QUEUE, "poison.a");
    stored(poison, 0);
    h.open();
    long id = consume(poison, Subscribe.QUEUE, null);
    for (int attempt = 0; attempt < 3; attempt++) {
      List<Received> got = new ArrayList<>();
      for (List<Received> some = h.pull(peer, 1, COUNT);
          !some.isEmpty();
          some = h.pull(peer, 1, COUNT)) {
        got.addAll(some);
      }
      if (attempt == 2) {
        flip(20);
      }
      h.broker.submit(
          new Command.Return(
              peer,
              0,
              List.of(new Command.Acked(1, id, got.stream().map(Received::range).toList())),
              true,
              "no"));
      h.loops.runUntilIdle();
    }
    h.loops.advance(5_000_000_000L);
    assertThat(h.admin("destination.show", Map.of("name", "poison.a")))
        .contains("\"backlog\":1,")
        .contains("\"damaged\":1");
    assertThat(h.admin("destination.show", Map.of("name", "DLQ"))).contains("\"backlog\":59,");
    assertThat(h.broker.metrics().of(Figure.WAITING_MOVES)).isZero();
  }

  @Test
  void segmentsWithDamageAreKeptAndCheckpointsGoOn() throws Exception {
    stored(QUEUE, 0);
    flip(20);
    h.open();
    long id = consume(QUEUE, Subscribe.QUEUE, null);
    drain(id);
    long failed = 0;
    for (int i = 0; i < 5; i++) {
      h.broker.wantCheckpoint();
      h.loops.advance(3_000_000_000L);
      failed = h.broker.metrics().checkpoints().failed();
    }
    assertThat(h.broker.metrics().checkpoints().done()).isGreaterThanOrEqualTo(4);
    assertThat(failed).isLessThanOrEqualTo(1);
    flip(20);
    damaged("retry");
    assertThat(drain(id)).containsExactly(20);
  }
}

package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.checkpoint.Checkpoints;
import io.lightmq.core.door.Command.Subscribe;
import io.lightmq.core.door.Figure;
import io.lightmq.core.shard.FakePeer.Received;
import io.lightmq.core.sim.FaultyDisk;
import io.lightmq.core.storage.DiskFile;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.Entry;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.SequenceRange;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Checkpoints and consumers go on with whatever can be read, and what cannot be is told. */
class JournalDamageWhileRunningTest {
  private static final DestinationName QUEUE = new DestinationName(DestinationKind.QUEUE, "orders");
  private static final int COUNT = 60;
  private static final int RUN = 6;
  private static final long SECOND = 1_000_000_000L;

  @RegisterExtension final BrokerHarness h = new BrokerHarness(7);
  private FakePeer peer;
  private long id;

  /** A file of which the device does not give what lies around a place. */
  private String badFile = "";

  private long badAt;
  private boolean journalIsClosedToUs;
  private boolean segmentsAreClosedToUs;
  private boolean segmentsGiveNothing;

  JournalDamageWhileRunningTest() {
    h.wrap =
        disk ->
            new FaultyDisk(disk) {
              @Override
              protected int read(DiskFile file, long at, ByteBuffer into) throws IOException {
                if (file.name().equals(badFile)
                    && at < badAt + 512
                    && badAt < at + into.remaining()) {
                  throw new IOException("Input/output error");
                }
                if (journalIsClosedToUs && file.name().startsWith("journal/")) {
                  throw new AccessDeniedException(file.name());
                }
                if (segmentsAreClosedToUs && file.name().startsWith("segments/")) {
                  throw new AccessDeniedException(file.name());
                }
                if (segmentsGiveNothing && file.name().startsWith("segments/")) {
                  throw new IOException("Input/output error");
                }
                return super.read(file, at, into);
              }
            };
  }

  private void sent() throws IOException {
    h.open();
    peer = h.attach(new UUID(1, 1), 1, 1, null);
    id = h.producer(peer, QUEUE);
    for (int from = 0; from < COUNT; from += RUN) {
      String[] texts = new String[RUN];
      for (int i = 0; i < RUN; i++) {
        texts[i] = "m" + (from + i) + "-" + "x".repeat(300);
      }
      assertThat(h.receipt(peer, h.publish(peer, id, from / RUN + 1, texts)))
          .isEqualTo(FaultCode.OK);
    }
  }

  private static int number(Received received) {
    return Integer.parseInt(received.text().substring(1, received.text().indexOf('-')));
  }

  private List<Integer> drain() {
    h.consumer(peer, 1, QUEUE, Subscribe.QUEUE, null);
    List<Integer> numbers = new ArrayList<>();
    for (List<Received> got = h.pull(peer, 1, 7); !got.isEmpty(); got = h.pull(peer, 1, 7)) {
      got.forEach(each -> numbers.add(number(each)));
      h.acknowledge(peer, 1, id, got.stream().map(Received::range).toArray(SequenceRange[]::new));
    }
    return numbers;
  }

  private static List<Integer> without(Integer... missing) {
    List<Integer> all = new ArrayList<>(IntStream.range(0, COUNT).boxed().toList());
    all.removeAll(List.of(missing));
    return all;
  }

  private Map.Entry<String, Integer> inJournal(int number) throws IOException {
    for (String each : h.disk.list("journal")) {
      String text = new String(h.disk.contents("journal/" + each), StandardCharsets.ISO_8859_1);
      int at = text.indexOf("m" + number + "-");
      if (at >= 0) {
        return Map.entry("journal/" + each, at);
      }
    }
    throw new AssertionError("message " + number + " is not in the journal");
  }

  /** Where the entry begins in which a place lies. */
  private static int entryAt(byte[] bytes, int place) {
    ByteBuffer buffer = ByteBuffer.wrap(bytes);
    int at = place;
    while (!Entry.isIntact(buffer, at, bytes.length)) {
      at--;
    }
    return at;
  }

  private void checkpoint(int seconds) {
    h.broker.wantCheckpoint();
    for (int i = 0; i < seconds; i++) {
      h.loops.advance(SECOND);
    }
  }

  @Test
  void zerosInTheJournalEndNoCheckpointAndAreToldBeforeAnybodyReads() throws Exception {
    sent();
    var place = inJournal(20);
    byte[] bytes = h.disk.contents(place.getKey());
    byte[] before = Arrays.copyOfRange(bytes, place.getValue() - 60, place.getValue() + 100);
    Arrays.fill(bytes, place.getValue() - 60, place.getValue() + 100, (byte) 0);
    h.disk.replace(place.getKey(), bytes);
    checkpoint(3);
    assertThat(h.broker.failure()).isNotDone();
    assertThat(h.broker.metrics().checkpoints().done()).isPositive();
    assertThat(h.broker.metrics().checkpoints().failed()).isZero();
    assertThat(h.broker.metrics().of(Figure.SET_ASIDE)).isEqualTo(1);
    assertThat(h.broker.metrics().of(Figure.DAMAGED_NOW)).isEqualTo(1);
    String list = h.admin("damaged.list", Map.of());
    assertThat(list).contains("\"destination\":\"orders\"").contains("\"messages\":1}");
    h.crash(true);
    bytes = h.disk.contents(place.getKey());
    System.arraycopy(before, 0, bytes, place.getValue() - 60, before.length);
    h.disk.replace(place.getKey(), bytes); // a start reads all of the journal
    h.open();
    peer = h.attach(new UUID(2, 2), 1, 1, null);
    assertThat(h.admin("damaged.list", Map.of())).isEqualTo(list);
    assertThat(drain()).isEqualTo(without(20));
    assertThat(h.admin("damaged.retry", Map.of())).contains("\"retried\":1");
    assertThat(h.pull(peer, 1, 7)).as("what is lost does not come back").isEmpty();
    assertThat(h.admin("damaged.drop", Map.of())).contains("\"dropped\":1");
    assertThat(h.admin("destination.show", Map.of("name", "orders"))).contains("\"backlog\":0");
  }

  @Test
  void aSectorOfTheJournalThatNeverComesIsGivenUpAfterSomeTries() throws Exception {
    sent();
    var place = inJournal(20);
    badFile = place.getKey();
    badAt = place.getValue();
    checkpoint(5);
    assertThat(h.broker.metrics().checkpoints().done()).isZero();
    assertThat(h.broker.metrics().checkpoints().failed()).isPositive();
    badFile = "";
    checkpoint(3);
    assertThat(h.broker.metrics().checkpoints().done()).as("it came after all").isPositive();
    assertThat(h.broker.metrics().of(Figure.SET_ASIDE)).isZero();
    int c = h.publish(peer, id, COUNT / RUN + 1, "m60-" + "x".repeat(300));
    assertThat(h.receipt(peer, c)).isEqualTo(FaultCode.OK);
    place = inJournal(60);
    badFile = place.getKey();
    badAt = place.getValue();
    long done = h.broker.metrics().checkpoints().done();
    checkpoint(2 * Checkpoints.MOST_UNREAD);
    assertThat(h.broker.failure()).isNotDone();
    assertThat(h.broker.metrics().checkpoints().done()).isGreaterThan(done);
    assertThat(h.broker.metrics().of(Figure.SET_ASIDE)).isEqualTo(1);
    assertThat(drain()).isEqualTo(without());
  }

  /** How often it was closed says nothing of the device, which fails once when it is open again. */
  @Test
  void aJournalThatCouldNotBeOpenedForLongLosesNothingByOneFailedRead() throws Exception {
    sent();
    var place = inJournal(20);
    journalIsClosedToUs = true;
    checkpoint(3 * Checkpoints.MOST_UNREAD);
    assertThat(h.broker.metrics().checkpoints().failed()).isGreaterThan(Checkpoints.MOST_UNREAD);
    journalIsClosedToUs = false;
    badFile = place.getKey();
    badAt = place.getValue();
    checkpoint(2);
    assertThat(h.broker.metrics().checkpoints().done()).isZero();
    badFile = "";
    checkpoint(3);
    assertThat(h.broker.metrics().checkpoints().done()).isPositive();
    assertThat(h.broker.metrics().of(Figure.SET_ASIDE)).isZero();
    assertThat(drain()).isEqualTo(without());
  }

  @Test
  void failedReadsCountOnlyWithoutAnotherOutcomeBetween() throws Exception {
    sent();
    var place = inJournal(20);
    badFile = place.getKey();
    badAt = place.getValue();
    for (int i = 0; i < 4; i++) {
      journalIsClosedToUs = false;
      checkpoint(Checkpoints.MOST_UNREAD / 2);
      journalIsClosedToUs = true;
      checkpoint(2);
    }
    assertThat(h.broker.metrics().checkpoints().failed()).isGreaterThan(Checkpoints.MOST_UNREAD);
    assertThat(h.broker.metrics().checkpoints().done()).isZero();
    assertThat(h.broker.metrics().of(Figure.SET_ASIDE)).isZero();
    badFile = "";
    journalIsClosedToUs = false;
    checkpoint(2);
    assertThat(drain()).isEqualTo(without());
  }

  /** What is read from the journal before any checkpoint has moved it. */
  @Test
  void aConsumerGetsWhatIsWholeBehindDamageInTheJournal() throws Exception {
    sent();
    h.crash(false);
    h.open(); // nothing is in the window
    peer = h.attach(new UUID(2, 2), 1, 1, null);
    for (int damaged : new int[] {20, 40}) {
      var place = inJournal(damaged);
      byte[] bytes = h.disk.contents(place.getKey());
      int from = entryAt(bytes, place.getValue());
      Arrays.fill(bytes, from, from + 100, (byte) 0); // its length, so that nothing leads on
      h.disk.replace(place.getKey(), bytes);
    }
    assertThat(drain()).isEqualTo(without(20, 40));
    assertThat(h.admin("damaged.list", Map.of())).contains("\"messages\":2}");
    assertThat(h.broker.failure()).isNotDone();
  }

  /** Of a segment that is rewritten nothing may be lost, whatever its device says. */
  @Test
  void aSegmentThatCannotBeReadNowIsRewrittenLater() throws Exception {
    sent();
    checkpoint(2);
    h.consumer(peer, 1, QUEUE, Subscribe.QUEUE, null);
    List<Received> got = new ArrayList<>();
    while (got.size() < COUNT - 2) {
      got.addAll(h.pull(peer, 1, COUNT - 2 - got.size()));
    }
    h.acknowledge(peer, 1, id, got.stream().map(Received::range).toArray(SequenceRange[]::new));
    long done = h.broker.metrics().checkpoints().done();
    segmentsAreClosedToUs = true;
    checkpoint(4);
    assertThat(h.broker.failure()).isNotDone();
    assertThat(h.broker.metrics().checkpoints().failed()).as("it was to be rewritten").isPositive();
    segmentsAreClosedToUs = false;
    checkpoint(4);
    assertThat(h.broker.metrics().checkpoints().done()).isGreaterThan(done);
    assertThat(h.pull(peer, 1, 7))
        .extracting(JournalDamageWhileRunningTest::number)
        .containsExactly(58, 59);
  }

  @Test
  void aDeviceThatGivesNothingOfASegmentEndsNothing() throws Exception {
    sent();
    checkpoint(2);
    segmentsGiveNothing = true;
    h.consumer(peer, 1, QUEUE, Subscribe.QUEUE, null);
    h.pull(peer, 1, 7);
    checkpoint(4);
    assertThat(h.broker.failure()).isNotDone();
    segmentsGiveNothing = false;
    h.admin("damaged.retry", Map.of());
    List<Integer> numbers = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      h.pull(peer, 1, 20).forEach(each -> numbers.add(number(each)));
      h.loops.advance(SECOND);
    }
    assertThat(numbers).containsExactlyInAnyOrderElementsOf(without());
  }
}

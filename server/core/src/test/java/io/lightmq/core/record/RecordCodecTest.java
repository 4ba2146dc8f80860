package io.lightmq.core.record;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.core.destination.DestinationSettings;
import io.lightmq.core.destination.SubscriptionKind;
import io.lightmq.core.record.RecordSamples.HeapSink;
import io.lightmq.core.record.ShardRecord.Acked;
import io.lightmq.core.record.ShardRecord.AsideAction;
import io.lightmq.core.record.ShardRecord.AttemptTakenBack;
import io.lightmq.core.record.ShardRecord.Committed;
import io.lightmq.core.record.ShardRecord.Decided;
import io.lightmq.core.record.ShardRecord.DestinationCreated;
import io.lightmq.core.record.ShardRecord.DestinationDeleted;
import io.lightmq.core.record.ShardRecord.DestinationSet;
import io.lightmq.core.record.ShardRecord.Dropped;
import io.lightmq.core.record.ShardRecord.Epoch;
import io.lightmq.core.record.ShardRecord.Forgotten;
import io.lightmq.core.record.ShardRecord.Held;
import io.lightmq.core.record.ShardRecord.LinkAttached;
import io.lightmq.core.record.ShardRecord.LinkClosed;
import io.lightmq.core.record.ShardRecord.Prepared;
import io.lightmq.core.record.ShardRecord.Published;
import io.lightmq.core.record.ShardRecord.Purged;
import io.lightmq.core.record.ShardRecord.Reason;
import io.lightmq.core.record.ShardRecord.Refused;
import io.lightmq.core.record.ShardRecord.Released;
import io.lightmq.core.record.ShardRecord.ReleasedLane;
import io.lightmq.core.record.ShardRecord.Replaced;
import io.lightmq.core.record.ShardRecord.SetAside;
import io.lightmq.core.record.ShardRecord.StagedUnwanted;
import io.lightmq.core.record.ShardRecord.Started;
import io.lightmq.core.record.ShardRecord.Stopped;
import io.lightmq.core.record.ShardRecord.SubscriptionClosed;
import io.lightmq.core.record.ShardRecord.SubscriptionOpened;
import io.lightmq.core.record.ShardRecord.SubscriptionOwned;
import io.lightmq.core.record.ShardRecord.Touched;
import io.lightmq.core.record.ShardRecord.TransactionBegun;
import io.lightmq.core.record.ShardRecord.Unwanted;
import io.lightmq.spi.Durability;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.Entry;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.SequenceRange;
import io.lightmq.wire.entry.Xid;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class RecordCodecTest {
  private static final UUID LINK = new UUID(0x0123456789abcdefL, 0xfedcba9876543210L);
  private static final List<SequenceRange> RANGES =
      List.of(new SequenceRange(4, (3L << 32) | 5, 7), new SequenceRange(4, (4L << 32), 1));

  private static final List<Unwanted> UNWANTED =
      List.of(
          new Unwanted(12, BitSet.valueOf(new long[] {0b10})),
          new Unwanted(300, BitSet.valueOf(new long[] {0b11})));

  private static final List<ShardRecord> PLAIN =
      List.of(
          new Started(3, true),
          Stopped.UNCOUNTED,
          new Epoch(4),
          new DestinationCreated(
              9,
              new DestinationName(DestinationKind.QUEUE, "ordérs"),
              new DestinationSettings(Durability.BALANCED)),
          new DestinationSet(9, new DestinationSettings(Durability.PERFORMANCE)),
          new DestinationDeleted(9),
          new SubscriptionOpened(12, 9, SubscriptionKind.DURABLE, "client", "sub", null, true),
          new SubscriptionOpened(
              13,
              9,
              SubscriptionKind.SHARED_DURABLE,
              null,
              "sub",
              "price > 5 AND name = 'é'",
              false,
              new Replaced(8, 12),
              null),
          new SubscriptionClosed(9, 12),
          new Acked(9, 12, Reason.EXPIRED, RANGES),
          new Acked(
              9,
              12,
              Reason.ACKNOWLEDGED,
              RANGES,
              new ShardRecord.SeenKeys(1_700_000_000_000L, List.of(LINK, new UUID(1, -2)))),
          new Purged(9, 12, 4, (3L << 32) | 900, RANGES),
          new Touched(9, 12, 4, 3L << 32, 4_096),
          new ShardRecord.Attempted(9, 12, RANGES),
          new LinkAttached(LINK, 17),
          new LinkClosed(LINK),
          new Refused(LINK, 18, FaultCode.DESTINATION_GONE, "destination 9 is gone"));

  /** What has another body than in version 1, or came later. */
  private static final List<ShardRecord> NEWER =
      List.of(
          new SubscriptionOpened(
              14, 9, SubscriptionKind.DURABLE, "client", "other", null, true, null, "bérénice"),
          new SubscriptionOwned(9, 12, "ada"),
          new LinkAttached(LINK, 17, "ada", 3),
          new SetAside(9, AsideAction.SET_ASIDE, RANGES, "segment 42: crc 9f31, expected 77ab, é"),
          new SetAside(9, AsideAction.GIVEN_BACK, RANGES, ""),
          new SetAside(9, AsideAction.DROPPED, RANGES.subList(0, 1), ""),
          new AttemptTakenBack(9, 12, RANGES),
          new Stopped(true, List.of(new ShardRecord.Delivered(9, 12, 3, RANGES))),
          new Touched(9, 12, 4, (3L << 32) | 77, 256));

  private static final Xid BRANCH = new Xid(131077, new byte[] {1, 2, -3}, new byte[] {9});

  /** What came with transactions that are kept before they are committed. */
  private static final List<ShardRecord> OF_TRANSACTIONS =
      List.of(
          new TransactionBegun(41, new TransactionName.OfLink(LINK, 300)),
          new TransactionBegun(42, new TransactionName.OfUser("bérénice", BRANCH)),
          new TransactionBegun(
              43, new TransactionName.OfUser("ada", new Xid(-1, new byte[64], new byte[0]))),
          new Held(42, 9, 12, RANGES, ShardRecord.SeenKeys.NONE),
          new Held(42, 9, 12, RANGES, new ShardRecord.SeenKeys(5, List.of(LINK))),
          new Prepared(42, 1_700_000_000_000L),
          new Released(
              42,
              1_700_000_000_001L,
              List.of(
                  new ReleasedLane(77, 4, 300_000, 9, (3L << 32) | 17),
                  new ReleasedLane(78, 9, 1, 9, 3L << 32))),
          new Dropped(41),
          new Decided(42, true),
          new Decided(42, false),
          new Forgotten(42),
          new StagedUnwanted(42, 77, 4, 3L << 32, UNWANTED.get(0)));

  private static HeapSink ofTransactions() {
    HeapSink sink = new HeapSink(64_000);
    OF_TRANSACTIONS.forEach(new RecordWriter(sink)::write);
    return sink;
  }

  @Test
  void recordsOfTransactionsComeBackAsTheyWereWrittenInTheBytesOfTheGoldenFile()
      throws IOException {
    assertThat(RecordSamples.decode(64_000, ofTransactions().written())).isEqualTo(OF_TRANSACTIONS);
    isGolden("records-transactions-v1.hex", ofTransactions());
  }

  @Property(tries = 300)
  void damagedRecordsOfTransactionsAreRefusedAndNothingElse(
      @ForAll @IntRange(max = 600) int place, @ForAll byte value) {
    ByteBuffer bytes = ofTransactions().written();
    bytes.put(place % bytes.limit(), value);
    try {
      RecordSamples.decode(64_000, bytes);
    } catch (MalformedRecordException e) {
      assertThat(e).hasMessageContaining("offset");
    }
  }

  private static HeapSink everything() {
    HeapSink sink = new HeapSink(64_000);
    RecordWriter writer = new RecordWriter(sink);
    PLAIN.forEach(writer::write);
    NEWER.forEach(writer::write);
    writer.writeRun(
        LINK,
        19,
        (3L << 32) | 7,
        RecordSamples.stamp(9),
        2,
        RecordSamples.messages("first", "second message"),
        UNWANTED,
        (buffer, at) -> 55);
    writer.beginCommitted(LINK, 20, 2);
    writer.writeRun(
        null,
        0,
        (3L << 32) | 9,
        RecordSamples.stamp(9),
        1,
        RecordSamples.messages("x"),
        List.of(),
        (b, a) -> 0);
    writer.write(new Acked(9, 12, Reason.ACKNOWLEDGED, RANGES));
    writer.endCommitted();
    return sink;
  }

  @Test
  void everyRecordComesBackAsItWasWritten() {
    List<ShardRecord> read = RecordSamples.decode(64_000, everything().written());
    assertThat(read.subList(0, PLAIN.size())).isEqualTo(PLAIN);
    int runs = PLAIN.size() + NEWER.size();
    assertThat(read.subList(PLAIN.size(), runs)).isEqualTo(NEWER);
    Published published = (Published) read.get(runs);
    assertThat(published.link()).isEqualTo(LINK);
    assertThat(published.entries().count()).isEqualTo(2);
    assertThat(published.unwanted()).isEqualTo(UNWANTED);
    Committed committed = (Committed) read.get(runs + 1);
    assertThat(committed.number()).isEqualTo(20);
    assertThat(committed.parts()).hasSize(2);
    assertThat(((Published) committed.parts().get(0)).unwanted()).isEmpty();
    assertThat(committed.parts().get(1)).isEqualTo(new Acked(9, 12, Reason.ACKNOWLEDGED, RANGES));
  }

  /** A commit whose messages are in memory only says that its number is taken, and no more. */
  @Test
  void aCommitOfNoPartsIsReadAsItWasWritten() {
    HeapSink sink = new HeapSink(64_000);
    RecordWriter writer = new RecordWriter(sink);
    writer.beginCommitted(LINK, 20, 0);
    writer.endCommitted();
    ByteBuffer written = sink.written();
    assertThat(written.remaining()).isEqualTo(RecordCodec.HEADER_BYTES + 16 + 1 + 1);
    assertThat(RecordSamples.decode(64_000, written))
        .containsExactly(new Committed(LINK, 20, List.of()));
  }

  @Test
  void noRecordIsMissingHere() {
    Set<Class<?>> written = new HashSet<>();
    for (ShardRecord each : RecordSamples.decode(64_000, everything().written())) {
      written.add(each.getClass());
    }
    OF_TRANSACTIONS.forEach(each -> written.add(each.getClass()));
    assertThat(written).containsExactlyInAnyOrderElementsOf(kinds(ShardRecord.class));
  }

  private static Set<Class<?>> kinds(Class<?> family) {
    Set<Class<?>> kinds = new HashSet<>();
    for (Class<?> each : family.getPermittedSubclasses()) {
      if (each.isSealed()) {
        kinds.addAll(kinds(each));
      } else {
        kinds.add(each);
      }
    }
    return kinds;
  }

  @Test
  void entriesLieWhereThePublishedRecordSays() {
    HeapSink sink = everything();
    List<ShardRecord> read = RecordSamples.decode(64_000, sink.written());
    Published published = (Published) read.get(PLAIN.size() + NEWER.size());
    int at = (int) (published.entries().offset() - 64_000);
    ByteBuffer bytes = sink.written();
    for (int i = 0; i < 2; i++) {
      assertThat(Entry.check(bytes, at, bytes.limit())).isEqualTo(published.entries().lengths()[i]);
      assertThat(Entry.sequence(bytes, at)).isEqualTo(published.firstSequence() + i);
      assertThat(Entry.expiryMillis(bytes, at)).isEqualTo(55);
      at += published.entries().lengths()[i];
    }
  }

  @Test
  void bytesAreThoseOfTheGoldenFile() throws IOException {
    isGolden("records-v3.hex", everything());
  }

  private static void isGolden(String name, HeapSink written) throws IOException {
    String hex = HexFormat.of().formatHex(bytesOf(written.written()));
    Path golden = Path.of("src/test/resources/golden/" + name);
    if (Boolean.getBoolean("lightmq.golden.write")) {
      Files.writeString(golden, hex.replaceAll("(.{96})", "$1\n") + "\n", StandardCharsets.UTF_8);
    }
    assertThat(hex).isEqualTo(Files.readString(golden, StandardCharsets.UTF_8).replace("\n", ""));
  }

  /** As they were written before an orderly end said what was seen, with touched blocks. */
  @Test
  void recordsOfTheSecondGoldenFileAreRead() throws IOException {
    String hex =
        Files.readString(
            Path.of("src/test/resources/golden/records-v2.hex"), StandardCharsets.UTF_8);
    List<ShardRecord> read =
        RecordSamples.decode(
            64_000, ByteBuffer.wrap(HexFormat.of().parseHex(hex.replace("\n", ""))));
    assertThat(read.subList(0, PLAIN.size())).isEqualTo(PLAIN);
    assertThat(read.subList(PLAIN.size(), read.size() - 2))
        .isEqualTo(NEWER.subList(0, NEWER.size() - 2));
  }

  @Test
  void recordsOfVersionOneAreReadAndHaveNoOwners() throws IOException {
    String hex =
        Files.readString(
            Path.of("src/test/resources/golden/records-v1.hex"), StandardCharsets.UTF_8);
    List<ShardRecord> read =
        RecordSamples.decode(
            64_000, ByteBuffer.wrap(HexFormat.of().parseHex(hex.replace("\n", ""))));
    assertThat(read.subList(0, PLAIN.size())).isEqualTo(PLAIN);
    assertThat(read).hasSize(PLAIN.size() + 2);
  }

  @Test
  void unwantedMessagesThatAreNotInTheRunAreRefused() {
    HeapSink sink = new HeapSink(64_000);
    new RecordWriter(sink)
        .writeRun(
            LINK,
            19,
            7,
            RecordSamples.stamp(9),
            2,
            RecordSamples.messages("a", "b"),
            List.of(new Unwanted(12, BitSet.valueOf(new long[] {0b100}))),
            (buffer, at) -> 0);
    assertThatThrownBy(() -> RecordSamples.decode(64_000, sink.written()))
        .isInstanceOf(MalformedRecordException.class)
        .hasMessageContaining("does not want message 2 of 2");
  }

  @Test
  void paddingEndsTheBatch() {
    ByteBuffer padded = ByteBuffer.allocate(192);
    RecordWriter writer =
        new RecordWriter(
            new RecordWriter.Sink() {
              @Override
              public long position() {
                return padded.position();
              }

              @Override
              public void put(ByteBuffer bytes) {
                padded.put(bytes);
              }

              @Override
              public void patchInt(long offset, int value) {
                padded.putInt((int) offset, value);
              }
            });
    writer.write(new Epoch(4));
    assertThat(RecordSamples.decode(0, padded.clear())).containsExactly(new Epoch(4));
  }

  @Test
  void anUnknownVersionIsRefusedWithItsOffset() {
    ByteBuffer bytes = everything().written();
    bytes.put(1, (byte) 2);
    assertThatThrownBy(() -> RecordSamples.decode(64_000, bytes))
        .isInstanceOf(MalformedRecordException.class)
        .hasMessageContaining("offset 64000")
        .hasMessageContaining("version 2");
  }

  @Property(tries = 300)
  void aDamagedBatchGivesRecordsOrAMalformedRecordExceptionAndNothingElse(
      @ForAll @IntRange(max = 1200) int place, @ForAll byte value) {
    ByteBuffer bytes = everything().written();
    bytes.put(place % bytes.limit(), value);
    try {
      RecordSamples.decode(64_000, bytes);
    } catch (MalformedRecordException e) {
      assertThat(e).hasMessageContaining("offset");
    }
  }

  @Property(tries = 200)
  void aTruncatedBatchGivesTheRecordsBeforeTheCutOrIsRefused(
      @ForAll @IntRange(max = 1200) int cut) {
    ByteBuffer bytes = everything().written();
    bytes.limit(Math.min(cut, bytes.limit()));
    try {
      assertThat(RecordSamples.decode(64_000, bytes).size())
          .isLessThanOrEqualTo(PLAIN.size() + NEWER.size() + 2);
    } catch (MalformedRecordException e) {
      assertThat(e).hasMessageContaining("offset");
    }
  }

  private static byte[] bytesOf(ByteBuffer buffer) {
    byte[] bytes = new byte[buffer.remaining()];
    buffer.get(bytes);
    return bytes;
  }
}

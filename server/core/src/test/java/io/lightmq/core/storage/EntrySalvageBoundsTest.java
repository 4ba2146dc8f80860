package io.lightmq.core.storage;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.wire.entry.Entry;
import io.lightmq.wire.entry.EntryStamp;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** However much is damaged, what is behind it is found, and the work is linear in the bytes. */
class EntrySalvageBoundsTest {
  private static final int LANE = 4;
  private static final int DESTINATION = 7;
  private static final int MAX_ENTRY_BYTES = 4 << 20;

  private final ByteBuffer all = ByteBuffer.allocate(4 << 20);
  private int headers;

  private static byte[] entry(long sequence, byte[] message) {
    EntryStamp stamp =
        new EntryStamp(LANE, Entry.PERSISTENT, DESTINATION, 5_000, 9, "user".getBytes());
    ByteBuffer bytes = ByteBuffer.allocate(Entry.entryBytes(stamp, message.length));
    Entry.write(bytes, 0, stamp, sequence, 0, ByteBuffer.wrap(message), 0, message.length);
    return bytes.array();
  }

  private void put(byte[] entry) {
    all.put(entry);
    headers++;
  }

  private static byte[] spoilt(byte[] entry) {
    entry[entry.length - 1] ^= 1;
    return entry;
  }

  private List<Long> found() {
    EntrySalvage.Sought sought =
        new EntrySalvage.Sought(DESTINATION, LANE, 0, 0, Long.MAX_VALUE, MAX_ENTRY_BYTES);
    byte[] span = Arrays.copyOf(all.array(), all.position());
    long read = EntrySalvage.readToFind(ByteBuffer.wrap(span.clone()), sought);
    assertThat(read)
        .as("bytes read of %d with %d headers", span.length, headers)
        .isLessThan((EntrySalvage.LOOKS + 4L) * span.length + 2L * SpanCrc.MOST_BYTES * headers);
    return EntrySalvage.find(ByteBuffer.wrap(span), sought).stream()
        .map(EntrySalvage.Intact::sequence)
        .toList();
  }

  private static List<Long> numbers(long from, long to) {
    return LongStream.range(from, to).boxed().toList();
  }

  @ParameterizedTest
  @ValueSource(ints = {3, 64, 65, 400, 900})
  void behindManyDamagedBodiesAWholeChainIsFound(int damaged) {
    for (int i = 0; i < 1_000; i++) {
      byte[] each = entry(i, new byte[100]);
      if (i == 5) {
        Arrays.fill(each, 0, Entry.HEADER_BYTES, (byte) 0);
      }
      put(i > 5 && i <= 5 + damaged ? spoilt(each) : each);
    }
    List<Long> expected = new ArrayList<>(numbers(0, 5));
    expected.addAll(numbers(6 + damaged, 1_000));
    assertThat(found()).isEqualTo(expected);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 24})
  void theOnlyOnesLostOfManyAreTheDamagedOnes(int damagedEach) {
    List<Long> expected = new ArrayList<>();
    for (int i = 0; all.position() < 1 << 20; i++) {
      byte[] each = entry(i, new byte[100]);
      put(i % damagedEach == 0 ? spoilt(each) : each);
      if (i % damagedEach != 0) {
        expected.add((long) i);
      }
    }
    assertThat(found()).isEqualTo(expected);
  }

  /** A header that is gone breaks the chain of all before it. */
  @Test
  void theSameWithAHeaderGoneNearTheEnd() {
    List<Long> expected = new ArrayList<>();
    for (int i = 0; i < 8_000; i++) {
      byte[] each = entry(i, new byte[100]);
      if (i == 7_990) {
        Arrays.fill(each, 0, Entry.HEADER_BYTES, (byte) 0);
      }
      put(i % 2 == 0 ? spoilt(each) : each);
      if (i % 2 != 0) {
        expected.add((long) i);
      }
    }
    assertThat(found()).isEqualTo(expected);
  }

  /** Each of them would have to be read to the end to see that it is none. */
  @Test
  void aBodyOfThousandsOfHeadersThatOverlapHidesNothing() {
    byte[] header = Arrays.copyOf(entry(0, new byte[0]), Entry.HEADER_BYTES + 4);
    ByteBuffer body = ByteBuffer.allocate(1 << 20);
    int fakes = body.capacity() / header.length;
    for (int i = 0; i < fakes; i++) {
      int at = body.position();
      body.put(header);
      body.putInt(at, body.capacity() - at).putLong(at + 24, 6 + i);
      headers++;
    }
    byte[] own = entry(5, body.array());
    Arrays.fill(own, 0, Entry.HEADER_BYTES, (byte) 0);
    numbers(0, 5).forEach(each -> put(entry(each, new byte[100])));
    put(own);
    numbers(100_000, 101_000).forEach(each -> put(entry(each, new byte[100])));
    List<Long> expected = new ArrayList<>(numbers(0, 5));
    expected.addAll(numbers(100_000, 101_000));
    assertThat(found()).isEqualTo(expected);
  }

  /** What is not whole in one place may be so in many: the ends of all of them are looked for. */
  @Test
  void manyWhoseLengthAloneIsDamagedAreWholeAgain() {
    for (int i = 0; all.position() < 1 << 20; i++) {
      byte[] each = entry(i, new byte[100]);
      each[3] ^= 8;
      put(each);
    }
    assertThat(found()).isEqualTo(numbers(0, headers));
  }

  /** The body is a copy of what came before, as in a dump; its chain leads on, and is no chain. */
  @Test
  void aCopyOfAnEntryInADamagedBodyHidesNothingBetween() {
    byte[] first = entry(1, new byte[50]);
    byte[] damaged = first.clone();
    damaged[3] ^= 1; // its length alone
    put(damaged);
    put(entry(2, new byte[50]));
    put(headless(entry(3, new byte[50])));
    for (long sequence = 4; sequence < 10; sequence++) {
      put(entry(sequence, new byte[50]));
    }
    put(headless(entry(10, first)));
    put(entry(11, new byte[50]));
    assertThat(found()).contains(4L, 5L, 6L, 7L, 8L, 9L, 11L);
  }

  private static byte[] headless(byte[] entry) {
    Arrays.fill(entry, 0, Entry.HEADER_BYTES, (byte) 0);
    return entry;
  }
}

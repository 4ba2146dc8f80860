package io.lightmq.core.storage;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.wire.entry.Entry;
import io.lightmq.wire.entry.EntryStamp;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/** What a client writes into a message is never taken for an entry, whatever of it is damaged. */
final class EntrySalvageProperties {
  private static final int LANE = 4;
  private static final int DESTINATION = 7;
  private static final int MAX_ENTRY_BYTES = 1 << 20;

  /** One entry of a span. */
  private record Placed(long sequence, int at, byte[] bytes) {}

  private final List<Placed> entries = new ArrayList<>();
  private byte[] span = {};
  private long first;

  private static byte[] entry(long sequence, byte[] message) {
    EntryStamp stamp =
        new EntryStamp(LANE, Entry.PERSISTENT, DESTINATION, 5_000, 9, "user".getBytes());
    ByteBuffer bytes = ByteBuffer.allocate(Entry.entryBytes(stamp, message.length));
    Entry.write(bytes, 0, stamp, sequence, 0, ByteBuffer.wrap(message), 0, message.length);
    return bytes.array();
  }

  private static byte[] noise(Random random, int most) {
    byte[] bytes = new byte[random.nextInt(most)];
    random.nextBytes(bytes);
    return bytes;
  }

  /** A body of entries that look right, with sequences around those of the span. */
  private byte[] crafted(Random random, long own) {
    ByteBuffer body = ByteBuffer.allocate(64 << 10);
    body.put(noise(random, 200));
    int fakes = 1 + random.nextInt(random.nextInt(4) == 0 ? 150 : 4);
    for (int i = 0; i < fakes; i++) {
      byte[] fake = entry(Math.max(0, own - 3 + random.nextInt(8)), noise(random, 40));
      if (random.nextInt(3) == 0) {
        fake[Entry.HEADER_BYTES - 1 + random.nextInt(5)] ^= 1; // its header fits, no more
      }
      if (random.nextInt(4) == 0) {
        body.put(noise(random, 20));
      }
      body.put(fake);
    }
    return Arrays.copyOf(body.array(), body.position());
  }

  /** A span in which about a third of the messages have crafted bodies. */
  private void write(Random random, boolean gaps) {
    entries.clear();
    first = random.nextInt(5);
    long sequence = first;
    ByteBuffer all = ByteBuffer.allocate(2 << 20);
    int count = 2 + random.nextInt(8);
    for (int i = 0; i < count; i++) {
      byte[] message = random.nextInt(3) == 0 ? crafted(random, sequence) : noise(random, 300);
      byte[] bytes = entry(sequence, message);
      entries.add(new Placed(sequence, all.position(), bytes));
      all.put(bytes);
      sequence += 1 + (gaps ? random.nextInt(3) : 0);
    }
    span = Arrays.copyOf(all.array(), all.position());
  }

  private long last() {
    return entries.get(entries.size() - 1).sequence();
  }

  private Map<Long, byte[]> find(byte[] damaged) {
    ByteBuffer bytes = ByteBuffer.wrap(damaged);
    TreeMap<Long, byte[]> found = new TreeMap<>();
    for (EntrySalvage.Intact each :
        EntrySalvage.find(
            bytes, new EntrySalvage.Sought(DESTINATION, LANE, 0, first, last(), MAX_ENTRY_BYTES))) {
      found.put(
          each.sequence(), Arrays.copyOfRange(bytes.array(), each.at(), each.at() + each.length()));
    }
    return found;
  }

  @Property(tries = 1_000)
  void anEntryWhoseLengthIsDamagedIsWholeAgainAndAllOthersAreThere(
      @ForAll long seed, @ForAll boolean gaps, @ForAll @IntRange(max = 31) int bit) {
    Random random = new Random(seed);
    write(random, gaps);
    Placed hit = entries.get(random.nextInt(entries.size()));
    byte[] damaged = span.clone();
    damaged[hit.at() + bit / 8] ^= (byte) (1 << bit % 8);
    assertThat(find(damaged)).as("of %s", hit).containsAllEntriesOf(all(null));
    find(damaged)
        .forEach((sequence, bytes) -> assertThat(bytes).isEqualTo(all(null).get(sequence)));
  }

  @Property(tries = 1_000)
  void anEntryWhoseBytesAreDamagedIsLostAlone(@ForAll long seed, @ForAll boolean gaps) {
    Random random = new Random(seed);
    write(random, gaps);
    Placed hit = entries.get(random.nextInt(entries.size()));
    byte[] damaged = span.clone();
    int at = Entry.HEADER_BYTES + random.nextInt(hit.bytes().length - Entry.HEADER_BYTES);
    damaged[hit.at() + at] ^= (byte) (1 << random.nextInt(8));
    holds(find(damaged), hit);
  }

  /** Of a span without gaps, since nothing says any more which sequence was there. */
  @Property(tries = 1_000)
  void anEntryWhoseHeaderIsGoneIsLostAlone(@ForAll long seed) {
    Random random = new Random(seed);
    write(random, false);
    Placed hit = entries.get(random.nextInt(entries.size()));
    byte[] damaged = span.clone();
    Arrays.fill(damaged, hit.at(), hit.at() + Entry.HEADER_BYTES, (byte) 0);
    holds(find(damaged), hit);
  }

  private void holds(Map<Long, byte[]> found, Placed hit) {
    Map<Long, byte[]> expected = all(hit);
    assertThat(found.keySet()).isEqualTo(expected.keySet());
    found.forEach((sequence, bytes) -> assertThat(bytes).isEqualTo(expected.get(sequence)));
  }

  private Map<Long, byte[]> all(Placed without) {
    TreeMap<Long, byte[]> all = new TreeMap<>();
    for (Placed each : entries) {
      if (each != without) {
        all.put(each.sequence(), each.bytes());
      }
    }
    return all;
  }
}

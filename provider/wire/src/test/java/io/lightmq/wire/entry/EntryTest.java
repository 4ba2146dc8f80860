package io.lightmq.wire.entry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.wire.Golden;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

/** Entries carry their stamp and message unchanged and show every damage. */
class EntryTest {
  private static final byte[] USER = "jörg".getBytes(StandardCharsets.UTF_8);
  private static final EntryStamp STAMP =
      new EntryStamp(
          0x84,
          Entry.PERSISTENT | Entry.CHUNK | Entry.HELD,
          300,
          1_700_000_000_000L,
          1_700_000_009_000L,
          129,
          77,
          2,
          5,
          USER);

  @Property(tries = 500)
  void fieldsComeBack(
      @ForAll @IntRange(max = 9) int lane,
      @ForAll long destinationId,
      @ForAll long sequence,
      @ForAll long expiryMillis,
      @ForAll long enqueuedMillis,
      @ForAll long connectionId,
      @ForAll @Size(max = 255) byte[] user,
      @ForAll @Size(max = 500) byte[] message,
      @ForAll @IntRange(max = 40) int at) {
    EntryStamp stamp =
        new EntryStamp(lane, Entry.PERSISTENT, destinationId, enqueuedMillis, connectionId, user);
    ByteBuffer buffer = ByteBuffer.allocateDirect(at + 81 + 255 + 500);
    int length =
        Entry.write(
            buffer, at, stamp, sequence, expiryMillis, ByteBuffer.wrap(message), 0, message.length);
    assertThat(length)
        .isEqualTo(Entry.entryBytes(stamp, message.length))
        .isEqualTo(Entry.check(buffer, at, at + length));
    assertThat(Entry.lane(buffer, at)).isEqualTo(lane);
    assertThat(Entry.isPersistent(buffer, at)).isTrue();
    assertThat(Entry.destinationId(buffer, at)).isEqualTo(destinationId);
    assertThat(Entry.sequence(buffer, at)).isEqualTo(sequence);
    assertThat(Entry.expiryMillis(buffer, at)).isEqualTo(expiryMillis);
    assertThat(Entry.enqueuedMillis(buffer, at)).isEqualTo(enqueuedMillis);
    assertThat(Entry.connectionId(buffer, at)).isEqualTo(connectionId);
    assertThat(Entry.dueMillis(buffer, at)).isZero();
    assertThat(Entry.holderId(buffer, at)).isZero();
    assertThat(Entry.chunks(buffer, at)).isZero();
    byte[] back = new byte[Entry.messageBytes(buffer, at)];
    buffer.get(at + Entry.messageOffset(buffer, at), back);
    assertThat(back).isEqualTo(message);
    assertThat(buffer.position()).isZero();
    assertThat(buffer.limit()).isEqualTo(buffer.capacity());
  }

  @Test
  void headerAloneIsTheHeaderOfTheWholeEntry() {
    byte[] message = {1, 2, 3, 4, 5};
    ByteBuffer direct = ByteBuffer.allocateDirect(30);
    direct.put(11, message);
    ByteBuffer scratch = ByteBuffer.allocate(Entry.MAX_HEADER_BYTES + 3);
    int header = Entry.writeHeader(scratch, 3, STAMP, 9, 10, direct, 11, message.length);
    byte[] whole = sample(message);
    assertThat(header).isEqualTo(Entry.headerBytes(USER));
    assertThat(Arrays.copyOfRange(scratch.array(), 3, 3 + header))
        .isEqualTo(Arrays.copyOf(whole, header));
  }

  @Test
  void fieldsOfLaterUsesComeBack() {
    ByteBuffer entry = ByteBuffer.wrap(sample(new byte[0]));
    assertThat(Entry.flags(entry, 0)).isEqualTo(7);
    assertThat(Entry.lane(entry, 0)).isEqualTo(0x84);
    assertThat(Entry.dueMillis(entry, 0)).isEqualTo(1_700_000_009_000L);
    assertThat(Entry.holderId(entry, 0)).isEqualTo(77);
    assertThat(Entry.chunk(entry, 0)).isEqualTo(2);
    assertThat(Entry.chunks(entry, 0)).isEqualTo(5);
    assertThat(Entry.user(entry, 0)).isEqualTo("jörg");
  }

  @Test
  void everyChangedBitIsNoticed() {
    byte[] entry = sample(new byte[] {1, 2, 3});
    for (int bit = 0; bit < entry.length * 8; bit++) {
      entry[bit / 8] ^= (byte) (1 << bit % 8);
      assertThat(Entry.isIntact(ByteBuffer.wrap(entry), 0, entry.length))
          .as("bit " + bit)
          .isFalse();
      entry[bit / 8] ^= (byte) (1 << bit % 8);
    }
    assertThat(Entry.isIntact(ByteBuffer.wrap(entry), 0, entry.length)).isTrue();
  }

  @Test
  void tornEntryIsNoticedAtEveryLength() {
    byte[] entry = sample(new byte[] {1, 2, 3});
    for (int length = 0; length < entry.length; length++) {
      assertThat(Entry.isIntact(ByteBuffer.wrap(entry), 0, length))
          .as("length " + length)
          .isFalse();
    }
  }

  @Test
  void damageIsReportedWithItsPlace() {
    byte[] entry = sample(new byte[] {1, 2, 3});
    entry[entry.length - 1]++;
    assertThatThrownBy(() -> Entry.check(ByteBuffer.wrap(entry), 0, entry.length))
        .isInstanceOf(MalformedMessageException.class)
        .hasMessageContaining("entry at 0, 89 bytes, has crc");
  }

  @Test
  void stampsAreChecked() {
    assertThatThrownBy(() -> new EntryStamp(10, 0, 1, 1, 1, USER))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("lane 10");
    assertThatThrownBy(() -> new EntryStamp(4, 0, 1, 1, 1, new byte[256]))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("255");
  }

  @Test
  void goldenFilePinsTheLayout() throws Exception {
    MessageWriter writer = MessageTest.sample();
    writer.finish();
    byte[] entry = sample(writer.toByteArray());
    Golden.assertSame("entry", entry);
    assertThat(MessageReader.ofEntry(ByteBuffer.wrap(entry), 0).type()).isEqualTo("order");
  }

  private static byte[] sample(byte[] message) {
    ByteBuffer buffer = ByteBuffer.allocate(Entry.entryBytes(STAMP, message.length));
    Entry.write(buffer, 0, STAMP, 9, 10, ByteBuffer.wrap(message), 0, message.length);
    return buffer.array();
  }
}

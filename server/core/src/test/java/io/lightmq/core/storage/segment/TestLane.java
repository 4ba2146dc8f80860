package io.lightmq.core.storage.segment;

import io.lightmq.core.storage.segment.DestagePlan.JournalBytes;
import io.lightmq.core.storage.segment.DestagePlan.JournalRun;
import io.lightmq.core.storage.segment.DestagePlan.LanePlan;
import io.lightmq.wire.entry.BodyType;
import io.lightmq.wire.entry.Entry;
import io.lightmq.wire.entry.EntryStamp;
import io.lightmq.wire.entry.MessageWriter;
import java.io.EOFException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/** One lane with its entries in a journal in memory, and the model of what it holds. */
public final class TestLane {
  /** A journal in memory: bytes by offset. */
  public static final class TestJournal implements JournalBytes {
    private byte[] bytes = new byte[1024];
    private int length;
    private long reads;

    long append(ByteBuffer from) {
      int size = from.remaining();
      while (length + size > bytes.length) {
        bytes = java.util.Arrays.copyOf(bytes, bytes.length * 2);
      }
      from.get(bytes, length, size);
      length += size;
      return length - size;
    }

    /** Spoils a byte. */
    void flip(long offset) {
      bytes[(int) offset] ^= 1;
    }

    /** Writes over some bytes. */
    void put(long offset, byte[] other) {
      System.arraycopy(other, 0, bytes, (int) offset, other.length);
    }

    long reads() {
      return reads;
    }

    @Override
    public void read(long offset, ByteBuffer into) throws EOFException {
      reads++;
      if (offset + into.remaining() > length) {
        throw new EOFException("journal ends at " + length);
      }
      into.put(bytes, (int) offset, into.remaining());
    }
  }

  private final long destinationId;
  private final int lane;
  private final TestJournal journal;
  private final List<JournalRun> runs = new ArrayList<>();
  private final List<Piece> pieces = new ArrayList<>();
  private final TreeMap<Long, byte[]> model = new TreeMap<>();
  private long runBytes;

  public TestLane(long destinationId, int lane, TestJournal journal) {
    this.destinationId = destinationId;
    this.lane = lane;
    this.journal = journal;
  }

  /** Appends a run of entries whose bodies have the given lengths. */
  public TestLane publish(long firstSequence, int... bodyBytes) {
    long offset = -1;
    long bytes = 0;
    for (int i = 0; i < bodyBytes.length; i++) {
      byte[] entry = entry(destinationId, lane, firstSequence + i, bodyBytes[i]);
      long at = journal.append(ByteBuffer.wrap(entry));
      offset = i == 0 ? at : offset;
      bytes += entry.length;
      model.put(firstSequence + i, entry);
    }
    runs.add(new JournalRun(firstSequence, bodyBytes.length, offset, bytes));
    runBytes += bytes;
    return this;
  }

  /** Appends one run of entries of one length. */
  public TestLane publishMany(long firstSequence, int count, int bodyBytes) {
    int[] lengths = new int[count];
    java.util.Arrays.fill(lengths, bodyBytes);
    return publish(firstSequence, lengths);
  }

  /** Nobody needs these any more. */
  public TestLane acknowledge(long from, long to) {
    model.subMap(from, true, to, true).clear();
    return this;
  }

  public LanePlan plan() {
    TreeMap<Long, byte[]> needed = new TreeMap<>(model);
    Wanted wanted =
        new Wanted() {
          @Override
          public boolean wants(long sequence) {
            return needed.containsKey(sequence);
          }

          @Override
          public long next(long from) {
            Long next = needed.ceilingKey(from);
            return next == null ? Long.MAX_VALUE : next;
          }
        };
    return new LanePlan(destinationId, lane, 0, pieces, List.copyOf(runs), runBytes, wanted);
  }

  /** Takes the new locations over. */
  public void switchTo(Destaged destaged) {
    runs.clear();
    runBytes = 0;
    pieces.removeAll(destaged.replaced());
    destaged.pieces().stream()
        .filter(piece -> piece.destinationId() == destinationId && piece.lane() == lane)
        .forEach(pieces::add);
    pieces.sort(java.util.Comparator.comparingLong(Piece::firstSequence));
  }

  public List<Piece> pieces() {
    return pieces;
  }

  public TreeMap<Long, byte[]> model() {
    return model;
  }

  /** What a reader finds in the given pieces of this lane, all of it. */
  public TreeMap<Long, byte[]> readAll(SegmentReader reader, List<Piece> from)
      throws java.io.IOException {
    TreeMap<Long, byte[]> found = new TreeMap<>();
    for (Piece piece : from) {
      if (piece.destinationId() == destinationId && piece.lane() == lane) {
        reader.scan(
            piece,
            0,
            Long.MAX_VALUE,
            Wanted.ALL,
            (sequence, buffer, at, length) -> {
              byte[] entry = new byte[length];
              buffer.get(at, entry);
              found.put(sequence, entry);
              return true;
            });
      }
    }
    return found;
  }

  /** An entry with ids, times and a body that all depend on its sequence. */
  public static byte[] entry(long destinationId, int lane, long sequence, int bodyBytes) {
    byte[] body = new byte[bodyBytes];
    for (int i = 0; i < bodyBytes; i++) {
      body[i] = (byte) (sequence * 31 + i);
    }
    MessageWriter writer = new MessageWriter(1 << 22);
    writer
        .start(BodyType.BYTES, 4, true, 0, 0)
        .messageId(destinationId, 77, sequence)
        .correlationId("order-" + sequence % 100)
        .bytesBody(body, 0, bodyBytes);
    ByteBuffer message = finished(writer);
    EntryStamp stamp =
        new EntryStamp(
            lane, Entry.PERSISTENT, destinationId, 1_000 + sequence, 9, new byte[] {'u'});
    ByteBuffer entry = ByteBuffer.allocate(Entry.entryBytes(stamp, message.remaining()));
    Entry.write(
        entry,
        0,
        stamp,
        sequence,
        sequence % 3 == 0 ? 5_000 + sequence : 0,
        message,
        message.position(),
        message.remaining());
    return entry.array();
  }

  private static ByteBuffer finished(MessageWriter writer) {
    writer.finish();
    return ByteBuffer.wrap(writer.toByteArray());
  }
}

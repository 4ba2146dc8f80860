package io.lightmq.core.record;

import io.lightmq.core.record.ShardRecord.Entries;
import io.lightmq.core.record.ShardRecord.Published;
import io.lightmq.core.record.ShardRecord.Unwanted;
import io.lightmq.wire.entry.Entry;
import io.lightmq.wire.entry.EntryStamp;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Writes records behind each other into a batch; the entries of a run are copied once. */
public final class RecordWriter {

  /** Where a batch grows: the window. */
  public interface Sink {
    /** The journal offset of the next byte. */
    long position();

    /** Appends the remaining bytes; the buffer's position moves to its limit. */
    void put(ByteBuffer bytes);

    /** Replaces four bytes that were appended to the batch before. */
    void patchInt(long offset, int value);
  }

  /** When the messages of a run expire. */
  public interface Expiry {
    /** The entry's expiry for the message at a place of the buffer, by the broker's clock. */
    long expiryMillis(ByteBuffer messages, int messageAt);

    /** When a message under a holder falls due; 0 for the others. */
    default long dueMillis(ByteBuffer messages, int messageAt) {
      return 0;
    }
  }

  private final Sink sink;
  private final FieldWriter fields = new FieldWriter(1024);
  private final ByteBuffer entryHeader = ByteBuffer.allocate(Entry.MAX_HEADER_BYTES);
  private long committedAt = -1;

  /** Writes into a sink. */
  public RecordWriter(Sink sink) {
    this.sink = sink;
  }

  /** Appends a record that holds no entries. */
  public void write(ShardRecord record) {
    fields.clear();
    RecordCodec.encode(record, fields);
    sink.put(fields.view());
  }

  /**
   * Appends a run.
   *
   * @param messages each an int length and so many bytes; checked by the caller; its position stays
   * @return the record as {@link RecordCodec#decode} would read it
   */
  public Published writeRun(
      @Nullable UUID link,
      long number,
      long firstSequence,
      EntryStamp stamp,
      int count,
      ByteBuffer messages,
      List<Unwanted> unwanted,
      Expiry expiry) {
    int headerBytes = Entry.headerBytes(stamp.user());
    fields.clear();
    fields.putByte(RecordCodec.PUBLISHED);
    fields.putByte(RecordCodec.VERSION);
    fields.putInt(0);
    Published head =
        new Published(
            link,
            number,
            stamp.destinationId(),
            stamp.lane(),
            firstSequence,
            new Entries(0, new int[0]),
            unwanted);
    RecordCodec.encodePublishedHead(head, count, fields);
    int entryBytes = messages.remaining() - 4 * count + headerBytes * count;
    fields.patchInt(2, fields.length() - RecordCodec.HEADER_BYTES + entryBytes);
    sink.put(fields.view());
    long offset = sink.position();
    int[] lengths = new int[count];
    ByteBuffer message = messages.duplicate();
    int at = messages.position();
    boolean grouped = false;
    for (int i = 0; i < count; i++) {
      int messageBytes = messages.getInt(at);
      int messageAt = at + 4;
      long due = expiry.dueMillis(messages, messageAt);
      int written =
          Entry.writeHeader(
              entryHeader,
              0,
              due == 0 ? stamp : stamp.due(due),
              firstSequence + i,
              expiry.expiryMillis(messages, messageAt),
              messages,
              messageAt,
              messageBytes);
      entryHeader.clear().limit(written);
      sink.put(entryHeader);
      entryHeader.clear();
      sink.put(message.limit(messageAt + messageBytes).position(messageAt));
      lengths[i] = written + messageBytes;
      grouped |= RecordCodec.isGrouped(messages, messageAt, messageBytes);
      at = messageAt + messageBytes;
    }
    return new Published(
        link,
        number,
        stamp.destinationId(),
        stamp.lane(),
        firstSequence,
        new Entries(offset, lengths, grouped),
        unwanted);
  }

  /** Begins a transaction of so many parts, which are written next; without a link it is a move. */
  public void beginCommitted(@Nullable UUID link, long number, int parts) {
    if (committedAt >= 0) {
      throw new IllegalStateException("a transaction at " + committedAt + " is not ended");
    }
    fields.clear();
    fields.putByte(RecordCodec.COMMITTED);
    fields.putByte(RecordCodec.VERSION);
    fields.putInt(0);
    fields.putUuid(link == null ? RecordCodec.NO_LINK : link);
    fields.putVarint(number);
    fields.putVarint(parts);
    committedAt = sink.position();
    sink.put(fields.view());
  }

  /** Ends the transaction. */
  public void endCommitted() {
    long bytes = sink.position() - committedAt - RecordCodec.HEADER_BYTES;
    sink.patchInt(committedAt + 2, Math.toIntExact(bytes));
    committedAt = -1;
  }
}

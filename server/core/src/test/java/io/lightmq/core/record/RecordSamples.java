package io.lightmq.core.record;

import io.lightmq.wire.entry.EntryStamp;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Records for tests, and a sink in memory. */
final class RecordSamples {
  private RecordSamples() {}

  /** A growing heap sink that begins at an offset. */
  static final class HeapSink implements RecordWriter.Sink {
    final long base;
    final ByteBuffer bytes = ByteBuffer.allocate(1 << 20);

    HeapSink(long base) {
      this.base = base;
    }

    @Override
    public long position() {
      return base + bytes.position();
    }

    @Override
    public void put(ByteBuffer more) {
      bytes.put(more);
    }

    @Override
    public void patchInt(long offset, int value) {
      bytes.putInt((int) (offset - base), value);
    }

    ByteBuffer written() {
      return bytes.duplicate().flip();
    }
  }

  static ByteBuffer messages(String... texts) {
    ByteBuffer out = ByteBuffer.allocate(4096);
    for (String text : texts) {
      byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
      out.putInt(utf8.length).put(utf8);
    }
    return out.flip();
  }

  static EntryStamp stamp(long destinationId) {
    return new EntryStamp(
        4, 1, destinationId, 1_700_000_000_000L, 77, "ada".getBytes(StandardCharsets.UTF_8));
  }

  static List<ShardRecord> decode(long base, ByteBuffer bytes) {
    List<ShardRecord> records = new ArrayList<>();
    RecordCodec.decode(base, bytes, records::add);
    return records;
  }
}

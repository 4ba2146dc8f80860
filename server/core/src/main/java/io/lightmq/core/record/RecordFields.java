package io.lightmq.core.record;

import io.lightmq.core.destination.DestinationSettings;
import io.lightmq.core.record.ShardRecord.SeenKeys;
import io.lightmq.wire.entry.SequenceRange;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** What bodies of several records have in common; {@link RecordCodec} draws it. */
final class RecordFields {
  private static final int MAX_SETTINGS = 100;
  private static final int MAX_KEYS = 10_000_000;

  private RecordFields() {}

  static void putRanges(List<SequenceRange> ranges, FieldWriter out) {
    out.putVarint(ranges.size());
    for (SequenceRange range : ranges) {
      out.putByte(range.lane());
      out.putLong(range.from());
      out.putVarint(range.count());
    }
  }

  static List<SequenceRange> readRanges(FieldReader in) {
    int count = in.readCount(ShardRecord.MAX_RANGES, 10);
    List<SequenceRange> ranges = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      int lane = in.readByte();
      long from = in.readLong();
      long length = in.readVarint();
      try {
        ranges.add(new SequenceRange(lane, from, (int) Math.min(length, Integer.MAX_VALUE)));
      } catch (IllegalArgumentException e) {
        throw new MalformedRecordException("range: " + e);
      }
    }
    return ranges;
  }

  static void putSeen(SeenKeys seen, FieldWriter out) {
    out.putVarint(seen.keys().size());
    if (!seen.keys().isEmpty()) {
      seen.keys().forEach(out::putUuid);
      out.putLong(seen.atMillis());
    }
  }

  static SeenKeys readSeen(FieldReader in) {
    int count = in.readCount(MAX_KEYS, 16);
    if (count == 0) {
      return SeenKeys.NONE;
    }
    List<UUID> keys = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      keys.add(in.readUuid());
    }
    return new SeenKeys(in.readLong(), keys);
  }

  static void putSettings(DestinationSettings settings, FieldWriter out) {
    Map<String, String> texts = settings.texts();
    out.putVarint(texts.size());
    texts.forEach(
        (key, text) -> {
          out.putString(key);
          out.putString(text);
        });
  }

  static DestinationSettings readSettings(FieldReader in) {
    int count = in.readCount(MAX_SETTINGS, 2);
    Map<String, String> texts = new LinkedHashMap<>();
    for (int i = 0; i < count; i++) {
      texts.put(in.readString(), in.readString());
    }
    try {
      return DestinationSettings.DEFAULT.with(texts);
    } catch (IllegalArgumentException e) {
      throw new MalformedRecordException("settings: " + e.getMessage());
    }
  }
}

package io.lightmq.core.record;

import io.lightmq.core.record.ShardRecord.Delivered;
import io.lightmq.core.record.ShardRecord.Stopped;
import java.util.ArrayList;
import java.util.List;

/** The body of an orderly end; {@link RecordCodec} draws it. */
final class StoppedFormat {
  private StoppedFormat() {}

  static void encode(Stopped record, FieldWriter out) {
    out.putBoolean(record.counted());
    out.putVarint(record.delivered().size());
    for (Delivered each : record.delivered()) {
      out.putVarint(each.destinationId());
      out.putVarint(each.subscriptionId());
      out.putByte(each.deliveries());
      RecordFields.putRanges(each.ranges(), out);
    }
  }

  /** Version 1 has no body: its brokers kept counts in snapshots only. */
  static Stopped decode(FieldReader in, int version) {
    if (version == 1) {
      return Stopped.UNCOUNTED;
    }
    boolean counted = in.readBoolean();
    int count = in.readCount(ShardRecord.MAX_DELIVERED, 4);
    List<Delivered> delivered = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      long destinationId = in.readVarint();
      long subscriptionId = in.readVarint();
      int deliveries = in.readByte();
      if (deliveries == 0) {
        throw new MalformedRecordException(
            "messages of subscription " + subscriptionId + " were delivered 0 times");
      }
      delivered.add(
          new Delivered(destinationId, subscriptionId, deliveries, RecordFields.readRanges(in)));
    }
    return new Stopped(counted, delivered);
  }
}

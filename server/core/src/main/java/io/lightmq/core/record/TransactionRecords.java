package io.lightmq.core.record;

import io.lightmq.core.record.ShardRecord.Decided;
import io.lightmq.core.record.ShardRecord.Dropped;
import io.lightmq.core.record.ShardRecord.Forgotten;
import io.lightmq.core.record.ShardRecord.Held;
import io.lightmq.core.record.ShardRecord.Prepared;
import io.lightmq.core.record.ShardRecord.Released;
import io.lightmq.core.record.ShardRecord.ReleasedLane;
import io.lightmq.core.record.ShardRecord.StagedUnwanted;
import io.lightmq.core.record.ShardRecord.TransactionBegun;
import io.lightmq.core.record.ShardRecord.Unwanted;
import io.lightmq.wire.entry.Xid;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The bytes of the records of transactions that are kept before they are committed; see {@link
 * RecordCodec} for what is around them.
 *
 * <pre>
 * 24 TransactionBegun    v transaction, name
 * 25 Held                v transaction, v destination, v subscription, r, keys as of Acked
 * 26 Prepared            v transaction, long milliseconds
 * 27 Released            v transaction, long milliseconds, v lanes x {v destination in which it was
 *                        staged, byte lane, v count, v destination, long first sequence}
 * 28 Dropped             v transaction
 * 29 Decided             v transaction, byte committed
 * 30 Forgotten           v transaction
 * 31 StagedUnwanted      v transaction, v destination in which it is staged, byte lane, long first
 *                        sequence, v subscription, v bytes, the messages as bits
 *
 * name: byte 1, u link, v number; or byte 2, s user, int format, byte length and global id,
 *       byte length and branch qualifier
 * </pre>
 *
 * <p>The first and the last are records of their own; the others are parts of Committed.
 */
final class TransactionRecords {
  static final int BEGUN = 24;
  static final int HELD = 25;
  static final int PREPARED = 26;
  static final int RELEASED = 27;
  static final int DROPPED = 28;
  static final int DECIDED = 29;
  static final int FORGOTTEN = 30;
  static final int UNWANTED = 31;

  /** The most lanes of one Released. */
  static final int MAX_LANES = ShardRecord.MAX_PARTS;

  private static final int OF_LINK = 1;
  private static final int OF_USER = 2;

  private TransactionRecords() {}

  /** The type of a record, 0 if it is of another kind. */
  static int typeOf(ShardRecord record) {
    if (record instanceof TransactionBegun) {
      return BEGUN;
    } else if (record instanceof Held) {
      return HELD;
    } else if (record instanceof Prepared) {
      return PREPARED;
    } else if (record instanceof Released) {
      return RELEASED;
    } else if (record instanceof Dropped) {
      return DROPPED;
    } else if (record instanceof Decided) {
      return DECIDED;
    } else if (record instanceof StagedUnwanted) {
      return UNWANTED;
    }
    return record instanceof Forgotten ? FORGOTTEN : 0;
  }

  /** Writes the body of a record; whether it is one of these. */
  static boolean encode(ShardRecord record, FieldWriter out) {
    if (record instanceof TransactionBegun r) {
      out.putVarint(r.transaction());
      putName(r.name(), out);
    } else if (record instanceof Held r) {
      out.putVarint(r.transaction());
      out.putVarint(r.destinationId());
      out.putVarint(r.subscriptionId());
      RecordFields.putRanges(r.ranges(), out);
      RecordFields.putSeen(r.seen(), out);
    } else if (record instanceof Prepared r) {
      out.putVarint(r.transaction());
      out.putLong(r.atMillis());
    } else if (record instanceof Released r) {
      out.putVarint(r.transaction());
      out.putLong(r.atMillis());
      out.putVarint(r.lanes().size());
      for (ReleasedLane lane : r.lanes()) {
        out.putVarint(lane.stagedId());
        out.putByte(lane.lane());
        out.putVarint(lane.count());
        out.putVarint(lane.destinationId());
        out.putLong(lane.firstSequence());
      }
    } else if (record instanceof Dropped r) {
      out.putVarint(r.transaction());
    } else if (record instanceof Decided r) {
      out.putVarint(r.transaction());
      out.putBoolean(r.committed());
    } else if (record instanceof Forgotten r) {
      out.putVarint(r.transaction());
    } else if (record instanceof StagedUnwanted r) {
      out.putVarint(r.transaction());
      out.putVarint(r.stagedId());
      out.putByte(r.lane());
      out.putLong(r.firstSequence());
      byte[] bits = r.unwanted().messages().toByteArray();
      out.putVarint(r.unwanted().subscriptionId());
      out.putVarint(bits.length);
      out.putBytes(ByteBuffer.wrap(bits));
    } else {
      return false;
    }
    return true;
  }

  /** Reads the body of a record; null if the type is none of these. */
  static @Nullable ShardRecord decode(int type, FieldReader in) {
    switch (type) {
      case BEGUN:
        return new TransactionBegun(in.readVarint(), readName(in));
      case HELD:
        return new Held(
            in.readVarint(),
            in.readVarint(),
            in.readVarint(),
            RecordFields.readRanges(in),
            RecordFields.readSeen(in));
      case PREPARED:
        return new Prepared(in.readVarint(), in.readLong());
      case RELEASED:
        return new Released(in.readVarint(), in.readLong(), readLanes(in));
      case DROPPED:
        return new Dropped(in.readVarint());
      case DECIDED:
        return new Decided(in.readVarint(), in.readBoolean());
      case FORGOTTEN:
        return new Forgotten(in.readVarint());
      case UNWANTED:
        return new StagedUnwanted(
            in.readVarint(), in.readVarint(), in.readByte(), in.readLong(), readUnwanted(in));
      default:
        return null;
    }
  }

  private static Unwanted readUnwanted(FieldReader in) {
    long subscriptionId = in.readVarint();
    int bytes = in.readCount(ShardRecord.MAX_RUN / 8, 1);
    BitSet messages = BitSet.valueOf(in.readBytes(bytes));
    if (messages.isEmpty()) {
      throw new MalformedRecordException(
          "subscription " + subscriptionId + " does not want none of what is staged");
    }
    return new Unwanted(subscriptionId, messages);
  }

  private static List<ReleasedLane> readLanes(FieldReader in) {
    int count = in.readCount(MAX_LANES, 12);
    List<ReleasedLane> lanes = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      lanes.add(
          new ReleasedLane(
              in.readVarint(),
              in.readByte(),
              in.readCount(Integer.MAX_VALUE, 0),
              in.readVarint(),
              in.readLong()));
    }
    return lanes;
  }

  static void putName(TransactionName name, FieldWriter out) {
    if (name instanceof TransactionName.OfLink local) {
      out.putByte(OF_LINK);
      out.putUuid(local.link());
      out.putVarint(local.number());
    } else if (name instanceof TransactionName.OfUser branch) {
      out.putByte(OF_USER);
      out.putString(branch.user());
      out.putInt(branch.xid().formatId());
      putBytes(branch.xid().globalId(), out);
      putBytes(branch.xid().branchQualifier(), out);
    }
  }

  private static void putBytes(byte[] bytes, FieldWriter out) {
    out.putByte(bytes.length);
    out.putBytes(ByteBuffer.wrap(bytes));
  }

  static TransactionName readName(FieldReader in) {
    int kind = in.readByte();
    if (kind == OF_LINK) {
      return new TransactionName.OfLink(in.readUuid(), in.readVarint());
    } else if (kind == OF_USER) {
      String user = in.readString();
      int formatId = in.readInt();
      try {
        return new TransactionName.OfUser(user, new Xid(formatId, readPart(in), readPart(in)));
      } catch (IllegalArgumentException e) {
        throw new MalformedRecordException("branch id: " + e.getMessage());
      }
    }
    throw new MalformedRecordException(
        "kind " + kind + " of a transaction is unknown; 1 and 2 are");
  }

  private static byte[] readPart(FieldReader in) {
    int length = in.readByte();
    byte[] bytes = new byte[Math.min(length, Xid.MAX_PART_BYTES + 1)];
    in.readBytes(length).get(bytes);
    return bytes;
  }
}

package io.lightmq.core.record;

import io.lightmq.core.destination.SubscriptionKind;
import io.lightmq.core.record.ShardRecord.Acked;
import io.lightmq.core.record.ShardRecord.AsideAction;
import io.lightmq.core.record.ShardRecord.AttemptTakenBack;
import io.lightmq.core.record.ShardRecord.Attempted;
import io.lightmq.core.record.ShardRecord.Committed;
import io.lightmq.core.record.ShardRecord.DestinationCreated;
import io.lightmq.core.record.ShardRecord.DestinationDeleted;
import io.lightmq.core.record.ShardRecord.DestinationSet;
import io.lightmq.core.record.ShardRecord.Entries;
import io.lightmq.core.record.ShardRecord.Epoch;
import io.lightmq.core.record.ShardRecord.LinkAttached;
import io.lightmq.core.record.ShardRecord.LinkClosed;
import io.lightmq.core.record.ShardRecord.Part;
import io.lightmq.core.record.ShardRecord.Published;
import io.lightmq.core.record.ShardRecord.Purged;
import io.lightmq.core.record.ShardRecord.Reason;
import io.lightmq.core.record.ShardRecord.Refused;
import io.lightmq.core.record.ShardRecord.Replaced;
import io.lightmq.core.record.ShardRecord.SetAside;
import io.lightmq.core.record.ShardRecord.Started;
import io.lightmq.core.record.ShardRecord.Stopped;
import io.lightmq.core.record.ShardRecord.SubscriptionClosed;
import io.lightmq.core.record.ShardRecord.SubscriptionOpened;
import io.lightmq.core.record.ShardRecord.SubscriptionOwned;
import io.lightmq.core.record.ShardRecord.Touched;
import io.lightmq.core.record.ShardRecord.Unwanted;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.Entry;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.MessageReader;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.UUID;
import java.util.function.Consumer;

/**
 * The bytes of records within a batch.
 *
 * <pre>
 * record:
 *  0 byte  type     0: no more records in this batch (padding)
 *  1 byte  version  1
 *  2 int   length   of the body
 *  6       body
 *
 * type, body (v varint, s string: v length + 1 and UTF-8, 0 for none; u 16 bytes; r ranges):
 *  1 Started             v epoch, byte clean
 *  2 Stopped             from version 2 on: byte counted, v count x {v destination,
 *                        v subscription, byte deliveries, r}
 *  3 Epoch               v next
 *  4 DestinationCreated  v id, byte kind, s name, settings
 *  5 DestinationSet      v id, settings
 *  6 DestinationDeleted  v id
 *  7 SubscriptionOpened  v id, v destination, byte kind, s client id, s name, s selector,
 *                        byte no local, v replaced destination, v replaced subscription
 *                        (0, 0 if none); from version 2 on: s owner
 *  8 SubscriptionClosed  v destination, v id
 *  9 Published           u link, v number, v destination, byte lane, long first sequence,
 *                        v count, v unwanted x {v subscription, v bytes, bytes}, entries back
 *                        to back to the end of the body
 * 10 Acked               v destination, v subscription, byte reason, r, v keys x u, long milliseconds
 *                        (not without keys)
 * 11 Purged              v destination, v subscription, byte lane, long through, r kept
 * 12 Touched             v destination, v subscription, byte lane, long from, v count; in version 1
 *                        long block key for 4096 messages
 * 13 LinkAttached        u link, v answers from; from version 2 on: s owner, v link epoch
 * 14 LinkClosed          u link
 * 15 Refused             u link, v number, v code, s text
 * 16 Committed           u link (0 for a move of the broker's own), v number, v parts, the parts
 *                        as whole records (9, 10 and 25 to 30)
 * 19 Attempted           v destination, v subscription, r
 * 20 SubscriptionOwned   v destination, v id, s owner
 * 21 SetAside            v destination, byte action, r, s reason
 * 23 AttemptTakenBack    v destination, v subscription, r
 * 24 to 31               see TransactionRecords
 *
 * ranges: v count x {byte lane, long from, v count}
 * unwanted: the messages that a subscription does not want: 0 bytes for all, else bit i % 8 of byte
 *           i / 8 for message i, without zeros at the end.
 * settings: v count x {s key, s text}.  Within Committed a Published has link 0 and number 0.
 * </pre>
 */
public final class RecordCodec {
  /** Bytes before a record's body. */
  public static final int HEADER_BYTES = 6;

  static final int VERSION = 1;
  static final int STOPPED = 2;
  static final int SUBSCRIPTION_OPENED = 7;
  static final int PUBLISHED = 9;
  static final int TOUCHED = 12;
  static final int LINK_ATTACHED = 13;
  static final int COMMITTED = 16;
  static final int ATTEMPTED = 19;
  static final int SUBSCRIPTION_OWNED = 20;
  static final int SET_ASIDE = 21;

  static final int ATTEMPT_TAKEN_BACK = 23;
  static final UUID NO_LINK = new UUID(0, 0);

  private static final int BLOCK_OF_BEFORE = 4_096;
  private static final int MAX_TOUCHED = 1 << 20;

  private RecordCodec() {}

  /** Appends a whole record that holds no entries. */
  static void encode(ShardRecord record, FieldWriter out) {
    out.putByte(typeOf(record));
    out.putByte(newest(typeOf(record)));
    int lengthAt = out.length();
    out.putInt(0);
    encodeBody(record, out);
    out.patchInt(lengthAt, out.length() - lengthAt - 4);
  }

  /** The version in which records of a type are written, and the newest that is read. */
  private static int newest(int type) {
    return switch (type) {
      case STOPPED, SUBSCRIPTION_OPENED, TOUCHED, LINK_ATTACHED -> 2;
      default -> VERSION;
    };
  }

  private static int typeOf(ShardRecord record) {
    if (record instanceof Started) {
      return 1;
    } else if (record instanceof Stopped) {
      return STOPPED;
    } else if (record instanceof Epoch) {
      return 3;
    } else if (record instanceof DestinationCreated) {
      return 4;
    } else if (record instanceof DestinationSet) {
      return 5;
    } else if (record instanceof DestinationDeleted) {
      return 6;
    } else if (record instanceof SubscriptionOpened) {
      return SUBSCRIPTION_OPENED;
    } else if (record instanceof SubscriptionClosed) {
      return 8;
    } else if (record instanceof Published) {
      return PUBLISHED;
    } else if (record instanceof Acked) {
      return 10;
    } else if (record instanceof Purged) {
      return 11;
    } else if (record instanceof Touched) {
      return TOUCHED;
    } else if (record instanceof LinkAttached) {
      return LINK_ATTACHED;
    } else if (record instanceof LinkClosed) {
      return 14;
    } else if (record instanceof Refused) {
      return 15;
    } else if (record instanceof Attempted) {
      return ATTEMPTED;
    } else if (record instanceof AttemptTakenBack) {
      return ATTEMPT_TAKEN_BACK;
    } else if (record instanceof SetAside) {
      return SET_ASIDE;
    } else if (record instanceof SubscriptionOwned) {
      return SUBSCRIPTION_OWNED;
    }
    int type = TransactionRecords.typeOf(record);
    return type == 0 ? COMMITTED : type;
  }

  private static void encodeBody(ShardRecord record, FieldWriter out) {
    if (record instanceof Started r) {
      out.putVarint(r.epoch());
      out.putBoolean(r.clean());
    } else if (record instanceof Epoch r) {
      out.putVarint(r.next());
    } else if (record instanceof DestinationCreated r) {
      out.putVarint(r.destinationId());
      out.putByte(r.name().kind().code());
      out.putString(r.name().name());
      RecordFields.putSettings(r.settings(), out);
    } else if (record instanceof DestinationSet r) {
      out.putVarint(r.destinationId());
      RecordFields.putSettings(r.settings(), out);
    } else if (record instanceof DestinationDeleted r) {
      out.putVarint(r.destinationId());
    } else if (record instanceof SubscriptionOpened r) {
      encodeOpened(r, out);
    } else if (record instanceof SubscriptionClosed r) {
      out.putVarint(r.destinationId());
      out.putVarint(r.subscriptionId());
    } else if (record instanceof SubscriptionOwned r) {
      out.putVarint(r.destinationId());
      out.putVarint(r.subscriptionId());
      out.putString(r.owner());
    } else if (record instanceof LinkAttached r) {
      out.putUuid(r.link());
      out.putVarint(r.answersFrom());
      out.putString(r.owner());
      out.putVarint(r.epoch());
    } else if (record instanceof LinkClosed r) {
      out.putUuid(r.link());
    } else if (record instanceof Refused r) {
      out.putUuid(r.link());
      out.putVarint(r.number());
      out.putVarint(r.code().code());
      out.putString(r.text());
    } else if (record instanceof Stopped r) {
      StoppedFormat.encode(r, out);
    } else if (!TransactionRecords.encode(record, out)) {
      encodeProgress(record, out);
    }
  }

  /** What happens to messages in a subscription. */
  private static void encodeProgress(ShardRecord record, FieldWriter out) {
    if (record instanceof Acked r) {
      out.putVarint(r.destinationId());
      out.putVarint(r.subscriptionId());
      out.putByte(r.reason().code());
      RecordFields.putRanges(r.ranges(), out);
      RecordFields.putSeen(r.seen(), out);
    } else if (record instanceof Attempted r) {
      out.putVarint(r.destinationId());
      out.putVarint(r.subscriptionId());
      RecordFields.putRanges(r.ranges(), out);
    } else if (record instanceof AttemptTakenBack r) {
      out.putVarint(r.destinationId());
      out.putVarint(r.subscriptionId());
      RecordFields.putRanges(r.ranges(), out);
    } else if (record instanceof SetAside r) {
      out.putVarint(r.destinationId());
      out.putByte(r.action().code());
      RecordFields.putRanges(r.ranges(), out);
      out.putString(r.reason());
    } else if (record instanceof Purged r) {
      out.putVarint(r.destinationId());
      out.putVarint(r.subscriptionId());
      out.putByte(r.lane());
      out.putLong(r.through());
      RecordFields.putRanges(r.kept(), out);
    } else if (record instanceof Touched r) {
      out.putVarint(r.destinationId());
      out.putVarint(r.subscriptionId());
      out.putByte(r.lane());
      out.putLong(r.from());
      out.putVarint(r.count());
    } else {
      throw new IllegalArgumentException(
          record.getClass().getSimpleName() + " holds entries; RecordWriter writes it");
    }
  }

  private static void encodeOpened(SubscriptionOpened r, FieldWriter out) {
    out.putVarint(r.subscriptionId());
    out.putVarint(r.destinationId());
    out.putByte(r.kind().code());
    out.putString(r.clientId());
    out.putString(r.name());
    out.putString(r.selector());
    out.putBoolean(r.noLocal());
    Replaced replaces = r.replaces();
    out.putVarint(replaces == null ? 0 : replaces.destinationId());
    out.putVarint(replaces == null ? 0 : replaces.subscriptionId());
    out.putString(r.owner());
  }

  static void encodePublishedHead(Published r, int count, FieldWriter out) {
    UUID link = r.link();
    out.putUuid(link == null ? NO_LINK : link);
    out.putVarint(r.number());
    out.putVarint(r.destinationId());
    out.putByte(r.lane());
    out.putLong(r.firstSequence());
    out.putVarint(count);
    out.putVarint(r.unwanted().size());
    for (Unwanted unwanted : r.unwanted()) {
      out.putVarint(unwanted.subscriptionId());
      boolean all = unwanted.messages().cardinality() == count;
      byte[] bits = all ? new byte[0] : unwanted.messages().toByteArray();
      out.putVarint(bits.length);
      out.putBytes(ByteBuffer.wrap(bits));
    }
  }

  /**
   * Decodes the records of a batch in order.
   *
   * @param offset the journal offset of the buffer's position
   * @param records the bytes behind the batch's header; the position moves to its end
   * @throws MalformedRecordException with offset and facts
   */
  public static void decode(long offset, ByteBuffer records, Consumer<ShardRecord> into) {
    int start = records.position();
    while (records.hasRemaining()) {
      int at = records.position();
      ShardRecord record;
      try {
        if (records.get(at) == 0) {
          records.position(records.limit());
          return;
        }
        record = decodeOne(offset - start, records);
      } catch (MalformedRecordException e) {
        throw new MalformedRecordException(
            "record at offset " + (offset + at - start) + ": " + e.getMessage());
      }
      into.accept(record);
    }
  }

  /** Reads one record; a place p of the buffer is the journal's offset {@code base + p}. */
  private static ShardRecord decodeOne(long base, ByteBuffer records) {
    FieldReader header = new FieldReader(records);
    int type = header.readByte();
    int version = header.readByte();
    if (version < 1 || version > newest(type)) {
      throw new MalformedRecordException(
          "type " + type + " has version " + version + "; this program reads 1 to " + newest(type));
    }
    int length = header.readInt();
    if (length < 0 || length > records.remaining()) {
      throw new MalformedRecordException(
          "type " + type + " says " + length + " bytes, " + records.remaining() + " remain");
    }
    int end = records.position() + length;
    int limit = records.limit();
    records.limit(end);
    try {
      ShardRecord record = decodeBody(type, version, base, records);
      if (records.position() != end) {
        throw new MalformedRecordException(
            "type " + type + " has " + (end - records.position()) + " bytes too many");
      }
      return record;
    } finally {
      records.limit(limit);
    }
  }

  private static ShardRecord decodeBody(int type, int version, long base, ByteBuffer records) {
    FieldReader in = new FieldReader(records);
    switch (type) {
      case 1:
        return new Started(in.readVarint(), in.readBoolean());
      case STOPPED:
        return StoppedFormat.decode(in, version);
      case 3:
        return new Epoch(in.readVarint());
      case 4:
        return new DestinationCreated(
            in.readVarint(),
            destinationName(in.readByte(), in.readString()),
            RecordFields.readSettings(in));
      case 5:
        return new DestinationSet(in.readVarint(), RecordFields.readSettings(in));
      case 6:
        return new DestinationDeleted(in.readVarint());
      case SUBSCRIPTION_OPENED:
        return decodeOpened(in, version);
      case 8:
        return new SubscriptionClosed(in.readVarint(), in.readVarint());
      case PUBLISHED:
        return decodePublished(base, records, in);
      case 10:
        return new Acked(
            in.readVarint(),
            in.readVarint(),
            Reason.of(in.readByte()),
            RecordFields.readRanges(in),
            RecordFields.readSeen(in));
      case 11:
        return new Purged(
            in.readVarint(),
            in.readVarint(),
            in.readByte(),
            in.readLong(),
            RecordFields.readRanges(in));
      case TOUCHED:
        return decodeTouched(in, version);
      case LINK_ATTACHED:
        return version == 1
            ? new LinkAttached(in.readUuid(), in.readVarint())
            : new LinkAttached(
                in.readUuid(), in.readVarint(), in.readNullableString(), in.readVarint());
      case 14:
        return new LinkClosed(in.readUuid());
      case 15:
        return new Refused(
            in.readUuid(),
            in.readVarint(),
            FaultCode.of((int) Math.min(in.readVarint(), Integer.MAX_VALUE)),
            in.readString());
      case COMMITTED:
        return decodeCommitted(base, records, in);
      case ATTEMPTED:
        return new Attempted(in.readVarint(), in.readVarint(), RecordFields.readRanges(in));
      case ATTEMPT_TAKEN_BACK:
        return new AttemptTakenBack(in.readVarint(), in.readVarint(), RecordFields.readRanges(in));
      case SET_ASIDE:
        return new SetAside(
            in.readVarint(),
            AsideAction.of(in.readByte()),
            RecordFields.readRanges(in),
            in.readString());
      case SUBSCRIPTION_OWNED:
        return new SubscriptionOwned(in.readVarint(), in.readVarint(), in.readString());
      default:
        ShardRecord found = TransactionRecords.decode(type, in);
        if (found == null) {
          throw new MalformedRecordException(
              "type " + type + " is unknown; known are 1 to 16, 19 to 21 and 23 to 31");
        }
        return found;
    }
  }

  private static Touched decodeTouched(FieldReader in, int version) {
    long destinationId = in.readVarint();
    long subscriptionId = in.readVarint();
    int lane = in.readByte();
    long from = in.readLong();
    if (version == 1) {
      return new Touched(
          destinationId, subscriptionId, lane, from * BLOCK_OF_BEFORE, BLOCK_OF_BEFORE);
    }
    long count = in.readVarint();
    if (from < 0 || count < 1 || count > MAX_TOUCHED) {
      throw new MalformedRecordException(
          "%d messages from %d are touched; at most %d are".formatted(count, from, MAX_TOUCHED));
    }
    return new Touched(destinationId, subscriptionId, lane, from, count);
  }

  private static SubscriptionOpened decodeOpened(FieldReader in, int version) {
    long id = in.readVarint();
    long destinationId = in.readVarint();
    SubscriptionKind kind = subscriptionKind(in.readByte());
    String clientId = in.readNullableString();
    String name = in.readString();
    String selector = in.readNullableString();
    boolean noLocal = in.readBoolean();
    long replacedDestination = in.readVarint();
    long replaced = in.readVarint();
    return new SubscriptionOpened(
        id,
        destinationId,
        kind,
        clientId,
        name,
        selector,
        noLocal,
        replacedDestination == 0 ? null : new Replaced(replacedDestination, replaced),
        version == 1 ? null : in.readNullableString());
  }

  private static SubscriptionKind subscriptionKind(int code) {
    try {
      return SubscriptionKind.of(code);
    } catch (IllegalArgumentException e) {
      throw new MalformedRecordException("subscription: " + e);
    }
  }

  private static DestinationName destinationName(int kind, String name) {
    try {
      return new DestinationName(DestinationKind.of(kind), name);
    } catch (IllegalArgumentException e) {
      throw new MalformedRecordException("destination: " + e);
    }
  }

  private static Published decodePublished(long base, ByteBuffer records, FieldReader in) {
    UUID link = in.readUuid();
    long number = in.readVarint();
    long destinationId = in.readVarint();
    int lane = in.readByte();
    long firstSequence = in.readLong();
    int count = in.readCount(ShardRecord.MAX_RUN, Entry.HEADER_BYTES);
    List<Unwanted> unwanted = readUnwanted(in, count);
    int at = records.position();
    int[] lengths = new int[count];
    boolean grouped = false;
    for (int i = 0; i < count; i++) {
      if (records.remaining() < 4) {
        throw new MalformedRecordException("entry " + i + " of " + count + " is missing");
      }
      int length = Entry.length(records, records.position());
      if (length < Entry.HEADER_BYTES || length > records.remaining()) {
        throw new MalformedRecordException(
            "entry " + i + " says " + length + " bytes, " + records.remaining() + " remain");
      }
      lengths[i] = length;
      int messageAt = Entry.messageOffset(records, records.position());
      if (messageAt >= 0 && messageAt < length) {
        grouped |= isGrouped(records, records.position() + messageAt, length - messageAt);
      }
      records.position(records.position() + length);
    }
    return new Published(
        link.equals(NO_LINK) ? null : link,
        number,
        destinationId,
        lane,
        firstSequence,
        new Entries(base + at, lengths, grouped),
        unwanted);
  }

  /** Whether a message has a JMSXGroupID. */
  static boolean isGrouped(ByteBuffer buffer, int messageAt, int messageBytes) {
    return messageBytes >= MessageReader.minBytes() && MessageReader.isGrouped(buffer, messageAt);
  }

  private static List<Unwanted> readUnwanted(FieldReader in, int count) {
    int subscriptions = in.readCount(ShardRecord.MAX_UNWANTED, 2);
    List<Unwanted> unwanted = new ArrayList<>(subscriptions);
    for (int i = 0; i < subscriptions; i++) {
      long subscriptionId = in.readVarint();
      int bytes = in.readCount((count + 7) / 8, 1);
      BitSet messages = BitSet.valueOf(in.readBytes(bytes));
      if (bytes == 0) {
        messages.set(0, count);
      }
      if (messages.isEmpty() || messages.length() > count) {
        throw new MalformedRecordException(
            "subscription "
                + subscriptionId
                + " does not want message "
                + (messages.length() - 1)
                + " of "
                + count);
      }
      unwanted.add(new Unwanted(subscriptionId, messages));
    }
    return unwanted;
  }

  private static Committed decodeCommitted(long base, ByteBuffer records, FieldReader in) {
    UUID link = in.readUuid();
    long number = in.readVarint();
    int count = in.readCount(ShardRecord.MAX_PARTS, HEADER_BYTES);
    List<Part> parts = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      ShardRecord part = decodeOne(base, records);
      if (!(part instanceof Part whole)) {
        throw new MalformedRecordException(
            part.getClass().getSimpleName() + " cannot be part of a transaction");
      }
      parts.add(whole);
    }
    return new Committed(link.equals(NO_LINK) ? null : link, number, parts);
  }
}

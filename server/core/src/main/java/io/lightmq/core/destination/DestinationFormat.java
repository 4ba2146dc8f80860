package io.lightmq.core.destination;

import io.lightmq.core.runtime.Guard;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/**
 * The bytes of a destination in a snapshot: byte version 5, long id, byte kind, UTF name, settings,
 * byte whether a persistent message with a key ever came, byte durable lanes, each of them rising:
 * byte code, extents, blocks with expiry; varint durable subscriptions, each of them; then, for
 * each of the lanes, what is set aside, which version 4 had not. Places of entries are not in it,
 * nor {@link Destination#keyPictures}, nor anything below {@link Destination#firstNeeded}: how far
 * it is trimmed depends on who has looked and when.
 */
final class DestinationFormat {
  private static final int OLDEST_VERSION = 4;
  private static final int VERSION = 5;

  private DestinationFormat() {}

  static void encode(Destination destination, DataOutput out) throws IOException {
    out.writeByte(VERSION);
    out.writeLong(destination.id());
    out.writeByte(destination.kind().code());
    out.writeUTF(destination.name().name());
    destination.settings().encode(out);
    out.writeBoolean(destination.isGroupedDurably());
    out.writeByte((int) destination.durableLanes().stream().filter(DurableLane::wasUsed).count());
    long[] needed = new long[LaneCode.PRIORITIES];
    for (DurableLane lane : destination.durableLanes()) {
      if (lane.wasUsed()) {
        needed[lane.code()] = destination.firstNeeded(lane);
        out.writeByte(lane.code());
        lane.encode(out, needed[lane.code()]);
      }
    }
    Formats.writeVarint(out, destination.durableSubscriptions());
    for (Subscription subscription : destination.subscriptions()) {
      if (subscription.kind().isDurable()) {
        SubscriptionFormat.encode(subscription, out, needed);
      }
    }
    for (DurableLane lane : destination.durableLanes()) {
      if (lane.wasUsed()) {
        lane.aside.encode(out, needed[lane.code()]);
      }
    }
  }

  static Destination decode(
      DataInput in,
      Guard guard,
      AwaitedLanes awaiting,
      OffHeap memory,
      UnloggedStore store,
      NamedHeap named)
      throws IOException {
    int version = in.readUnsignedByte();
    Formats.version("destinations", version, OLDEST_VERSION, VERSION);
    long id = in.readLong();
    DestinationName name;
    int kind = in.readUnsignedByte();
    String text = in.readUTF();
    try {
      name = new DestinationName(DestinationKind.of(kind), text);
    } catch (IllegalArgumentException e) {
      throw new IOException("destination " + id + " has kind " + kind + " and name " + text, e);
    }
    DestinationSettings settings = DestinationSettings.decode(in);
    Destination destination =
        new Destination(id, name, settings, guard, awaiting, memory, store, named);
    if (in.readBoolean()) {
      destination.group(true);
    }
    decodeLanes(destination, in);
    // Brokers of before could open any number; what is there is read, and no more is opened.
    int count = Formats.readCount(in, "subscriptions", Integer.MAX_VALUE);
    for (int i = 0; i < count; i++) {
      destination.add(SubscriptionFormat.decode(in, destination, memory));
    }
    if (version >= 5) {
      for (DurableLane lane : destination.durableLanes()) {
        lane.aside.decode(in);
        destination.damaged().setAside(lane.aside.within(lane.code(), 0, Long.MAX_VALUE));
      }
    }
    return destination;
  }

  private static void decodeLanes(Destination destination, DataInput in) throws IOException {
    int count = in.readUnsignedByte();
    int before = -1;
    for (int i = 0; i < count; i++) {
      int code = in.readUnsignedByte();
      if (code <= before || code >= LaneCode.PRIORITIES) {
        throw new IOException(
            "destination %d has durable lane %d behind %d; they rise from 0 to 9"
                .formatted(destination.id(), code, before));
      }
      before = code;
      destination.durable(code).decode(in);
    }
  }
}

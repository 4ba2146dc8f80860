package io.lightmq.core.destination;

import io.lightmq.core.selector.InvalidSelectorException;
import io.lightmq.core.selector.Selector;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/**
 * The bytes of a durable subscription in a snapshot: byte version 4, long id, byte kind, flags byte
 * (1 client id, 2 name, 4 no-local, 8 selector, 16 owner), UTF client id, UTF name, selector (int
 * length, UTF-8), UTF owner, a cursor for each durable lane that the destination has in front. The
 * keys that it remembers may be many and are elsewhere, see {@link DuplicatePicture}.
 */
final class SubscriptionFormat {
  private static final int OLDEST_VERSION = 3;
  private static final int VERSION = 4;

  private SubscriptionFormat() {}

  /**
   * Writes it.
   *
   * @param needed by the code of a lane, the first sequence that counts
   */
  static void encode(Subscription subscription, DataOutput out, long[] needed) throws IOException {
    out.writeByte(VERSION);
    out.writeLong(subscription.id());
    out.writeByte(subscription.kind().code());
    String clientId = subscription.clientId();
    String name = subscription.name();
    String selector = subscription.selectorText();
    String owner = subscription.owner();
    out.writeByte(
        (clientId != null ? 1 : 0)
            | (name != null ? 2 : 0)
            | (subscription.noLocal() ? 4 : 0)
            | (selector != null ? 8 : 0)
            | (owner != null ? 16 : 0));
    if (clientId != null) {
      out.writeUTF(clientId);
    }
    if (name != null) {
      out.writeUTF(name);
    }
    if (selector != null) {
      byte[] utf8 = selector.getBytes(StandardCharsets.UTF_8);
      out.writeInt(utf8.length);
      out.write(utf8);
    }
    if (owner != null) {
      out.writeUTF(owner);
    }
    for (DurableLane lane : subscription.destination().durableLanes()) {
      if (lane.wasUsed()) {
        subscription.cursor(lane).encode(out, needed[lane.code()]);
      }
    }
  }

  static Subscription decode(DataInput in, Destination destination, OffHeap memory)
      throws IOException {
    Formats.version("subscriptions", in.readUnsignedByte(), OLDEST_VERSION, VERSION);
    long id = in.readLong();
    SubscriptionKind kind;
    int code = in.readUnsignedByte();
    try {
      kind = SubscriptionKind.of(code);
    } catch (IllegalArgumentException e) {
      throw new IOException("subscription " + id + " has kind " + code, e);
    }
    int flags = in.readUnsignedByte();
    String clientId = (flags & 1) != 0 ? in.readUTF() : null;
    String name = (flags & 2) != 0 ? in.readUTF() : null;
    Selector selector = (flags & 8) != 0 ? decodeSelector(in, id) : null;
    String owner = (flags & 16) != 0 ? in.readUTF() : null;
    Interest interest = new Interest(selector, (flags & 4) != 0, 0);
    Subscription subscription =
        new Subscription(id, destination, kind, clientId, name, interest, memory);
    subscription.owned(owner);
    for (DurableLane lane : destination.durableLanes()) {
      subscription.cursor(lane).decode(in);
    }
    return subscription;
  }

  private static Selector decodeSelector(DataInput in, long id) throws IOException {
    int length = in.readInt();
    if (length < 0 || length > 3 * Selector.MAX_CHARS) {
      throw new IOException(
          "subscription %d has a selector of %d bytes; it has at most %d characters"
              .formatted(id, length, Selector.MAX_CHARS));
    }
    byte[] utf8 = new byte[length];
    in.readFully(utf8);
    try {
      return Selector.parse(new String(utf8, StandardCharsets.UTF_8));
    } catch (InvalidSelectorException e) {
      throw new IOException("subscription " + id + ": " + e.getMessage(), e);
    }
  }
}

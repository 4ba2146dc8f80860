package io.lightmq.core.sessions;

import io.lightmq.core.destination.Destination;
import io.lightmq.core.record.RecordWriter;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.state.ShardState;
import io.lightmq.core.state.TurnTime;
import io.lightmq.core.transaction.StagedQueue;
import io.lightmq.wire.entry.Entry;
import io.lightmq.wire.entry.EntryStamp;
import java.nio.ByteBuffer;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Who sends messages, and what the broker writes on each of them: the same for a run that comes,
 * whose messages say how long they live, and for a message that is moved, which brings its sender
 * and its expiry along.
 */
@OwnedBy("shard")
public final class Sender implements RecordWriter.Expiry {
  private static final long SAID_BY_MESSAGE = -1;

  private final TurnTime time;
  private final long connectionId;
  private final @Nullable String clientId;
  private final byte[] user;
  private final long arrivedMillis;
  private final boolean persistent;
  private final long expiryMillis;

  private Sender(
      TurnTime time,
      long connectionId,
      @Nullable String clientId,
      byte[] user,
      long arrivedMillis,
      boolean persistent,
      long expiryMillis) {
    this.time = time;
    this.connectionId = connectionId;
    this.clientId = clientId;
    this.user = user;
    this.arrivedMillis = arrivedMillis;
    this.persistent = persistent;
    this.expiryMillis = expiryMillis;
  }

  /** A connection whose messages arrived at a time; the same for many that arrive together. */
  public static Sender of(
      PeerSession session, long arrivedMillis, boolean persistent, TurnTime time) {
    Sender last = session.lastSender();
    if (last != null
        && last.arrivedMillis == arrivedMillis
        && last.persistent == persistent
        && Objects.equals(last.clientId, session.clientId())) {
      return last;
    }
    Sender sender =
        new Sender(
            time,
            session.peer().connectionId(),
            session.clientId(),
            session.user(),
            arrivedMillis,
            persistent,
            SAID_BY_MESSAGE);
    session.lastSender(sender);
    return sender;
  }

  /**
   * Whoever sent a message that is moved now.
   *
   * @param clientId of the connection that sent it, null if it has none or has ended
   * @param expiryMillis when it expires where it goes, 0 for never
   */
  public static Sender moved(
      ByteBuffer entry, @Nullable String clientId, long expiryMillis, TurnTime time) {
    byte[] user = new byte[Entry.userBytes(entry, 0)];
    entry.get(Entry.HEADER_BYTES, user);
    return new Sender(
        time,
        Entry.connectionId(entry, 0),
        clientId,
        user,
        time.millis(),
        Entry.isPersistent(entry, 0),
        expiryMillis);
  }

  public long connectionId() {
    return connectionId;
  }

  public @Nullable String clientId() {
    return clientId;
  }

  /** When its messages arrived, in milliseconds since 1970. */
  public long arrivedMillis() {
    return arrivedMillis;
  }

  public boolean isPersistent() {
    return persistent;
  }

  /** What is written on each of its messages in a lane. */
  public EntryStamp stamp(Destination to, int lane, ShardState state) {
    EntryStamp stamp =
        new EntryStamp(
            lane, persistent ? Entry.PERSISTENT : 0, to.id(), arrivedMillis, connectionId, user);
    return isDelayed(to) ? Arrival.note(stamp, state) : stamp;
  }

  @Override
  public long expiryMillis(ByteBuffer messages, int messageAt) {
    return expiryMillis == SAID_BY_MESSAGE
        ? time.expiry(arrivedMillis, messages, messageAt)
        : expiryMillis;
  }

  /** When its messages expire in a destination and, if they are held there, fall due. */
  public RecordWriter.Expiry times(Destination to) {
    return isDelayed(to) ? new Held(this) : this;
  }

  /** Whether what lies in a destination is not due yet. */
  private static boolean isDelayed(Destination in) {
    if (!in.isHidden()) {
      return false;
    }
    StagedQueue staged = StagedQueue.of(in);
    return staged == null || staged.isDelayed();
  }

  private record Held(Sender sender) implements RecordWriter.Expiry {
    @Override
    public long expiryMillis(ByteBuffer messages, int messageAt) {
      return sender.expiryMillis(messages, messageAt);
    }

    @Override
    public long dueMillis(ByteBuffer messages, int messageAt) {
      return sender.time.due(sender.arrivedMillis, messages, messageAt);
    }
  }
}

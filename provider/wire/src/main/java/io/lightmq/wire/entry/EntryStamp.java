package io.lightmq.wire.entry;

/**
 * What the broker stamps on all entries of one run; sequence and expiry differ per entry.
 *
 * @param lane the lane's code: 0 to 9 durable, 128 + 0 to 9 unlogged
 * @param flags {@link Entry#PERSISTENT}, {@link Entry#CHUNK}, {@link Entry#HELD}
 * @param enqueuedMillis the broker's clock
 * @param dueMillis when a delayed entry falls due by the broker's clock, 0 for at once
 * @param connectionId the producer's connection
 * @param holderId where the entry lives until it is released, 0 for none
 * @param chunk the entry's number among its chunks, from 0; see {@link Entry} for delayed ones
 * @param chunks how many there are, 0 for a whole message
 * @param user the producer's user name in UTF-8, at most 255 bytes; not copied
 */
public record EntryStamp(
    int lane,
    int flags,
    long destinationId,
    long enqueuedMillis,
    long dueMillis,
    long connectionId,
    long holderId,
    int chunk,
    int chunks,
    byte[] user) {

  public EntryStamp {
    if ((lane & ~0x8F) != 0 || (lane & 0x0F) > 9) {
      throw new IllegalArgumentException("lane " + lane + " is neither 0 to 9 nor 128 to 137");
    }
    if (user.length > Entry.MAX_USER_BYTES) {
      throw new IllegalArgumentException(
          "a user name has at most "
              + Entry.MAX_USER_BYTES
              + " bytes in UTF-8, this one has "
              + user.length);
    }
  }

  /** A stamp for whole entries that are visible at once. */
  public EntryStamp(
      int lane,
      int flags,
      long destinationId,
      long enqueuedMillis,
      long connectionId,
      byte[] user) {
    this(lane, flags, destinationId, enqueuedMillis, 0, connectionId, 0, 0, 0, user);
  }

  /** The same for a delayed entry, with what it says of its arrival in the fields for chunks. */
  public EntryStamp arrival(int durables, int others) {
    return new EntryStamp(
        lane,
        flags,
        destinationId,
        enqueuedMillis,
        dueMillis,
        connectionId,
        holderId,
        durables,
        others,
        user);
  }

  /** The same for an entry that falls due at a time. */
  public EntryStamp due(long millis) {
    return new EntryStamp(
        lane,
        flags,
        destinationId,
        enqueuedMillis,
        millis,
        connectionId,
        holderId,
        chunk,
        chunks,
        user);
  }
}

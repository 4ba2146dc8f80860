package io.lightmq.core.destination;

import io.lightmq.core.runtime.Guard;
import io.lightmq.core.runtime.OwnedBy;
import java.io.DataInput;
import java.io.IOException;
import java.util.Arrays;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The keys that a subscription has acknowledged last: exact, in a ring in the order of their coming
 * with an index that is searched from a key's hash on. Takes 32 to 64 bytes of heap for each key
 * that it holds. Beyond its limit the oldest key goes; one that is too old counts no more.
 */
@OwnedBy("shard")
final class DuplicateWindow {
  private static final int FIRST_KEYS = 16;

  private int limit;
  private long millis;

  // The ring: key and time.
  private long[] most = new long[FIRST_KEYS];
  private long[] least = new long[FIRST_KEYS];
  private long[] at = new long[FIRST_KEYS];
  private int head;
  private int size;

  /** Slot of the ring + 1 by hash; 0 is free. Twice as long as the ring. */
  private int[] index = new int[FIRST_KEYS * 2];

  /** Has to be told before a slot is used again that it shows. */
  private @Nullable DuplicatePicture picture;

  DuplicateWindow(Suppression suppression) {
    limit(suppression);
  }

  /** Sets how many keys it keeps and for how long. */
  void limit(Suppression suppression) {
    limit = suppression.windowKeys();
    millis = suppression.windowMillis();
    while (size > limit) {
      removeOldest();
    }
  }

  int size() {
    return size;
  }

  boolean contains(UUID key, long nowMillis) {
    int found = find(key.getMostSignificantBits(), key.getLeastSignificantBits());
    return index[found] != 0 && nowMillis - at[index[found] - 1] < millis;
  }

  /** Remembers a key from a time on, unless it is remembered already. */
  void add(UUID key, long atMillis) {
    while (size > 0 && atMillis - at[head] >= millis) {
      removeOldest();
    }
    long high = key.getMostSignificantBits();
    long low = key.getLeastSignificantBits();
    if (index[find(high, low)] != 0) {
      return;
    }
    if (size == limit) {
      removeOldest();
    }
    if (size == most.length) {
      grow();
    }
    put((head + size) & (most.length - 1), high, low, atMillis);
    size++;
  }

  private void put(int slot, long high, long low, long atMillis) {
    DuplicatePicture shown = picture;
    if (shown != null) {
      shown.beforeChange(most, slot);
    }
    most[slot] = high;
    least[slot] = low;
    at[slot] = atMillis;
    index[find(high, low)] = slot + 1;
  }

  /** Where a key is in the index, or where it would be. */
  private int find(long high, long low) {
    int mask = index.length - 1;
    int place = (int) low & mask;
    while (index[place] != 0
        && (most[index[place] - 1] != high || least[index[place] - 1] != low)) {
      place = (place + 1) & mask;
    }
    return place;
  }

  private void removeOldest() {
    int mask = index.length - 1;
    int hole = find(most[head], least[head]);
    index[hole] = 0;
    // What was placed behind for want of room moves up, so that a search never stops too early.
    for (int place = (hole + 1) & mask; index[place] != 0; place = (place + 1) & mask) {
      int home = (int) least[index[place] - 1] & mask;
      if (((place - home) & mask) >= ((place - hole) & mask)) {
        index[hole] = index[place];
        index[place] = 0;
        hole = place;
      }
    }
    head = (head + 1) & (most.length - 1);
    size--;
  }

  private void grow() {
    int length = most.length;
    long[] high = rotated(most);
    long[] low = rotated(least);
    long[] times = rotated(at);
    most = Arrays.copyOf(high, length * 2);
    least = Arrays.copyOf(low, length * 2);
    at = Arrays.copyOf(times, length * 2);
    index = new int[length * 4];
    head = 0;
    for (int slot = 0; slot < size; slot++) {
      index[find(most[slot], least[slot])] = slot + 1;
    }
  }

  private long[] rotated(long[] ring) {
    long[] straight = new long[ring.length];
    System.arraycopy(ring, head, straight, 0, ring.length - head);
    System.arraycopy(ring, 0, straight, ring.length - head, head);
    return straight;
  }

  /** Takes keys. */
  interface Keys {
    /** A key that is remembered from a time on. */
    void key(UUID key, long atMillis);
  }

  /** Shows all keys, oldest first. */
  void forEach(Keys taker) {
    for (int i = 0; i < size; i++) {
      int slot = (head + i) & (most.length - 1);
      taker.key(new UUID(most[slot], least[slot]), at[slot]);
    }
  }

  /** A picture of it as it is now; there is one at a time. */
  DuplicatePicture picture(Guard guard, long destinationId, long subscriptionId) {
    DuplicatePicture begun =
        new DuplicatePicture(
            guard, destinationId, subscriptionId, most, least, at, head, size, this::pictured);
    picture = begun;
    return begun;
  }

  private void pictured(DuplicatePicture ended) {
    if (picture == ended) {
      picture = null;
    }
  }

  /** Adds what {@link DuplicatePicture#next} wrote behind the ids. */
  void decode(DataInput in) throws IOException {
    int count = in.readInt();
    if (count < 0 || count > limit) {
      throw new IOException("a window of " + limit + " keys has " + count);
    }
    for (int i = 0; i < count; i++) {
      UUID key = new UUID(in.readLong(), in.readLong());
      add(key, in.readLong());
    }
  }
}

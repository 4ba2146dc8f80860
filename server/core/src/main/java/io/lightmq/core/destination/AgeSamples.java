package io.lightmq.core.destination;

import io.lightmq.core.runtime.OwnedBy;
import java.util.Arrays;

/**
 * When some of a lane's messages came, so that the age of its oldest one is known without reading
 * it: at most one sample a second and {@link #MAX} in all, beyond which every second one is dropped
 * and they come at twice the distance. So an age is right to a sixteenth of what the backlog spans,
 * in half a kilobyte.
 */
@OwnedBy("shard")
final class AgeSamples {
  static final int MAX = 32;
  private static final int FIRST = 2;
  private static final long MIN_GAP_MILLIS = 1_000;

  /** Rising. */
  private long[] sequences = new long[FIRST];

  private long[] millis = new long[FIRST];
  private int size;
  private long gapMillis = MIN_GAP_MILLIS;
  private boolean looked;
  private long lookedMillis;

  /**
   * Whether it was known for which messages nobody will ask, so that the first is not the first.
   */
  private boolean forgot;

  /** A message came, behind all that came before. */
  void sample(long sequence, long nowMillis) {
    if (size > 0
        && (Math.abs(nowMillis - millis[size - 1]) < gapMillis
            || sequence <= sequences[size - 1])) {
      return;
    }
    if (size == MAX) {
      for (int i = 0; i < MAX / 2; i++) {
        sequences[i] = sequences[2 * i];
        millis[i] = millis[2 * i];
      }
      size = MAX / 2;
      gapMillis *= 2;
    }
    if (size == sequences.length) {
      sequences = Arrays.copyOf(sequences, 2 * size);
      millis = Arrays.copyOf(millis, 2 * size);
    }
    sequences[size] = sequence;
    millis[size++] = nowMillis;
  }

  /**
   * Whether it is time again to say below which message nobody will ask; once a second of the time
   * at which messages come, so that it depends on these alone.
   */
  boolean mayForget(long nowMillis) {
    if (size == 0 || (looked && Math.abs(nowMillis - lookedMillis) < MIN_GAP_MILLIS)) {
      return false;
    }
    looked = true;
    lookedMillis = nowMillis;
    return true;
  }

  /** When a message came, or somewhat earlier; 0 if not known; later if it was forgotten. */
  long cameAt(long sequence) {
    int at = floor(sequence);
    return at >= 0 ? millis[at] : forgot ? millis[0] : 0;
  }

  /** Nobody will ask for messages before this one. */
  void forgetBelow(long sequence) {
    int at = floor(sequence);
    if (at > 0) {
      forgot = true;
      System.arraycopy(sequences, at, sequences, 0, size - at);
      System.arraycopy(millis, at, millis, 0, size - at);
      size -= at;
      gapMillis = size < MAX / 4 ? Math.max(MIN_GAP_MILLIS, gapMillis / 2) : gapMillis;
    }
  }

  private int floor(long sequence) {
    int at = Arrays.binarySearch(sequences, 0, size, sequence);
    return at >= 0 ? at : -at - 2;
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder("a sample each ").append(gapMillis).append(" ms:");
    for (int i = 0; i < size; i++) {
      text.append(' ').append(Long.toHexString(sequences[i])).append('@').append(millis[i]);
    }
    return text.toString();
  }
}

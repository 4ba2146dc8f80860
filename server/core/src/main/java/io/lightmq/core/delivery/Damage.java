package io.lightmq.core.delivery;

import io.lightmq.core.storage.segment.SegmentException;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Consecutive sequences of a lane whose bytes cannot be read, also when looked up again.
 *
 * @param through the last one
 * @param cause says which file and where in it
 */
public record Damage(long from, long through, IOException cause) {

  /**
   * What a failed read says of some sequences that it was to read; null if it does not say that
   * bytes of theirs are damaged: a file could not be opened, or the broker ends.
   */
  public static @Nullable Damage of(@Nullable IOException failure, long first, long last) {
    long from;
    long through;
    if (failure instanceof SegmentException.Damaged damaged) {
      from = damaged.sequence();
      through = damaged.through();
    } else if (failure instanceof UnreadableException unreadable) {
      from = unreadable.from();
      through = unreadable.through();
    } else {
      return null;
    }
    if (through < first || from > last) {
      return null; // it is elsewhere, and nothing that was to be read may be called damaged for it
    }
    return new Damage(Math.max(first, from), Math.min(last, through), failure);
  }

  /** What a fetch that brought nothing says. */
  static @Nullable Damage of(Fetch fetch) {
    Fetch.Part last = fetch.parts.get(fetch.parts.size() - 1);
    return of(fetch.failure, fetch.parts.get(0).from(), last.from() + last.count() - 1);
  }
}

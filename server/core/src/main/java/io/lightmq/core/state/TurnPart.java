package io.lightmq.core.state;

import io.lightmq.core.runtime.OwnedBy;

/** A part of an owner that has a share in each turn, or something to do at a time. */
@OwnedBy("shard")
public interface TurnPart {
  /** Its share at the end of each turn. */
  default void turn() {}

  /** Once a second. */
  default void tick() {}

  /** When it wants a turn next, in nanoseconds; {@code Long.MAX_VALUE} for never. */
  default long nextNanos() {
    return Long.MAX_VALUE;
  }

  /** The same by the broker's wall clock. */
  default long nextMillis() {
    return Long.MAX_VALUE;
  }

  /** Whether it waits for what may come without a mark or a time, such as room. */
  default boolean waits() {
    return false;
  }

  /** Gives up what it keeps: nobody leads any more, or the broker closes. */
  default void end() {}
}

package io.lightmq.core.delivery;

import java.nio.ByteBuffer;

/** Takes entries that were read from a file, one after the other; on the read loop. */
@FunctionalInterface
interface EntryTaker {
  /**
   * Takes the intact entry at a place of a buffer, which is valid until the method returns.
   *
   * @return false if there is no room for it any more, which ends the read
   */
  boolean put(ByteBuffer from, int at, int length);
}

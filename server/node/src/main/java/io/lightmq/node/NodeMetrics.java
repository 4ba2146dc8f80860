package io.lightmq.node;

import io.lightmq.core.shard.BrokerMetrics;

/**
 * What a node counts, at one moment.
 *
 * @param network direct memory of the connections; the bound is what so many connections never need
 *     more than
 * @param credit what clients may have under way or have under way
 */
public record NodeMetrics(
    BrokerMetrics broker, ConnectionUse connections, ByteUse network, ByteUse credit) {

  /**
   * Connections of clients.
   *
   * @param open those in their handshake included
   * @param halfOpen of them, those that have not said yet who they are
   * @param refused for want of a place, since start
   */
  public record ConnectionUse(int open, int halfOpen, long refused) {}

  /** Bytes, and what they never pass. */
  public record ByteUse(long bytes, long boundBytes) {}
}

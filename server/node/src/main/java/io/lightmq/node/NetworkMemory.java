package io.lightmq.node;

import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.AdaptiveRecvByteBufAllocator;
import io.netty.channel.RecvByteBufAllocator;

/**
 * The direct memory of the connections, in an allocator of its own so that it can be counted.
 *
 * <p>It never needs more than
 *
 * <pre>
 *   1.25 x (publish credit + commits + requests + deliveries
 *           + connections x {@value #PER_CONNECTION_BYTES})
 *     + {@value #ARENAS} arenas x {@value #SPARE_CHUNKS} chunks of 1 MiB
 * </pre>
 *
 * where publish credit bounds runs in and on the way to the broker, commits and requests bound the
 * other long frames, deliveries bound what waits to be written, and each connection has a read
 * buffer, a short frame or what is left over of the one before, and answers. A long frame is
 * collected in a buffer of its own length and one read more. The quarter is what the allocator's
 * size classes round up.
 */
final class NetworkMemory {
  private static final int ARENAS = 2;
  private static final int PAGE_BYTES = 8 << 10;
  private static final int CHUNK_ORDER = 7;
  private static final int CHUNK_BYTES = PAGE_BYTES << CHUNK_ORDER;
  private static final int SPARE_CHUNKS = 8;
  private static final int READ_BYTES = 32 << 10;
  private static final int PER_CONNECTION_BYTES = 96 << 10;
  private static final int SMALL_CACHE = 64;
  private static final int NORMAL_CACHE = 8;

  private final PooledByteBufAllocator allocator =
      new PooledByteBufAllocator(
          true, 0, ARENAS, PAGE_BYTES, CHUNK_ORDER, SMALL_CACHE, NORMAL_CACHE, false);
  private final NodeSettings settings;

  NetworkMemory(NodeSettings settings) {
    this.settings = settings;
  }

  ByteBufAllocator allocator() {
    return allocator;
  }

  RecvByteBufAllocator reads() {
    return new AdaptiveRecvByteBufAllocator(512, 4 << 10, READ_BYTES);
  }

  /** What it has taken from the system, in use or not. */
  long usedBytes() {
    return allocator.metric().usedDirectMemory();
  }

  /** What it never needs more than, with so many connections. */
  long boundBytes(int connections) {
    long used =
        settings.creditBytes()
            + settings.commitBytes()
            + settings.requestBytes()
            + settings.deliveryBytes()
            + (long) connections * PER_CONNECTION_BYTES;
    return used + used / 4 + (long) ARENAS * SPARE_CHUNKS * CHUNK_BYTES;
  }
}

package io.lightmq.core.storage;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.IntFunction;

/**
 * The count of all off-heap memory of a broker core, by purpose. Buffers that are given back are
 * kept and handed out again for the same size, since the JDK frees direct memory only when it
 * collects garbage; what is kept counts in {@link #total} as well. At most {@link #MAX_KEPT_BYTES}
 * are kept; beyond it a buffer is left to the garbage collector. Any thread.
 *
 * <p>Small things take pieces of a slab of their own: a direct buffer costs a cleaner and some
 * hundred bytes of heap.
 */
public final class DirectMemory {
  static final int MAX_KEPT_BYTES = 32 << 20;

  private final IntFunction<ByteBuffer> source;
  private final Map<String, Long> used = new TreeMap<>();
  private final Map<Integer, ArrayDeque<ByteBuffer>> spare = new HashMap<>();
  private long inUse;
  private long kept;
  private long highest;

  /** That of this Java machine, of which nothing is taken yet. */
  public DirectMemory() {
    this(ByteBuffer::allocateDirect);
  }

  DirectMemory(IntFunction<ByteBuffer> source) {
    this.source = source;
  }

  /**
   * As {@link #allocate}, for what a broker needs as long as it lives: if there is too little, it
   * must not start.
   *
   * @param lower what else can be done about it than to give the machine more
   * @throws IOException with the figures, if the Java machine may not have so much
   */
  public ByteBuffer reserve(String purpose, int bytes, String lower) throws IOException {
    try {
      return allocate(purpose, bytes);
    } catch (OutOfMemoryError e) {
      throw new IOException(
          "the "
              + purpose
              + " needs "
              + bytes
              + " bytes of direct memory, and there are too few ("
              + e.getMessage()
              + "); give this Java machine more with -XX:MaxDirectMemorySize, or "
              + lower,
          e);
    }
  }

  /**
   * A zeroed or recycled direct buffer of exactly so many bytes, position 0. Recycled contents are
   * not cleared.
   *
   * @param purpose what it is counted under, such as {@code "window"}
   */
  public synchronized ByteBuffer allocate(String purpose, int bytes) {
    ArrayDeque<ByteBuffer> pool = spare.get(bytes);
    ByteBuffer buffer = pool == null ? null : pool.pollFirst();
    if (buffer == null) {
      buffer = source.apply(bytes);
    } else {
      kept -= bytes;
    }
    inUse += bytes;
    highest = Math.max(highest, inUse + kept);
    used.merge(purpose, (long) bytes, Long::sum);
    return buffer;
  }

  /**
   * Takes back a buffer that {@link #allocate} gave for this purpose; nobody may touch it again.
   */
  public synchronized void free(String purpose, ByteBuffer buffer) {
    int bytes = buffer.capacity();
    long before = used.getOrDefault(purpose, 0L);
    if (before < bytes) {
      throw new IllegalStateException(
          bytes + " bytes given back for " + purpose + ", which has only " + before);
    }
    used.put(purpose, before - bytes);
    inUse -= bytes;
    if (kept + bytes > MAX_KEPT_BYTES) {
      return;
    }
    kept += bytes;
    spare.computeIfAbsent(bytes, size -> new ArrayDeque<>()).addFirst(buffer.clear());
  }

  /** Bytes that a purpose has in use. */
  public synchronized long used(String purpose) {
    return used.getOrDefault(purpose, 0L);
  }

  /** Bytes in use, by purpose. */
  public synchronized Map<String, Long> usedByPurpose() {
    return new TreeMap<>(used);
  }

  /** Bytes in use and bytes kept for reuse. */
  public synchronized long total() {
    return inUse + kept;
  }

  /** The highest {@link #total} so far. */
  public synchronized long highest() {
    return highest;
  }
}

package io.lightmq.core.storage.journal;

import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.storage.DirectMemory;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * The newest bytes of a journal, in a ring off the heap: the byte at journal offset {@code o} lies
 * at {@code o} modulo the capacity. The shard builds its batches here, the journal writes them from
 * here, and live consumers are served from here.
 *
 * <p>Bytes are put behind {@link #position}; that overwrites what is a whole capacity older, so
 * before it puts anything the shard asks {@link #room}, which keeps what the journal has not
 * written yet. Putting more than the last room that was told is a bug of the caller, and fails
 * before it overwrites anything. Pieces given by {@link #slices} may be read by the journal's
 * threads until the batch is written.
 */
@OwnedBy("shard")
public final class Window implements AutoCloseable {
  private static final String PURPOSE = "window";
  private static final byte[] ZEROS = new byte[64];

  private final DirectMemory memory;
  private final ByteBuffer ring;
  private final int capacity;
  private final long mask;
  private long first;
  private long position;

  /** Where the room ends that was told last; nothing is told before the first question. */
  private long roomEnd = Long.MAX_VALUE;

  /**
   * An empty window.
   *
   * @param capacityBytes a power of two
   * @param firstOffset where the first byte goes
   */
  public Window(DirectMemory memory, int capacityBytes, long firstOffset) {
    this(memory, memory.allocate(PURPOSE, checked(capacityBytes)));
    begin(firstOffset);
  }

  private Window(DirectMemory memory, ByteBuffer ring) {
    this.memory = memory;
    this.ring = ring;
    this.capacity = ring.capacity();
    this.mask = capacity - 1L;
  }

  /**
   * A window for a broker that starts; it has to be told to {@link #begin}.
   *
   * @param capacityBytes a power of two
   * @throws IOException if there is too little memory for it
   */
  public static Window reserve(DirectMemory memory, int capacityBytes) throws IOException {
    return new Window(
        memory,
        memory.reserve(
            PURPOSE, checked(capacityBytes), "a server a smaller window with memory.window"));
  }

  private static int checked(int capacityBytes) {
    if (Integer.bitCount(capacityBytes) != 1 || capacityBytes < 4096) {
      throw new IllegalArgumentException(
          "window of " + capacityBytes + " bytes: a power of two from 4096 on is needed");
    }
    return capacityBytes;
  }

  /** Empty again; the first byte goes to an offset. */
  public void begin(long firstOffset) {
    first = firstOffset;
    position = firstOffset;
    roomEnd = Long.MAX_VALUE;
  }

  /** Bytes of the ring. */
  public int capacity() {
    return capacity;
  }

  /** The offset at which the next byte is put. */
  public long position() {
    return position;
  }

  /** The lowest offset that is still here. */
  public long oldest() {
    return Math.max(first, position - capacity);
  }

  /** Whether the byte at an offset is here. */
  public boolean contains(long offset) {
    return offset >= oldest() && offset < position;
  }

  /** Bytes that may be put now without overwriting what lies at or behind a mark. */
  public long room(long writtenMark) {
    roomEnd = Math.max(first, writtenMark) + capacity;
    return roomEnd - position;
  }

  private void need(int bytes) {
    if (position + bytes > roomEnd) {
      throw new IllegalStateException(
          "%d bytes at offset %d would overwrite what is not written yet: the room ends at %d"
              .formatted(bytes, position, roomEnd));
    }
  }

  /** Puts a byte. */
  public void putByte(int value) {
    need(1);
    ring.put(at(position), (byte) value);
    moved(1);
  }

  /** Puts two bytes, big-endian. */
  public void putShort(int value) {
    need(2);
    patchByte(position, value >>> 8);
    patchByte(position + 1, value);
    moved(2);
  }

  /** Puts four bytes, big-endian. */
  public void putInt(int value) {
    need(4);
    patchInt(position, value);
    moved(4);
  }

  /** Puts eight bytes, big-endian. */
  public void putLong(long value) {
    need(8);
    patchLong(position, value);
    moved(8);
  }

  /**
   * Puts one to ten bytes: seven bits each from the low end, the top bit set on all but the last.
   */
  public void putVarint(long value) {
    long rest = value;
    while ((rest & ~0x7fL) != 0) {
      putByte((int) (rest & 0x7f) | 0x80);
      rest >>>= 7;
    }
    putByte((int) rest);
  }

  /** Puts a buffer's bytes from position to limit, which it leaves as they are. */
  public void put(ByteBuffer from) {
    int length = from.remaining();
    if (length > capacity) {
      throw new IllegalArgumentException(length + " bytes do not fit into a window of " + capacity);
    }
    need(length);
    int at = at(position);
    int head = Math.min(length, capacity - at);
    ring.put(at, from, from.position(), head);
    if (head < length) {
      ring.put(0, from, from.position() + head, length - head);
    }
    moved(length);
  }

  /** Puts bytes of an array. */
  public void put(byte[] from, int start, int length) {
    put(ByteBuffer.wrap(from, start, length));
  }

  /** Puts zeros. */
  public void putZeros(int length) {
    for (int left = length; left > 0; left -= ZEROS.length) {
      put(ZEROS, 0, Math.min(left, ZEROS.length));
    }
  }

  /** Puts zeros up to the next multiple of a power of two. */
  public void align(int multiple) {
    putZeros((int) (-position & (multiple - 1L)));
  }

  /** Changes a byte that has been put. */
  public void patchByte(long offset, int value) {
    ring.put(at(offset), (byte) value);
  }

  /** Changes four bytes that have been put. */
  public void patchInt(long offset, int value) {
    int at = at(offset);
    if (at <= capacity - 4) {
      ring.putInt(at, value);
    } else {
      for (int i = 0; i < 4; i++) {
        patchByte(offset + i, value >>> (24 - 8 * i));
      }
    }
  }

  /** Changes eight bytes that have been put. */
  public void patchLong(long offset, long value) {
    int at = at(offset);
    if (at <= capacity - 8) {
      ring.putLong(at, value);
    } else {
      patchInt(offset, (int) (value >>> 32));
      patchInt(offset + 4, (int) value);
    }
  }

  /** The byte at an offset. */
  public byte getByte(long offset) {
    return ring.get(at(offset));
  }

  /** The four bytes at an offset. */
  public int getInt(long offset) {
    int at = at(offset);
    if (at <= capacity - 4) {
      return ring.getInt(at);
    }
    int value = 0;
    for (int i = 0; i < 4; i++) {
      value = (value << 8) | (getByte(offset + i) & 0xff);
    }
    return value;
  }

  /** The eight bytes at an offset. */
  public long getLong(long offset) {
    int at = at(offset);
    if (at <= capacity - 8) {
      return ring.getLong(at);
    }
    return ((long) getInt(offset) << 32) | (getInt(offset + 4) & 0xffffffffL);
  }

  /** Copies bytes to a buffer's position, which moves by the length. */
  public void copyTo(long offset, int length, ByteBuffer into) {
    check(offset, length);
    int at = at(offset);
    int head = Math.min(length, capacity - at);
    int to = into.position();
    into.put(to, ring, at, head);
    if (head < length) {
      into.put(to + head, ring, 0, length - head);
    }
    into.position(to + length);
  }

  /** The bytes themselves as one or two pieces, which see later changes. */
  public ByteBuffer[] slices(long offset, int length) {
    check(offset, length);
    int at = at(offset);
    int head = Math.min(length, capacity - at);
    return head == length
        ? new ByteBuffer[] {ring.slice(at, length)}
        : new ByteBuffer[] {ring.slice(at, head), ring.slice(0, length - head)};
  }

  /** Gives the memory back. Nothing may touch the window or its slices after this. */
  @Override
  public void close() {
    memory.free(PURPOSE, ring);
  }

  private void moved(int bytes) {
    position += bytes;
  }

  private int at(long offset) {
    return (int) (offset & mask);
  }

  private void check(long offset, int length) {
    if (length < 0 || offset < oldest() || offset + length > position) {
      throw new IllegalArgumentException(
          "bytes "
              + offset
              + " to "
              + (offset + length)
              + " are not in the window, which has "
              + oldest()
              + " to "
              + position);
    }
  }
}

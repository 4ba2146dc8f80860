package io.lightmq.core.destination;

import io.lightmq.core.runtime.OwnedBy;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Arrays;

/**
 * Which sequences of a lane exist: per shard epoch one dense extent, rising. The newest stays even
 * if it is empty, so that its counter is known.
 */
@OwnedBy("shard")
final class Extents {
  private static final int VERSION = 1;

  /** First existing sequence and the one behind the last, per extent. */
  private long[] starts = new long[1];

  private long[] ends = new long[1];
  private int count;

  /** The sequence that the next message of an epoch gets. */
  long tail(long shardEpoch) {
    if (shardEpoch < 0 || shardEpoch > Integer.MAX_VALUE) {
      throw new IllegalArgumentException("shard epoch " + shardEpoch + " has more than 31 bits");
    }
    if (count > 0) {
      long newest = (ends[count - 1] - 1) >>> 32;
      if (ends[count - 1] == starts[count - 1]) {
        newest = ends[count - 1] >>> 32;
      }
      if (newest > shardEpoch) {
        throw new IllegalStateException(
            "shard epoch " + shardEpoch + " is over; the lane is in epoch " + newest);
      }
      if (newest == shardEpoch) {
        return ends[count - 1];
      }
    }
    return shardEpoch << 32;
  }

  /** Adds sequences at the tail of their epoch. */
  void append(long first, long number) {
    long epoch = first >>> 32;
    if (number <= 0 || first != tail(epoch) || (first + number - 1) >>> 32 != epoch) {
      throw new IllegalStateException(
          number + " sequences from " + first + " do not continue the lane at " + tail(epoch));
    }
    if (count > 0 && starts[count - 1] == ends[count - 1] && ends[count - 1] != first) {
      // The newest may be empty once it is trimmed, but one before the newest may not.
      count--;
    }
    if (count == 0 || ends[count - 1] != first) {
      if (count == starts.length) {
        starts = Arrays.copyOf(starts, count * 2);
        ends = Arrays.copyOf(ends, count * 2);
      }
      starts[count] = first;
      count++;
    }
    ends[count - 1] = first + number;
  }

  /** Behind the last sequence; 0 if there was none. */
  long end() {
    return count == 0 ? 0 : ends[count - 1];
  }

  /** The first existing sequence, or {@link #end}. */
  long start() {
    return ceiling(0);
  }

  /** The lowest existing sequence that is at least this one, or {@link #end} if there is none. */
  long ceiling(long sequence) {
    int at = extentOf(sequence);
    return at == count ? end() : Math.max(sequence, starts[at]);
  }

  /** Behind the extent that holds an existing sequence. */
  long extentEnd(long sequence) {
    return ends[extentOf(sequence)];
  }

  boolean exists(long sequence) {
    int at = extentOf(sequence);
    return at < count && starts[at] <= sequence;
  }

  /** Existing sequences in {@code from} to {@code to} - 1. */
  long count(long from, long to) {
    long sum = 0;
    for (int i = extentOf(from); i < count && starts[i] < to; i++) {
      sum += Math.max(0, Math.min(to, ends[i]) - Math.max(from, starts[i]));
    }
    return sum;
  }

  /** Forgets what lies below a sequence. */
  void trim(long below) {
    int drop = endsBelow(below);
    if (drop > 0) {
      System.arraycopy(starts, drop, starts, 0, count - drop);
      System.arraycopy(ends, drop, ends, 0, count - drop);
      count -= drop;
    }
    if (count > 0) {
      starts[0] = Math.min(Math.max(starts[0], below), ends[0]);
    }
  }

  /** How many extents end at or below a sequence; the newest is not among them. */
  private int endsBelow(long sequence) {
    int ended = 0;
    while (ended < count - 1 && ends[ended] <= sequence) {
      ended++;
    }
    return ended;
  }

  /** The first extent that ends behind a sequence, or {@code count}. */
  private int extentOf(long sequence) {
    if (count == 0 || sequence >= ends[count - 1]) {
      return count;
    }
    int low = 0;
    int high = count - 1;
    while (low < high) {
      int mid = (low + high) >>> 1;
      if (ends[mid] <= sequence) {
        low = mid + 1;
      } else {
        high = mid;
      }
    }
    return low;
  }

  /**
   * Byte version 1, varint extents, per extent long start, varint length; as they are once they are
   * trimmed below a sequence.
   */
  void encode(DataOutput out, long below) throws IOException {
    out.writeByte(VERSION);
    int drop = endsBelow(below);
    Formats.writeVarint(out, count - drop);
    for (int i = drop; i < count; i++) {
      long start = i == drop ? Math.min(Math.max(starts[i], below), ends[i]) : starts[i];
      out.writeLong(start);
      Formats.writeVarint(out, ends[i] - start);
    }
  }

  void decode(DataInput in) throws IOException {
    Formats.version("extents", in.readUnsignedByte(), VERSION);
    long extents = Formats.readVarint(in);
    long behind = 0;
    for (long i = 0; i < extents; i++) {
      long start = in.readLong();
      long length = Formats.readVarint(in);
      if (start < behind || length > 1L << 32) {
        throw new IOException(
            "extent " + i + " with " + length + " sequences from " + start + " is impossible");
      }
      if (count == starts.length) {
        starts = Arrays.copyOf(starts, count * 2);
        ends = Arrays.copyOf(ends, count * 2);
      }
      starts[count] = start;
      ends[count] = start + length;
      behind = ends[count];
      count++;
    }
  }
}

package io.lightmq.core.destination;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/** Numbers as the snapshot formats of this package write them. */
final class Formats {
  private Formats() {}

  static void version(String what, int found, int known) throws IOException {
    version(what, found, known, known);
  }

  /** Refuses a version that is not within the two. */
  static void version(String what, int found, int oldest, int newest) throws IOException {
    if (found < oldest || found > newest) {
      throw new IOException(
          what
              + " have version "
              + found
              + "; this broker reads version "
              + (oldest == newest ? "" : oldest + " to ")
              + newest);
    }
  }

  /** Seven bits a byte, lowest first; for values from 0 on. */
  static void writeVarint(DataOutput out, long value) throws IOException {
    if (value < 0) {
      throw new IllegalArgumentException("a varint is not negative: " + value);
    }
    long rest = value;
    while (rest > 0x7F) {
      out.writeByte((int) (rest & 0x7F) | 0x80);
      rest >>>= 7;
    }
    out.writeByte((int) rest);
  }

  static long readVarint(DataInput in) throws IOException {
    long value = 0;
    for (int shift = 0; shift < 63; shift += 7) {
      int b = in.readUnsignedByte();
      value |= (long) (b & 0x7F) << shift;
      if ((b & 0x80) == 0) {
        return value;
      }
    }
    throw new IOException("a varint has more than 9 bytes");
  }

  /** A count that must lie within a limit, checked before anything is allocated for it. */
  static int readCount(DataInput in, String what, long limit) throws IOException {
    long count = readVarint(in);
    if (count > limit) {
      throw new IOException(count + " " + what + " where at most " + limit + " are possible");
    }
    return (int) count;
  }
}

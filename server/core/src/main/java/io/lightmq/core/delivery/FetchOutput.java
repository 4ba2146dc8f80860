package io.lightmq.core.delivery;

import io.lightmq.wire.entry.Entry;
import java.nio.ByteBuffer;

/** The buffer of one fetch, replaced once if the first entry does not fit. On the read loop. */
final class FetchOutput implements EntryTaker {
  private final Fetch fetch;
  private ByteBuffer bytes;

  FetchOutput(Fetch fetch, int roomBytes) {
    this.fetch = fetch;
    this.bytes = allocate(roomBytes);
  }

  private ByteBuffer allocate(int roomBytes) {
    Outlet.Buffer buffer = fetch.consumer.recipient().outlet().allocate(roomBytes);
    fetch.buffer = buffer;
    return buffer.bytes();
  }

  /** From the end of what was taken to the end of the room. */
  ByteBuffer bytes() {
    return bytes.position(fetch.length);
  }

  /** A first entry that needs more than the room gets a buffer of its own. */
  boolean makeRoom(int needed) {
    Outlet.Buffer buffer = fetch.buffer;
    if (fetch.taken > 0 || needed <= bytes.limit()) {
      return false;
    }
    if (buffer != null) {
      buffer.release();
    }
    bytes = allocate(needed);
    return true;
  }

  /** Copies one entry; false if there is no room for it any more. */
  @Override
  public boolean put(ByteBuffer from, int at, int length) {
    ByteBuffer target = bytes();
    if (target.remaining() < length) {
      if (!makeRoom(length)) {
        return false;
      }
      target = bytes();
    }
    target.put(target.position(), from, at, length);
    took(1, length);
    return true;
  }

  void took(int count, long length) {
    fetch.taken += count;
    fetch.length += (int) length;
  }

  /** After a failure: counts what was put before it, as far as nothing is missing in between. */
  void keepIntact() {
    int end = Math.max(fetch.length, bytes.position());
    fetch.taken = 0;
    fetch.length = 0;
    for (Fetch.Part part : fetch.parts) {
      for (long sequence = part.from(); sequence < part.from() + part.count(); sequence++) {
        if (fetch.length >= end || Entry.sequence(bytes, fetch.length) != sequence) {
          return;
        }
        took(1, Entry.length(bytes, fetch.length));
      }
    }
  }
}

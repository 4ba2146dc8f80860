package io.lightmq.core.destination;

import io.lightmq.core.runtime.Guard;
import io.lightmq.core.runtime.OwnedBy;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The keys that a subscription remembered durably at one moment, encoded piece by piece while it
 * goes on: ten million of them take a second to copy. A slot of the window that is used again is
 * encoded before, with those around it, so that a window that comes round stays at most one piece
 * ahead. Memory: what is encoded, 24 bytes a key.
 *
 * <pre>
 * a piece: long destination, long subscription, int count,
 *          for each key, oldest first, two longs and long milliseconds
 * </pre>
 */
@OwnedBy("shard")
public final class DuplicatePicture {
  /** Keys in a piece; about 50 us. */
  static final int PIECE_KEYS = 4_096;

  private static final int HEAD_BYTES = 20;
  private static final int KEY_BYTES = 24;

  private final Guard guard;
  private final long destinationId;
  private final long subscriptionId;
  private final long[] most;
  private final long[] least;
  private final long[] at;
  private final int head;
  private final int size;
  private final Consumer<DuplicatePicture> whenEnded;
  private final ArrayDeque<ByteBuffer> ahead = new ArrayDeque<>();
  private int encoded;

  DuplicatePicture(
      Guard guard,
      long destinationId,
      long subscriptionId,
      long[] most,
      long[] least,
      long[] at,
      int head,
      int size,
      Consumer<DuplicatePicture> whenEnded) {
    this.guard = guard;
    this.destinationId = destinationId;
    this.subscriptionId = subscriptionId;
    this.most = most;
    this.least = least;
    this.at = at;
    this.head = head;
    this.size = size;
    this.whenEnded = whenEnded;
  }

  /** The next piece, null behind the last. */
  public @Nullable ByteBuffer next() {
    guard.check();
    ByteBuffer early = ahead.poll();
    return early != null ? early : encodeOne();
  }

  /** Nobody asks for more. */
  public void end() {
    guard.check();
    whenEnded.accept(this);
  }

  /** A slot of some arrays, which may be these, is about to be used again. */
  void beforeChange(long[] ofMost, int slot) {
    if (ofMost != most) {
      return; // the window has grown into others since
    }
    int place = (slot - head) & (most.length - 1);
    while (place < size && place >= encoded) {
      ByteBuffer piece = encodeOne();
      if (piece != null) {
        ahead.add(piece);
      }
    }
  }

  private @Nullable ByteBuffer encodeOne() {
    int count = Math.min(PIECE_KEYS, size - encoded);
    if (count <= 0) {
      return null;
    }
    ByteBuffer piece = ByteBuffer.allocate(HEAD_BYTES + count * KEY_BYTES);
    piece.putLong(destinationId).putLong(subscriptionId).putInt(count);
    for (int i = 0; i < count; i++) {
      int slot = (head + encoded + i) & (most.length - 1);
      piece.putLong(most[slot]).putLong(least[slot]).putLong(at[slot]);
    }
    encoded += count;
    if (encoded == size) {
      end();
    }
    return piece.flip();
  }
}

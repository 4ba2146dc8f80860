package io.lightmq.core.delivery;

import io.lightmq.core.destination.Lane;
import io.lightmq.core.destination.Location;
import io.lightmq.core.destination.UnloggedLane;
import io.lightmq.core.storage.overflow.OverflowFile;
import io.lightmq.core.storage.segment.Origin;
import io.lightmq.core.storage.segment.Piece;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One delivery whose bytes must be read from files, all of one lane. The shard makes it and gives
 * it to a reader; the reader sets the result and gives it back.
 */
final class Fetch {
  /** Consecutive sequences that lie in one place. */
  sealed interface Part {
    long from();

    int count();
  }

  /**
   * In a run of the journal.
   *
   * @param origin under which name it lies, if the lane has taken it over
   */
  record InJournal(
      long from, int count, long runSequence, long runOffset, int runBytes, @Nullable Origin origin)
      implements Part {
    /** Some of a located run. */
    static InJournal of(long from, int count, Location location) {
      return new InJournal(
          from,
          count,
          location.firstSequence(),
          location.journalOffset(),
          location.bytes(),
          location.origin());
    }

    /** The sequence in the bytes of one. */
    long stored(long sequence) {
      return origin == null ? sequence : sequence - origin.shift();
    }
  }

  /** In a piece of a segment. */
  record InPiece(long from, int count, Piece piece) implements Part {}

  /**
   * In a run of an overflow file, which is held until the fetch is back.
   *
   * @param runSequence the first sequence of the run
   * @param endPosition up to where the file may be read
   */
  record InOverflow(
      long from,
      int count,
      long runSequence,
      OverflowFile file,
      int position,
      int bytes,
      int endPosition)
      implements Part {
    static InOverflow of(long from, int count, UnloggedLane.Place place) {
      return new InOverflow(
          from,
          count,
          place.first(),
          place.file(),
          place.position(),
          place.bytes(),
          place.file().length());
    }
  }

  /** In the buffer already, copied from memory. */
  record InHand(long from, int count) implements Part {}

  final Consumer consumer;

  /** Where all parts are. */
  final Lane lane;

  final int maxBytes;
  final boolean again;
  final List<Part> parts = new ArrayList<>();
  int messages;
  long estimatedBytes;

  // The result: how many of the first messages are in the buffer, and why not all if that is not
  // for want of room. No buffer if the outlet had no room.
  Outlet.@Nullable Buffer buffer;
  int length;
  int taken;
  @Nullable IOException failure;

  Fetch(Consumer consumer, Lane lane, int maxBytes, boolean again) {
    this.consumer = consumer;
    this.lane = lane;
    this.maxBytes = maxBytes;
    this.again = again;
  }

  void add(Part part, long bytes) {
    if (part instanceof InOverflow unlogged) {
      unlogged.file().hold();
    }
    parts.add(part);
    messages += part.count();
    estimatedBytes += bytes;
  }

  /** Gives up the files that it holds, once it is back on the shard. */
  void release() {
    for (Part part : parts) {
      if (part instanceof InOverflow unlogged) {
        unlogged.file().release();
      }
    }
  }
}

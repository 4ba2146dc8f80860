package io.lightmq.core.storage.segment;

import io.lightmq.core.storage.DirectMemory;
import io.lightmq.core.storage.EntrySalvage;
import io.lightmq.core.storage.ReadFailures;
import io.lightmq.wire.entry.Entry;
import io.lightmq.wire.entry.MalformedMessageException;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * One reader thread's way into the segments. It keeps the last bytes that it read ahead and the
 * place behind the last entry, so that consecutive reads of a backlog are sequential and need no
 * look-up. Not for use by two threads at once. It holds references only while a method runs.
 */
public final class SegmentReader implements Closeable {
  /** Takes one entry; the buffer is valid until the method returns. */
  @FunctionalInterface
  public interface Sink {
    /**
     * Takes the entry from {@code at} to {@code at + length} of the buffer, whose position and
     * limit mean nothing and must stay.
     *
     * @return false to stop before this entry, which is then the next one to read
     */
    boolean accept(long sequence, ByteBuffer buffer, int at, int length) throws IOException;
  }

  /**
   * How far a read came.
   *
   * @param count of entries taken
   * @param bytes of these entries
   * @param nextSequence where the next read goes on; behind the range when everything is read
   * @param neededBytes length of the entry at {@code nextSequence} that was not taken, 0 if the
   *     range is read to its end
   */
  public record Read(int count, long bytes, long nextSequence, int neededBytes) {
    /** Whether the range is read to its end. */
    public boolean complete() {
      return neededBytes == 0;
    }
  }

  private final SegmentFiles files;
  private final SegmentIndex index;
  private final SegmentSettings settings;
  private final Chunk chunk;
  private final IndexRebuild rebuild;
  private final Renamed renamed = new Renamed();

  // Where the last scan stopped: the next entry of lastPiece at or above lastSequence.
  private @Nullable Piece lastPiece;
  private long lastSequence;
  private int lastSpan;
  private long lastAddress;

  SegmentReader(
      SegmentFiles files, SegmentIndex index, SegmentSettings settings, DirectMemory memory) {
    this.files = files;
    this.index = index;
    this.settings = settings;
    this.chunk = new Chunk(memory, settings.readAheadBytes());
    this.rebuild = new IndexRebuild(chunk, settings);
  }

  /**
   * Copies whole entries from a piece into a buffer, in sequence order, until the range or the room
   * ends. Sequences of the range that the piece does not have are passed over.
   *
   * @param fromSequence first sequence of the range
   * @param toSequence last sequence of the range, inclusive
   * @throws SegmentException.Gone if the segment was deleted; look the sequence up again
   * @throws SegmentException.Damaged if an entry fails its check twice
   */
  public Read read(Piece piece, long fromSequence, long toSequence, Wanted wanted, ByteBuffer out)
      throws IOException {
    return scan(
        piece,
        fromSequence,
        toSequence,
        wanted,
        (sequence, buffer, at, length) -> {
          if (length > out.remaining()) {
            return false;
          }
          out.put(out.position(), buffer, at, length).position(out.position() + length);
          return true;
        });
  }

  /** Shows the wanted entries of a range to a sink, in sequence order; like {@link #read}. */
  public Read scan(Piece piece, long fromSequence, long toSequence, Wanted wanted, Sink sink)
      throws IOException {
    return scan(piece, fromSequence, toSequence, wanted, null, sink);
  }

  /**
   * Shows the wanted entries of a range to a sink, in sequence order; like {@link #read}.
   *
   * @param id spans that certainly lack it are passed over; null for none
   */
  public Read scan(
      Piece piece,
      long fromSequence,
      long toSequence,
      Wanted wanted,
      @Nullable IdWanted id,
      Sink sink)
      throws IOException {
    Origin origin = piece.origin();
    return origin == null
        ? scanStored(piece, fromSequence, toSequence, wanted, id, sink)
        : scanTakenOver(piece, origin.shift(), fromSequence, toSequence, wanted, id, sink);
  }

  /** Reads entries under the name that their bytes say, and shows them under the lane's own. */
  private Read scanTakenOver(
      Piece piece,
      long shift,
      long fromSequence,
      long toSequence,
      Wanted wanted,
      @Nullable IdWanted id,
      Sink sink)
      throws IOException {
    long from = Math.max(fromSequence, piece.firstSequence());
    long to = Math.min(toSequence, piece.lastSequence());
    if (from > to) {
      return new Read(0, 0, behind(fromSequence, toSequence), 0);
    }
    Read read;
    try {
      read =
          scanStored(
              piece.stored(),
              from - shift,
              to - shift,
              new ShiftedWanted(wanted, shift),
              id,
              (sequence, buffer, at, length) ->
                  sink.accept(
                      sequence + shift,
                      renamed.of(
                          buffer,
                          at,
                          length,
                          piece.destinationId(),
                          piece.lane(),
                          sequence + shift),
                      0,
                      length));
    } catch (SegmentException.Damaged e) {
      throw e.shifted(shift);
    }
    return new Read(
        read.count(),
        read.bytes(),
        read.complete() ? behind(fromSequence, toSequence) : read.nextSequence() + shift,
        read.neededBytes());
  }

  /** What is wanted, by the sequences in the bytes. */
  private record ShiftedWanted(Wanted wanted, long shift) implements Wanted {
    @Override
    public boolean wants(long sequence) {
      return wanted.wants(sequence + shift);
    }

    @Override
    public long next(long from) {
      long next = wanted.next(from + shift);
      return next == Long.MAX_VALUE ? next : next - shift;
    }
  }

  private Read scanStored(
      Piece piece,
      long fromSequence,
      long toSequence,
      Wanted wanted,
      @Nullable IdWanted id,
      Sink sink)
      throws IOException {
    Scan scan = new Scan(piece, Math.min(toSequence, piece.lastSequence()), wanted, id, sink);
    scan.next = Math.max(fromSequence, piece.firstSequence());
    long failedAt = -1;
    int failures = 0;
    while (true) {
      IOException failure;
      try (SegmentFiles.Reference segment = files.acquire(piece.segmentAddress())) {
        failure = scan.tryRun(segment);
      } catch (SegmentException.Damaged e) {
        failure = e; // its header or footer
      }
      if (failure == null) {
        return new Read(
            scan.count,
            scan.bytes,
            scan.neededBytes == 0 ? behind(fromSequence, toSequence) : scan.next,
            scan.neededBytes);
      }
      lastPiece = null;
      failures = failedAt == scan.next ? failures + 1 : 1;
      failedAt = scan.next;
      if (failures > 1 && scan.careful) {
        throw scan.damaged(failure);
      }
      // At first it is looked up again, then the span is read sector by sector.
      scan.careful = failures > 1;
      scan.rebuilding |= scan.careful;
      chunk.forget();
      index.forget(piece);
      files.reopen(piece.segmentAddress());
    }
  }

  private static long behind(long from, long to) {
    return Math.max(from, to == Long.MAX_VALUE ? to : to + 1);
  }

  /** One call of {@link #scan}: what it has done, so that a second look goes on from there. */
  private final class Scan {
    private final Piece piece;
    private final long to;
    private final Wanted wanted;
    private final @Nullable IdWanted id;
    private final Sink sink;
    private long next;
    private int count;
    private long bytes;
    private int neededBytes;

    /** Whether the span of {@link #next} is read by {@link EntrySalvage}. */
    private boolean careful;

    /** Whether index blocks that are damaged are made anew; once it is, for the whole scan. */
    private boolean rebuilding;

    private boolean inSink;

    Scan(Piece piece, long to, Wanted wanted, @Nullable IdWanted id, Sink sink) {
      this.piece = piece;
      this.to = to;
      this.wanted = wanted;
      this.id = id;
      this.sink = sink;
    }

    /**
     * Runs as far as it can be read; null if that is to the end.
     *
     * @throws IOException what is no damage: the sink's failure, or a file that cannot be opened
     */
    @Nullable IOException tryRun(SegmentFiles.Reference segment) throws IOException {
      try {
        run(segment);
        return null;
      } catch (SegmentException.Gone | SegmentException.Cancelled e) {
        throw e;
      } catch (IOException e) {
        if (inSink || ReadFailures.isOfTheFile(e)) {
          throw e;
        }
        return e;
      }
    }

    /** Damage with what cannot be read because of it, as far as that is known. */
    SegmentException.Damaged damaged(IOException failure) {
      if (failure instanceof SegmentException.Damaged known && known.sequence() >= 0) {
        return known;
      }
      // Nothing says where the entries are: neither these nor any behind them can be reached.
      return new SegmentException.Damaged(
          SegmentFormat.name(piece.segmentAddress()) + ": " + failure.getMessage(),
          Math.min(wanted.next(next), to),
          to);
    }

    private boolean sink(long sequence, ByteBuffer buffer, int at, int length) throws IOException {
      inSink = true;
      boolean more = sink.accept(sequence, buffer, at, length);
      inSink = false;
      return more;
    }

    void run(SegmentFiles.Reference segment) throws IOException {
      while ((next = wanted.next(next)) <= to) {
        int number;
        Span span;
        long address;
        if (piece.equals(lastPiece) && lastSequence <= next && inLastSpan(segment)) {
          number = lastSpan;
          span = index.span(segment, piece, number, rebuild());
          address = lastAddress;
        } else {
          number = index.floor(segment, piece, next, rebuild());
          span = index.span(segment, piece, number, rebuild());
          if (span.lastSequence() < next) {
            // Between two spans, or beyond the last: nothing is there.
            if (number + 1 == piece.spans()) {
              return;
            }
            span = index.span(segment, piece, ++number, rebuild());
          }
          address = span.address();
        }
        checkSpan(segment, span);
        if (careful) {
          if (!walkCarefully(segment, span)) {
            return;
          }
          careful = false;
        } else if (id != null && !id.mayBeIn(segment, span)) {
          next = span.lastSequence() + 1;
        } else if (!walk(segment, number, span, address)) {
          return;
        }
      }
    }

    private @Nullable IndexRebuild rebuild() {
      return rebuilding ? rebuild : null;
    }

    private boolean inLastSpan(SegmentFiles.Reference segment) throws IOException {
      Span span = index.span(segment, piece, lastSpan, rebuild());
      return next <= span.lastSequence() && lastAddress < span.end();
    }

    /** Walks the entries of a span; false when the scan is over. */
    private boolean walk(SegmentFiles.Reference segment, int number, Span span, long from)
        throws IOException {
      long address = from;
      long previous = from == span.address() ? -1 : lastSequence - 1;
      while (address < span.end()) {
        int length = entry(segment, span, address);
        int at = chunk.index(address);
        ByteBuffer buffer = chunk.buffer();
        long sequence = Entry.sequence(buffer, at);
        if (sequence <= previous
            || sequence < span.firstSequence()
            || sequence > span.lastSequence()) {
          throw new SegmentException.Damaged(
              "%s: entry at address %d has sequence %d, expected one above %d in %d to %d"
                  .formatted(
                      segment.name(),
                      address,
                      sequence,
                      previous,
                      span.firstSequence(),
                      span.lastSequence()),
              sequence);
        }
        if (sequence > to) {
          stopAt(number, sequence, address);
          next = sequence;
          return false;
        }
        if (sequence >= next && wanted.wants(sequence)) {
          next = sequence;
          if (!sink(sequence, buffer, at, length)) {
            neededBytes = length;
            stopAt(number, sequence, address);
            return false;
          }
          count++;
          bytes += length;
        }
        previous = sequence;
        address += length;
        stopAt(number, sequence + 1, address);
        next = Math.max(next, sequence + 1);
        long skip = wanted.next(next);
        if (skip > to) {
          next = skip;
          return false;
        }
        if (skip > span.lastSequence()) {
          break;
        }
      }
      if (address == span.end() && previous != span.lastSequence()) {
        throw new SegmentException.Damaged(
            "%s: span at address %d ends with sequence %d, expected %d"
                .formatted(segment.name(), span.address(), previous, span.lastSequence()),
            span.lastSequence());
      }
      next = Math.max(next, span.lastSequence() + 1);
      return true;
    }

    /** The same for a span with damage: passes over what of it nobody wants. */
    private boolean walkCarefully(SegmentFiles.Reference segment, Span span) throws IOException {
      ByteBuffer all =
          EntrySalvage.read(segment::read, span.address(), span.bytes(), segment.address());
      long previous = span.firstSequence() - 1;
      int end = 0;
      EntrySalvage.Sought sought = sought(span);
      for (EntrySalvage.Intact each : EntrySalvage.find(all, sought)) {
        if (each.at() != end) {
          checkUnwanted(segment, span, previous + 1, each.sequence() - 1);
        }
        if (each.sequence() > to) {
          next = each.sequence();
          return false;
        }
        if (each.sequence() >= next && wanted.wants(each.sequence())) {
          next = each.sequence();
          if (!sink(each.sequence(), all, each.at(), each.length())) {
            neededBytes = each.length();
            return false;
          }
          count++;
          bytes += each.length();
        }
        previous = each.sequence();
        next = Math.max(next, previous + 1);
        end = each.at() + each.length();
      }
      if (end != all.limit()) {
        checkUnwanted(segment, span, previous + 1, span.lastSequence());
      }
      next = Math.max(next, span.lastSequence() + 1);
      return next <= to;
    }

    private EntrySalvage.Sought sought(Span span) {
      return new EntrySalvage.Sought(
          piece.destinationId(),
          piece.lane(),
          piece.holderId(),
          span.firstSequence(),
          span.lastSequence(),
          settings.maxEntryBytes());
    }

    private void checkUnwanted(SegmentFiles.Reference segment, Span span, long first, long last)
        throws SegmentException.Damaged {
      long lost = wanted.next(Math.max(first, next));
      if (lost <= Math.min(last, to)) {
        throw new SegmentException.Damaged(
            "%s: sequences %d to %d cannot be read: of the %d bytes at address %d, byte %d of the file, some are damaged; whole entries with right crcs were expected"
                .formatted(
                    segment.name(),
                    lost,
                    Math.min(last, to),
                    span.bytes(),
                    span.address(),
                    span.address() - segment.address()),
            lost,
            Math.min(last, to));
      }
    }

    private void stopAt(int number, long sequence, long address) {
      lastPiece = piece;
      lastSpan = number;
      lastSequence = sequence;
      lastAddress = address;
    }

    /** Brings a whole entry into the chunk, checks it and returns its length. */
    private int entry(SegmentFiles.Reference segment, Span span, long address) throws IOException {
      long remaining = span.end() - address;
      // A read that goes on where the chunk ends is one of many: read ahead. A first one isn't.
      long ahead =
          address == chunk.end() || chunk.has(address, 1)
              ? piece.address() + piece.bytes() - address
              : remaining;
      if (remaining < Entry.HEADER_BYTES) {
        throw damaged(segment, address, "only %d bytes remain in its span".formatted(remaining));
      }
      chunk.require(segment::read, address, Entry.HEADER_BYTES, ahead);
      int length = Entry.length(chunk.buffer(), chunk.index(address));
      if (length < Entry.HEADER_BYTES || length > remaining || length > settings.maxEntryBytes()) {
        throw damaged(
            segment,
            address,
            "says %d bytes; its span has %d left, the limit is %d"
                .formatted(length, remaining, settings.maxEntryBytes()));
      }
      chunk.require(segment::read, address, length, ahead);
      int at = chunk.index(address);
      ByteBuffer buffer = chunk.buffer();
      try {
        Entry.check(buffer, at, at + length);
      } catch (MalformedMessageException e) {
        throw damaged(segment, address, String.valueOf(e.getMessage()));
      }
      if (Entry.destinationId(buffer, at) != piece.destinationId()
          || Entry.lane(buffer, at) != piece.lane()
          || Entry.holderId(buffer, at) != piece.holderId()) {
        throw damaged(
            segment,
            address,
            "belongs to destination %d lane %d holder %d, expected %d, %d, %d"
                .formatted(
                    Entry.destinationId(buffer, at),
                    Entry.lane(buffer, at),
                    Entry.holderId(buffer, at),
                    piece.destinationId(),
                    piece.lane(),
                    piece.holderId()));
      }
      return length;
    }

    private void checkSpan(SegmentFiles.Reference segment, Span span) throws IOException {
      if (span.bytes() <= 0
          || span.address() < piece.address()
          || span.end() > piece.address() + piece.bytes()
          || span.firstSequence() < piece.firstSequence()
          || span.lastSequence() > piece.lastSequence()) {
        throw damaged(segment, span.address(), "lies in a span outside of its piece " + piece);
      }
    }

    private SegmentException.Damaged damaged(
        SegmentFiles.Reference segment, long address, String what) {
      return new SegmentException.Damaged(
          "%s: entry at address %d (at or above sequence %d) %s"
              .formatted(segment.name(), address, next, what),
          next);
    }
  }

  @Override
  public void close() {
    chunk.close();
    lastPiece = null;
  }
}

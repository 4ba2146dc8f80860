package io.lightmq.core.admin;

import io.lightmq.core.delivery.EntryReads;
import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.Lane;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.door.Command;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.state.Unforeseen;
import io.lightmq.wire.entry.Entry;
import io.lightmq.wire.entry.MalformedMessageException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads what waits in a queue, from the highest priority to the lowest, a slice of at most 64
 * messages after the other, each in a turn of its own, without changing anything.
 */
@OwnedBy("shard")
public final class LetterScan {
  private static final int SLICE_COUNT = 64;
  private static final int SLICE_BYTES = 256 << 10;

  /** Looks at what is read. */
  interface Looker {
    /** One entry of the queue whose subscription this is; false if that is enough. */
    boolean look(Subscription from, Lane lane, long sequence, ByteBuffer entries, int at);

    /** There are no more, or it was enough. */
    void done();
  }

  private final EntryReads reads;
  private final VerbTurns turns;
  private final Unforeseen unforeseen;

  public LetterScan(EntryReads reads, VerbTurns turns, Unforeseen unforeseen) {
    this.reads = reads;
    this.turns = turns;
    this.unforeseen = unforeseen;
  }

  /**
   * Begins to read a queue; the looker is told at once or in later turns.
   *
   * @param command the verb whose answer an exception becomes
   */
  void of(Destination queue, Command.Admin command, Looker looker) {
    new Scan(queue, command, looker).step();
  }

  private final class Scan {
    private final Subscription queue;
    private final Command.Admin command;
    private final Looker looker;
    private final List<Lane> lanes = new ArrayList<>();
    private long next;
    private boolean enough;

    private Scan(Destination queue, Command.Admin command, Looker looker) {
      this.queue = queue.queueSubscription();
      this.command = command;
      this.looker = looker;
      lanes.addAll(queue.durableLanes());
      lanes.addAll(queue.unloggedLanes());
      lanes.sort((one, other) -> Integer.compare(other.code() & 0x7F, one.code() & 0x7F));
    }

    private void step() {
      while (!enough && !lanes.isEmpty() && !queue.isClosed()) {
        Lane lane = lanes.get(0);
        long from = queue.nextReadable(lane.code(), next);
        if (from >= 0) {
          int count = queue.readableRun(lane.code(), from, SLICE_COUNT);
          reads.read(
              queue,
              lane,
              from,
              count,
              SLICE_BYTES,
              (entries, failure) -> turns.run(command, () -> took(lane, from, entries)));
          return;
        }
        lanes.remove(0);
        next = 0;
      }
      looker.done();
    }

    private void took(Lane lane, long from, @Nullable ByteBuffer entries) {
      next = from + 1;
      int at = entries == null ? 0 : entries.position();
      while (entries != null && !enough && at < entries.limit()) {
        long sequence = Entry.sequence(entries, at);
        enough = !look(lane, sequence, entries, at);
        next = sequence + 1;
        at += Entry.length(entries, at);
      }
      turns.later(command, this::step);
    }

    /** Looks at an entry; one that nobody can look at is passed over. */
    private boolean look(Lane lane, long sequence, ByteBuffer entries, int at) {
      long before = unforeseen.changes();
      try {
        return looker.look(queue, lane, sequence, entries, at);
      } catch (MalformedMessageException e) {
        return true;
      } catch (RuntimeException thrown) {
        unforeseen.refusal(thrown, "a look at a message", before);
        return true;
      }
    }
  }
}

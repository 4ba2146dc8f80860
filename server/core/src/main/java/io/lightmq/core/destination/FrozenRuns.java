package io.lightmq.core.destination;

import io.lightmq.core.storage.segment.DestagePlan.JournalRun;
import io.lightmq.core.storage.segment.Origin;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import org.jspecify.annotations.Nullable;

/**
 * A picture of where a lane's entries lie in the journal, its own and what it has taken over,
 * rising by sequence. Iterable on any one thread; to be released on the shard.
 */
final class FrozenRuns implements Iterable<JournalRun> {
  private record Part(RunList.Frozen runs, @Nullable Origin origin) {}

  private final RunList.Frozen own;

  /** What was taken over, rising; the lane's own runs lie between. */
  private final List<Part> taken;

  private FrozenRuns(RunList.Frozen own, List<Part> taken) {
    this.own = own;
    this.taken = taken;
  }

  /** Takes the picture of a lane. */
  static FrozenRuns of(DurableLane lane) {
    List<Part> taken = new ArrayList<>(lane.references().size());
    for (Reference reference : lane.references()) {
      if (!reference.runs().isEmpty()) {
        taken.add(new Part(reference.runs().freeze(), reference.origin()));
      }
    }
    return new FrozenRuns(lane.runs.freeze(), taken);
  }

  /** Bytes of all runs' entries. */
  long bytes() {
    long bytes = own.bytes();
    for (Part part : taken) {
      bytes += part.runs().bytes();
    }
    return bytes;
  }

  /** Gives the memory back. Shard only, once nobody iterates. */
  void release() {
    own.release();
    taken.forEach(part -> part.runs().release());
    taken.clear();
  }

  @Override
  public Iterator<JournalRun> iterator() {
    return taken.isEmpty() ? own.iterator() : new Merged(own.iterator(), taken.iterator());
  }

  /** The lane's own runs, and between them what was taken over. */
  private static final class Merged implements Iterator<JournalRun> {
    private final Iterator<JournalRun> own;
    private final Iterator<Part> parts;
    private @Nullable JournalRun nextOwn;
    private @Nullable JournalRun nextTaken;
    private @Nullable Iterator<JournalRun> of;
    private @Nullable Origin origin;

    Merged(Iterator<JournalRun> own, Iterator<Part> parts) {
      this.own = own;
      this.parts = parts;
      this.nextOwn = own.hasNext() ? own.next() : null;
      this.nextTaken = taken();
    }

    private @Nullable JournalRun taken() {
      while (of == null || !of.hasNext()) {
        if (!parts.hasNext()) {
          return null;
        }
        Part part = parts.next();
        of = part.runs().iterator();
        origin = part.origin();
      }
      JournalRun run = of.next();
      long shift = origin == null ? 0 : origin.shift();
      return new JournalRun(
          run.firstSequence() + shift, run.count(), run.journalOffset(), run.bytes(), origin);
    }

    @Override
    public boolean hasNext() {
      return nextOwn != null || nextTaken != null;
    }

    @Override
    public JournalRun next() {
      JournalRun first = nextOwn;
      JournalRun second = nextTaken;
      if (first != null && (second == null || first.firstSequence() < second.firstSequence())) {
        nextOwn = own.hasNext() ? own.next() : null;
        return first;
      }
      if (second == null) {
        throw new NoSuchElementException();
      }
      nextTaken = taken();
      return second;
    }
  }
}

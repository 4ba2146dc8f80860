package io.lightmq.core.delivery;

import io.lightmq.core.destination.Lane;
import io.lightmq.core.storage.EntrySalvage;
import io.lightmq.core.storage.segment.Origin;
import io.lightmq.wire.entry.Entry;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** Reads a run of the journal or of an overflow file in which something is damaged. */
final class RunSalvage {
  private RunSalvage() {}

  /**
   * Puts the wanted entries of a run out, up to the first that cannot be read.
   *
   * @param first the sequence of the run's first entry
   * @param origin under which name they lie, if the lane has taken them over
   * @param run its bytes, which may be changed
   * @param where names file and place
   * @return false if there is no room for all of them
   * @throws UnreadableException with the sequences up to the next one that is whole
   */
  static boolean read(
      Fetch.Part part,
      long first,
      Lane lane,
      @Nullable Origin origin,
      ByteBuffer run,
      String where,
      EntryTaker out)
      throws IOException {
    long shift = origin == null ? 0 : origin.shift();
    EntrySalvage.Sought sought =
        new EntrySalvage.Sought(
            origin == null ? lane.destination().id() : origin.destinationId(),
            origin == null ? lane.code() : origin.lane(),
            0,
            first - shift,
            Long.MAX_VALUE,
            run.limit());
    long last = part.from() + part.count() - 1;
    long next = part.from();
    for (EntrySalvage.Intact each : EntrySalvage.find(run, sought)) {
      long sequence = each.sequence() + shift;
      if (sequence < next) {
        continue;
      }
      if (sequence > next) {
        throw unreadable(next, Math.min(last, sequence - 1), run, where);
      }
      if (origin != null) {
        Entry.place(run, each.at(), lane.destination().id(), lane.code(), sequence);
      }
      if (!out.put(run, each.at(), each.length())) {
        return false;
      }
      if (next++ == last) {
        return true;
      }
    }
    throw unreadable(next, last, run, where);
  }

  private static UnreadableException unreadable(
      long from, long through, ByteBuffer run, String where) {
    return new UnreadableException(
        "%s: sequences %d to %d cannot be read: of the %d bytes of their run some are damaged; whole entries with right crcs were expected"
            .formatted(where, from, through, run.limit()),
        from,
        through);
  }
}

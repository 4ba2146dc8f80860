package io.lightmq.core.intake;

import io.lightmq.core.destination.NamedHeap;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.state.Refusal;
import io.lightmq.wire.entry.FaultCode;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * The holders of delayed messages by where those go, and how many there may be. All of them take
 * half of {@code memory.named-state} at most, so that delays leave room for what clients name;
 * those of one destination three quarters of that, so that it leaves room for the delays of others.
 */
@OwnedBy("shard")
public final class HourRoom {
  /** Not quite two destinations with messages for each of the 8,760 hours of a year. */
  static final int MAX_HOURS = 16_384;

  /** What a holder takes of the heap, with a lane of one priority; its name is short. */
  public static final int HOLDER_BYTES =
      NamedHeap.DESTINATION + NamedHeap.SUBSCRIPTION + NamedHeap.LANE + NamedHeap.CURSOR + 64;

  private final int most;
  private final int mostOfOne;
  private final Map<Long, Set<DueHour>> byDestination = new HashMap<>();
  private int hours;

  public HourRoom(long namedBytes) {
    this.most = (int) Math.min(MAX_HOURS, namedBytes / 2 / HOLDER_BYTES);
    this.mostOfOne = most - most / 4;
  }

  public void came(DueHour hour) {
    hours++;
    byDestination.computeIfAbsent(hour.destinationId(), id -> new HashSet<>()).add(hour);
  }

  public void went(DueHour hour) {
    hours--;
    byDestination.computeIfPresent(
        hour.destinationId(), (id, own) -> own.remove(hour) && own.isEmpty() ? null : own);
  }

  /** How many delayed messages wait for a destination. */
  public long waiting(long destinationId) {
    long sum = 0;
    for (DueHour hour : byDestination.getOrDefault(destinationId, Set.of())) {
      sum += hour.subscription().backlog();
    }
    return sum;
  }

  /**
   * Whether there may be more.
   *
   * @param planned those that the same plan creates already, of any destination
   * @param plannedOfIt those of them that are of this one
   * @param more those that it needs besides, of this one
   * @throws Refusal if not
   */
  void check(long destinationId, int planned, int plannedOfIt, int more) {
    check(hours + planned, more, most, "delayed messages wait for ", "of all destinations");
    int own = byDestination.getOrDefault(destinationId, Set.of()).size();
    check(
        own + plannedOfIt, more, mostOfOne, "its delayed messages wait for ", "of one destination");
  }

  private static void check(int there, int more, int limit, String who, String whose) {
    if (more > 0 && there + more > limit) {
      throw new Refusal(
          FaultCode.LIMIT_REACHED,
          who
              + there
              + " different hours, and these would be "
              + more
              + " more; the hours "
              + whose
              + " are "
              + limit
              + " at most ("
              + MAX_HOURS
              + " for all, or as many as half of memory.named-state takes, "
              + HOLDER_BYTES
              + " bytes each): send with delays that end in fewer different hours, or when some"
              + " are over");
    }
  }
}

package io.lightmq.core.intake;

import io.lightmq.core.destination.Destination;
import io.lightmq.core.door.BrokerSettings;
import io.lightmq.core.door.Command;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.sessions.MissingQueue;
import io.lightmq.core.sessions.PeerSession;
import io.lightmq.core.sessions.Sender;
import io.lightmq.core.state.Refusal;
import io.lightmq.core.state.Runs;
import io.lightmq.core.state.TurnTime;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Messages of prepared branches for temporary destinations. They are in no record: they come with
 * the decision if their destination is still there, and end with the process as that does.
 *
 * <p>Bound: a branch has as many as fit into one part of a transaction; all of them take a quarter
 * of the memory for unlogged messages, and those of one user half of that.
 */
@OwnedBy("shard")
final class KeptInMemory {
  /** A run that waits. */
  private record Kept(Sender sender, long destinationId, Runs.Checked run) {}

  /** What waits of a branch. */
  private record Branch(String user, long bytes, List<Kept> runs) {}

  private final long mostBytes;
  private final Placing placing;
  private final DelayedRuns delayed;
  private final TurnTime time;
  private final Map<Long, Branch> branches = new HashMap<>();
  private final Map<String, Long> bytesOf = new HashMap<>();
  private long bytes;

  KeptInMemory(BrokerSettings settings, Placing placing, DelayedRuns delayed, TurnTime time) {
    this.mostBytes = settings.memory().unloggedBytes() / 4;
    this.placing = placing;
    this.delayed = delayed;
    this.time = time;
  }

  /**
   * What of a part is for temporary destinations, in bytes of its own; keeps nothing yet.
   *
   * @throws Refusal if there is no room for it
   */
  Runnable look(long transaction, PeerSession session, Command.Commit command) {
    List<Kept> runs = new ArrayList<>(0);
    long more = 0;
    int count = 0;
    for (Command.StagedRun run : command.runs()) {
      Destination to = placing.find(run.destinationId());
      if (to != null && to.kind().isTemporary()) {
        Runs.Checked checked = placing.check(session, run.count(), run.messages().buffer());
        long arrived = time.arrived(command.arrivedMillis());
        Sender sender = Sender.of(session, arrived, run.persistent(), time);
        runs.add(new Kept(sender, run.destinationId(), checked));
        more += checked.entryBytes();
        count += checked.count();
      }
    }
    if (runs.isEmpty()) {
      return () -> {};
    }
    String user = session.peer().userName();
    check(user, more);
    boolean unused = placing.fits(count, more); // refuses what never fits
    Branch branch = new Branch(user, more, runs.stream().map(KeptInMemory::copied).toList());
    return () -> {
      branches.put(transaction, branch);
      bytes += branch.bytes();
      bytesOf.merge(user, branch.bytes(), Long::sum);
    };
  }

  private void check(String user, long more) {
    long own = bytesOf.getOrDefault(user, 0L);
    if (bytes + more > mostBytes || own + more > mostBytes / 2) {
      throw new Refusal(
          FaultCode.LIMIT_REACHED,
          "prepared branches have "
              + bytes
              + " bytes of messages for temporary destinations, those of this user "
              + own
              + ", and "
              + more
              + " would be more than "
              + mostBytes
              + ", a quarter of memory.non-persistent, or than one user's half of that");
    }
  }

  private static Kept copied(Kept run) {
    ByteBuffer messages = run.run().messages();
    ByteBuffer copy = ByteBuffer.allocate(messages.remaining());
    copy.put(messages.duplicate()).flip();
    return new Kept(run.sender(), run.destinationId(), run.run().of(copy));
  }

  /** What waits of a branch, as far as its destinations are still there. */
  List<Parcel> parcels(long transaction) {
    Branch branch = branches.get(transaction);
    if (branch == null) {
      return List.of();
    }
    List<Parcel> parcels = new ArrayList<>(branch.runs().size());
    Map<DestinationName, MissingQueue> missing = new LinkedHashMap<>();
    for (Kept kept : branch.runs()) {
      Destination to = placing.find(kept.destinationId());
      if (to != null && kept.run().delayed()) {
        delayed.split(kept.sender(), to, kept.run(), Map.of(), missing, parcels);
      } else if (to != null) {
        Runs.Checked wanted = placing.select(kept.sender(), to, kept.run(), Map.of());
        parcels.add(Parcel.to(kept.sender(), to, kept.run(), wanted));
      }
    }
    return parcels;
  }

  /** A branch is decided. */
  void forget(long transaction) {
    Branch gone = branches.remove(transaction);
    if (gone != null) {
      bytes -= gone.bytes();
      bytesOf.computeIfPresent(
          gone.user(),
          (user, all) -> all == gone.bytes() ? null : Long.valueOf(all - gone.bytes()));
    }
  }
}

package io.lightmq.client.link;

import io.lightmq.client.link.BrokerLink.Sending;
import io.lightmq.client.link.BrokerLink.Staged;
import io.lightmq.client.link.BrokerLink.Target;
import io.lightmq.wire.Frame;
import io.lightmq.wire.entry.BranchDecision;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.TemporaryName;
import io.lightmq.wire.entry.Xid;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** A run, or what settles a transaction, that is on its way. Belongs to the link's loop. */
abstract sealed class Item {
  static final int MAX_RUN_MESSAGES = 20_000;
  private static final int BYTES_PER_RANGE = 48;

  private static final String KEEPS_NONE =
      "the connection was lost, and the broker of the new one keeps no transactions";

  long number;
  int correlation;

  /** The link epoch in which it first went out; 0 as long as it has not. */
  long sentEpoch;

  boolean answered;
  @Nullable LinkException failure;

  /** What {@link Outbox} counts. */
  abstract long bytes();

  abstract Set<Target> targets();

  /** Why it cannot be sent again, or null: a destination of it has gone or has another id. */
  abstract @Nullable LinkException hopeless(Set<Target> gone);

  /** Why a broker that keeps no transactions cannot be sent it; null if it can. */
  @Nullable LinkException unkept() {
    return null;
  }

  /** The broker's refusal, which knows a destination that was deleted by its id only. */
  @Nullable LinkException withNames(@Nullable LinkException refusal) {
    if (refusal == null) {
      return null;
    }
    String text = String.valueOf(refusal.getMessage());
    String named = text;
    for (Target target : targets()) {
      named = named.replace(deleted("destination " + target.destinationId()), deleted(target));
    }
    return named.equals(text) ? refusal : new LinkException(refusal.code(), named, refusal);
  }

  private static String deleted(String what) {
    return what + " was deleted";
  }

  private static String deleted(Target target) {
    DestinationKind kind = target.destination().kind();
    return deleted(
            (kind.isTemporary() ? "the temporary " : "the ")
                + (kind.isQueue() ? "queue \"" : "topic \"")
                + target.destination().name()
                + "\"")
        + (kind.isTemporary() ? "" : "; send to one of that name with a new producer");
  }

  /**
   * Whether a message to this target goes where it was sent at first. A destination with another id
   * was made anew and is another one, except a temporary one: only its link can make that name
   * again, and a broker that starts anew gives it another id.
   */
  private static boolean isSame(Target target, long sentTo) {
    return sentTo == target.destinationId() || TemporaryName.is(target.destination().name());
  }

  /**
   * Whether all of it went to temporary destinations that a broker has made anew since. That it was
   * taken is in no record of a broker; so if it was answered, and whoever it was for may have had
   * it, it must not be sent again.
   */
  abstract boolean isForRenewed();

  private static boolean isRenewed(Target target, long sentTo) {
    return sentTo != target.destinationId() && isSame(target, sentTo);
  }

  abstract Frame frame(ByteBufAllocator allocator);

  abstract void done(@Nullable LinkException failure);

  static final class Run extends Item {
    final Target target;
    final long destinationId;
    final boolean persistent;
    final List<Sending> sendings = new ArrayList<>();
    long bytes;

    Run(Target target, boolean persistent) {
      this.target = target;
      this.destinationId = target.destinationId();
      this.persistent = persistent;
    }

    @Override
    long bytes() {
      return bytes;
    }

    @Override
    Set<Target> targets() {
      return Set.of(target);
    }

    @Override
    @Nullable LinkException hopeless(Set<Target> gone) {
      return gone.contains(target) || !isSame(target, destinationId)
          ? new LinkException(
              FaultCode.DESTINATION_GONE,
              target.destination().name() + " was deleted while the connection was lost")
          : null;
    }

    @Override
    boolean isForRenewed() {
      return isRenewed(target, destinationId);
    }

    @Override
    Frame frame(ByteBufAllocator allocator) {
      ByteBuf messages = allocator.directBuffer((int) bytes + 4 * sendings.size());
      for (Sending sending : sendings) {
        messages.writeInt(sending.message.length);
        messages.writeBytes(sending.message);
      }
      return new Frame.Publish(
          correlation, target.destinationId(), number, sendings.size(), messages);
    }

    @Override
    void done(@Nullable LinkException failure) {
      for (Sending sending : sendings) {
        if (failure == null) {
          sending.complete(null);
        } else {
          sending.completeExceptionally(failure);
        }
      }
    }
  }

  /** What settles a transaction: somebody waits for its answer, for a while. */
  abstract static sealed class Settlement extends Item {
    final CompletableFuture<Void> answer = new CompletableFuture<>();
    boolean kept;
    boolean givenUp;
    @Nullable Future<?> deadline;

    /** What it takes of this client's memory as long as it is kept. */
    abstract long keptBytes();

    /** Whether it has gone out on any connection. */
    boolean wasSent() {
      return sentEpoch != 0;
    }

    /** What it fails with whose answer does not come in time, and which never goes out. */
    abstract LinkException unsent(String late);

    @Override
    long bytes() {
      return 0;
    }

    @Override
    void done(@Nullable LinkException failure) {
      if (deadline != null) {
        deadline.cancel(false);
      }
      if (failure == null) {
        answer.complete(null);
      } else {
        answer.completeExceptionally(failure);
      }
    }
  }

  /** The decision about a prepared branch, of which this client has nothing. */
  static final class Decide extends Settlement {
    private static final int BYTES = 256;

    private final Xid xid;
    private final BranchDecision decision;

    Decide(Xid xid, BranchDecision decision) {
      this.xid = xid;
      this.decision = decision;
    }

    @Override
    long keptBytes() {
      return BYTES;
    }

    @Override
    Set<Target> targets() {
      return Set.of();
    }

    @Override
    @Nullable LinkException hopeless(Set<Target> gone) {
      return null;
    }

    @Override
    LinkException unkept() {
      return LinkException.unsent(
          FaultCode.OUTCOME_UNKNOWN, "the branch is as it was: " + KEEPS_NONE, null);
    }

    @Override
    boolean isForRenewed() {
      return false;
    }

    @Override
    LinkException unsent(String late) {
      return LinkException.unsent(
          FaultCode.OUTCOME_UNKNOWN, late + "is as it was: the decision was not sent", null);
    }

    @Override
    Frame frame(ByteBufAllocator allocator) {
      return new Frame.Decide(correlation, number, xid, decision);
    }
  }

  /** The end of a transaction: its last sends and acknowledgements, to be committed or prepared. */
  static final class Commit extends Settlement {
    final int sessionId;
    final List<Staged> sends;
    final List<Frame.Acked> acked;
    private final Frame.@Nullable Part staged;
    private final @Nullable Xid prepared;
    private final long keptBytes;

    /** The destinations' ids of the first sending; null if it was never sent. */
    private long @Nullable [] sentIds;

    /**
     * To be sent.
     *
     * @param staged what was staged before; null if nothing was
     * @param prepared the branch, if it is only to be prepared
     */
    Commit(
        int sessionId,
        List<Staged> sends,
        List<Frame.Acked> acked,
        Frame.@Nullable Part staged,
        @Nullable Xid prepared) {
      this.sessionId = sessionId;
      this.sends = List.copyOf(sends);
      this.acked = List.copyOf(acked);
      this.staged = staged;
      this.prepared = prepared;
      this.keptBytes =
          sends.stream().mapToLong(send -> send.message().length).sum()
              + (long) BYTES_PER_RANGE * AckedPieces.items(acked);
    }

    @Override
    long keptBytes() {
      return keptBytes;
    }

    @Override
    LinkException unsent(String late) {
      return LinkException.unsent(
          FaultCode.TRANSACTION_ROLLED_BACK, late + "was not sent", LinkException.connectionLost());
    }

    @Override
    Set<Target> targets() {
      Set<Target> targets = new HashSet<>();
      sends.forEach(staged -> targets.add(staged.target()));
      return targets;
    }

    @Override
    @Nullable LinkException hopeless(Set<Target> gone) {
      long[] sent = sentIds;
      for (int i = 0; i < sends.size(); i++) {
        Target target = sends.get(i).target();
        if (gone.contains(target) || (sent != null && !isSame(target, sent[i]))) {
          return new LinkException(
              FaultCode.TRANSACTION_ROLLED_BACK,
              "the transaction is rolled back: "
                  + target.destination().name()
                  + " was deleted while the connection was lost",
              new LinkException(FaultCode.DESTINATION_GONE, "it was deleted"));
        }
      }
      return null;
    }

    @Override
    @Nullable LinkException unkept() {
      return staged == null && prepared == null
          ? null
          : new LinkException(
              FaultCode.TRANSACTION_ROLLED_BACK,
              "the transaction is rolled back: " + KEEPS_NONE,
              LinkException.connectionLost());
    }

    @Override
    boolean isForRenewed() {
      long[] sent = sentIds;
      return sent != null
          && acked.isEmpty()
          && staged == null
          && prepared == null
          && IntStream.range(0, sent.length)
              .allMatch(i -> isRenewed(sends.get(i).target(), sent[i]));
    }

    @Override
    Frame frame(ByteBufAllocator allocator) {
      long[] destinationIds = destinationIds(sends);
      if (sentIds == null) {
        sentIds = destinationIds;
      }
      List<Frame.StagedRun> runs = runs(sends, destinationIds, allocator);
      return prepared == null
          ? new Frame.Commit(correlation, sessionId, number, runs, acked, staged)
          : new Frame.Prepare(
              correlation,
              sessionId,
              number,
              runs,
              acked,
              prepared,
              staged == null ? 0 : staged.transaction());
    }
  }

  /** Sends in runs: what follows each other and goes to one destination in one mode. */
  static List<Frame.StagedRun> runs(
      List<Staged> sends, long[] destinationIds, ByteBufAllocator allocator) {
    List<Frame.StagedRun> runs = new ArrayList<>();
    int from = 0;
    while (from < sends.size()) {
      Staged first = sends.get(from);
      int to = from;
      int bytes = 0;
      while (to < sends.size()
          && destinationIds[to] == destinationIds[from]
          && sends.get(to).persistent() == first.persistent()
          && to - from < MAX_RUN_MESSAGES) {
        bytes += 4 + sends.get(to).message().length;
        to++;
      }
      ByteBuf messages = allocator.directBuffer(bytes);
      for (Staged staged : sends.subList(from, to)) {
        messages.writeInt(staged.message().length);
        messages.writeBytes(staged.message());
      }
      runs.add(new Frame.StagedRun(destinationIds[from], first.persistent(), to - from, messages));
      from = to;
    }
    return runs;
  }

  /** The ids of the destinations of these sends, as they are now. */
  static long[] destinationIds(List<Staged> sends) {
    return sends.stream().mapToLong(staged -> staged.target().destinationId()).toArray();
  }
}

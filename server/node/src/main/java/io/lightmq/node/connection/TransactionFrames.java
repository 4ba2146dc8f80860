package io.lightmq.node.connection;

import io.lightmq.core.door.Command;
import io.lightmq.core.door.Peer;
import io.lightmq.wire.Frame;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.LongUnaryOperator;

/**
 * The frames of transactions as the shard is told of them. All that carry messages are alike: their
 * destinations have to be attached here, and their bytes are held until the shard has copied them.
 * Event loop only, but for the bytes that are given back.
 */
final class TransactionFrames {
  /** What a run of a commit takes of the heap, which may be more than its messages have. */
  private static final int STAGED_RUN_HEAP = 400;

  private final Peer peer;
  private final ByteBufAllocator allocator;
  private final FrameBudget commits;
  private final boolean agreed;
  private final LongUnaryOperator attached;
  private final Function<List<Frame.Acked>, List<Command.Acked>> acked;
  private final BiConsumer<Integer, Command> submit;
  private final AtomicLong heldBytes = new AtomicLong();

  /**
   * Of a connection.
   *
   * @param agreed whether it knows more than commits
   * @param attached a destination's id, or that of none
   * @param acked as the shard knows them, counted: a command with them is submitted
   */
  TransactionFrames(
      Peer peer,
      ByteBufAllocator allocator,
      FrameBudget commits,
      boolean agreed,
      LongUnaryOperator attached,
      Function<List<Frame.Acked>, List<Command.Acked>> acked,
      BiConsumer<Integer, Command> submit) {
    this.peer = peer;
    this.allocator = allocator;
    this.commits = commits;
    this.agreed = agreed;
    this.attached = attached;
    this.acked = acked;
    this.submit = submit;
  }

  /** Bytes of messages that the shard has not copied. */
  long heldBytes() {
    return heldBytes.get();
  }

  /** Takes a frame, and owns its buffers, if it is one of these. */
  boolean take(Frame frame) throws ProtocolRefusal {
    if (frame instanceof Frame.Commit commit) {
      commit(commit);
    } else if (!agreed) {
      return false;
    } else if (frame instanceof Frame.Stage stage) {
      submit(
          stage.correlation(),
          new Command.Stage(
              peer,
              stage.correlation(),
              stage.sessionId(),
              stage.transaction(),
              staged(stage.runs()),
              acked.apply(stage.acked()),
              stage.branch()));
    } else if (frame instanceof Frame.Prepare prepare) {
      step(
          prepare.correlation(),
          prepare.sessionId(),
          prepare.number(),
          prepare.runs(),
          prepare.acked(),
          new Command.Step.Prepares(prepare.xid(), prepare.transaction()));
    } else if (frame instanceof Frame.Decide decide) {
      step(
          decide.correlation(),
          0,
          decide.number(),
          List.of(),
          List.of(),
          new Command.Step.Decides(decide.xid(), decide.decision()));
    } else if (frame instanceof Frame.Abandon abandon) {
      submit(
          abandon.correlation(),
          new Command.Abandon(peer, abandon.correlation(), abandon.branch(), abandon.attempted()));
    } else if (frame instanceof Frame.Recover recover) {
      submit(
          recover.correlation(),
          new Command.Recover(peer, recover.correlation(), recover.most(), recover.after()));
    } else {
      return false;
    }
    return true;
  }

  private void commit(Frame.Commit commit) throws ProtocolRefusal {
    Frame.Part part = commit.staged();
    if (commit.correlation() <= 0 || (part != null && !agreed)) {
      commit.runs().forEach(run -> run.messages().release());
      throw ProtocolRefusal.protocol(
          commit.correlation() <= 0
              ? "a commit needs a correlation above 0"
              : "a commit of what was staged: that feature is not agreed");
    }
    step(
        commit.correlation(),
        commit.sessionId(),
        commit.number(),
        commit.runs(),
        commit.acked(),
        part == null
            ? Command.Step.COMMIT_WHOLE
            : new Command.Step.Commits(new Command.Staged(part.branch(), part.transaction())));
  }

  private void step(
      int correlation,
      int sessionId,
      long number,
      List<Frame.StagedRun> runs,
      List<Frame.Acked> acknowledged,
      Command.Step step) {
    submit(
        correlation,
        new Command.Commit(
            peer, correlation, sessionId, number, staged(runs), acked.apply(acknowledged), step));
  }

  private void submit(int correlation, Command command) {
    submit.accept(correlation, command);
  }

  private List<Command.StagedRun> staged(List<Frame.StagedRun> frames) {
    List<Command.StagedRun> runs = new ArrayList<>(frames.size());
    try {
      for (Frame.StagedRun run : frames) {
        runs.add(staged(run));
      }
    } catch (RuntimeException | Error e) { // there may be no memory for a copy
      frames.subList(runs.size(), frames.size()).forEach(r -> r.messages().release());
      runs.forEach(run -> run.messages().release());
      throw e;
    }
    return runs;
  }

  /** Takes the messages over, unless it throws. */
  private Command.StagedRun staged(Frame.StagedRun run) {
    ByteBuf messages = SentMessages.of(run.messages(), run.count(), allocator);
    int bytes = Math.max(messages.readableBytes(), STAGED_RUN_HEAP);
    heldBytes.addAndGet(bytes);
    commits.keep(bytes);
    return new Command.StagedRun(
        attached.applyAsLong(run.destinationId()),
        run.persistent(),
        run.count(),
        new HeldBytes(
            messages,
            () -> {
              heldBytes.addAndGet(-bytes);
              commits.giveBack(bytes);
            }));
  }
}

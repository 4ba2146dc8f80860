package io.lightmq.core.admin;

import io.lightmq.core.door.Command;
import io.lightmq.core.door.Peer;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.state.Recorder;
import io.lightmq.core.state.Refusal;
import io.lightmq.core.state.Unforeseen;
import java.util.concurrent.Executor;

/**
 * The later turns of the verbs of administrators that go on in slices. An exception in one of them
 * becomes the verb's answer as one in its first turn does: see {@link Unforeseen}.
 */
@OwnedBy("shard")
public final class VerbTurns {
  private final Executor nextTurn;
  private final Recorder recorder;
  private final Unforeseen unforeseen;

  public VerbTurns(Executor nextTurn, Recorder recorder, Unforeseen unforeseen) {
    this.nextTurn = nextTurn;
    this.recorder = recorder;
    this.unforeseen = unforeseen;
  }

  /** Runs a slice of a verb in the next turn; a refusal ends the verb, and is its answer. */
  void later(Command.Admin command, Runnable slice) {
    nextTurn.execute(() -> run(command, slice));
  }

  /** Runs a slice of a verb for which something was read, in the turn in which that is there. */
  void run(Command.Admin command, Runnable slice) {
    long before = unforeseen.changes();
    try {
      slice.run();
    } catch (RuntimeException thrown) {
      Refusal refusal = unforeseen.refusal(thrown, command.verb(), before);
      // What slices before have changed is durable then.
      recorder.anywhereOnceDurable(
          () ->
              command
                  .peer()
                  .reply(
                      command.correlation(),
                      new Peer.Reply.Failed(refusal.code(), refusal.text())));
    }
  }
}

package io.lightmq.core.shard;

import io.lightmq.core.admin.Administration;
import io.lightmq.core.door.Command;
import io.lightmq.core.door.Figure;
import io.lightmq.core.door.Peer;
import io.lightmq.core.intake.Intake;
import io.lightmq.core.intake.StageCommands;
import io.lightmq.core.intake.Staging;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.selector.Selector;
import io.lightmq.core.sessions.Consuming;
import io.lightmq.core.sessions.PeerSession;
import io.lightmq.core.sessions.Sessions;
import io.lightmq.core.state.Counters;
import io.lightmq.core.state.Refusal;
import io.lightmq.core.state.Unforeseen;
import io.lightmq.wire.entry.FaultCode;
import org.jspecify.annotations.Nullable;

/** Hands each command to who decides it, and turns a refusal into an answer. */
@OwnedBy("shard")
public final class Commands {
  /** Room in the window that no single small record exceeds. */
  static final int SLACK_BYTES = 8 << 10;

  /** The room for a command that is not to be carried out. */
  static final long REFUSED = -1;

  private final Sessions sessions;
  private final Intake intake;
  private final StageCommands stages;
  private final Staging staging;
  private final Consuming consuming;
  private final Administration administration;
  private final Counters counters;
  private final Unforeseen unforeseen;
  private @Nullable Refusal ended;

  Commands(
      Sessions sessions,
      Intake intake,
      StageCommands stages,
      Staging staging,
      Consuming consuming,
      Administration administration,
      Counters counters,
      Unforeseen unforeseen) {
    this.sessions = sessions;
    this.intake = intake;
    this.stages = stages;
    this.staging = staging;
    this.consuming = consuming;
    this.administration = administration;
    this.counters = counters;
    this.unforeseen = unforeseen;
  }

  /** From now on every command is answered by the end of its connection. */
  void end(FaultCode code, String text) {
    ended = new Refusal(code, text);
  }

  /**
   * The bytes of journal that a command records at most; {@link Long#MAX_VALUE} for one that waits
   * for all room there is. A command for which it cannot be told is refused.
   *
   * @return {@link #REFUSED} then
   */
  long roomFor(Command command) {
    long before = unforeseen.changes();
    try {
      return bytesOf(command);
    } catch (RuntimeException thrown) {
      Refusal refusal = unforeseen.refusal(thrown, "the room for it", before);
      command.release();
      answer(command, refusal);
      command.done();
      return REFUSED;
    }
  }

  private long bytesOf(Command command) {
    if (command instanceof Command.Acknowledge c) {
      return consuming.recordBytes(c);
    } else if (command instanceof Command.Return c && c.attempted()) {
      return consuming.recordBytes(c);
    } else if (command instanceof Command.Admin c) {
      return Administration.recordsMuch(c.verb()) ? Long.MAX_VALUE : SLACK_BYTES;
    } else if (command instanceof Command.Abandon c) {
      return staging.recordBytes(c);
    } else if (command instanceof Command.AttachConsumer c) {
      String selector = c.selector();
      return SLACK_BYTES
          + (selector == null ? 0 : 3L * Math.min(selector.length(), Selector.MAX_CHARS));
    }
    return SLACK_BYTES;
  }

  /** Carries a command out. */
  void execute(Command command) {
    counters.count(Figure.COMMANDS);
    if (ended != null) {
      command.release();
      command.done();
      if (!(command instanceof Command.Detach)) {
        command.peer().disconnect(ended.code(), ended.text());
      }
      return;
    }
    long before = unforeseen.changes();
    try {
      decide(command);
    } catch (Refusal refusal) {
      answer(command, refusal);
    } catch (RuntimeException bug) {
      answer(command, unforeseen.refusal(bug, command.getClass().getSimpleName(), before));
    }
    if (!(command instanceof Command.Sending)) {
      command.release();
    }
    command.done();
  }

  /** Gives back what a command keeps that is not carried out, for another comes in its place. */
  void replace(Command command) {
    command.release();
    command.done();
  }

  private void decide(Command command) {
    if (command instanceof Command.Publish c) {
      intake.publish(c);
    } else if (command instanceof Command.Acknowledge c) {
      consuming.acknowledge(c);
    } else if (command instanceof Command.Pull c) {
      consuming.pull(c);
    } else if (command instanceof Command.Commit c) {
      intake.commit(c);
    } else if (command instanceof Command.Stage c) {
      stages.take(c);
    } else if (command instanceof Command.Return c) {
      consuming.giveBack(c);
    } else if (command instanceof Command.Begun c) {
      consuming.begun(c);
    } else if (command instanceof Command.Writable c) {
      consuming.writable(c);
    } else if (command instanceof Command.AttachProducer c) {
      consuming.attachProducer(c);
    } else if (command instanceof Command.AttachConsumer c) {
      consuming.attachConsumer(c);
    } else if (command instanceof Command.DetachConsumer c) {
      consuming.detachConsumer(c);
    } else if (command instanceof Command.CloseSession c) {
      consuming.closeSession(c);
    } else {
      decideRare(command);
    }
  }

  private void decideRare(Command command) {
    if (command instanceof Command.Attach c) {
      sessions.attach(c);
    } else if (command instanceof Command.SetClientId c) {
      sessions.setClientId(c);
    } else if (command instanceof Command.Detach c) {
      PeerSession session = sessions.find(c.peer());
      if (session != null) {
        sessions.end(session, c.clean());
      }
    } else if (command instanceof Command.Expel c) {
      PeerSession session = sessions.find(c.peer());
      if (session != null) {
        sessions.expel(session, c.code(), c.text());
      } else {
        c.peer().disconnect(c.code(), c.text());
      }
    } else if (command instanceof Command.Unsubscribe c) {
      consuming.unsubscribe(c);
    } else if (command instanceof Command.CreateTemporary c) {
      consuming.createTemporary(c);
    } else if (command instanceof Command.DeleteTemporary c) {
      consuming.deleteTemporary(c);
    } else if (command instanceof Command.Abandon c) {
      stages.abandon(c);
    } else if (command instanceof Command.Recover c) {
      staging.recover(c);
    } else if (command instanceof Command.Admin c) {
      administration.execute(c);
    } else {
      throw new IllegalStateException("nobody decides " + command);
    }
  }

  private void answer(Command command, Refusal refusal) {
    PeerSession session = sessions.find(command.peer());
    if (refusal.code() == FaultCode.PROTOCOL_ERROR || !isAnsweredByReply(command)) {
      if (session != null) {
        sessions.expel(session, refusal.code(), refusal.text());
      } else {
        command.peer().disconnect(refusal.code(), refusal.text());
      }
    } else {
      command
          .peer()
          .reply(command.correlation(), new Peer.Reply.Failed(refusal.code(), refusal.text()));
    }
  }

  private static boolean isAnsweredByReply(Command command) {
    return command.correlation() != 0 && !(command instanceof Command.Sending);
  }
}

package io.lightmq.node.connection;

import io.lightmq.core.shard.Command;

/** Frees what a command holds that never reached the shard. */
final class CommandBytes {
  private CommandBytes() {}

  static void release(Command command) {
    if (command instanceof Command.Publish publish) {
      publish.messages().release();
    } else if (command instanceof Command.Commit commit) {
      commit.runs().forEach(run -> run.messages().release());
    }
  }
}

package io.lightmq.core.simulation;

import io.lightmq.core.door.Command;
import io.lightmq.core.shard.BrokerHarness;
import io.lightmq.core.storage.Disk;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** The seams between clients, broker and disk. This one has no fault; a planted bug changes one. */
class Plant {
  /** Sets the broker up. */
  void prepare(BrokerHarness harness) {}

  /** Makes a connection. */
  SimulatedPeer peer(long connectionId) {
    return new SimulatedPeer(connectionId);
  }

  /** Hands a command to the broker. */
  void submit(BrokerHarness harness, Command command) {
    harness.broker.submit(command);
  }

  /** Closes the broker in order. */
  void stop(BrokerHarness harness) throws IOException {
    harness.close();
  }

  /** Whether clients take all for flagged. */
  boolean flagsAll() {
    return false;
  }

  /** Told before and behind each start. */
  void starting(boolean begins) {}

  /** The disk under the broker. */
  Disk disk(Disk disk) {
    return disk;
  }

  /** What the broker is told of a message in place of what it is. */
  Message.Content told(Message message) {
    return message.content;
  }

  /** What a queue is told to suppress. */
  @Nullable String suppression(@Nullable String suppression) {
    return suppression;
  }
}

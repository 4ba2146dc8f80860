package io.lightmq.core.shard;

import io.lightmq.core.runtime.Loops;
import io.lightmq.core.storage.Disk;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;

/**
 * A broker without network: the door to its shard. Commands go in from any thread, answers go to
 * the commands' peers.
 */
public final class Broker implements AutoCloseable {
  private Broker() {}

  /**
   * Opens or creates the broker in a data directory and replays its journal. Blocks until commands
   * can be taken.
   *
   * @param loops where its threads come from; stays the caller's, who closes it after the broker
   * @throws IOException if the directory is damaged or belongs to another store or version
   */
  public static Broker open(BrokerSettings settings, Disk disk, Loops loops) throws IOException {
    throw new IOException("being written");
  }

  /**
   * Hands a command to the shard. Any thread; never blocks. The shard takes over the command's
   * bytes. A peer that has too many commands under way is disconnected.
   */
  public void submit(Command command) {}

  /**
   * The shard epoch of this start: unique among all starts, so connection ids may begin with it.
   */
  public long epoch() {
    return 0;
  }

  /** What the shard counted last, at most about a second ago. Any thread. */
  public BrokerMetrics metrics() {
    return BrokerMetrics.NONE;
  }

  /**
   * Completes with the cause when the shard has ended after a failure; every peer is told before.
   */
  public CompletableFuture<Throwable> failure() {
    return new CompletableFuture<>();
  }

  /**
   * Disconnects all peers, writes a last checkpoint and closes the files. Blocks.
   *
   * @throws IOException if what was appended could not be made durable
   */
  @Override
  public void close() throws IOException {}
}

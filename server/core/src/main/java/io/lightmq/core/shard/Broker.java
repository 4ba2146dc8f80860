package io.lightmq.core.shard;

import io.lightmq.core.door.BrokerSettings;
import io.lightmq.core.door.Command;
import io.lightmq.core.runtime.Clock;
import io.lightmq.core.runtime.Loop;
import io.lightmq.core.runtime.Loops;
import io.lightmq.core.sessions.CommandQueue;
import io.lightmq.core.state.ShardState;
import io.lightmq.core.storage.Disk;
import io.lightmq.core.storage.FileFaults;
import io.lightmq.wire.entry.FaultCode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.RejectedExecutionException;

/**
 * A broker without network: the door to its shard. Commands go in from any thread, answers go to
 * the commands' peers.
 */
public final class Broker implements AutoCloseable {
  private final CommandQueue queue = new CommandQueue();
  private final Clock clock;
  private final Loop loop;
  private final Shard shard;

  private Broker(BrokerSettings settings, Disk disk, Loops loops, ShardSeams seams)
      throws IOException {
    this.clock = loops.clock();
    this.loop = loops.open("shard");
    this.shard = Shard.recover(settings, disk, loops, loop, queue, seams);
  }

  /**
   * Opens or creates the broker in a data directory and replays its journal, which is in files of
   * this machine. Blocks until commands can be taken.
   *
   * @param loops where its threads come from; stays the caller's, who closes it after the broker
   * @throws IOException if the directory is damaged or belongs to another store or version
   */
  public static Broker open(BrokerSettings settings, Disk disk, Loops loops) throws IOException {
    Broker broker = begin(settings, disk, loops, ShardSeams.PRODUCT);
    await(broker.ready());
    return broker;
  }

  /**
   * The same with a journal from outside, which says when this node leads. Does not wait for that:
   * until then, and whenever another one leads, whoever sends a command is disconnected.
   */
  public static Broker open(BrokerSettings settings, Disk disk, Loops loops, JournalMaker journals)
      throws IOException {
    return begin(settings, disk, loops, ShardSeams.PRODUCT.with(journals));
  }

  /** Opens as far as it goes without waiting for the journal; {@link #ready} tells the rest. */
  static Broker begin(BrokerSettings settings, Disk disk, Loops loops, ShardSeams seams)
      throws IOException {
    Broker broker = new Broker(settings, disk, loops, seams);
    broker.shard.begin();
    return broker;
  }

  /** Completes when a shard epoch that began here is durable, for the first time. */
  CompletableFuture<Void> ready() {
    return shard.ready();
  }

  /**
   * Hands a command to the shard. Any thread; never blocks. The shard takes over the command's
   * bytes. A peer that has too many commands under way is disconnected.
   */
  public void submit(Command command) {
    if (!queue.offer(command.arrivedAt(clock.arrivalMillis()))) {
      command.release();
      command.done();
      command
          .peer()
          .disconnect(
              FaultCode.LIMIT_REACHED,
              "the broker has " + CommandQueue.MAX_COMMANDS + " commands waiting; connect again");
      return;
    }
    if (queue.wake()) {
      try {
        loop.execute(shard::drain);
      } catch (RejectedExecutionException e) {
        shard.refuseWaiting();
      }
    }
  }

  /** Which store this is: the same after each start on its data. Any thread. */
  public UUID storeId() {
    return shard.storeId();
  }

  /**
   * The shard epoch that began when this node began to lead, the last time that the record of it
   * became durable: unique among all starts and all leaders, so connection ids may begin with it. 0
   * before the first. Any thread.
   */
  public long epoch() {
    return shard.epoch();
  }

  /** Where the shard is in its life. Any thread. */
  Life life() {
    return shard.life();
  }

  /** Asks for a checkpoint soon, whether the journal needs it or not. Any thread. */
  void wantCheckpoint() {
    shard.wantCheckpoint();
  }

  /** The state as a snapshot has it; a look for tests, whose loops have one thread. */
  List<ByteBuffer> stateForTests() {
    return shard.replica().encoded();
  }

  /** The offset of the newest snapshot; a look for tests. */
  long newestCheckpoint() {
    return shard.replica().checkpoints().newestOffset();
  }

  /** What is taken outside the heap, by purpose; a look for tests. Any thread. */
  Map<String, Long> memory() {
    return shard.memory();
  }

  /** The shard's state; a look for tests. */
  ShardState state() {
    return shard.replica().state();
  }

  /** The offset behind what a follower has applied; a look for tests. */
  long applied() {
    return shard.replica().applied();
  }

  /** Whether all of it is written, so that a reader of the disk has the same; a look for tests. */
  boolean isWritten() {
    return shard.isWritten();
  }

  /** The most steps that selectors took in one turn of the shard so far; a look for tests. */
  long mostSelectorSteps() {
    return leading().work().mostOfTurn();
  }

  /** Who has a share in each turn, in the order of the shares; a look for tests. */
  List<String> turnOrder() {
    return leading().order().names();
  }

  private Owner leading() {
    return Objects.requireNonNull(shard.owner(), "this node does not lead");
  }

  /**
   * How long the shard's turn lasts that is under way, in nanoseconds; 0 if none is. Any thread.
   */
  public long turnNanos() {
    return loop.turnNanos();
  }

  /** The longest turn of the shard since the last call, in nanoseconds. Any thread. */
  public long takeLongestTurnNanos() {
    return loop.takeLongestTurnNanos();
  }

  /** Sets how many destinations the metrics show one by one, and about as many subscriptions. */
  public void showDestinations(int most) {
    shard.showDestinations(most);
  }

  /** What the shard counted last, at most about a second ago. Any thread. */
  public BrokerMetrics metrics() {
    return shard.metrics();
  }

  /**
   * Completes with the cause when the shard has ended after a failure; every peer is told before.
   */
  public CompletableFuture<Throwable> failure() {
    return shard.failure();
  }

  /** Tells all peers, records the end and makes a last checkpoint; completes when that is done. */
  CompletableFuture<Void> stop() {
    return shard.stop();
  }

  /** Closes the files after {@link #stop}. */
  void finish() throws IOException {
    shard.finish();
  }

  /**
   * Disconnects all peers, writes a last checkpoint and closes the files. Blocks. If a journal that
   * others share does not get on, as without a majority, it goes without that checkpoint after
   * {@value StandstillWatch#MOST_NANOS} ns, and the log says so.
   *
   * @throws IOException if what was appended could not be made durable
   */
  @Override
  public void close() throws IOException {
    try {
      await(stop());
    } catch (IOException | RuntimeException e) {
      try {
        finish();
      } catch (IOException | RuntimeException second) {
        e.addSuppressed(second);
      }
      throw e;
    }
    finish();
  }

  private static void await(CompletableFuture<Void> future) throws IOException {
    try {
      future.join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof IOException cause) {
        throw new IOException("the broker has failed: " + FileFaults.text(cause), cause);
      }
      throw e;
    }
  }
}

package io.lightmq.core.shard;

import io.lightmq.core.door.BrokerSettings;
import io.lightmq.core.record.ShardRecord.Stopped;
import io.lightmq.core.runtime.Guard;
import io.lightmq.core.runtime.Loop;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.state.Admission;
import io.lightmq.core.state.BatchBuilder;
import io.lightmq.core.state.OrderlyEnd;
import io.lightmq.core.state.Ready;
import io.lightmq.core.state.Recorder;
import io.lightmq.core.state.ShardBatch;
import io.lightmq.core.state.ShardState;
import io.lightmq.core.state.TurnPart;
import io.lightmq.core.storage.journal.Window;
import io.lightmq.spi.Journal;
import org.jspecify.annotations.Nullable;

/**
 * What an owner appends to the journal, how much room is left for it, and what the journal says of
 * how far it is.
 *
 * <p>Publishes are let in while the window has room beyond a reserve and the journal is not in its
 * last eighth; everything else frees room and goes on while there is any.
 */
@OwnedBy("shard")
final class Appending implements Admission, TurnPart {
  /**
   * This part of the journal is left for records that no command asks room for, such as touches.
   */
  private static final int KEPT_FOR_TURNS = 32;

  private final BrokerSettings settings;
  private final ShardState state;
  private final BatchBuilder batch;
  private final Recorder recorder;
  private final DeliveryDecisions decisions;
  private final Ready ready;
  private final Window window;
  private final Journal journal;
  private final long journalEpoch;
  private final Loop loop;
  private final ShardBatch.Observer observer;
  private final int reserveBytes;
  private long appended;
  private String paused = "";
  private Life life = Life.LEADING;
  private Loop.@Nullable Timer flushTimer;

  Appending(
      Member member,
      ShardState state,
      BatchBuilder batch,
      Recorder recorder,
      DeliveryDecisions decisions,
      Ready ready,
      Journal journal,
      long journalEpoch,
      ShardBatch.Observer observer) {
    this.settings = member.settings();
    this.state = state;
    this.batch = batch;
    this.recorder = recorder;
    this.decisions = decisions;
    this.ready = ready;
    this.window = member.window();
    this.journal = journal;
    this.journalEpoch = journalEpoch;
    this.loop = member.shard();
    this.observer = observer;
    this.reserveBytes = window.capacity() / 8;
  }

  /** Who may touch what is decided here. */
  Guard guard() {
    return state.guard();
  }

  // ---- room ----

  /** The most that one batch carries. */
  long maxBytes() {
    return settings.maxBatchBytes();
  }

  @Override
  public boolean admit(long bytes, boolean publishes) {
    state.guard().check();
    if (life == Life.CLOSING) {
      return false;
    }
    long most = settings.maxBatchBytes();
    if (!batch.isEmpty() && (batch.isFull() || batch.length() + bytes > most)) {
      flush();
    }
    long room = window.room(journal.taken()) - Commands.SLACK_BYTES;
    if (room < bytes + (publishes ? reserveBytes : 0)) {
      paused = publishes ? "window: the journal has not written enough yet" : paused;
      return false;
    }
    long capacity = journal.capacityBytes();
    long left = capacity - journal.usedBytesAfter(Math.toIntExact(batch.length() + bytes));
    if (publishes && left < capacity / 8) {
      paused = "journal: its last eighth is kept for what frees room";
      return false;
    }
    // What is appended beyond all room is never durable, and no checkpoint could free any.
    return left >= capacity / KEPT_FOR_TURNS;
  }

  @Override
  public boolean admitSent(long bytes, boolean publishes) {
    return admit(Math.min(bytes, settings.maxBatchBytes()), publishes);
  }

  /** Whether publishes wait for room, and why; empty if not. */
  String paused() {
    return paused;
  }

  /** Nothing waits any more, until it is looked at again. */
  void unpause() {
    paused = "";
  }

  // ---- batches ----

  /** Appends what the turn recorded, and shows what the journal has reached. */
  @Override
  public void turn() {
    flush();
    advance();
  }

  /** Reads the marks and shows what they release. */
  void advance() {
    long written = journal.written();
    long durable = journal.durable();
    state.destinations().advance(written, durable, ready::add);
    recorder.reached(written, durable);
  }

  /** Appends what was recorded. */
  void flush() {
    if (life == Life.CLOSING) {
      decisions.giveBack();
    } else {
      decisions.record(this);
    }
    if (batch.isEmpty()) {
      return;
    }
    ShardBatch full = batch.end(observer);
    journal.append(journalEpoch, ++appended, full);
    if (recorder.takeLazyForce() && !full.wantsForce() && flushTimer == null) {
      flushTimer =
          loop.schedule(
              settings.intervals().flushIntervalMillis() * 1_000_000L,
              () -> {
                flushTimer = null;
                journal.force();
              });
    }
  }

  /** How many were appended. */
  long appended() {
    return appended;
  }

  // ---- life ----

  /** Whether commands are decided, and records may be made. */
  boolean isLeading() {
    return life == Life.LEADING;
  }

  /** Whether nothing is done any more. */
  boolean hasEnded() {
    return life == Life.ENDED;
  }

  /**
   * Records an orderly stop, and nothing behind it: what was not decided before stays as it is. If
   * there is no room for what was seen, only a snapshot tells it.
   */
  void recordStop() {
    state.guard().check();
    flush();
    Stopped end = OrderlyEnd.of(state, Math.min(OrderlyEnd.MAX_BYTES, settings.maxBatchBytes()));
    long bytes = OrderlyEnd.bytes(end);
    recorder.record(bytes == 0 || admit(bytes, false) ? end : Stopped.UNCOUNTED);
    life = Life.CLOSING;
    flush();
  }

  /** Appends nothing more: the shard has failed, is closed, or another one leads. */
  void close() {
    life = Life.ENDED;
    if (flushTimer != null) {
      flushTimer.cancel();
    }
  }
}

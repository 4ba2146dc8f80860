package io.lightmq.core.shard;

import io.lightmq.core.destination.Destination;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.wire.entry.Entry;
import io.lightmq.wire.entry.EntryStamp;
import io.lightmq.wire.entry.FaultCode;
import java.nio.ByteBuffer;

/** Where messages find room: on the disk unless it is full, or in the memory for volatile ones. */
@OwnedBy("shard")
final class Placing {
  private final BrokerSettings settings;
  private final ShardState state;
  private final Recorder recorder;
  private final TurnTime time;
  private final Counters counters;
  private final Runs runs;
  private boolean diskFull;

  Placing(
      BrokerSettings settings,
      ShardState state,
      Recorder recorder,
      TurnTime time,
      Counters counters) {
    this.settings = settings;
    this.state = state;
    this.recorder = recorder;
    this.time = time;
    this.counters = counters;
    this.runs = new Runs(settings.maxMessageBytes(), settings.maxBatchBytes());
  }

  /** Whether the disk guard refuses persistent messages. */
  void diskFull(boolean full) {
    diskFull = full;
  }

  /** Whether it does. */
  boolean diskFull() {
    return diskFull;
  }

  /** Checks a run's bytes; returns how many its entries take. */
  long check(PeerSession session, int count, ByteBuffer messages) {
    return runs.check(count, messages, session.user().length);
  }

  /** Refuses persistent messages while the disk guard does. */
  void checkDisk() {
    if (diskFull) {
      throw new Refusal(
          FaultCode.DISK_FULL,
          "less than "
              + settings.minFreeBytes()
              + " bytes are free on the broker's disk, or a checkpoint found no room on it;"
              + " persistent messages are refused until there is room");
    }
  }

  /** Whether memory has room for messages that live there only; refuses what never fits. */
  boolean fits(int count, long entryBytes) {
    if (entryBytes > settings.volatileBytes() / 2) {
      throw new Refusal(
          FaultCode.MEMORY_FULL,
          "a run of "
              + entryBytes
              + " bytes is more than half of the "
              + settings.volatileBytes()
              + " bytes for non-persistent messages");
    }
    return state.destinations().store().fits(count, entryBytes);
  }

  /** Refuses a run that waited for memory for too long. */
  Refusal memoryFull(long entryBytes, long heldMillis) {
    return new Refusal(
        FaultCode.MEMORY_FULL,
        "a run of "
            + entryBytes
            + " bytes found no room for "
            + heldMillis
            + " ms: "
            + state.destinations().store().usedBytes()
            + " of "
            + settings.volatileBytes()
            + " bytes for non-persistent messages are used; consume some or send fewer");
  }

  /** Why messages cannot go where they should. */
  static String goneText(long destinationId) {
    return destinationId == Command.NO_DESTINATION
        ? "no producer of this connection is attached to the destination"
        : "destination " + destinationId + " was deleted";
  }

  /** Puts messages into a volatile lane. */
  void storeVolatile(
      PeerSession session,
      Destination destination,
      boolean persistent,
      int count,
      ByteBuffer messages) {
    long first = recorder.firstSequence(destination.swift(), count);
    EntryStamp stamp = stamp(session, destination, Destination.VOLATILE_LANE, persistent);
    runs.store(destination.swift(), first, stamp, count, messages);
  }

  /** What the broker writes on each message. */
  EntryStamp stamp(PeerSession session, Destination destination, int lane, boolean persistent) {
    return new EntryStamp(
        lane,
        persistent ? Entry.PERSISTENT : 0,
        destination.id(),
        time.millis(),
        session.peer().connectionId(),
        session.user());
  }

  /** Counts what was published. */
  void count(Destination destination, int messages, long bytes, boolean durable) {
    counters.published(destination.id(), messages, bytes, time.millis());
    if (durable) {
      counters.came(destination.id(), destination.durable().last(), time.millis());
    }
  }
}

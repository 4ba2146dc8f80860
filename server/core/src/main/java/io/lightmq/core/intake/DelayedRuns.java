package io.lightmq.core.intake;

import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.DestinationSettings;
import io.lightmq.core.destination.Filter;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.sessions.MissingQueue;
import io.lightmq.core.sessions.Sender;
import io.lightmq.core.sessions.Subscribing;
import io.lightmq.core.state.Refusal;
import io.lightmq.core.state.Runs;
import io.lightmq.core.state.ShardState;
import io.lightmq.core.state.TurnTime;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.MessageReader;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Splits runs of which some messages are delayed: each goes under the holder of its hour or at
 * once, and all of the run counts together. Changes nothing; holders that are missing are created
 * when the plan is carried out.
 */
@OwnedBy("shard")
public final class DelayedRuns {
  private final ShardState state;
  private final Subscribing subscribing;
  private final HourRoom room;
  private final Placing placing;
  private final TurnTime time;

  public DelayedRuns(
      ShardState state, Subscribing subscribing, HourRoom room, Placing placing, TurnTime time) {
    this.state = state;
    this.subscribing = subscribing;
    this.room = room;
    this.placing = placing;
    this.time = time;
  }

  /**
   * Adds the parcels of a run by where its messages go now.
   *
   * @param missing the holders that the plan creates so far; more may be added
   * @throws Refusal if it needs more holders than there may be
   */
  void split(
      Sender sender,
      Destination named,
      Runs.Checked run,
      Map<Filter, BitSet> known,
      Map<DestinationName, MissingQueue> missing,
      List<Parcel> parcels) {
    Map<Long, List<Integer>> byHour = byHour(sender, run);
    checkRoom(named, byHour.keySet(), missing);
    byHour.forEach(
        (hour, places) -> {
          Runs.Checked part = run.only(places);
          parcels.add(
              hour < 0
                  ? Parcel.to(sender, named, part, placing.select(sender, named, part, known))
                  : under(sender, named, hour, part, missing));
        });
  }

  /** The places of a run's messages by the hours of their due times, -1 for at once. */
  Map<Long, List<Integer>> byHour(Sender sender, Runs.Checked run) {
    Map<Long, List<Integer>> byHour = new LinkedHashMap<>();
    ByteBuffer messages = run.messages();
    int at = messages.position();
    for (int i = 0; i < run.count(); i++) {
      long delay = MessageReader.deliveryDelayMillis(messages, at + 4);
      long hour = delay <= 0 ? -1 : time.after(sender.arrivedMillis(), delay) / DueHour.HOUR_MILLIS;
      byHour.computeIfAbsent(hour, key -> new ArrayList<>()).add(at);
      at += 4 + messages.getInt(at);
    }
    return byHour;
  }

  /** What is created for a destination's messages of an hour; null if their holder is there. */
  @Nullable MissingQueue missing(Destination named, long hour) {
    DestinationName name = DueHour.name(hour, named.id());
    return state.destinations().find(name) != null
        ? null
        : subscribing.holderOfReserve(name, holderSettings(named));
  }

  /** The holder of a destination's messages of an hour; null if it is missing. */
  @Nullable Destination holder(Destination named, long hour) {
    return state.destinations().find(DueHour.name(hour, named.id()));
  }

  /** Nothing expires in a holder, and no attempt is made. */
  static DestinationSettings holderSettings(Destination named) {
    return named.settings().with(Map.of("max-attempts", "0", "expiry", "none"));
  }

  /** Refuses delayed messages that need more hours than there may be. */
  void checkRoom(Destination named, Set<Long> wanted) {
    checkRoom(named, wanted, Map.of());
  }

  private void checkRoom(
      Destination named, Set<Long> wanted, Map<DestinationName, MissingQueue> missing) {
    int more = 0;
    for (long hour : wanted) {
      DestinationName name = hour < 0 ? null : DueHour.name(hour, named.id());
      more += name == null || isKnown(name, missing) ? 0 : 1;
    }
    int ofIt = 0;
    for (DestinationName each : more == 0 ? Set.<DestinationName>of() : missing.keySet()) {
      ofIt += DueHour.isOf(each, named.id()) ? 1 : 0;
    }
    room.check(named.id(), missing.size(), ofIt, more);
  }

  private boolean isKnown(DestinationName name, Map<DestinationName, MissingQueue> missing) {
    return state.destinations().find(name) != null || missing.containsKey(name);
  }

  private Parcel under(
      Sender sender,
      Destination named,
      long hour,
      Runs.Checked part,
      Map<DestinationName, MissingQueue> missing) {
    DestinationName name = DueHour.name(hour, named.id());
    Destination there = state.destinations().find(name);
    return there != null
        ? Parcel.under(sender, there, null, named, part)
        : Parcel.under(sender, null, missing(name, named, missing), named, part);
  }

  private MissingQueue missing(
      DestinationName name, Destination named, Map<DestinationName, MissingQueue> missing) {
    MissingQueue known = missing.get(name);
    if (known != null) {
      return known;
    }
    long before = 0;
    for (MissingQueue each : missing.values()) {
      before += each.heapBytes();
    }
    MissingQueue found = subscribing.holder(name, holderSettings(named), before);
    missing.put(name, found);
    return found;
  }
}

package io.lightmq.core.simulation;

import io.lightmq.core.destination.LaneCode;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Messages of one producer lie in the order in which it sent them, and come to a consumer for the
 * first time in that order, over both delivery modes; section 6.2.9 of the specification asks for
 * the order within one. Delayed ones and duplicates that had to wait have their own order.
 */
final class OrderOfProducer implements Oracle {
  private record Lane(long destinationId, int lane, int producer) {}

  /** What comes in order: to one consumer where several compete. */
  private record Track(
      Followed followed,
      int consumer,
      int producer,
      int priority,
      boolean persistent,
      @Nullable String group) {
    Track ofOtherMode() {
      return new Track(followed, consumer, producer, priority, !persistent, group);
    }
  }

  private final World world;
  private final Map<Lane, TreeMap<Integer, Long>> stored = new HashMap<>();
  private final Map<Track, Message> newest = new HashMap<>();
  private boolean powerWasCut;

  OrderOfProducer(World world) {
    this.world = world;
  }

  @Override
  public void arrived(Arrival arrival) {
    Message message = arrival.message();
    if (message.isDelayed() || message.retried) {
      return;
    }
    checkStored(arrival, message);
    if (!arrival.copy().came && !message.isKeyed() && !overtakes(arrival.followed())) {
      checkFirst(arrival, message);
    }
  }

  @Override
  public void crashed(boolean power) {
    powerWasCut |= power;
  }

  /** Competing consumers overtake each other: what did not fit comes to another one late. */
  private static boolean overtakes(Followed followed) {
    return followed.isShared() && followed.named.takers.size() > 1;
  }

  private void checkStored(Arrival arrival, Message message) {
    Copy.Place place = arrival.place();
    TreeMap<Integer, Long> order =
        stored.computeIfAbsent(
            new Lane(place.destinationId(), place.lane(), message.producer),
            lane -> new TreeMap<>());
    if (isSentAgain(arrival)) {
      long epoch = epochOf(place.sequence());
      order.tailMap(message.order, false).values().removeIf(each -> epochOf(each) < epoch);
    }
    Map.Entry<Integer, Long> before = order.lowerEntry(message.order);
    Map.Entry<Integer, Long> after = order.higherEntry(message.order);
    if ((before != null && before.getValue() >= place.sequence())
        || (after != null && after.getValue() <= place.sequence())) {
      throw violated(arrival + " lies between " + before + " and " + after);
    }
    order.put(message.order, place.sequence());
  }

  /**
   * An unlogged lane ends with its owner. What was sent later may have come from an owner of
   * before, while this one waited for its record and nobody wanted it; it is sent again, and is
   * wanted. So it may lie behind that, but only if the owner of now was sent it. What was sent
   * before lies before it in any case.
   *
   * <p>The same holds for records that were seen before they were forced, and that a power cut has
   * taken: with the record of this one those of all later ones have gone. Perhaps it was sent again
   * to an owner before this one. If a later one has not gone it comes from its old place, and lies
   * before this one then.
   */
  private boolean isSentAgain(Arrival arrival) {
    return LaneCode.isDurable(arrival.place().lane())
        ? powerWasCut && !arrival.followed().destination.high
        : arrival.message().lastEra == world.era() || !arrival.alive();
  }

  private static long epochOf(long sequence) {
    return sequence >>> 32;
  }

  private void checkFirst(Arrival arrival, Message message) {
    Followed followed = arrival.followed();
    boolean spread = followed.isShared() && followed.destination.grouped;
    Track track =
        new Track(
            followed,
            followed.isShared() ? arrival.taker().id : 0,
            message.producer,
            message.content.priority(),
            message.content.persistent(),
            spread ? message.content.group() : null);
    Message before = newest.get(track);
    if (message.firstSent >= followed.disturbed) {
      if (before != null && before.order > message.order) {
        throw violated(arrival + " comes after " + before + " for the first time");
      }
      Message other = newest.get(track.ofOtherMode());
      // In a commit each delivery mode has its order.
      if (other != null
          && other.order > message.order
          && (message.transaction == null || message.transaction != other.transaction)) {
        throw violated(arrival + " comes after " + other + " of the other delivery mode");
      }
    }
    if (before == null || before.order < message.order) {
      newest.put(track, message);
    }
  }
}

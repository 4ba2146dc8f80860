package io.lightmq.client;

import io.lightmq.wire.Frame;
import io.lightmq.wire.entry.Entry;
import io.lightmq.wire.entry.MalformedMessageException;
import io.lightmq.wire.entry.SequenceRange;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A message that a consumer has got: where it stands in the broker, and its bytes.
 *
 * @param number its place among the messages that came to the session
 * @param deliveries how often it was delivered, this time included
 */
record Arrived(
    ConsumerQueue consumer,
    long number,
    long destinationId,
    int lane,
    long sequence,
    int deliveries,
    byte[] entry) {

  private static final byte[] NO_BYTES = {};

  /**
   * The messages of a delivery, copied out of it.
   *
   * @param firstNumber the first one's place in the session
   * @throws MalformedMessageException if lengths, count or places don't fit
   */
  static List<Arrived> of(Frame.Deliver delivery, ConsumerQueue consumer, long firstNumber) {
    ByteBuffer bytes = delivery.entries().nioBuffer();
    List<Arrived> all = new ArrayList<>();
    int at = bytes.position();
    Seen seen = new Seen(delivery);
    for (int index = 0; index < delivery.count(); index++) {
      int length = Entry.checkFrame(bytes, at, bytes.limit());
      byte[] entry = new byte[length];
      bytes.get(at, entry);
      int lane = Entry.lane(bytes, at);
      all.add(
          new Arrived(
              consumer,
              firstNumber + index,
              Entry.destinationId(bytes, at),
              lane,
              seen.sequence(index, lane, Entry.sequence(bytes, at)),
              1 + seen.deliveries(index),
              entry));
      at += length;
    }
    if (at != bytes.limit()) {
      throw new MalformedMessageException(
          "a delivery of "
              + delivery.count()
              + " entries has "
              + (bytes.limit() - at)
              + " bytes left");
    }
    return all;
  }

  /** Walks through a delivery's exceptions, which are ordered by index. */
  static final class Seen {
    private final Frame.Deliver delivery;
    private int seenAt;
    private int referenceAt;

    Seen(Frame.Deliver delivery) {
      this.delivery = delivery;
    }

    int deliveries(int index) {
      List<Frame.Seen> seen = delivery.seen();
      while (seenAt < seen.size() && index >= seen.get(seenAt).index() + seen.get(seenAt).count()) {
        seenAt++;
      }
      return seenAt < seen.size() && index >= seen.get(seenAt).index()
          ? seen.get(seenAt).deliveries()
          : 0;
    }

    /**
     * The sequence of an entry in its lane.
     *
     * @param stored what the entry says
     * @throws MalformedMessageException if no message can be there
     */
    long sequence(int index, int lane, long stored) {
      long sequence = referred(index, stored);
      if (!SequenceRange.isPlace(lane, sequence)) {
        throw new MalformedMessageException(
            "entry " + index + " of a delivery is at no place: " + sequence + " in lane " + lane);
      }
      return sequence;
    }

    private long referred(int index, long stored) {
      List<Frame.Reference> references = delivery.references();
      while (referenceAt < references.size()
          && index >= references.get(referenceAt).index() + references.get(referenceAt).count()) {
        referenceAt++;
      }
      if (referenceAt < references.size() && index >= references.get(referenceAt).index()) {
        Frame.Reference reference = references.get(referenceAt);
        return reference.base() + stored - reference.from();
      }
      return stored;
    }
  }

  /** The same without its bytes, for what only has to be settled. */
  Arrived placeOnly() {
    return new Arrived(consumer, number, destinationId, lane, sequence, deliveries, NO_BYTES);
  }

  /** The places of messages, per consumer, each once and ascending, neighbours joined. */
  static List<Frame.Acked> places(List<Arrived> messages) {
    if (messages.size() == 1) {
      Arrived only = messages.get(0);
      return List.of(
          new Frame.Acked(
              only.consumer.id(),
              only.destinationId,
              List.of(new SequenceRange(only.lane, only.sequence, 1))));
    }
    record Key(int consumerId, long destinationId) {}
    Map<Key, List<Arrived>> groups = new LinkedHashMap<>();
    for (Arrived message : messages) {
      groups
          .computeIfAbsent(
              new Key(message.consumer.id(), message.destinationId), key -> new ArrayList<>())
          .add(message);
    }
    List<Frame.Acked> acked = new ArrayList<>(groups.size());
    groups.forEach(
        (key, group) ->
            acked.add(new Frame.Acked(key.consumerId(), key.destinationId(), ranges(group))));
    return acked;
  }

  private static List<SequenceRange> ranges(List<Arrived> messages) {
    messages.sort(Comparator.comparingInt(Arrived::lane).thenComparingLong(Arrived::sequence));
    List<SequenceRange> ranges = new ArrayList<>();
    int from = 0;
    while (from < messages.size()) {
      Arrived first = messages.get(from);
      Arrived last = first;
      int to = from + 1;
      while (to < messages.size() && messages.get(to).continues(last)) {
        last = messages.get(to++);
      }
      int count = (int) (last.sequence - first.sequence) + 1;
      ranges.add(new SequenceRange(first.lane, first.sequence, count));
      from = to;
    }
    return ranges;
  }

  /** Whether it is the same place, come again after a lost connection, or the next. */
  private boolean continues(Arrived before) {
    return lane == before.lane
        && sequence - before.sequence <= 1
        && sequence >>> 32 == before.sequence >>> 32;
  }
}

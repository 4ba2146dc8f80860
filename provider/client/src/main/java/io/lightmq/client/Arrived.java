package io.lightmq.client;

import io.lightmq.wire.Frame;
import io.lightmq.wire.entry.Entry;
import io.lightmq.wire.entry.MalformedMessageException;
import io.lightmq.wire.entry.SequenceRange;
import java.nio.ByteBuffer;
import java.util.ArrayList;
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
   * @throws MalformedMessageException if lengths or count don't fit
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
      long sequence = seen.sequence(index, Entry.sequence(bytes, at));
      all.add(
          new Arrived(
              consumer,
              firstNumber + index,
              Entry.destinationId(bytes, at),
              Entry.lane(bytes, at),
              sequence,
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
  private static final class Seen {
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

    long sequence(int index, long stored) {
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

  /** The places of messages, per consumer, neighbours joined, in the order of arrival. */
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
    Map<Key, List<SequenceRange>> ranges = new LinkedHashMap<>();
    for (Arrived message : messages) {
      List<SequenceRange> known =
          ranges.computeIfAbsent(
              new Key(message.consumer.id(), message.destinationId), key -> new ArrayList<>());
      int last = known.size() - 1;
      if (last >= 0 && follows(known.get(last), message)) {
        SequenceRange range = known.get(last);
        known.set(last, new SequenceRange(range.lane(), range.from(), range.count() + 1));
      } else {
        known.add(new SequenceRange(message.lane, message.sequence, 1));
      }
    }
    List<Frame.Acked> acked = new ArrayList<>(ranges.size());
    ranges.forEach(
        (key, list) -> acked.add(new Frame.Acked(key.consumerId(), key.destinationId(), list)));
    return acked;
  }

  private static boolean follows(SequenceRange range, Arrived message) {
    return range.lane() == message.lane
        && range.from() + range.count() == message.sequence
        && range.from() >>> 32 == message.sequence >>> 32;
  }
}

package io.lightmq.core.shard;

import io.lightmq.wire.entry.DestinationName;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What clients know: each message with what was confirmed about it, and nothing of the inside. */
final class SimulationModel {
  /** One message. */
  static final class Message {
    final String text;
    final int producer;
    final int order;
    final boolean persistent;
    final int priority;
    boolean confirmed;
    boolean confirmedDurably;
    boolean mayBeLost;
    boolean refused;
    boolean mayBeGone;
    boolean gone;
    boolean seen;
    boolean acknowledgementSent;
    boolean acknowledged;
    boolean acknowledgedDurably;
    boolean acknowledgementMayBeLost;
    boolean drained;

    /** It went to a consumer that acknowledges by pulling. */
    boolean consumed;

    boolean consumedMayComeAgain;
    boolean inTransaction;
    long sequence = -1;

    Message(String text, int producer, int order, boolean persistent, int priority) {
      this.text = text;
      this.producer = producer;
      this.order = order;
      this.persistent = persistent;
      this.priority = priority;
    }

    /** The last drain is after every transaction. */
    boolean drainedAfter(Transaction transaction) {
      return drained && transaction.in().contains(this);
    }

    @Override
    public String toString() {
      return text
          + " of priority "
          + priority
          + (persistent ? "" : " volatile")
          + (confirmed ? confirmedDurably ? " confirmed durably" : " confirmed" : "")
          + (mayBeLost ? " may be lost" : "")
          + (seen ? " seen" : "")
          + (acknowledgementSent ? acknowledged ? " acknowledged" : " ack sent" : "");
    }
  }

  /** Where one reader's messages come from: a queue, or a topic's durable subscription. */
  static final class Queue {
    final DestinationName destination;
    final boolean high;
    final Map<String, Message> messages = new LinkedHashMap<>();

    /** Messages that were acknowledged by a pull and may not have been sent. */
    int mayMiss;

    Queue(DestinationName destination, boolean high) {
      this.destination = destination;
      this.high = high;
    }

    String name() {
      return destination.name();
    }
  }

  /** A commit that was sent: it acknowledges some and sends some. */
  record Transaction(List<Message> in, List<Message> out) {}

  private final List<Queue> queues;
  final List<Transaction> transactions = new ArrayList<>();

  SimulationModel(List<Queue> queues) {
    this.queues = queues;
  }

  Collection<Queue> queues() {
    return queues;
  }

  /** The process ended, or the machine. */
  void crashed(boolean power) {
    if (!power) {
      return;
    }
    for (Queue queue : queues) {
      for (Message message : queue.messages.values()) {
        message.mayBeLost |= message.confirmed && !message.confirmedDurably;
        message.acknowledgementMayBeLost |= message.acknowledged && !message.acknowledgedDurably;
        message.consumedMayComeAgain |= message.consumed && !queue.high;
      }
    }
  }
}

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

    /** The same message as the topic's other subscription sees it, if that wants it. */
    Message twin;

    Message(String text, int producer, int order, boolean persistent, int priority) {
      this.text = text;
      this.producer = producer;
      this.order = order;
      this.persistent = persistent;
      this.priority = priority;
    }

    /** This and its twin. */
    List<Message> all() {
      return twin == null ? List.of(this) : List.of(this, twin);
    }

    /** What selectors look at: the property that the harness puts on messages. */
    int n() {
      return text.length() % 7;
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

  /** What a subscription wants of the messages' property n, which is their correlation id too. */
  record IntRange(int low, int high) {
    static final IntRange ALL = new IntRange(0, 6);

    boolean holds(int n) {
      return n >= low && n <= high;
    }

    /** The selector; none for everything. */
    String selector() {
      if (low == high) {
        return "JMSCorrelationID = 'k" + low + "'";
      }
      return low == 0 && high == 6 ? null : "n BETWEEN " + low + " AND " + high;
    }
  }

  /** Where one reader's messages come from: a queue, or a topic's durable subscription. */
  static final class Queue {
    final DestinationName destination;
    final boolean high;
    final String subscription;
    final IntRange wanted;
    final Map<String, Message> messages = new LinkedHashMap<>();

    /** Messages that were acknowledged by a pull and may not have been sent. */
    int mayMiss;

    /** The same topic's other subscription. */
    Queue twin;

    Queue(DestinationName destination, boolean high) {
      this(destination, high, null, new IntRange(0, 6));
    }

    Queue(DestinationName destination, boolean high, String subscription, IntRange wanted) {
      this.destination = destination;
      this.high = high;
      this.subscription = subscription;
      this.wanted = wanted;
    }

    /** Keeps a message that was sent here, as far as its readers want it. */
    Message sent(Message message) {
      if (wanted.holds(message.n())) {
        messages.put(message.text, message);
      }
      if (twin != null && twin.wanted.holds(message.n())) {
        message.twin =
            new Message(
                message.text,
                message.producer,
                message.order,
                message.persistent,
                message.priority);
        twin.messages.put(message.text, message.twin);
      }
      return message;
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

package io.lightmq.core.shard;

import io.lightmq.core.shard.SimulationModel.Message;
import io.lightmq.core.shard.SimulationModel.Queue;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A promise of the broker, checked on all that clients see. Fails with an {@link AssertionError}.
 */
interface Invariant {
  /** A client received a message, which the model has not been told yet. */
  default void delivered(Queue queue, Message message, FakePeer.Received received) {}

  /** A message came in the last drain, where all that is there is visible and free. */
  default void drained(Queue queue, Message message) {}

  /** Another consumer begins to drain a queue. */
  default void drainBegins(Queue queue) {}

  /** The last drain after the last recovery is over. */
  default void end(SimulationModel model) {}

  static List<Invariant> all() {
    return List.of(
        new NothingInvented(),
        new SequencesNeverReused(),
        new NoRunStoredTwice(),
        new NoAcknowledgedMessageRedelivered(),
        new NoUnflaggedDuplicate(),
        new ConsumedAtMostOnce(),
        new ProducerOrderKept(),
        new PriorityKept(),
        new HighestPriorityFirst(),
        new NoConfirmedMessageLost(),
        new TransactionsAreWhole());
  }

  /** Fails as this invariant. */
  default AssertionError violated(String facts) {
    return new AssertionError(getClass().getSimpleName() + " is violated: " + facts);
  }

  /** What is delivered was sent there, was not refused, and its destination was not deleted. */
  final class NothingInvented implements Invariant {
    @Override
    public void delivered(Queue queue, Message message, FakePeer.Received received) {
      if (message == null) {
        throw violated(received + " was never sent to " + queue.name());
      }
      if (message.refused) {
        throw violated(received + " was refused, the sender knows it");
      }
      if (message.gone) {
        throw violated(received + " went with its destination or a purge");
      }
    }
  }

  /** A sequence of a lane names one message for ever. */
  final class SequencesNeverReused implements Invariant {
    private final Map<String, String> texts = new HashMap<>();

    @Override
    public void delivered(Queue queue, Message message, FakePeer.Received received) {
      String key = received.destinationId() + "/" + received.lane() + "/" + received.sequence();
      String other = texts.putIfAbsent(key, received.text());
      if (other != null && !other.equals(received.text())) {
        throw violated(key + " was " + other + " and is " + received.text());
      }
    }
  }

  /** A run that a client repeats after a lost link is stored once. */
  final class NoRunStoredTwice implements Invariant {
    @Override
    public void delivered(Queue queue, Message message, FakePeer.Received received) {
      if (message.sequence >= 0 && message.sequence != received.sequence()) {
        throw violated(received + " was stored with sequence " + message.sequence + " before");
      }
    }
  }

  /** A confirmed acknowledgement ends a message. */
  final class NoAcknowledgedMessageRedelivered implements Invariant {
    @Override
    public void delivered(Queue queue, Message message, FakePeer.Received received) {
      if (message.acknowledged && !message.acknowledgementMayBeLost) {
        throw violated(received + " comes again although its acknowledgement was confirmed");
      }
    }
  }

  /** What a client may have seen comes again only with its flag. */
  final class NoUnflaggedDuplicate implements Invariant {
    @Override
    public void delivered(Queue queue, Message message, FakePeer.Received received) {
      if (message.seen && received.deliveries() == 0) {
        throw violated(received + " was seen before and is not flagged");
      }
    }
  }

  /** What went to a consumer that acknowledges by pulling never comes again, to anybody. */
  final class ConsumedAtMostOnce implements Invariant {
    @Override
    public void delivered(Queue queue, Message message, FakePeer.Received received) {
      if (message.consumed && !message.consumedMayComeAgain) {
        throw violated(received + " comes again although it was acknowledged before it was sent");
      }
    }
  }

  /** Messages of one producer lie in the order in which it sent them. */
  final class ProducerOrderKept implements Invariant {
    private final Map<String, TreeMap<Integer, Long>> orders = new HashMap<>();

    @Override
    public void delivered(Queue queue, Message message, FakePeer.Received received) {
      TreeMap<Integer, Long> order =
          orders.computeIfAbsent(
              received.destinationId() + "/" + received.lane() + "/" + message.producer,
              key -> new TreeMap<>());
      Map.Entry<Integer, Long> before = order.lowerEntry(message.order);
      Map.Entry<Integer, Long> after = order.higherEntry(message.order);
      if ((before != null && before.getValue() >= received.sequence())
          || (after != null && after.getValue() <= received.sequence())) {
        throw violated(received + " lies between " + before + " and " + after);
      }
      order.put(message.order, received.sequence());
    }
  }

  /** A message lies in a lane of the priority that it was sent with. */
  final class PriorityKept implements Invariant {
    @Override
    public void delivered(Queue queue, Message message, FakePeer.Received received) {
      if ((received.lane() & 0x7F) != message.priority) {
        throw violated(received + " was sent with priority " + message.priority);
      }
    }
  }

  /** What waits comes highest priority first. */
  final class HighestPriorityFirst implements Invariant {
    private final Map<Queue, Message> lastOf = new HashMap<>();

    @Override
    public void drainBegins(Queue queue) {
      lastOf.remove(queue);
    }

    @Override
    public void drained(Queue queue, Message message) {
      Message last = lastOf.put(queue, message);
      if (last != null && last.priority < message.priority) {
        throw violated(message + " comes behind " + last);
      }
    }
  }

  /** What was confirmed and not acknowledged is there. */
  final class NoConfirmedMessageLost implements Invariant {
    @Override
    public void end(SimulationModel model) {
      for (Queue queue : model.queues()) {
        int missing = 0;
        for (Message message : queue.messages.values()) {
          if (message.persistent
              && message.confirmed
              && !message.mayBeLost
              && !message.mayBeGone
              && !message.acknowledgementSent
              && !message.drained
              && ++missing > queue.mayMiss) {
            throw violated(message + " of " + queue.name() + " is not there");
          }
        }
      }
    }
  }

  /** Of a transaction there is all or nothing. */
  final class TransactionsAreWhole implements Invariant {
    @Override
    public void end(SimulationModel model) {
      for (SimulationModel.Transaction transaction : model.transactions) {
        for (Message out : transaction.out()) {
          out.all().forEach(each -> check(transaction, each));
        }
      }
    }

    private void check(SimulationModel.Transaction transaction, Message out) {
      boolean outThere = out.drained || out.seen || out.acknowledged;
      for (Message in : transaction.in()) {
        boolean inOpen = in.drained && in.drainedAfter(transaction);
        if (outThere && inOpen && !in.acknowledgementMayBeLost && !out.mayBeGone) {
          throw violated(out + " was sent, but " + in + " is not acknowledged");
        }
      }
    }
  }
}

package io.lightmq.core.shard;

import io.lightmq.core.shard.FakePeer.Received;
import io.lightmq.core.shard.SimulationModel.IntRange;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What producers and subscribers of topics know, on one scale of time that counts what they do: who
 * sent what when, and which subscription has to get it, and after what.
 */
final class OrderModel {
  /** A topic. */
  record Topic(DestinationName name, boolean high) {
    static final Topic HIGH = new Topic(new DestinationName(DestinationKind.TOPIC, "high"), true);
    static final Topic FAST =
        new Topic(new DestinationName(DestinationKind.TOPIC, "fast.t"), false);
  }

  /** One message; its text begins with its producer and its number there. */
  static final class Message {
    final String text;
    final Topic topic;
    final int producer;
    final int order;
    final boolean persistent;
    final int priority;

    /** The commit it came with, 0 for none. */
    final int transaction;

    long firstSent;
    long lastSent;
    long confirmedAt = NEVER;
    boolean durably;
    boolean refused;
    boolean mayBeLost;

    Message(
        String text,
        Topic topic,
        int producer,
        int order,
        boolean persistent,
        int priority,
        int transaction) {
      this.text = text;
      this.topic = topic;
      this.producer = producer;
      this.order = order;
      this.persistent = persistent;
      this.priority = priority;
      this.transaction = transaction;
    }

    /** The property that selectors look at. */
    int n() {
      return text.length() % 7;
    }

    @Override
    public String toString() {
      return (text.indexOf('-') < 0 ? text : text.substring(0, text.indexOf('-')))
          + (persistent ? " persistent" : " non-persistent")
          + " n="
          + n()
          + (transaction == 0 ? "" : " in commit " + transaction);
    }
  }

  /** What one subscription wants, and what it got: from its opening to its end. */
  final class Followed {
    final String name;
    final Topic topic;
    final IntRange wanted;
    final boolean shared;

    /** It may have got what was sent before this, but not what was confirmed before. */
    final long asked = ++now;

    /** It gets all that is sent after this. */
    long open = NEVER;

    private final Set<String> came = new HashSet<>();
    private final Map<String, Message> newest = new HashMap<>();
    private final Map<String, Integer> lanes = new HashMap<>();

    /** What was sent before this may come late among competing consumers. */
    private long disturbed;

    Followed(String name, Topic topic, IntRange wanted, boolean shared) {
      this.name = name;
      this.topic = topic;
      this.wanted = wanted;
      this.shared = shared;
    }

    void opened() {
      open = Math.min(open, ++now);
    }

    /** It may have been opened anew meanwhile, at the tail. */
    void reopened() {
      open = ++now;
    }

    /** A consumer went, and others get what was on its way to it. */
    void disturb() {
      disturbed = ++now;
    }

    /** A consumer got a message. */
    void received(Received received) {
      Message message = messages.get(received.text());
      if (message == null || message.topic != topic) {
        throw violated(received + " was never sent there");
      }
      if (message.refused || !wanted.holds(message.n())) {
        throw violated(message + (message.refused ? " was refused" : " is not wanted"));
      }
      if (message.confirmedAt < asked && message.lastSent < asked) {
        throw violated(message + " was confirmed before the subscription was asked for");
      }
      if (came.add(message.text)) {
        firstDeliveries++;
        changes(received, message);
        first(shared ? received.consumerId() : 0, message);
      }
    }

    private void first(int consumer, Message message) {
      String key = consumer + "/" + message.producer + "/" + message.priority + "/";
      Message before = newest.get(key + message.persistent);
      Message other = newest.get(key + !message.persistent);
      if (message.firstSent >= disturbed) {
        if (before != null && before.order > message.order) {
          throw violated(message + " comes after " + before + " for the first time");
        }
        // In a commit each delivery mode has its order; else it holds over both.
        if (other != null
            && other.order > message.order
            && (message.transaction == 0 || message.transaction != other.transaction)) {
          throw violated(message + " comes after " + other + " of the other delivery mode");
        }
      }
      if (before == null || before.order < message.order) {
        newest.put(key + message.persistent, message);
      }
    }

    private void changes(Received received, Message message) {
      Integer lane = lanes.put(message.producer + "/" + message.priority, received.lane());
      if (lane != null && lane != received.lane()) {
        laneChanges++;
      }
    }

    /** Everything that is there has come: what has to be there is among it. */
    void drained() {
      for (Message message : messages.values()) {
        if (message.topic == topic
            && wanted.holds(message.n())
            && message.firstSent > open
            && message.confirmedAt != NEVER
            && !message.mayBeLost
            && !message.refused
            && !came.contains(message.text)) {
          throw violated(message + " never came");
        }
      }
    }

    private AssertionError violated(String facts) {
      return new AssertionError("subscription " + this + ": " + facts);
    }

    @Override
    public String toString() {
      return name + " of " + topic.name().name() + " that wants " + wanted;
    }
  }

  static final long NEVER = Long.MAX_VALUE;

  private final Map<String, Message> messages = new HashMap<>();
  private long now;
  private int transactions;
  private long firstDeliveries;
  private long laneChanges;

  Message message(
      String text,
      Topic topic,
      int producer,
      int order,
      boolean persistent,
      int priority,
      int transaction) {
    Message message = new Message(text, topic, producer, order, persistent, priority, transaction);
    messages.put(text, message);
    return message;
  }

  int nextTransaction() {
    return ++transactions;
  }

  void sent(List<Message> run) {
    long at = ++now;
    for (Message message : run) {
      message.firstSent = message.firstSent == 0 ? at : message.firstSent;
      message.lastSent = at;
    }
  }

  /** A sender was told that its messages are taken. */
  void confirmed(List<Message> run, boolean durably) {
    long at = ++now;
    for (Message message : run) {
      message.confirmedAt = Math.min(message.confirmedAt, at);
      message.durably |= durably;
    }
  }

  /** The broker has ended, in order or not, or the machine has. */
  void restarted(boolean power) {
    for (Message message : messages.values()) {
      message.mayBeLost |= !message.persistent || (power && !message.durably);
    }
  }

  /** How many messages came to how many subscriptions. */
  long firstDeliveries() {
    return firstDeliveries;
  }

  /** How many of them lay in another lane than their producer's message before. */
  long laneChanges() {
    return laneChanges;
  }
}

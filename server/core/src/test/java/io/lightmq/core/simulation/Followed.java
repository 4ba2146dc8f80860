package io.lightmq.core.simulation;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A queue, or one life of a topic's subscription: from its opening to its end. */
final class Followed {
  /** What was heard of a key that is to come once. */
  static final class Key {
    /** When an acknowledgement of it was sent that was confirmed, by the wall clock. */
    @Nullable Long acknowledgedMillis;

    /** And to which life of the broker. */
    int askedEra;

    /** That is forgotten with the process, or with the power. */
    boolean inMemory;

    boolean durably;

    /** An acknowledgement of it was sent at any time. */
    boolean asked;

    /** What is in somebody's hands. */
    @Nullable Copy held;
  }

  final NamedSubscription named;
  final SimulatedDestination destination;

  /** A topic's subscription wants this; a queue keeps everything. */
  final IntRange wanted;

  /** It may have got what was sent before this, but not what was confirmed before. */
  final long asked;

  /** It gets all that is sent after this. */
  long open = Message.NEVER;

  /** It gets nothing that is sent after this. */
  long ended = Message.NEVER;

  /** What was sent before this may come late among competing consumers. */
  long disturbed;

  /** So many messages were acknowledged by pulls that were never answered. */
  int mayMiss;

  private final Map<String, Key> keys = new HashMap<>();

  Followed(NamedSubscription named, SimulatedDestination destination, IntRange wanted, long event) {
    this.named = named;
    this.destination = destination;
    this.wanted = wanted;
    this.asked = event;
  }

  boolean isDurable() {
    return named.isDurable();
  }

  /** Several consumers may share it. */
  boolean isShared() {
    return named.isShared();
  }

  /** Whether it gives the messages of a group to one consumer at a time. */
  boolean keepsGroups() {
    return isShared()
        && destination.grouped
        && (!destination.isQueue() || destination.selecting != SimulatedDestination.Selecting.ANY);
  }

  /** Whether a message is lost with the process, wherever it was sent. */
  boolean isInMemory(Message message) {
    return !isDurable() || !message.content.persistent();
  }

  Key key(String key) {
    return keys.computeIfAbsent(key, text -> new Key());
  }

  void crashed(boolean power) {
    for (Key key : keys.values()) {
      key.held = null;
      if (key.inMemory || (power && !key.durably)) {
        key.acknowledgedMillis = null;
      }
    }
  }

  @Override
  public String toString() {
    return destination.isQueue()
        ? destination.name.name()
        : named + " of " + destination.name.name() + " that wants " + wanted;
  }
}

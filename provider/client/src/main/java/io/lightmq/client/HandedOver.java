package io.lightmq.client;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * What a session in an explicit mode has handed over and not settled yet. A lost connection takes
 * it along: the broker delivers it again, and the places must not be settled any more, since they
 * may belong to the new copies by now. Guarded by its gate's lock.
 */
final class HandedOver {
  private final AckMode mode;
  private final Gate gate;
  private Collection<Arrived> open;
  private Collection<Arrived> lost;
  private final AtomicInteger losses = new AtomicInteger();

  HandedOver(AckMode mode, Gate gate) {
    this.mode = mode;
    this.gate = gate;
    this.open = none();
    this.lost = none();
  }

  private Collection<Arrived> none() {
    return mode == AckMode.INDIVIDUAL ? new LinkedHashSet<>() : new ArrayList<>();
  }

  /** How many connections were lost; any thread. */
  int losses() {
    return losses.get();
  }

  /** Adds a message that was taken out of its consumer after so many losses. */
  void add(Arrived message, int lossesBefore) {
    if (mode.isExplicit()) {
      (losses.get() == lossesBefore ? open : lost).add(message.placeOnly());
    }
  }

  /** The connection is lost. */
  void lost() {
    losses.incrementAndGet();
    lost.addAll(open);
    open = none();
  }

  /** Takes what is to be settled. */
  List<Arrived> take() {
    gate.lock();
    try {
      List<Arrived> taken = new ArrayList<>(open);
      open = none();
      return taken;
    } finally {
      gate.unlock();
    }
  }

  /** Takes one message; false if it is settled already, or lost. */
  boolean take(Arrived place) {
    return gate.look(() -> open.remove(place));
  }

  /** Takes one message that was lost with a connection; false if it was not. */
  boolean takeLost(Arrived place) {
    return gate.look(() -> lost.remove(place));
  }

  /** Takes what was lost with connections. */
  List<Arrived> takeLost() {
    gate.lock();
    try {
      List<Arrived> taken = new ArrayList<>(lost);
      lost = none();
      return taken;
    } finally {
      gate.unlock();
    }
  }
}

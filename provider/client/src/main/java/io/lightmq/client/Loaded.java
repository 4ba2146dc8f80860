package io.lightmq.client;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * What a connection consumer has given a session to run, oldest first; at most what its maximum is,
 * a few times. Guarded by the gate's lock.
 */
final class Loaded {
  private final Gate gate;
  private final ArrayDeque<Arrived> waiting = new ArrayDeque<>();

  Loaded(Gate gate) {
    this.gate = gate;
  }

  /**
   * Takes messages over; their consumer counts them as handed over.
   *
   * @param stale whether the connection that they came with is lost, so that they come again
   * @return false if the session is being closed or they are stale
   */
  boolean add(List<Arrived> messages, BooleanSupplier stale) {
    return gate.look(
        () -> {
          if (gate.isEnding() || stale.getAsBoolean()) {
            return false;
          }
          waiting.addAll(messages);
          return true;
        });
  }

  boolean isEmpty() {
    gate.checkHeld();
    return waiting.isEmpty();
  }

  /** The next one to be run. */
  Arrived next() {
    gate.checkHeld();
    return waiting.remove();
  }

  /** Takes back what of these waits; the caller settles it. */
  @SuppressWarnings("ReferenceEquality") // this message and no equal one
  List<Arrived> take(List<Arrived> some) {
    return gate.look(
        () -> {
          List<Arrived> taken = new ArrayList<>();
          for (Arrived message : some) {
            if (waiting.removeIf(each -> each == message)) {
              taken.add(message);
            }
          }
          return taken;
        });
  }

  /** Takes back all that waits; the caller settles it. */
  List<Arrived> takeAll() {
    return gate.look(
        () -> {
          List<Arrived> taken = new ArrayList<>(waiting);
          waiting.clear();
          return taken;
        });
  }
}

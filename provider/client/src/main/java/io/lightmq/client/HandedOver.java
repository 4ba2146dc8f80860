package io.lightmq.client;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;

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
  private boolean ended;
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

  /**
   * What was taken, all in one moment.
   *
   * @param open what is to be settled
   * @param lost what was lost with connections, so that it comes again
   * @param ended whether the session's close has taken everything before
   * @param stale whether a connection was lost since: then {@code open} comes again as well
   */
  record Taken(List<Arrived> open, List<Arrived> lost, boolean ended, BooleanSupplier stale) {
    /** Whether something comes again, so that the rest cannot be settled as if nothing had been. */
    boolean isLost() {
      return !lost.isEmpty();
    }
  }

  /** Takes everything. */
  Taken take() {
    return gate.look(
        () -> {
          Taken taken =
              new Taken(new ArrayList<>(open), new ArrayList<>(lost), ended, lossFromNow());
          open = none();
          lost = none();
          return taken;
        });
  }

  /** Takes everything for the last time. */
  Taken end() {
    return gate.look(
        () -> {
          Taken last = take();
          ended = true;
          return last;
        });
  }

  /** Takes one message; nothing if it is settled already. */
  Taken take(Arrived place) {
    return gate.look(
        () ->
            new Taken(
                open.remove(place) ? List.of(place) : List.of(),
                lost.remove(place) ? List.of(place) : List.of(),
                ended,
                lossFromNow()));
  }

  /** Puts back what could not be settled; it is lost if a connection was meanwhile. */
  void putBack(Taken taken) {
    gate.change(() -> (taken.stale().getAsBoolean() ? lost : open).addAll(taken.open()));
  }

  /** Whether a connection will have been lost since; with the gate's lock held. */
  BooleanSupplier lossFromNow() {
    int now = losses.get();
    return () -> losses.get() != now;
  }
}

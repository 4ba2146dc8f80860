package io.lightmq.client;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;

/**
 * What a session in an explicit mode has handed over and not settled yet. A lost connection takes
 * it along: the broker delivers it again, and the places must not be settled any more, since they
 * may belong to the new copies by now. For their consumers they count as settled. Where messages
 * are settled one by one, the newest {@value #MAX_LOST} lost places are remembered; of older ones
 * it is only known that they are not open. Guarded by its gate's lock.
 */
final class HandedOver {
  static final int MAX_LOST = 16_384;

  private final AckMode mode;
  private final Gate gate;
  private Collection<Arrived> open;
  private boolean outside;
  private boolean someLost;
  private final LinkedHashSet<Arrived> lostOnes = new LinkedHashSet<>();

  /** Beyond the bound: of all up to this number that is not open it may be that it was lost. */
  private long forgottenNumber = -1;

  private boolean ended;
  private final AtomicInteger losses = new AtomicInteger();

  HandedOver(AckMode mode, Gate gate) {
    this.mode = mode;
    this.gate = gate;
    this.open = none();
    this.outside = mode == AckMode.XA;
  }

  /** Whether what is handed over waits for a word on it; with the gate's lock held. */
  boolean keeps() {
    gate.checkHeld();
    return mode.isExplicit() && !outside;
  }

  /** From now on the session works in a branch, in mode XA. */
  void enter() {
    gate.change(() -> outside = false);
  }

  /** From now on the session works in no branch any more; what it has received in it. */
  Taken leave() {
    return gate.look(
        () -> {
          Taken taken = take();
          outside = true;
          return taken;
        });
  }

  private Collection<Arrived> none() {
    return mode == AckMode.INDIVIDUAL ? new LinkedHashSet<>() : new ArrayList<>();
  }

  /** How many connections were lost; any thread. */
  int losses() {
    return losses.get();
  }

  /**
   * Adds a message that was taken out of its consumer after so many losses.
   *
   * @return whether it is to be settled; false if it was lost since, and for its consumer is
   *     settled
   */
  boolean add(Arrived message, int lossesBefore) {
    gate.checkHeld();
    if (!keeps()) {
      return true;
    }
    boolean there = losses.get() == lossesBefore;
    if (there) {
      open.add(message.placeOnly());
    } else {
      addLost(List.of(message.placeOnly()));
    }
    return there;
  }

  private void addLost(Collection<Arrived> places) {
    someLost |= !places.isEmpty();
    if (mode == AckMode.INDIVIDUAL) {
      lostOnes.addAll(places);
      Iterator<Arrived> oldest = lostOnes.iterator();
      for (int over = lostOnes.size() - MAX_LOST; over > 0; over--) {
        forgottenNumber = Math.max(forgottenNumber, oldest.next().number());
        oldest.remove();
      }
    }
  }

  /**
   * The connection is lost.
   *
   * @return what was lost with it, for the caller to count as settled
   */
  List<Arrived> lost() {
    gate.checkHeld();
    losses.incrementAndGet();
    List<Arrived> gone = new ArrayList<>(open);
    addLost(gone);
    open = none();
    return gone;
  }

  /**
   * What was taken, all in one moment.
   *
   * @param open what is to be settled
   * @param isLost whether something was lost with connections and comes again, so that the rest
   *     cannot be settled as if nothing had been
   * @param ended whether the session's close has taken everything before
   * @param stale whether a connection was lost since: then {@code open} comes again as well
   */
  record Taken(List<Arrived> open, boolean isLost, boolean ended, BooleanSupplier stale) {
    /** Nothing. */
    static final Taken NOTHING = new Taken(List.of(), false, false, () -> false);

    /** Of it these messages. */
    Taken only(List<List<Arrived>> left) {
      List<Arrived> some = new ArrayList<>();
      left.forEach(some::addAll);
      return new Taken(some, isLost, ended, stale);
    }

    /** Both in one, in this order. */
    static Taken of(Taken first, Taken second) {
      List<Arrived> open = new ArrayList<>(first.open());
      open.addAll(second.open());
      return new Taken(
          open,
          first.isLost() || second.isLost(),
          first.ended() || second.ended(),
          () -> first.stale().getAsBoolean() || second.stale().getAsBoolean());
    }
  }

  /** Takes everything. */
  Taken take() {
    return gate.look(
        () -> {
          Taken taken = new Taken(new ArrayList<>(open), someLost, ended, lossFromNow());
          open = none();
          someLost = false;
          lostOnes.clear();
          forgottenNumber = -1;
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
        () -> {
          boolean there = open.remove(place);
          boolean isLost =
              lostOnes.contains(place) || (!there && place.number() <= forgottenNumber);
          return new Taken(there ? List.of(place) : List.of(), isLost, ended, lossFromNow());
        });
  }

  /**
   * Puts back what could not be settled.
   *
   * @return false if a connection was lost meanwhile, and it with that: then it counts as settled
   */
  boolean putBack(Taken taken) {
    return gate.look(
        () -> {
          boolean there = !taken.stale().getAsBoolean();
          if (there) {
            open.addAll(taken.open());
          } else {
            addLost(taken.open());
          }
          return there;
        });
  }

  /** Whether a connection will have been lost since; with the gate's lock held. */
  BooleanSupplier lossFromNow() {
    gate.checkHeld();
    int now = losses.get();
    return () -> losses.get() != now;
  }
}

package io.lightmq.client;

import java.util.ArrayList;
import java.util.List;

/**
 * What a session in an explicit mode has handed over and not settled yet. A lost connection takes
 * it along: the broker delivers it again, and the places must not be settled any more, since they
 * may belong to the new copies by now. Guarded by its gate's lock.
 */
final class HandedOver {
  private final AckMode mode;
  private final Gate gate;
  private List<Arrived> open = new ArrayList<>();
  private List<Arrived> lost = new ArrayList<>();
  private int losses;

  HandedOver(AckMode mode, Gate gate) {
    this.mode = mode;
    this.gate = gate;
  }

  /** How many connections were lost. */
  int losses() {
    return losses;
  }

  /** Adds a message that was taken out of its consumer after so many losses. */
  void add(Arrived message, int lossesBefore) {
    message.consumer().unsettled++;
    if (mode.isExplicit()) {
      (losses == lossesBefore ? open : lost).add(message.placeOnly());
    }
  }

  /** The connection is lost. */
  void lost() {
    losses++;
    lost.addAll(open);
    open = new ArrayList<>();
  }

  /** Takes what is to be settled. */
  List<Arrived> take() {
    gate.lock();
    try {
      List<Arrived> taken = open;
      open = new ArrayList<>();
      return taken;
    } finally {
      gate.unlock();
    }
  }

  /** Takes what was lost with connections. */
  List<Arrived> takeLost() {
    gate.lock();
    try {
      List<Arrived> taken = lost;
      lost = new ArrayList<>();
      return taken;
    } finally {
      gate.unlock();
    }
  }
}

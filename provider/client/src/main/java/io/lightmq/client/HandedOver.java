package io.lightmq.client;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/**
 * What a session in an explicit mode has handed over and not settled yet. A lost connection takes
 * it along: the broker delivers it again, and the places must not be settled any more, since they
 * may belong to the new copies by now. Guarded by its inbox's lock.
 */
final class HandedOver {
  private final AckMode mode;
  private final ReentrantLock lock;
  private List<Arrived> open = new ArrayList<>();
  private List<Arrived> lost = new ArrayList<>();
  private int losses;

  HandedOver(AckMode mode, ReentrantLock lock) {
    this.mode = mode;
    this.lock = lock;
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
    lock.lock();
    try {
      List<Arrived> taken = open;
      open = new ArrayList<>();
      return taken;
    } finally {
      lock.unlock();
    }
  }

  /** Takes what was lost with connections. */
  List<Arrived> takeLost() {
    lock.lock();
    try {
      List<Arrived> taken = lost;
      lost = new ArrayList<>();
      return taken;
    } finally {
      lock.unlock();
    }
  }
}

package io.lightmq.client;

import io.lightmq.client.link.BrokerLink;
import java.util.ArrayList;
import java.util.List;

/**
 * The acknowledgements that a session sends by itself: in mode AUTO, and in mode XA outside of any
 * branch, at once, in mode DUPS_OK {@value #LAZY_MESSAGES} together or after {@value #LAZY_MILLIS}
 * ms. Guarded by its gate's lock.
 */
final class Acknowledging {
  private static final int LAZY_MESSAGES = 500;
  private static final long LAZY_MILLIS = 500;

  private final AckMode mode;
  private final BrokerLink link;
  private final Gate gate;
  private List<Arrived> lazy = new ArrayList<>();
  private boolean timerRuns;

  Acknowledging(AckMode mode, BrokerLink link, Gate gate) {
    this.mode = mode;
    this.link = link;
    this.gate = gate;
  }

  void acknowledge(Arrived message) {
    gate.checkHeld();
    if (mode == AckMode.NONE) {
      return;
    }
    if (mode == AckMode.AUTO || mode == AckMode.XA) {
      link.acknowledge(Arrived.places(List.of(message)));
      return;
    }
    lazy.add(message.placeOnly());
    if (lazy.size() >= LAZY_MESSAGES) {
      flush();
    } else if (!timerRuns) {
      timerRuns = true;
      link.later(LAZY_MILLIS, this::timeOver);
    }
  }

  private void timeOver() {
    gate.lock();
    try {
      timerRuns = false;
      flush();
    } finally {
      gate.unlock();
    }
  }

  /** Sends what waits. */
  void flush() {
    gate.checkHeld();
    if (!lazy.isEmpty()) {
      link.acknowledge(Arrived.places(lazy));
      lazy = new ArrayList<>();
    }
  }

  /** The connection is lost: what waits will be delivered again. */
  void lost() {
    gate.checkHeld();
    lazy.clear();
  }
}

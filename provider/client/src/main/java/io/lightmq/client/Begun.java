package io.lightmq.client;

import io.lightmq.client.link.BrokerLink;
import io.lightmq.wire.Frame;
import java.util.ArrayList;
import java.util.List;

/**
 * Tells the broker what one of its sessions has handed to the application, so that an attempt is
 * counted for just that if the connection or the process ends. Sent without waiting, several in one
 * frame while the link is busy; the last may be lost with the process.
 *
 * <p>A session that acknowledges as it hands over ({@code receive} in modes AUTO and DUPS_OK, and
 * mode NO_ACKNOWLEDGE) tells nothing. A listener in mode AUTO is told of once, since what it has
 * begun is the oldest message that is not acknowledged; all else is told message by message. Any
 * thread.
 */
final class Begun {
  private final AckMode mode;
  private final BrokerLink link;
  private final int sessionId;
  private List<Arrived> untold = new ArrayList<>();
  private boolean scheduled;
  private boolean said;

  Begun(AckMode mode, BrokerLink link, int sessionId) {
    this.mode = mode;
    this.link = link;
    this.sessionId = sessionId;
  }

  /** The application is about to get messages before they are acknowledged. */
  synchronized void begins(boolean listener) {
    if (!said && mode != AckMode.NONE && (listener || mode.isExplicit())) {
      said = true;
      link.begun(sessionId, false, List::of);
    }
  }

  /** A message goes to the application. */
  synchronized void handedOver(Arrived message, boolean listener) {
    boolean told = mode.isExplicit() || (mode == AckMode.DUPS_OK && listener);
    if (!told) {
      return;
    }
    if (!mode.isExplicit()) {
      untold.clear();
    }
    untold.add(message.placeOnly());
    if (!scheduled) {
      scheduled = true;
      link.begun(sessionId, !mode.isExplicit(), this::take);
    }
  }

  private synchronized List<Frame.Acked> take() {
    scheduled = false;
    List<Arrived> taken = untold;
    untold = new ArrayList<>();
    return Arrived.places(taken);
  }

  /** The connection is lost: what was told counts, what was not is forgotten. */
  synchronized void lost() {
    untold.clear();
  }

  /** There is a new connection, which knows nothing. */
  synchronized void restored() {
    if (said) {
      link.begun(sessionId, false, List::of);
    }
  }
}

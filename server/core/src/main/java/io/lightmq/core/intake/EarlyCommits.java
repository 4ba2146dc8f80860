package io.lightmq.core.intake;

import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.sessions.CommandQueue;
import io.lightmq.core.sessions.PeerSession;
import io.lightmq.core.sessions.Sessions;
import io.lightmq.core.sessions.WaitingCommit;
import io.lightmq.core.transaction.Link;
import io.lightmq.wire.entry.FaultCode;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Ends connections whose commits wait for numbers that cannot come any more. A client sends its
 * numbers in their order, and only publishes are overtaken, in the mailbox or while they wait for
 * memory. So once all publishes are taken that a commit may have overtaken, and the next number is
 * not among those that wait, it is missing; and what commits keep would be kept for ever.
 */
@OwnedBy("shard")
final class EarlyCommits {
  private final Sessions sessions;
  private final CommandQueue queue;
  private final Set<PeerSession> waiting = new LinkedHashSet<>();

  EarlyCommits(Sessions sessions, CommandQueue queue) {
    this.sessions = sessions;
    this.queue = queue;
  }

  /** A commit of this connection has come; it is looked at when the turn ends. */
  void add(PeerSession session) {
    if (!session.waitingCommits().isEmpty()) {
      waiting.add(session);
    }
  }

  /** A turn has taken what it takes. */
  void endTurn() {
    if (waiting.isEmpty()) {
      return;
    }
    for (PeerSession session : List.copyOf(waiting)) {
      Link link = session.link();
      if (link == null || session.waitingCommits().isEmpty()) {
        waiting.remove(session);
      } else if (isMissing(session, link.last() + 1)) {
        waiting.remove(session);
        expel(session, link.last());
      }
    }
  }

  private boolean isMissing(PeerSession session, long next) {
    if (session.waitingCommits().containsKey(next) || waits(session, next)) {
      return false; // as nearly always; it costs no look at all that wait
    }
    boolean behindAll = false;
    for (WaitingCommit commit : session.waitingCommits().values()) {
      behindAll |= commit.isBehindAllOfBefore(queue);
    }
    return behindAll;
  }

  private static boolean waits(PeerSession session, long number) {
    for (PeerSession.Held held : session.heldPublishes()) {
      if (held.publish().number() == number) {
        return true;
      }
    }
    return false;
  }

  private void expel(PeerSession session, long last) {
    sessions.expel(
        session,
        FaultCode.PROTOCOL_ERROR,
        "commit "
            + session.waitingCommits().firstKey()
            + " does not follow "
            + last
            + ", the last number that was taken, and "
            + (last + 1)
            + " was not sent before it");
  }
}

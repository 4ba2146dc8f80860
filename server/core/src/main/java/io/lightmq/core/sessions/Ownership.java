package io.lightmq.core.sessions;

import io.lightmq.core.door.Peer;
import io.lightmq.core.state.Refusal;
import io.lightmq.spi.Principal;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.Printable;
import org.jspecify.annotations.Nullable;

/**
 * Whom links and durable subscriptions belong to: the user who made them. What was made before
 * owners were recorded has none, may be used by all, and belongs to the first user who does so and
 * has a name of its own.
 */
final class Ownership {
  private Ownership() {}

  /** Whether a connection's user may use something. */
  static boolean permits(@Nullable String owner, Peer peer) {
    return owner == null || owner.equals(peer.userName());
  }

  /**
   * Refuses what belongs to another user, whom the text does not name.
   *
   * @param what names the thing
   */
  static void check(@Nullable String owner, Peer peer, String what) {
    if (!permits(owner, peer)) {
      throw new Refusal(
          FaultCode.NOT_AUTHORIZED,
          what
              + " belongs to another user than "
              + Printable.of(peer.userName())
              + "; only its owner may use it, and only an administrator may delete it");
    }
  }

  /** Whose something is once a connection uses it that may. */
  static @Nullable String next(@Nullable String owner, Peer peer) {
    return owner != null || peer.userName().equals(Principal.ANONYMOUS) ? owner : peer.userName();
  }
}

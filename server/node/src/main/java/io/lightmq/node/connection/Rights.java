package io.lightmq.node.connection;

import io.lightmq.spi.Authorizer;
import io.lightmq.spi.Authorizer.Action;
import io.lightmq.spi.Principal;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.Printable;
import java.util.Locale;

/** What one connection's user may do: the only place of the broker that asks the authorizer. */
record Rights(Principal principal, Authorizer authorizer) {
  /** Stands for the broker as a whole. */
  static final String BROKER = "*";

  boolean permits(Action action, String destination) {
    return authorizer.permits(principal, action, destination);
  }

  void demand(Action action, String destination) throws ProtocolRefusal {
    if (!permits(action, destination)) {
      throw ProtocolRefusal.of(
          FaultCode.NOT_AUTHORIZED,
          "user "
              + Printable.of(principal.name())
              + " lacks the right "
              + action.name().toLowerCase(Locale.ROOT)
              + (destination.equals(BROKER) ? " on this broker" : " on " + destination));
    }
  }
}

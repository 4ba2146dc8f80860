package io.lightmq.client;

import io.lightmq.client.link.BrokerLink;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The transaction that a session works in at the moment, if it works in one. Any thread. */
final class CurrentUnit {
  private final Supplier<@Nullable UnitOfWork> units;
  private volatile @Nullable UnitOfWork now;

  private CurrentUnit(Supplier<@Nullable UnitOfWork> units) {
    this.units = units;
    this.now = units.get();
  }

  /** Of a session that sends and acknowledges as it goes. */
  static CurrentUnit none() {
    return new CurrentUnit(() -> null);
  }

  /** Of a session that has always a transaction of its own. */
  static CurrentUnit local(BrokerLink link, int sessionId, Inbox inbox) {
    return new CurrentUnit(() -> new UnitOfWork(link, sessionId, inbox, KeptPart.local(link)));
  }

  /** Null outside of any transaction. */
  @Nullable UnitOfWork now() {
    return now;
  }

  /** Works in another one from now on, or in none. */
  void set(@Nullable UnitOfWork unit) {
    now = unit;
  }

  /** The session is closed, and a transaction that is open rolled back. */
  void endLast(boolean attempted) {
    UnitOfWork open = now;
    if (open != null) {
      open.abandonLast(attempted);
    }
  }

  /** The transaction ends here, whatever comes of it, and another one begins. */
  UnitOfWork end() {
    UnitOfWork ended = now;
    if (ended == null) {
      throw new AssertionError("the session has no transaction");
    }
    now = units.get();
    return ended;
  }
}

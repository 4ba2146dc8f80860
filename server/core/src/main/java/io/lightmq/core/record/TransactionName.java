package io.lightmq.core.record;

import io.lightmq.wire.entry.Xid;
import java.util.UUID;

/** Who speaks by what name of a transaction that is kept before it is committed. */
public sealed interface TransactionName {
  /**
   * A local transaction of a link.
   *
   * @param number counted by the link, from 1
   */
  record OfLink(UUID link, long number) implements TransactionName {}

  /** A branch of a distributed transaction: its user's, by whatever link he comes. */
  record OfUser(String user, Xid xid) implements TransactionName {}
}

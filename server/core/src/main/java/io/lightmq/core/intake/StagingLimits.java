package io.lightmq.core.intake;

import io.lightmq.core.door.BrokerSettings;
import io.lightmq.core.door.Command;
import io.lightmq.core.record.TransactionName;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.state.Refusal;
import io.lightmq.core.state.ShardState;
import io.lightmq.core.transaction.Link;
import io.lightmq.core.transaction.Links;
import io.lightmq.core.transaction.StagedTransaction;
import io.lightmq.core.transaction.StagedTransactions;
import io.lightmq.wire.entry.FaultCode;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How much may be staged: a connection takes part in {@value #MAX_OF_CONNECTION} transactions that
 * are not prepared, there are {@value #MAX_OPEN} of these and {@value #MAX_PREPARED} prepared ones,
 * half of either of one user; beyond that none begins, or is prepared. What one may stage the
 * settings say; all of them together half of the room that the disk has, and those of one user half
 * of that.
 */
@OwnedBy("shard")
final class StagingLimits {
  /** Those that are not prepared in which a connection takes part. */
  static final int MAX_OF_CONNECTION = 1_000;

  /** All that are not prepared. */
  static final int MAX_OPEN = 10_000;

  /** Those of one user. */
  static final int MAX_OPEN_OF_USER = MAX_OPEN / 2;

  /** All that are prepared, or decided by an administrator and not forgotten. */
  static final int MAX_PREPARED = 10_000;

  /** Those of one user. */
  static final int MAX_PREPARED_OF_USER = MAX_PREPARED / 2;

  private final BrokerSettings settings;
  private final StagedTransactions all;
  private final Links links;

  /** Whose those are that are not prepared; bound: {@value #MAX_OPEN}. */
  private final Map<Long, String> openBy = new HashMap<>();

  /** How many of these a user has; for those who have some. */
  private final Map<String, Integer> openOf = new HashMap<>();

  /** What is staged and what may be beside it, as the disk was seen last. */
  private long roomBytes = Long.MAX_VALUE;

  StagingLimits(BrokerSettings settings, ShardState state) {
    this.settings = settings;
    this.all = state.transactions();
    this.links = state.links();
  }

  /** So much of the disk is free. */
  void sawDisk(long usableBytes) {
    long free = Math.min(usableBytes, Long.MAX_VALUE / 2) - settings.disk().minFreeBytes();
    roomBytes = Math.max(0, free) + all.bytes();
  }

  /** One is open: it is a user's who has begun it. */
  void open(long id, String user) {
    if (openBy.putIfAbsent(id, user) == null) {
      openOf.merge(user, 1, Integer::sum);
    }
  }

  /** One is prepared, or has ended. */
  void closed(long id) {
    String user = openBy.remove(id);
    if (user != null) {
      openOf.computeIfPresent(user, (of, count) -> count == 1 ? null : count - 1);
    }
  }

  /**
   * Refuses a part that is too much.
   *
   * @param user whose it is
   * @param own in how many open transactions its connection has part
   * @param known what it belongs to; null if it begins one
   */
  void check(String user, int own, @Nullable StagedTransaction known, Transactions.Part part) {
    if (known == null) {
      checkCounts(user, own);
    }
    long bytes = known == null ? 0 : known.bytes();
    long more = 0;
    for (Command.StagedRun run : part.runs()) {
      more += run.messages().buffer().remaining();
    }
    long mostBytes = settings.limits().maxStagedBytes();
    if (more > 0 && bytes + more > mostBytes) {
      throw new Refusal(
          FaultCode.TRANSACTION_TOO_LARGE,
          "the transaction has staged "
              + bytes
              + " bytes, and "
              + more
              + " would be more than "
              + mostBytes
              + " (limits.staged-transaction): commit more often");
    }
    if (more > 0) {
      checkShare(user, more);
    }
  }

  private void checkShare(String user, long more) {
    long most = roomBytes / 2;
    if (all.bytes() + more <= most / 2) {
      return; // as nearly always
    }
    long own = bytesOf(user);
    if (all.bytes() + more > most || own + more > most / 2) {
      throw new Refusal(
          FaultCode.LIMIT_REACHED,
          "transactions have staged "
              + all.bytes()
              + " bytes, those of this user "
              + own
              + ", and "
              + more
              + " would be more than half of what the disk has for them, "
              + most
              + ", or than one user's half of that, "
              + most / 2
              + ": commit or roll back some, or make room on the broker's disk");
    }
  }

  private long bytesOf(String user) {
    long bytes = 0;
    for (StagedTransaction each : all.all()) {
      bytes += each.bytes() > 0 && user.equals(userOf(each)) ? each.bytes() : 0;
    }
    return bytes;
  }

  private @Nullable String userOf(StagedTransaction transaction) {
    if (transaction.name() instanceof TransactionName.OfLink local) {
      Link link = links.find(local.link());
      return link == null ? null : link.owner();
    }
    return transaction.user();
  }

  private void checkCounts(String user, int own) {
    int ofUser = openOf.getOrDefault(user, 0);
    if (own >= MAX_OF_CONNECTION || ofUser >= MAX_OPEN_OF_USER || all.open() >= MAX_OPEN) {
      throw new Refusal(
          FaultCode.LIMIT_REACHED,
          "this connection has "
              + own
              + " transactions open of which the broker keeps something, its user has "
              + ofUser
              + ", all have "
              + all.open()
              + "; it keeps "
              + MAX_OF_CONNECTION
              + ", "
              + MAX_OPEN_OF_USER
              + " and "
              + MAX_OPEN
              + ": commit or roll back some");
    }
  }

  /** Refuses to prepare one more. */
  void checkPrepared(String user) {
    int own = all.toldOf(user);
    if (own >= MAX_PREPARED_OF_USER || all.prepared() + all.decided() >= MAX_PREPARED) {
      throw new Refusal(
          FaultCode.LIMIT_REACHED,
          "the user has "
              + own
              + " branches that are prepared or not forgotten, all have "
              + (all.prepared() + all.decided())
              + "; the broker keeps "
              + MAX_PREPARED_OF_USER
              + " and "
              + MAX_PREPARED
              + ": let transaction managers recover, or decide some by bin/lightmq xa");
    }
  }
}

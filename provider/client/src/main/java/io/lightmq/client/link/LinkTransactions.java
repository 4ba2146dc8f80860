package io.lightmq.client.link;

import io.lightmq.client.link.BrokerLink.Staged;
import io.lightmq.client.link.BrokerLink.Target;
import io.lightmq.client.link.Requests.OnLoss;
import io.lightmq.wire.Frame;
import io.lightmq.wire.Protocol;
import io.lightmq.wire.entry.Branch;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.Xid;
import io.netty.buffer.PooledByteBufAllocator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The way of transactions from any thread to the loop: what settles one has a number and survives
 * the loss of the connection, what is staged of one does not.
 */
final class LinkTransactions {
  private final Asking asking;
  private final Publishing publishing;
  private final AtomicLong lastTransaction = new AtomicLong();

  LinkTransactions(Asking asking, Publishing publishing) {
    this.asking = asking;
    this.publishing = publishing;
  }

  /** A fresh number of a local transaction. */
  long nextTransaction() {
    return lastTransaction.incrementAndGet();
  }

  /** Commits or prepares; if what it acknowledges is stale, nothing goes out. */
  CompletableFuture<Void> commit(Item.Commit commit, BooleanSupplier stale) {
    return settle(
        commit,
        () ->
            !commit.acked.isEmpty() && stale.getAsBoolean()
                ? Places.comeAgain(FaultCode.TRANSACTION_ROLLED_BACK)
                : null);
  }

  CompletableFuture<Void> decide(Item.Decide decide) {
    return settle(decide, () -> null);
  }

  private interface Objection {
    @Nullable LinkException onLoop();
  }

  private CompletableFuture<Void> settle(Item.Settlement settlement, Objection objection) {
    CompletableFuture<Void> result = new CompletableFuture<>();
    asking.onLoopOrAfterIt(
        () -> {
          LinkException refusal = asking.isEnded() ? Asking.ended() : objection.onLoop();
          if (refusal != null) {
            result.completeExceptionally(refusal);
            return;
          }
          forward(publishing.settle(settlement), result);
        });
    return result;
  }

  /**
   * Stages a part of a transaction. What the broker keeps of it goes with the connection, and so do
   * the places of what it acknowledges: then the rest of it is not sent on another one.
   */
  CompletableFuture<Long> stage(
      int sessionId,
      List<Staged> sends,
      List<Frame.Acked> acked,
      BooleanSupplier stale,
      Frame.Part part) {
    CompletableFuture<Long> result = new CompletableFuture<>();
    asking.onLoopOrAfterIt(
        () -> {
          boolean goesOn = part.transaction() != 0 || !acked.isEmpty();
          LinkException refusal = refusal(sends);
          if (goesOn && !asking.isEnded() && (asking.isLost() || stale.getAsBoolean())) {
            refusal = rolledBack();
          }
          if (refusal != null) {
            result.completeExceptionally(refusal);
            return;
          }
          forward(
              asking.askNow(
                  OnLoss.FAIL,
                  c ->
                      new Frame.Stage(
                          c,
                          sessionId,
                          part.transaction(),
                          Item.runs(
                              sends, Item.destinationIds(sends), PooledByteBufAllocator.DEFAULT),
                          acked,
                          part.branch()),
                  answer -> ((Frame.Staged) answer).transaction()),
              result);
        });
    return result;
  }

  private static LinkException rolledBack() {
    return LinkException.unsent(
        FaultCode.TRANSACTION_ROLLED_BACK,
        "the connection was lost after a part of the transaction was sent; it is rolled back",
        LinkException.connectionLost());
  }

  private static @Nullable LinkException refusal(List<Staged> sends) {
    for (Staged send : sends) {
      Target target = send.target();
      LinkException refusal = target.refusal();
      if (refusal != null) {
        return LinkException.unsent(refusal.code(), String.valueOf(refusal.getMessage()), refusal);
      }
    }
    return null;
  }

  /** Drops what is staged; the loss of the connection has done that. */
  CompletableFuture<Void> abandon(Branch branch, boolean attempted) {
    return asking.unlessStale(
        OnLoss.DONE, () -> false, Asking::ended, c -> new Frame.Abandon(c, branch, attempted));
  }

  /** Asks at once: without a connection it fails, for who asks does so again and again. */
  CompletableFuture<Frame.Recovered> recover(@Nullable Xid after) {
    CompletableFuture<Frame.Recovered> result = new CompletableFuture<>();
    asking.onLoopOrAfterIt(
        () -> {
          if (asking.isLost()) {
            result.completeExceptionally(
                new LinkException(FaultCode.CLOSING, "there is no connection"));
            return;
          }
          forward(
              asking.askNow(
                  OnLoss.FAIL,
                  c -> new Frame.Recover(c, Protocol.MAX_RECOVERED, after),
                  answer -> (Frame.Recovered) answer),
              result);
        });
    return result;
  }

  private static <T> void forward(CompletableFuture<T> from, CompletableFuture<T> to) {
    var unused =
        from.whenComplete(
            (answer, failure) -> {
              if (failure == null) {
                to.complete(answer);
              } else {
                to.completeExceptionally(failure);
              }
            });
  }
}

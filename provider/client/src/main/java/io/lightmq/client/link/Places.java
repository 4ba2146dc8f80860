package io.lightmq.client.link;

import io.lightmq.client.link.Requests.OnLoss;
import io.lightmq.wire.Frame;
import io.lightmq.wire.entry.FaultCode;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Acknowledges and gives back the places of delivered messages, in pieces that fit into a frame.
 * Places are good on the connection only that brought them: after a loss they may be those of new
 * copies. So what is stale when its turn comes on the loop does not go out.
 */
final class Places {
  private final Asking asking;

  Places(Asking asking) {
    this.asking = asking;
  }

  /** Acknowledges; fails if they are stale. */
  CompletableFuture<Void> acknowledge(List<Frame.Acked> acked, BooleanSupplier stale) {
    return forEachPiece(
        acked,
        piece ->
            asking.unlessStale(
                OnLoss.FAIL,
                stale,
                () -> comeAgain(FaultCode.NOT_IN_FLIGHT),
                c -> new Frame.Acknowledge(c, piece)));
  }

  /** Gives back; what is stale is back in the broker. */
  CompletableFuture<Void> giveBack(
      List<Frame.Acked> returned,
      boolean attempted,
      @Nullable String cause,
      BooleanSupplier stale) {
    return forEachPiece(
        returned,
        piece ->
            asking
                .unlessStale(
                    OnLoss.DONE,
                    stale,
                    () -> comeAgain(FaultCode.NOT_IN_FLIGHT),
                    c -> new Frame.Return(c, piece, attempted, cause))
                .exceptionallyCompose(Places::unlessBackAlready));
  }

  /** What a request fails with whose places are stale. */
  static LinkException comeAgain(FaultCode code) {
    return LinkException.unsent(
        code,
        "the connection was lost after messages were received; they come again",
        LinkException.connectionLost());
  }

  private static CompletableFuture<Void> forEachPiece(
      List<Frame.Acked> acked, Function<List<Frame.Acked>, CompletableFuture<Void>> ask) {
    return CompletableFuture.allOf(
        AckedPieces.of(acked, LinkWriter.MAX_ITEMS).stream()
            .map(ask)
            .toArray(CompletableFuture<?>[]::new));
  }

  /** What is not in flight any more is back in the broker, as after a lost connection. */
  private static CompletableFuture<Void> unlessBackAlready(Throwable failure) {
    return Connector.unwrap(failure) instanceof LinkException link
            && link.code() == FaultCode.NOT_IN_FLIGHT
        ? CompletableFuture.allOf()
        : CompletableFuture.failedFuture(failure);
  }
}

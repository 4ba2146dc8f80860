package io.lightmq.client.link;

import io.lightmq.client.link.Requests.OnLoss;
import io.lightmq.wire.Frame;
import io.lightmq.wire.FrameCodec;
import io.lightmq.wire.entry.FaultCode;
import io.netty.channel.EventLoop;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.Supplier;

/** The way from any thread to the requests of the loop. */
final class Asking {
  private final EventLoop loop;
  private final Requests requests;
  private final BooleanSupplier isOpen;
  private final BooleanSupplier isEnded;

  /** The states are asked for on the loop. */
  Asking(EventLoop loop, Requests requests, BooleanSupplier isOpen, BooleanSupplier isEnded) {
    this.loop = loop;
    this.requests = requests;
    this.isOpen = isOpen;
    this.isEnded = isEnded;
  }

  /** What everything fails with that comes after the end. */
  static LinkException ended() {
    return new LinkException(FaultCode.CLOSING, "the connection is closed");
  }

  /**
   * Asks; the answer is taken over on the loop.
   *
   * @param undo what closes again what the broker may have opened, when nobody has the answer: it
   *     came too late, or whoever asked has cancelled
   */
  <T> CompletableFuture<T> ask(
      OnLoss onLoss, IntFunction<Frame> frame, Function<Frame, T> answer, Runnable undo) {
    CompletableFuture<T> result = new CompletableFuture<>();
    try {
      loop.execute(() -> askOnLoop(onLoss, frame, answer, undo, result));
    } catch (RejectedExecutionException e) {
      end(onLoss, result);
    }
    return result;
  }

  /** Whether there is no connection or it is still being restored; on the loop. */
  boolean isLost() {
    return !isOpen.getAsBoolean();
  }

  /** Whether the link has ended; on the loop. */
  boolean isEnded() {
    return isEnded.getAsBoolean();
  }

  /** Asks; on the loop, or after its end. */
  <T> CompletableFuture<T> askNow(
      OnLoss onLoss, IntFunction<Frame> frame, Function<Frame, T> answer) {
    CompletableFuture<T> result = new CompletableFuture<>();
    askOnLoop(onLoss, frame, answer, () -> {}, result);
    return result;
  }

  /** Hands over to the loop; after its end nothing is done any more. */
  void onLoop(Runnable task) {
    try {
      loop.execute(task);
    } catch (RejectedExecutionException e) {
      // nothing is open any more
    }
  }

  /** Runs a task on the loop after a while; after the loop's end runs the other one. */
  void later(long millis, Runnable task, Runnable ended) {
    try {
      var unused = loop.schedule(task, millis, TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException e) {
      ended.run();
    }
  }

  /** Hands over to the loop; after its end, when nothing happens on it any more, runs here. */
  void onLoopOrAfterIt(Runnable task) {
    try {
      loop.execute(task);
    } catch (RejectedExecutionException e) {
      task.run();
    }
  }

  /** Asks for something that is answered by Ok. */
  CompletableFuture<Void> ok(OnLoss onLoss, IntFunction<Frame> frame) {
    return ask(onLoss, frame, answer -> (Frame.Ok) answer, () -> {}).thenApply(Asking::nothing);
  }

  /**
   * Gives something up, which the loss of the connection does as well.
   *
   * @param forget runs first, on the loop
   * @param isReopened whether the connection that is being restored has it already
   */
  CompletableFuture<Void> giveUp(
      Runnable forget, BooleanSupplier isReopened, IntFunction<Frame> frame) {
    CompletableFuture<Void> result = new CompletableFuture<>();
    try {
      loop.execute(
          () -> {
            forget.run();
            if (!isOpen.getAsBoolean() && !isReopened.getAsBoolean()) {
              end(OnLoss.DONE, result);
            } else {
              askOnLoop(OnLoss.DONE, frame, Asking::nothing, () -> {}, result);
            }
          });
    } catch (RejectedExecutionException e) {
      end(OnLoss.DONE, result);
    }
    return result;
  }

  /**
   * Asks something that is right only as long as what the client knows is not stale, which it is at
   * the latest when there is no connection.
   *
   * @param stale asked on the loop
   * @param failure what a request fails with then, if a loss does not do what it asks for
   */
  CompletableFuture<Void> unlessStale(
      OnLoss onLoss,
      BooleanSupplier stale,
      Supplier<LinkException> failure,
      IntFunction<Frame> frame) {
    CompletableFuture<Void> result = new CompletableFuture<>();
    try {
      loop.execute(
          () -> {
            if (isEnded.getAsBoolean() || !(isLost() || stale.getAsBoolean())) {
              askOnLoop(onLoss, frame, Asking::nothing, () -> {}, result);
            } else if (onLoss == OnLoss.DONE) {
              end(OnLoss.DONE, result);
            } else {
              result.completeExceptionally(failure.get());
            }
          });
    } catch (RejectedExecutionException e) {
      end(onLoss, result);
    }
    return result;
  }

  @SuppressWarnings("NullAway") // the one value of Void
  private static Void nothing(Object ignored) {
    return null;
  }

  private <T> void askOnLoop(
      OnLoss onLoss,
      IntFunction<Frame> frame,
      Function<Frame, T> answer,
      Runnable undo,
      CompletableFuture<T> result) {
    if (isEnded.getAsBoolean()) {
      end(onLoss, result);
      return;
    }
    var unused =
        requests
            .ask(isOpen.getAsBoolean(), onLoss, frame)
            .whenComplete(
                (frameOfAnswer, failure) -> {
                  if (failure == null) {
                    complete(result, answer, undo, frameOfAnswer);
                    return;
                  }
                  result.completeExceptionally(failure);
                  if (failure instanceof LinkException link
                      && link.code() == FaultCode.OUTCOME_UNKNOWN) {
                    undo.run();
                  }
                });
  }

  @SuppressWarnings("NullAway") // only what has no value but that of Void is done by a loss
  private static <T> void end(OnLoss onLoss, CompletableFuture<T> result) {
    if (onLoss == OnLoss.DONE) {
      result.complete(null);
    } else {
      result.completeExceptionally(ended());
    }
  }

  private static <T> void complete(
      CompletableFuture<T> result, Function<Frame, T> answer, Runnable undo, Frame frame) {
    try {
      if (!result.complete(answer.apply(frame))) {
        undo.run();
      }
    } catch (ClassCastException e) {
      result.completeExceptionally(
          new LinkException(
              FaultCode.PROTOCOL_ERROR,
              "the broker answered with " + FrameCodec.typeOf(frame) + ", which does not fit",
              e));
    }
  }
}

package io.lightmq.client.link;

import io.lightmq.client.link.Requests.OnLoss;
import io.lightmq.wire.Frame;
import io.lightmq.wire.FrameCodec;
import io.lightmq.wire.entry.FaultCode;
import io.netty.channel.EventLoop;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.IntFunction;

/** The way from any thread to the requests of the loop. */
final class Asking {
  private final EventLoop loop;
  private final Requests requests;
  private final BooleanSupplier isOpen;
  private final BooleanSupplier isUnconnected;
  private final BooleanSupplier isEnded;

  /** The states are asked for on the loop. */
  Asking(
      EventLoop loop,
      Requests requests,
      BooleanSupplier isOpen,
      BooleanSupplier isUnconnected,
      BooleanSupplier isEnded) {
    this.loop = loop;
    this.requests = requests;
    this.isOpen = isOpen;
    this.isUnconnected = isUnconnected;
    this.isEnded = isEnded;
  }

  /** What everything fails with that comes after the end. */
  static LinkException ended() {
    return new LinkException(FaultCode.CLOSING, "the connection is closed");
  }

  /** Asks; the answer is taken over on the loop. */
  <T> CompletableFuture<T> ask(OnLoss onLoss, IntFunction<Frame> frame, Function<Frame, T> answer) {
    CompletableFuture<T> result = new CompletableFuture<>();
    try {
      loop.execute(() -> askOnLoop(onLoss, frame, answer, result));
    } catch (RejectedExecutionException e) {
      end(onLoss, answer, result);
    }
    return result;
  }

  /** Asks for something that is answered by Ok. */
  CompletableFuture<Void> ok(OnLoss onLoss, IntFunction<Frame> frame) {
    return ask(onLoss, frame, answer -> (Frame.Ok) answer).thenApply(Asking::nothing);
  }

  @SuppressWarnings("NullAway") // the one value of Void
  private static Void nothing(Object ignored) {
    return null;
  }

  private <T> void askOnLoop(
      OnLoss onLoss,
      IntFunction<Frame> frame,
      Function<Frame, T> answer,
      CompletableFuture<T> result) {
    boolean lossHasDoneIt = onLoss == OnLoss.DONE && isUnconnected.getAsBoolean();
    if (isEnded.getAsBoolean() || lossHasDoneIt) {
      end(onLoss, answer, result);
      return;
    }
    var unused =
        requests
            .ask(isOpen.getAsBoolean(), onLoss, frame)
            .whenComplete(
                (frameOfAnswer, failure) -> {
                  if (failure != null) {
                    result.completeExceptionally(failure);
                  } else {
                    complete(result, answer, frameOfAnswer);
                  }
                });
  }

  private static <T> void end(
      OnLoss onLoss, Function<Frame, T> answer, CompletableFuture<T> result) {
    if (onLoss == OnLoss.DONE) {
      result.complete(answer.apply(new Frame.Ok(1)));
    } else {
      result.completeExceptionally(ended());
    }
  }

  private static <T> void complete(
      CompletableFuture<T> result, Function<Frame, T> answer, Frame frame) {
    try {
      result.complete(answer.apply(frame));
    } catch (ClassCastException e) {
      result.completeExceptionally(
          new LinkException(
              FaultCode.PROTOCOL_ERROR,
              "the broker answered with " + FrameCodec.typeOf(frame) + ", which does not fit",
              e));
    }
  }
}

package io.lightmq.client.link;

import io.lightmq.wire.Frame;
import io.lightmq.wire.entry.FaultCode;
import io.netty.channel.EventLoop;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * The requests that wait for an answer or for a connection, each with a deadline. At most {@value
 * #MAX_OPEN}; more are refused at once. Belongs to the link's loop.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a timer that fires late finds its request answered
final class Requests {
  static final int MAX_OPEN = 100_000;

  /** Correlations of requests are below this, those of publishes and commits at or above. */
  static final int FIRST_RUN_CORRELATION = 1 << 30;

  /** What the loss of the connection does to a request. */
  enum OnLoss {
    /** It is asked again on the next connection. */
    RESEND,
    /** The loss has done what was asked for. */
    DONE,
    /** It fails. */
    FAIL
  }

  private static final class Open {
    final CompletableFuture<Frame> answer = new CompletableFuture<>();
    final OnLoss onLoss;
    final IntFunction<Frame> frame;
    int correlation;

    Open(OnLoss onLoss, IntFunction<Frame> frame) {
      this.onLoss = onLoss;
      this.frame = frame;
    }
  }

  private final EventLoop loop;
  private final int timeoutMillis;
  private final Consumer<Frame> writer;
  private final BooleanSupplier isUnconnected;
  private final Map<Integer, Open> sent = new HashMap<>();
  private List<Open> waiting = new ArrayList<>();
  private int lastCorrelation;

  /**
   * For a link.
   *
   * @param isUnconnected whether there is no channel to write to
   */
  Requests(
      EventLoop loop, int timeoutMillis, Consumer<Frame> writer, BooleanSupplier isUnconnected) {
    this.loop = loop;
    this.timeoutMillis = timeoutMillis;
    this.writer = writer;
    this.isUnconnected = isUnconnected;
  }

  /**
   * Asks, or waits for a connection first.
   *
   * @param connected whether to ask now
   */
  CompletableFuture<Frame> ask(boolean connected, OnLoss onLoss, IntFunction<Frame> frame) {
    OnLoop.check(loop);
    Open open = new Open(onLoss, frame);
    if (sent.size() + waiting.size() >= MAX_OPEN) {
      open.answer.completeExceptionally(
          new LinkException(
              FaultCode.LIMIT_REACHED, MAX_OPEN + " requests are open; wait for some to end"));
      return open.answer;
    }
    Future<?> deadline = loop.schedule(() -> expire(open), timeoutMillis, TimeUnit.MILLISECONDS);
    open.answer.whenComplete((answer, failure) -> deadline.cancel(false));
    if (connected) {
      send(open);
    } else {
      waiting.add(open);
    }
    return open.answer;
  }

  private void send(Open open) {
    if (isUnconnected.getAsBoolean()) {
      waiting.addAll(afterLoss(List.of(open), "there is no connection", null));
      return;
    }
    do {
      lastCorrelation = lastCorrelation + 1 >= FIRST_RUN_CORRELATION ? 1 : lastCorrelation + 1;
    } while (sent.containsKey(lastCorrelation));
    open.correlation = lastCorrelation;
    sent.put(open.correlation, open);
    writer.accept(open.frame.apply(open.correlation));
  }

  private void expire(Open open) {
    sent.remove(open.correlation, open);
    waiting.remove(open);
    open.answer.completeExceptionally(
        new LinkException(
            FaultCode.OUTCOME_UNKNOWN,
            "the broker did not answer within "
                + timeoutMillis
                + " ms (option requestTimeoutMillis)"));
  }

  /** Takes an answer; false if nothing asked for it, as after a deadline. */
  boolean answered(Frame frame) {
    OnLoop.check(loop);
    Open open = sent.remove(frame.correlation());
    if (open == null) {
      return false;
    }
    if (frame instanceof Frame.Fault fault) {
      open.answer.completeExceptionally(new LinkException(fault.code(), fault.text()));
    } else {
      open.answer.complete(frame);
    }
    return true;
  }

  /** The connection is lost. */
  void lost(LinkException cause) {
    OnLoop.check(loop);
    List<Open> lost = new ArrayList<>(sent.values());
    sent.clear();
    lost.sort((a, b) -> Integer.compare(a.correlation, b.correlation));
    lost.addAll(waiting.stream().filter(open -> open.onLoss == OnLoss.DONE).toList());
    waiting.removeIf(open -> open.onLoss == OnLoss.DONE);
    List<Open> again = afterLoss(lost, "the connection was lost before the answer came", cause);
    again.addAll(waiting);
    waiting = again;
  }

  /** What is asked again; the others end. */
  private static List<Open> afterLoss(List<Open> lost, String what, @Nullable LinkException cause) {
    List<Open> again = new ArrayList<>();
    for (Open open : lost) {
      switch (open.onLoss) {
        case RESEND -> again.add(open);
        case DONE -> open.answer.complete(new Frame.Ok(Math.max(1, open.correlation)));
        case FAIL ->
            open.answer.completeExceptionally(
                cause == null
                    ? new LinkException(FaultCode.OUTCOME_UNKNOWN, what)
                    : new LinkException(
                        FaultCode.OUTCOME_UNKNOWN, what + ": " + cause.getMessage(), cause));
      }
    }
    return again;
  }

  /** There is a connection again. */
  void resume() {
    OnLoop.check(loop);
    List<Open> now = waiting;
    waiting = new ArrayList<>();
    for (Open open : now) {
      if (!open.answer.isDone()) {
        send(open);
      }
    }
  }

  /** The link has ended. */
  void fail(LinkException cause) {
    OnLoop.check(loop);
    List<Open> all = new ArrayList<>(sent.values());
    all.addAll(waiting);
    sent.clear();
    waiting = new ArrayList<>();
    for (Open open : all) {
      if (open.onLoss == OnLoss.DONE) {
        open.answer.complete(new Frame.Ok(Math.max(1, open.correlation)));
      } else {
        open.answer.completeExceptionally(cause.here());
      }
    }
  }
}

package io.lightmq.client.link;

import io.lightmq.client.link.BrokerLink.ConsumerSpec;
import io.lightmq.client.link.BrokerLink.Target;
import io.lightmq.client.link.BrokerLink.Temporary;
import io.lightmq.client.link.Requests.OnLoss;
import io.lightmq.wire.Frame;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Opens and closes sessions, targets, consumers and temporary destinations, from any thread, and
 * has {@link OpenThings} remember them. What nobody waits for any more when its answer comes, or
 * whose answer does not come in time, is closed again.
 */
@SuppressWarnings("FutureReturnValueIgnored") // what has opened too late is closed; nobody waits
final class Opening {
  private static final long RETRY_MILLIS = 200;

  private final Asking asking;
  private final OpenThings things;
  private final Publishing publishing;
  private final LinkWriter writer;
  private final int requestTimeoutMillis;
  private final AtomicInteger lastId = new AtomicInteger();
  private final AtomicLong lastTemporary = new AtomicLong();

  Opening(
      Asking asking,
      OpenThings things,
      Publishing publishing,
      LinkWriter writer,
      int requestTimeoutMillis) {
    this.asking = asking;
    this.things = things;
    this.publishing = publishing;
    this.writer = writer;
    this.requestTimeoutMillis = requestTimeoutMillis;
  }

  /** A fresh id; sessions, targets and consumers share one count. */
  int nextId() {
    return lastId.incrementAndGet();
  }

  CompletableFuture<Integer> session() {
    int sessionId = nextId();
    return asking.ask(
        OnLoss.RESEND,
        c -> new Frame.OpenSession(c, sessionId),
        answer -> {
          Frame.Ok ok = (Frame.Ok) answer;
          if (ok.correlation() > 0) {
            things.opened(sessionId);
          }
          return sessionId;
        },
        () -> closeSession(sessionId));
  }

  CompletableFuture<Void> closeSession(int sessionId) {
    return asking.giveUp(
        () -> things.closedSession(sessionId),
        () -> things.isReopened(sessionId),
        c -> new Frame.CloseSession(c, sessionId));
  }

  /** What the broker puts off, such as one whose link may come back, is asked for again. */
  CompletableFuture<Target> target(int sessionId, DestinationName destination) {
    CompletableFuture<Target> result = new CompletableFuture<>();
    long untilNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(requestTimeoutMillis);
    target(sessionId, destination, untilNanos, result);
    return result;
  }

  private void target(
      int sessionId, DestinationName destination, long untilNanos, CompletableFuture<Target> to) {
    var unused =
        targetNow(sessionId, destination)
            .whenComplete(
                (target, failure) -> {
                  if (failure == null) {
                    if (!to.complete(target)) {
                      asking.onLoop(() -> closeTarget(target));
                    }
                  } else if (failure instanceof LinkException link
                      && link.code() == FaultCode.RETRY_LATER
                      && !to.isDone()
                      && untilNanos - System.nanoTime() > 0) {
                    asking.later(
                        RETRY_MILLIS,
                        () -> target(sessionId, destination, untilNanos, to),
                        () -> to.completeExceptionally(Asking.ended()));
                  } else {
                    to.completeExceptionally(failure);
                  }
                });
  }

  private CompletableFuture<Target> targetNow(int sessionId, DestinationName destination) {
    Target target = new Target(nextId(), sessionId, destination);
    return asking.ask(
        OnLoss.RESEND,
        c ->
            new Frame.AttachProducer(
                c, target.producerId(), sessionId, things.current(destination)),
        answer -> {
          target.resolved(((Frame.ProducerAttached) answer).destinationId());
          things.opened(target);
          return target;
        },
        () -> closeTarget(target));
  }

  /** On the loop. */
  void closeTarget(Target target) {
    things.closed(target);
    publishing.whenUnused(
        target,
        () -> {
          if (publishing.isOpen()) {
            writer.write(new Frame.DetachProducer(target.producerId()));
          }
        });
  }

  CompletableFuture<Long> consumer(ConsumerSpec spec) {
    return asking.ask(
        OnLoss.RESEND,
        c -> things.attach(c, spec),
        answer -> {
          long destinationId = ((Frame.ConsumerAttached) answer).destinationId();
          things.opened(spec);
          return destinationId;
        },
        () -> closeConsumer(spec.consumerId()));
  }

  CompletableFuture<Void> closeConsumer(int consumerId) {
    return asking.giveUp(
        () -> things.closedConsumer(consumerId),
        () -> things.isReopened(consumerId),
        c -> new Frame.DetachConsumer(c, consumerId));
  }

  /** Asked again after a lost connection, a subscription that is unknown was deleted before. */
  CompletableFuture<Void> unsubscribe(String subscription) {
    AtomicInteger asked = new AtomicInteger();
    return asking
        .ok(
            OnLoss.RESEND,
            c -> {
              asked.incrementAndGet();
              return new Frame.Unsubscribe(c, subscription);
            })
        .exceptionallyCompose(
            failure ->
                asked.get() > 1
                        && Connector.unwrap(failure) instanceof LinkException link
                        && link.code() == FaultCode.INVALID_SUBSCRIPTION
                    ? CompletableFuture.allOf()
                    : CompletableFuture.failedFuture(failure));
  }

  CompletableFuture<Temporary> temporary(DestinationKind kind) {
    CompletableFuture<Temporary> created = new CompletableFuture<>();
    long number = lastTemporary.incrementAndGet();
    return asking.ask(
        OnLoss.RESEND,
        c -> things.create(c, kind, number),
        answer -> {
          Temporary temporary = new Temporary(OpenThings.made(answer, kind), number);
          things.opened(temporary);
          created.complete(temporary);
          return temporary;
        },
        () -> {
          var unused = created.thenCompose(this::deleteTemporary);
        });
  }

  /** The broker may refuse it, so it is forgotten only when it is gone. */
  CompletableFuture<Void> deleteTemporary(Temporary temporary) {
    return asking
        .giveUp(
            () -> {
              if (asking.isLost() && !things.areTemporariesReopened()) {
                things.closed(temporary);
              }
            },
            things::areTemporariesReopened,
            c -> new Frame.DeleteTemporary(c, temporary.name()))
        .thenRun(() -> asking.onLoop(() -> things.closed(temporary)));
  }
}

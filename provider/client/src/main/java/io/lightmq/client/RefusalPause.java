package io.lightmq.client;

import io.lightmq.client.fault.JmsFaults;
import io.lightmq.client.link.LinkException;
import io.lightmq.wire.entry.FaultCode;
import jakarta.jms.JMSException;
import jakarta.jms.ResourceAllocationException;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * What a broker that has no room means for those whose work fails by it. It is no failed attempt of
 * theirs, so what they had received comes again without end, and at once: therefore a session waits
 * before it goes on, or it would be tried thousands of times a second. {@value #FIRST_MILLIS} ms
 * after the first in a row, twice as long after each further one, at most {@value #MAX_MILLIS} ms.
 */
final class RefusalPause {
  static final long FIRST_MILLIS = 100;
  static final long MAX_MILLIS = 1_000;

  /** What the broker refuses for want of room, so that no application has failed. */
  private static final Set<FaultCode> NO_ROOM =
      EnumSet.of(
          FaultCode.DISK_FULL,
          FaultCode.MEMORY_FULL,
          FaultCode.LIMIT_REACHED,
          FaultCode.RETRY_LATER);

  /** What says only that something came of it; the reason is its cause, if there is one. */
  private static final Set<FaultCode> NO_REASON =
      EnumSet.of(FaultCode.TRANSACTION_ROLLED_BACK, FaultCode.NOT_IN_FLIGHT);

  /** Of a failure; the causes of some are their own causes. */
  private static final int MAX_CAUSES = 100;

  private final LongConsumer sleepMillis;
  private long nextMillis = FIRST_MILLIS;

  RefusalPause() {
    this(RefusalPause::sleep);
  }

  RefusalPause(LongConsumer sleepMillis) {
    this.sleepMillis = sleepMillis;
  }

  private static void sleep(long millis) {
    try {
      TimeUnit.MILLISECONDS.sleep(millis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** A commit has failed, or is rolled back for a failure; waits if that was for want of room. */
  void failed(@Nullable Throwable cause) {
    if (isNoRoom(cause)) {
      sleepMillis.accept(next());
    }
  }

  private synchronized long next() {
    long millis = nextMillis;
    nextMillis = Math.min(MAX_MILLIS, 2 * millis);
    return millis;
  }

  synchronized void succeeded() {
    nextMillis = FIRST_MILLIS;
  }

  /**
   * Whether the reason of a failure is that a broker of ours has refused something for want of
   * room, whatever has been wrapped around that, on whichever connection.
   */
  static boolean isNoRoom(@Nullable Throwable failure) {
    Throwable at = failure;
    for (int depth = 0; at != null && depth < MAX_CAUSES; depth++) {
      if (at instanceof LinkException refusal && NO_ROOM.contains(refusal.code())) {
        return true;
      }
      if (at instanceof ResourceAllocationException refusal && hasCodeOfNoRoom(refusal)) {
        return true;
      }
      Throwable cause = at.getCause();
      at = cause == null && at instanceof JMSException jms ? jms.getLinkedException() : cause;
    }
    return false;
  }

  private static boolean hasCodeOfNoRoom(ResourceAllocationException refusal) {
    return NO_ROOM.stream().anyMatch(code -> JmsFaults.isOf(code, refusal));
  }

  /**
   * Whether a commit that was refused before it went out failed for a reason that is the
   * application's, so that what it had received counts as an attempt: neither for want of room, nor
   * because a connection was lost or there was none.
   */
  static boolean isOfTheApplication(@Nullable Throwable cause) {
    for (Throwable at = cause; at != null; at = at.getCause()) {
      if (at instanceof LinkException refusal
          && !NO_ROOM.contains(refusal.code())
          && !NO_REASON.contains(refusal.code())) {
        return true;
      }
    }
    return false;
  }
}

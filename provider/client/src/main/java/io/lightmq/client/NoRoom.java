package io.lightmq.client;

import io.lightmq.client.fault.JmsFaults;
import io.lightmq.client.link.LinkException;
import io.lightmq.wire.entry.FaultCode;
import jakarta.jms.JMSException;
import jakarta.jms.ResourceAllocationException;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Whether something has failed because the broker had no room. */
final class NoRoom {
  /** What says only that something came of it; the reason is its cause, if there is one. */
  private static final Set<FaultCode> NO_REASON =
      EnumSet.of(FaultCode.TRANSACTION_ROLLED_BACK, FaultCode.NOT_IN_FLIGHT, FaultCode.CLOSING);

  /** Of a failure; the causes of some are their own causes. */
  private static final int MAX_CAUSES = 100;

  private NoRoom() {}

  /**
   * Whether the reason of a failure is that a broker of ours has refused something for want of
   * room, whatever has been wrapped around that, on whichever connection.
   */
  static boolean is(@Nullable Throwable failure) {
    return codeOf(failure) != null;
  }

  /** Whether it is that, and with this code. */
  static boolean is(@Nullable Throwable failure, FaultCode code) {
    return codeOf(failure) == code;
  }

  /** The code of that refusal, null if there is none. */
  private static @Nullable FaultCode codeOf(@Nullable Throwable failure) {
    Throwable at = failure;
    for (int depth = 0; at != null && depth < MAX_CAUSES; depth++) {
      if (at instanceof LinkException refusal && refusal.code().isWantOfRoom()) {
        return refusal.code();
      }
      FaultCode code = at instanceof ResourceAllocationException refusal ? code(refusal) : null;
      if (code != null) {
        return code;
      }
      Throwable cause = at.getCause();
      at = cause == null && at instanceof JMSException jms ? jms.getLinkedException() : cause;
    }
    return null;
  }

  private static @Nullable FaultCode code(ResourceAllocationException refusal) {
    for (FaultCode code : FaultCode.values()) {
      if (code.isWantOfRoom() && JmsFaults.isOf(code, refusal)) {
        return code;
      }
    }
    return null;
  }

  /**
   * Whether a commit that was refused before it went out failed for a reason that is the
   * application's, so that what it had received counts as an attempt: neither for want of room, nor
   * because a connection was lost or there was none.
   */
  static boolean isOfTheApplication(@Nullable Throwable cause) {
    for (Throwable at = cause; at != null; at = at.getCause()) {
      if (at instanceof LinkException refusal
          && !refusal.code().isWantOfRoom()
          && !NO_REASON.contains(refusal.code())) {
        return true;
      }
    }
    return false;
  }
}

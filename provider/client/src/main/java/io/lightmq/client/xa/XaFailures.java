package io.lightmq.client.xa;

import io.lightmq.wire.entry.FaultCode;
import javax.transaction.xa.XAException;
import org.jspecify.annotations.Nullable;

/** Makes the exceptions of an XAResource, each with its code. */
public final class XaFailures {
  private XaFailures() {}

  /** With a code of {@link XAException}. */
  public static XAException of(int code, String text) {
    return of(code, text, null);
  }

  /** With a code of {@link XAException}, and why. */
  public static XAException of(int code, String text, @Nullable Throwable cause) {
    XAException made = new XAException(text);
    made.errorCode = code;
    if (cause != null) {
      made.initCause(cause);
    }
    return made;
  }

  /** The code for a branch that was rolled back because of this. */
  public static int rolledBack(FaultCode fault) {
    return switch (fault) {
      // The broker rolls a branch back without another reason when a connection was lost.
      case TRANSACTION_ROLLED_BACK, CLOSING, HEARTBEAT_LOST, BROKER_FAILED, OUTCOME_UNKNOWN ->
          XAException.XA_RBCOMMFAIL;
      case NOT_IN_FLIGHT,
          INVALID_DESTINATION,
          DESTINATION_GONE,
          NOT_OWNER,
          INVALID_SUBSCRIPTION,
          IN_USE ->
          XAException.XA_RBINTEGRITY;
      case RETRY_LATER -> XAException.XA_RBTRANSIENT;
      case DUPLICATE_TRANSACTION, BAD_REQUEST, PROTOCOL_ERROR -> XAException.XA_RBPROTO;
      default -> XAException.XA_RBROLLBACK;
    };
  }

  /** Whether a code says that the branch is rolled back. */
  public static boolean isRolledBack(int code) {
    return code >= XAException.XA_RBBASE && code <= XAException.XA_RBEND;
  }
}

package io.lightmq.client;

import io.lightmq.client.link.LinkException;
import io.lightmq.wire.entry.FaultCode;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What a failed request says about whether it was carried out. */
final class Outcomes {
  /** After these nobody knows; all others refuse it. */
  private static final Set<FaultCode> UNKNOWN =
      EnumSet.of(
          FaultCode.OUTCOME_UNKNOWN,
          FaultCode.CLOSING,
          FaultCode.BROKER_FAILED,
          FaultCode.HEARTBEAT_LOST);

  private Outcomes() {}

  /**
   * Whether a request was certainly not carried out, on a link that goes on.
   *
   * @param here by this client, so that nothing has gone out; else by the broker
   */
  static boolean isRefused(@Nullable Throwable cause, boolean here) {
    return cause instanceof LinkException refusal
        && refusal.isUnsent() == here
        && !UNKNOWN.contains(refusal.code());
  }

  /** Whether it was certainly not carried out, whoever has refused it. */
  static boolean isRefused(@Nullable Throwable cause) {
    return isRefused(cause, true) || isRefused(cause, false);
  }
}

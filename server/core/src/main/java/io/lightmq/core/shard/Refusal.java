package io.lightmq.core.shard;

import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.Printable;

/** The caller's mistake, or a limit: becomes a coded answer. Without stack trace, never logged. */
class Refusal extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final FaultCode code;
  private final String text;

  Refusal(FaultCode code, String text) {
    super(Printable.line(text), null, false, false);
    this.code = code;
    this.text = Printable.line(text);
  }

  FaultCode code() {
    return code;
  }

  String text() {
    return text;
  }
}

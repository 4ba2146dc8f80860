package io.lightmq.core.state;

import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.Printable;

/** The caller's mistake, or a limit: becomes a coded answer. Without stack trace, never logged. */
public class Refusal extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final FaultCode code;
  private final String text;

  public Refusal(FaultCode code, String text) {
    super(Printable.line(text), null, false, false);
    this.code = code;
    this.text = Printable.line(text);
  }

  public FaultCode code() {
    return code;
  }

  public String text() {
    return text;
  }

  /**
   * Whoever is refused hears of it: the moment to count it. What was only planned never gets here.
   */
  public void told() {}
}

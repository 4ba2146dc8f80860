package io.lightmq.wire.scram;

import io.lightmq.wire.entry.Printable;

/** The exchange failed: the other side is not who it says, or does not follow RFC 5802. */
public final class ScramException extends Exception {
  private static final long serialVersionUID = 1L;

  /** With a text that may be shown to the other side. */
  public ScramException(String message) {
    super(Printable.line(message));
  }
}

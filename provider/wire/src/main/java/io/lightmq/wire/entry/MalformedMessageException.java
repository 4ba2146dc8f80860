package io.lightmq.wire.entry;

/** Bytes that are no entry or message; the text has the place and the numbers. */
public final class MalformedMessageException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** With the facts. */
  public MalformedMessageException(String message) {
    super(message);
  }
}

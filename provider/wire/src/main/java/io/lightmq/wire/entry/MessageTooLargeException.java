package io.lightmq.wire.entry;

/** A message above the limit of its {@link MessageWriter}. */
public final class MessageTooLargeException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  MessageTooLargeException(long bytes, int limitBytes) {
    super("the message needs at least " + bytes + " bytes; the limit is " + limitBytes);
  }
}

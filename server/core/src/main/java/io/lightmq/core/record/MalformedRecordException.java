package io.lightmq.core.record;

/** Bytes in the journal that passed their checksum but are not a record of a known version. */
public final class MalformedRecordException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Says what was found where, and what was expected. */
  public MalformedRecordException(String message) {
    super(message);
  }
}

package io.lightmq.core.storage;

import java.io.IOException;
import java.util.Locale;

/**
 * The device or quota had no room for a file from which nothing is confirmed yet. Whoever wrote it
 * gives it up, makes room and may try again; every other {@link IOException} of a write is final.
 */
public final class DiskFullException extends IOException {
  /** An exception with a text that names file and bytes. */
  public DiskFullException(String message, IOException cause) {
    super(message, cause);
  }

  /** Whether a failure says that room is missing. */
  public static boolean isFull(IOException failure) {
    String text = String.valueOf(failure.getMessage()).toLowerCase(Locale.ROOT);
    return failure instanceof DiskFullException
        || text.contains("no space left")
        || text.contains("enospc")
        || text.contains("quota exceeded")
        || text.contains("not enough space");
  }

  /** The failure as this type if it says that room is missing, else the failure itself. */
  public static IOException classify(String what, IOException failure) {
    return isFull(failure) && !(failure instanceof DiskFullException)
        ? new DiskFullException(what + ": no space left; free some or raise the quota", failure)
        : failure;
  }
}

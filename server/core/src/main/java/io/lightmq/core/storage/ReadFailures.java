package io.lightmq.core.storage;

import java.io.IOException;
import java.nio.file.FileSystemException;

/** Tells apart why a read has failed. */
public final class ReadFailures {
  private ReadFailures() {}

  /**
   * Whether a file is not there or cannot be opened, for want of handles or of rights: that says
   * nothing of its bytes, which may be read later or elsewhere.
   */
  public static boolean isOfTheFile(IOException failure) {
    return failure instanceof FileSystemException;
  }
}

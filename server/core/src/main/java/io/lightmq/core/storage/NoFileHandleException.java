package io.lightmq.core.storage;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.util.Locale;

/**
 * The process or the system had no file handle left, so that a file was not opened: nothing has
 * been read, written or made. It passes; whoever wanted the file tries again later.
 */
public final class NoFileHandleException extends FileSystemException {
  private static final long serialVersionUID = 1L;

  /** An exception about a file. */
  public NoFileHandleException(String name, IOException cause) {
    super(
        name,
        null,
        "it cannot be opened now, no file handle is left: raise the limit of open files (ulimit -n)"
            + " or close other files");
    initCause(cause);
  }

  /** The failure of opening a file as this type if it says so, else the failure itself. */
  static IOException classify(String name, IOException failure) {
    String text = String.valueOf(failure.getMessage()).toLowerCase(Locale.ROOT);
    return text.contains("too many open files")
        ? new NoFileHandleException(name, failure)
        : failure;
  }
}

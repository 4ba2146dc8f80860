package io.lightmq.core.storage;

import io.lightmq.wire.entry.Printable;
import java.nio.channels.ClosedChannelException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystemLoopException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import org.jspecify.annotations.Nullable;

/**
 * Tells what is wrong with a file: the exceptions of the file system often say no more than its
 * name, and their class is the reason.
 */
public final class FileFaults {
  private FileFaults() {}

  /** The failure as a text for people: the file, if the failure knows it, and the reason. */
  public static String text(Throwable failure) {
    if (failure instanceof FileSystemException fault && fault.getFile() != null) {
      String second = fault.getOtherFile() == null ? "" : " to " + shown(fault.getOtherFile());
      return shown(fault.getFile()) + second + ": " + reason(failure);
    }
    return reason(failure);
  }

  /** The reason alone. */
  static String reason(Throwable failure) {
    String known = known(failure);
    if (known != null) {
      return known;
    }
    String text =
        failure instanceof FileSystemException fault ? fault.getReason() : failure.getMessage();
    String kind = failure.getClass().getSimpleName();
    return text == null || text.isBlank() ? kind : Printable.line(text);
  }

  private static @Nullable String known(Throwable failure) {
    if (failure instanceof AccessDeniedException) {
      return "permission denied; the user "
          + Printable.of(System.getProperty("user.name"))
          + " that this process runs as may not do that there";
    }
    if (failure instanceof NoSuchFileException) {
      return "there is no such file or directory";
    }
    if (failure instanceof NotDirectoryException) {
      return "that is not a directory";
    }
    if (failure instanceof FileAlreadyExistsException) {
      return "that exists already";
    }
    if (failure instanceof DirectoryNotEmptyException) {
      return "that directory is not empty";
    }
    if (failure instanceof FileSystemLoopException) {
      return "its links lead round in a circle";
    }
    if (failure instanceof ClosedChannelException) {
      return "it is closed";
    }
    return null;
  }

  private static String shown(String path) {
    return Printable.line(path);
  }
}

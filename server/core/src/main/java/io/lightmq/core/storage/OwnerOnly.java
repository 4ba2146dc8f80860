package io.lightmq.core.storage;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.EnumSet;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps what is in a data directory to its owner, whoever made the directory and whatever the umask
 * is: there are messages in it. Where the file system knows no POSIX permissions it does nothing.
 */
final class OwnerOnly {
  /** What a broker makes in its data directory; what else is there is left alone. */
  static final Set<String> NAMES =
      Set.of(
          "ballast",
          "journal",
          "lock",
          "orphaned",
          "overflow",
          "segments",
          "snapshots",
          "store",
          "users");

  private static final Logger log = LoggerFactory.getLogger(OwnerOnly.class);

  private static final boolean POSIX =
      FileSystems.getDefault().supportedFileAttributeViews().contains("posix");

  private static final Set<PosixFilePermission> OWNERS =
      EnumSet.of(
          PosixFilePermission.OWNER_READ,
          PosixFilePermission.OWNER_WRITE,
          PosixFilePermission.OWNER_EXECUTE);

  private int tightened;

  private OwnerOnly() {}

  /** What a new file is made with. */
  static FileAttribute<?>[] file() {
    return attributes("rw-------");
  }

  /** What a new directory is made with. */
  static FileAttribute<?>[] directory() {
    return attributes("rwx------");
  }

  private static FileAttribute<?>[] attributes(String permissions) {
    return POSIX
        ? new FileAttribute<?>[] {
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(permissions))
        }
        : new FileAttribute<?>[0];
  }

  /**
   * Takes away what others may do with a broker's files below a data directory, and with the
   * directory itself if nothing else is in it. What cannot be changed is told in the log.
   *
   * @return how many were changed
   */
  static int tighten(Path root) throws IOException {
    if (!POSIX) {
      return 0;
    }
    OwnerOnly all = new OwnerOnly();
    boolean others = false;
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(root)) {
      for (Path entry : entries) {
        String name = String.valueOf(entry.getFileName());
        if (NAMES.contains(name) || name.equals("users.new")) {
          all.tightenWithin(entry);
        } else {
          others |= !name.equals("lost+found");
        }
      }
    }
    if (!others) {
      all.tightenOne(root);
    }
    if (all.tightened > 0) {
      log.info(
          "{} files and folders of {} could be read by others; now only their owner can",
          all.tightened,
          root);
    }
    return all.tightened;
  }

  private void tightenWithin(Path path) throws IOException {
    tightenOne(path);
    if (Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
      try (DirectoryStream<Path> entries = Files.newDirectoryStream(path)) {
        for (Path entry : entries) {
          tightenOne(entry);
        }
      }
    }
  }

  private void tightenOne(Path path) {
    if (Files.isSymbolicLink(path)) {
      return;
    }
    try {
      Set<PosixFilePermission> permissions = EnumSet.copyOf(Files.getPosixFilePermissions(path));
      if (permissions.retainAll(OWNERS)) {
        Files.setPosixFilePermissions(path, permissions);
        tightened++;
      }
    } catch (IOException | UnsupportedOperationException e) {
      log.warn("Others may be able to read {}, which cannot be changed: {}", path, e.toString());
    }
  }
}

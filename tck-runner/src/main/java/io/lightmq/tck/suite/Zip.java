package io.lightmq.tck.suite;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;

/** Unpacks the archive in which the TCK is published. */
final class Zip {

  private Zip() {}

  /** Unpacks a zip into a folder, which it makes. */
  static Path unpack(Path zip, Path folder) throws IOException {
    Path root = Files.createDirectories(folder).toAbsolutePath().normalize();
    try (ZipInputStream in = new ZipInputStream(Files.newInputStream(zip))) {
      for (ZipEntry entry = in.getNextEntry(); entry != null; entry = in.getNextEntry()) {
        Path target = root.resolve(entry.getName()).normalize();
        if (!target.startsWith(root)) {
          throw new IOException(zip + " has an entry that lies outside: " + entry.getName());
        }
        if (entry.isDirectory()) {
          Files.createDirectories(target);
        } else {
          Files.createDirectories(target.getParent());
          Files.copy(in, target);
        }
      }
    }
    return root;
  }
}

package io.lightmq.tck.faults;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** How much a broker's files take on the disk. */
final class DataFiles {
  /** What is preallocated, however much lives: the journal and the ballast. */
  private static final Set<String> FIXED = Set.of("journal", "ballast");

  private DataFiles() {}

  /** Bytes of all files but the preallocated ones. */
  static long variableBytes(Path data) throws IOException {
    return bytes(data, FIXED);
  }

  /** Bytes of all files whose path contains none of the given words. */
  static long bytes(Path directory, Set<String> without) throws IOException {
    List<Path> all;
    try (Stream<Path> files = Files.walk(directory)) {
      all = files.toList();
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
    long bytes = 0;
    for (Path file : all) {
      String name = directory.relativize(file).toString();
      try {
        if (without.stream().noneMatch(name::contains) && Files.isRegularFile(file)) {
          bytes += Files.size(file);
        }
      } catch (NoSuchFileException e) {
        // It was deleted meanwhile.
      }
    }
    return bytes;
  }
}

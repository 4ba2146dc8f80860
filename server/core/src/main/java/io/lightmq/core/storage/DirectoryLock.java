package io.lightmq.core.storage;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The lock on a data directory: a file {@code lock} that holds the owner's process id.
 *
 * <p>A second open in the same process is caught by a set of names before the file is touched:
 * closing any channel of a file drops all POSIX locks that the process has on it.
 *
 * <p>The file is never deleted: who had opened it before would then hold a lock on a file without a
 * name, and the next one a lock on a new file.
 */
final class DirectoryLock implements AutoCloseable {
  private static final String NAME = "lock";
  private static final int MAX_PID_BYTES = 32;
  private static final Set<Path> HELD = ConcurrentHashMap.newKeySet();

  private final Path directory;
  private final FileChannel channel;
  private final FileLock lock;

  private DirectoryLock(Path directory, FileChannel channel, FileLock lock) {
    this.directory = directory;
    this.channel = channel;
    this.lock = lock;
  }

  static DirectoryLock take(Path directory) throws IOException {
    Path real = directory.toRealPath();
    if (!HELD.add(real)) {
      throw inUse(real, "a broker in this process");
    }
    boolean taken = false;
    try {
      FileChannel channel =
          FileChannel.open(
              real.resolve(NAME),
              Set.of(StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE),
              OwnerOnly.file());
      FileLock lock = channel.tryLock();
      if (lock == null) {
        String pid = read(channel);
        channel.close();
        throw inUse(real, pid.isEmpty() ? "another process" : "process " + pid);
      }
      channel.truncate(0);
      String pid = Long.toString(ProcessHandle.current().pid());
      ByteBuffer bytes = ByteBuffer.wrap(pid.getBytes(StandardCharsets.US_ASCII));
      while (bytes.hasRemaining()) {
        channel.write(bytes, bytes.position());
      }
      taken = true;
      return new DirectoryLock(real, channel, lock);
    } finally {
      if (!taken) {
        HELD.remove(real);
      }
    }
  }

  private static String read(FileChannel channel) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(MAX_PID_BYTES);
    int count = channel.read(bytes, 0);
    return count <= 0 ? "" : new String(bytes.array(), 0, count, StandardCharsets.US_ASCII).trim();
  }

  private static IOException inUse(Path directory, String owner) {
    return new IOException(
        "data directory "
            + directory
            + " is in use by "
            + owner
            + "; stop that broker or choose another directory");
  }

  @Override
  public void close() throws IOException {
    try (channel) {
      channel.truncate(0);
      lock.release();
    } finally {
      HELD.remove(directory);
    }
  }
}

package io.lightmq.core.storage;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.FileStore;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A data directory on a real file system, locked while it is open. Positional channel I/O only,
 * never a mapping: a write fault in a mapping is told late and in the wrong place.
 *
 * <p>An interrupt of a thread inside a call closes the file for everyone, so only threads that are
 * never interrupted may use it.
 */
public final class NioDisk implements Disk, AutoCloseable {
  private final Path root;
  private final DirectoryLock lock;

  /** Asked for the room on it without another handle. */
  private final FileStore store;

  /** Folders that are forced again and again, open, so that no lack of handles can prevent it. */
  private final Map<String, FileChannel> folders = new HashMap<>();

  private NioDisk(Path root, DirectoryLock lock) throws IOException {
    this.root = root;
    this.lock = lock;
    this.store = Files.getFileStore(root);
  }

  /**
   * Opens a data directory, creating it if missing, and locks it. All that a broker has in it is
   * its owner's alone, now and later.
   *
   * @throws IOException if another broker has it; the message names directory and process
   */
  public static NioDisk open(Path directory) throws IOException {
    Path absolute = directory.toAbsolutePath().normalize();
    createPrivately(absolute);
    DirectoryLock lock = DirectoryLock.take(absolute);
    try {
      OwnerOnly.tighten(absolute);
      NioDisk disk = new NioDisk(absolute, lock);
      disk.folder("");
      return disk;
    } catch (IOException | RuntimeException e) {
      lock.close();
      throw e;
    }
  }

  /** The directory. */
  public Path root() {
    return root;
  }

  @Override
  public DiskFile create(String name) throws IOException {
    Path path = path(name);
    return new NioFile(
        name,
        path,
        channel(
            name,
            Set.of(
                StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE),
            OwnerOnly.file()));
  }

  private FileChannel channel(
      String name, Set<StandardOpenOption> options, FileAttribute<?>... attributes)
      throws IOException {
    try {
      return FileChannel.open(path(name), options, attributes);
    } catch (FileSystemException e) {
      throw NoFileHandleException.classify(name, e);
    }
  }

  private synchronized FileChannel folder(String name) throws IOException {
    FileChannel open = folders.get(name);
    if (open == null) {
      open = channel(name, Set.of(StandardOpenOption.READ));
      folders.put(name, open);
    }
    return open;
  }

  @Override
  public DiskFile open(String name) throws IOException {
    return new NioFile(
        name, path(name), channel(name, Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE)));
  }

  @Override
  public boolean exists(String name) {
    return Files.exists(path(name));
  }

  @Override
  public List<String> list(String folder) throws IOException {
    Path directory = path(folder);
    List<String> names = new ArrayList<>();
    if (Files.isDirectory(directory)) {
      try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory)) {
        for (Path entry : entries) {
          Path name = entry.getFileName();
          if (name != null && Files.isRegularFile(entry)) {
            names.add(name.toString());
          }
        }
      } catch (FileSystemException e) {
        throw NoFileHandleException.classify(folder, e);
      }
    }
    Collections.sort(names);
    return names;
  }

  @Override
  public void createFolder(String folder) throws IOException {
    createPrivately(path(folder));
    folder(folder);
  }

  @Override
  public void rename(String from, String to) throws IOException {
    Files.move(path(from), path(to), StandardCopyOption.ATOMIC_MOVE);
  }

  @Override
  public DiskFile rename(DiskFile file, String to) throws IOException {
    if (!(file instanceof NioFile open)) {
      throw new IllegalArgumentException(file.name() + " is no file of this disk");
    }
    rename(open.name, to);
    return new NioFile(to, path(to), open.channel);
  }

  @Override
  public void delete(String name) throws IOException {
    Files.deleteIfExists(path(name));
  }

  @Override
  public void forceDirectory(String folder) throws IOException {
    folder(folder).force(true);
  }

  @Override
  public long usableBytes() throws IOException {
    return store.getUsableSpace();
  }

  @Override
  public long totalBytes() throws IOException {
    return store.getTotalSpace();
  }

  /** Gives up the lock. Open files stay open until their owners close them. */
  @Override
  public void close() throws IOException {
    try {
      synchronized (this) {
        for (FileChannel folder : folders.values()) {
          folder.close();
        }
        folders.clear();
      }
    } finally {
      lock.close();
    }
  }

  private Path path(String name) {
    Path path = root.resolve(name).normalize();
    if (!path.startsWith(root)) {
      throw new IllegalArgumentException("name " + name + " leads out of " + root);
    }
    return path;
  }

  /** Where the file system knows no POSIX permissions, those of the parent count. */
  private static void createPrivately(Path directory) throws IOException {
    Path parent = directory.getParent();
    if (parent == null || Files.isDirectory(directory)) {
      return;
    }
    createDurably(parent);
    Files.createDirectory(directory, OwnerOnly.directory());
    force(parent);
  }

  private static void createDurably(Path directory) throws IOException {
    if (Files.isDirectory(directory)) {
      return;
    }
    Path parent = directory.getParent();
    if (parent != null) {
      createDurably(parent);
    }
    Files.createDirectories(directory);
    if (parent != null) {
      force(parent);
    }
  }

  private static void force(Path directory) throws IOException {
    try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }

  /** A file whose failures name it: the system's own texts say only what is wrong. */
  private static final class NioFile implements DiskFile {
    private final String name;
    private final Path path;
    private final FileChannel channel;

    NioFile(String name, Path path, FileChannel channel) {
      this.name = name;
      this.path = path;
      this.channel = channel;
    }

    @Override
    public String name() {
      return name;
    }

    @Override
    public int read(long fileOffset, ByteBuffer into) throws IOException {
      int total = 0;
      try {
        while (into.hasRemaining()) {
          int count = channel.read(into, fileOffset + total);
          if (count < 0) {
            break;
          }
          total += count;
        }
      } catch (IOException e) {
        throw failed("cannot be read at " + (fileOffset + total), e);
      }
      return total;
    }

    @Override
    public void write(long fileOffset, ByteBuffer... from) throws IOException {
      try {
        writeAll(fileOffset, from);
      } catch (IOException e) {
        throw failed("cannot be written at " + fileOffset, e);
      }
    }

    private void writeAll(long fileOffset, ByteBuffer... from) throws IOException {
      if (from.length == 1) {
        long at = fileOffset;
        while (from[0].hasRemaining()) {
          at += progress(channel.write(from[0], at));
        }
        return;
      }
      long remaining = 0;
      for (ByteBuffer buffer : from) {
        remaining += buffer.remaining();
      }
      channel.position(fileOffset);
      int first = 0;
      while (remaining > 0) {
        while (!from[first].hasRemaining()) {
          first++;
        }
        remaining -= progress(channel.write(from, first, from.length - first));
      }
    }

    private static long progress(long count) throws IOException {
      if (count <= 0) {
        throw new EOFException("it took no bytes");
      }
      return count;
    }

    @Override
    public void force() throws IOException {
      try {
        channel.force(false);
      } catch (IOException e) {
        throw failed("cannot be forced", e);
      }
    }

    @Override
    public long size() throws IOException {
      try {
        return channel.size();
      } catch (IOException e) {
        throw failed("does not tell its size", e);
      }
    }

    @Override
    public void truncate(long size) throws IOException {
      try {
        channel.truncate(size);
      } catch (IOException e) {
        throw failed("cannot be cut to " + size + " bytes", e);
      }
    }

    private IOException failed(String what, IOException cause) {
      return new IOException(path + " " + what + ": " + FileFaults.reason(cause), cause);
    }

    @Override
    public void close() throws IOException {
      channel.close();
    }
  }
}

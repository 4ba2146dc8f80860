package io.lightmq.core.storage.snapshot;

import io.lightmq.core.storage.Disk;
import io.lightmq.core.storage.DiskFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.Predicate;

/** A disk with a planted bug: some forces do nothing. */
final class FaultyDisk implements Disk {
  private final Disk disk;
  private final Predicate<String> skipForce;
  private final Predicate<String> skipDirectoryForce;

  FaultyDisk(Disk disk, Predicate<String> skipForce, Predicate<String> skipDirectoryForce) {
    this.disk = disk;
    this.skipForce = skipForce;
    this.skipDirectoryForce = skipDirectoryForce;
  }

  @Override
  public DiskFile create(String name) throws IOException {
    return new FaultyFile(disk.create(name));
  }

  @Override
  public DiskFile open(String name) throws IOException {
    return disk.open(name);
  }

  @Override
  public boolean exists(String name) throws IOException {
    return disk.exists(name);
  }

  @Override
  public List<String> list(String folder) throws IOException {
    return disk.list(folder);
  }

  @Override
  public void createFolder(String folder) throws IOException {
    disk.createFolder(folder);
  }

  @Override
  public void rename(String from, String to) throws IOException {
    disk.rename(from, to);
  }

  @Override
  public void delete(String name) throws IOException {
    disk.delete(name);
  }

  @Override
  public void forceDirectory(String folder) throws IOException {
    if (!skipDirectoryForce.test(folder)) {
      disk.forceDirectory(folder);
    }
  }

  @Override
  public long usableBytes() throws IOException {
    return disk.usableBytes();
  }

  @Override
  public long totalBytes() throws IOException {
    return disk.totalBytes();
  }

  private final class FaultyFile implements DiskFile {
    private final DiskFile file;

    FaultyFile(DiskFile file) {
      this.file = file;
    }

    @Override
    public String name() {
      return file.name();
    }

    @Override
    public int read(long fileOffset, ByteBuffer into) throws IOException {
      return file.read(fileOffset, into);
    }

    @Override
    public void write(long fileOffset, ByteBuffer... from) throws IOException {
      file.write(fileOffset, from);
    }

    @Override
    public void force() throws IOException {
      if (!skipForce.test(file.name())) {
        file.force();
      }
    }

    @Override
    public long size() throws IOException {
      return file.size();
    }

    @Override
    public void truncate(long size) throws IOException {
      file.truncate(size);
    }

    @Override
    public void close() throws IOException {
      file.close();
    }
  }
}

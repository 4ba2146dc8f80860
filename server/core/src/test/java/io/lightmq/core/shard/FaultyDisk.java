package io.lightmq.core.shard;

import io.lightmq.core.storage.Disk;
import io.lightmq.core.storage.DiskFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;

/** A disk whose forces are in the hands of a planted bug; all else goes through. */
class FaultyDisk implements Disk {
  private final Disk disk;

  FaultyDisk(Disk disk) {
    this.disk = disk;
  }

  /** Forces a file, or not. */
  void force(DiskFile file) throws IOException {
    file.force();
  }

  @Override
  public DiskFile create(String name) throws IOException {
    return new FaultyFile(disk.create(name));
  }

  @Override
  public DiskFile open(String name) throws IOException {
    return new FaultyFile(disk.open(name));
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
    disk.forceDirectory(folder);
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
      FaultyDisk.this.force(file);
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

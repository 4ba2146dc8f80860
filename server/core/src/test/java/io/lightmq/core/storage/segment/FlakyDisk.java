package io.lightmq.core.storage.segment;

import io.lightmq.core.storage.Disk;
import io.lightmq.core.storage.DiskFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;

/** A disk whose nth read from now on gives wrong bytes, once. */
final class FlakyDisk implements Disk {
  private final Disk disk;
  private int countdown;
  private int spoilt;

  FlakyDisk(Disk disk) {
    this.disk = disk;
  }

  void spoilRead(int nth) {
    countdown = nth;
  }

  int spoilt() {
    return spoilt;
  }

  @Override
  public DiskFile create(String name) throws IOException {
    return disk.create(name);
  }

  @Override
  public DiskFile open(String name) throws IOException {
    return new FlakyFile(disk.open(name));
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

  private final class FlakyFile implements DiskFile {
    private final DiskFile file;

    FlakyFile(DiskFile file) {
      this.file = file;
    }

    @Override
    public String name() {
      return file.name();
    }

    @Override
    public int read(long fileOffset, ByteBuffer into) throws IOException {
      int start = into.position();
      int got = file.read(fileOffset, into);
      if (--countdown == 0) {
        int at = start + (into.position() - start) / 2;
        into.put(at, (byte) ~into.get(at));
        spoilt++;
      }
      return got;
    }

    @Override
    public void write(long fileOffset, ByteBuffer... from) throws IOException {
      file.write(fileOffset, from);
    }

    @Override
    public void force() throws IOException {
      file.force();
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

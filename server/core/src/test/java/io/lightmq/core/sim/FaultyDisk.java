package io.lightmq.core.sim;

import io.lightmq.core.storage.Disk;
import io.lightmq.core.storage.DiskFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.Predicate;

/**
 * A disk that passes everything on to another. A subclass changes one call: to plant a bug that the
 * tests must see, or to fail on demand. The only such wrapper; extend it rather than write another.
 */
public abstract class FaultyDisk implements Disk {
  private final Disk disk;

  protected FaultyDisk(Disk disk) {
    this.disk = disk;
  }

  /** Forces a file. */
  protected void force(DiskFile file) throws IOException {
    file.force();
  }

  /** Writes to a file. */
  protected void write(DiskFile file, long fileOffset, ByteBuffer... from) throws IOException {
    file.write(fileOffset, from);
  }

  /** Reads from a file. */
  protected int read(DiskFile file, long fileOffset, ByteBuffer into) throws IOException {
    return file.read(fileOffset, into);
  }

  /** No file is ever forced. */
  public static Disk forceThatDoesNothing(Disk disk) {
    return new FaultyDisk(disk) {
      @Override
      protected void force(DiskFile file) {}
    };
  }

  /** Folders are never forced. */
  public static Disk noDirectoryForce(Disk disk) {
    return new FaultyDisk(disk) {
      @Override
      public void forceDirectory(String folder) {}
    };
  }

  /** Some files, and some folders, are never forced. */
  public static Disk skippedForces(
      Disk disk, Predicate<String> fileNames, Predicate<String> folders) {
    return new FaultyDisk(disk) {
      @Override
      protected void force(DiskFile file) throws IOException {
        if (!fileNames.test(file.name())) {
          super.force(file);
        }
      }

      @Override
      public void forceDirectory(String folder) throws IOException {
        if (!folders.test(folder)) {
          super.forceDirectory(folder);
        }
      }
    };
  }

  /** A force returns at once and happens when the file is next written: confirm before force. */
  public static Disk confirmBeforeForce(Disk disk) {
    return new FaultyDisk(disk) {
      private DiskFile owed;

      @Override
      protected void force(DiskFile file) throws IOException {
        pay();
        owed = file;
      }

      @Override
      protected void write(DiskFile file, long fileOffset, ByteBuffer... from) throws IOException {
        pay();
        super.write(file, fileOffset, from);
      }

      private void pay() throws IOException {
        if (owed != null) {
          DiskFile due = owed;
          owed = null;
          due.force();
        }
      }
    };
  }

  /** A force that fails is passed over in silence. */
  public static Disk failedForceIsSwallowed(Disk disk) {
    return new FaultyDisk(disk) {
      @Override
      protected void force(DiskFile file) {
        try {
          file.force();
        } catch (IOException e) {
          // this is the bug
        }
      }
    };
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
  public DiskFile rename(DiskFile file, String to) throws IOException {
    rename(file.name(), to);
    file.close();
    return open(to);
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
      return FaultyDisk.this.read(file, fileOffset, into);
    }

    @Override
    public void write(long fileOffset, ByteBuffer... from) throws IOException {
      FaultyDisk.this.write(file, fileOffset, from);
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

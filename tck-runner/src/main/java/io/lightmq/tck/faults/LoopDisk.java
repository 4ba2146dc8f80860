package io.lightmq.tck.faults;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A file system in an image file that can lose its power: from that moment every write and force on
 * it fails, and what was not forced is gone when it is mounted again.
 *
 * <p>Needs root, loop devices, {@code mkfs} of the type, and {@code xfs_io} (package xfsprogs).
 */
final class LoopDisk implements AutoCloseable {

  private static final long IMAGE_BYTES = 3L << 30;
  private static final int UMOUNT_TRIES = 50;
  private static final long UMOUNT_PAUSE_MILLIS = 100;

  private final String type;
  private final Path image;
  private final Path mountPoint;

  private LoopDisk(String type, Path image, Path mountPoint) {
    this.type = type;
    this.image = image;
    this.mountPoint = mountPoint;
  }

  /** Makes and mounts an empty file system of type ext4 or xfs under the directory. */
  static LoopDisk create(String type, Path directory)
      throws HarnessException, IOException, InterruptedException {
    Path image = directory.resolve(type + ".img");
    Path mountPoint = Files.createDirectories(directory.resolve("mount-" + type));
    Shell.run("truncate", "-s", String.valueOf(IMAGE_BYTES), image.toString());
    String force = type.equals("xfs") ? "-f" : "-F";
    Shell.run("mkfs." + type, "-q", force, image.toString());
    LoopDisk disk = new LoopDisk(type, image, mountPoint);
    disk.mount();
    return disk;
  }

  /** The directory under which the file system is mounted. */
  Path mountPoint() {
    return mountPoint;
  }

  /** Mounts the image and makes sure that it is what it should be. */
  void mount() throws HarnessException, InterruptedException {
    Shell.run("mount", "-o", "loop", image.toString(), mountPoint.toString());
    if (!isMounted()) {
      throw new HarnessException(mountPoint + " is not a mounted " + type + " file system");
    }
  }

  private boolean isMounted() throws HarnessException {
    try {
      String wanted = " " + mountPoint.toAbsolutePath() + " " + type + " ";
      return Files.readString(Path.of("/proc/mounts")).contains(wanted);
    } catch (IOException e) {
      throw new HarnessException("cannot read /proc/mounts", e);
    }
  }

  /**
   * Cuts the power and makes sure that it is off.
   *
   * @param flushLog whether the file system's own log reaches the disk just before
   */
  void cutPower(boolean flushLog) throws HarnessException, InterruptedException {
    if (!isMounted()) {
      throw new HarnessException(mountPoint + " was not mounted when the power was to be cut");
    }
    String command = flushLog ? "shutdown -f" : "shutdown";
    Shell.run("xfs_io", "-x", "-c", command, mountPoint.toString());
    Path probe = mountPoint.resolve("probe");
    try {
      Files.writeString(probe, "x");
    } catch (IOException e) {
      return;
    }
    throw new HarnessException("the fault did not fire: " + probe + " could still be written");
  }

  /** Unmounts; processes that used it must be gone. */
  void unmount() throws HarnessException, InterruptedException {
    Shell.Result result = Shell.tryRun("umount", mountPoint.toString());
    for (int i = 1; result.code() != 0 && i < UMOUNT_TRIES; i++) {
      Thread.sleep(UMOUNT_PAUSE_MILLIS);
      result = Shell.tryRun("umount", mountPoint.toString());
    }
    if (result.code() != 0) {
      throw new HarnessException("cannot unmount " + mountPoint + ": " + result.output());
    }
  }

  @Override
  public void close() throws HarnessException, InterruptedException, IOException {
    if (isMounted()) {
      unmount();
    }
    Files.deleteIfExists(image);
  }
}

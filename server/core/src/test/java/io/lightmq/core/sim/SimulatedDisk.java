package io.lightmq.core.sim;

import io.lightmq.core.storage.Disk;
import io.lightmq.core.storage.DiskFile;
import io.lightmq.core.storage.NoFileHandleException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.regex.Pattern;

/**
 * A disk in memory with a page cache that can be lost. Each file has current and forced bytes, each
 * folder current and forced names.
 *
 * <p>{@link #crash} is a power cut: forced bytes of forced names stay; of what was not forced a
 * random subset of 512-byte sectors survives, some as garbage, and the newest changes of names may
 * be undone. {@link #kill} ends only the process: the page cache survives, still unforced. A force
 * that fails drops the dirty pages as Linux does: the bytes can be read until the next crash, and
 * no later force writes them. Any thread.
 */
public final class SimulatedDisk implements Disk {
  static final int SECTOR = 512;

  /** What can be made to fail, or to cut the power. */
  public enum Operation {
    CREATE,
    WRITE,
    FORCE,
    RENAME,
    DELETE,
    FORCE_DIRECTORY,
    READ
  }

  private final Random random;
  private final Map<String, SimulatedFolder> folders = new TreeMap<>();
  private final Map<Operation, Integer> done = new EnumMap<>(Operation.class);
  private final Map<Operation, Integer> failAt = new EnumMap<>(Operation.class);
  private final Map<String, Integer> forces = new HashMap<>();
  private final Map<String, Integer> creations = new HashMap<>();
  private Consumer<String> beforeForce = name -> {};
  private long capacityBytes = Long.MAX_VALUE;
  private long cutAfter = Long.MAX_VALUE;
  private long changes;
  private int generation;
  private int handles;
  private int maxHandles = Integer.MAX_VALUE;

  public SimulatedDisk(long seed) {
    random = new Random(seed);
    folders.put("", new SimulatedFolder());
  }

  /** Lets the nth operation of a kind from now on, counted from 1, fail with EIO; once. */
  public synchronized void fail(Operation operation, int nth) {
    failAt.put(operation, done.getOrDefault(operation, 0) + nth);
  }

  /** Operations of a kind so far. */
  public synchronized int count(Operation operation) {
    return done.getOrDefault(operation, 0);
  }

  /** Throws {@link PowerCut} in the middle of the nth change from now on, counted from 1. */
  public synchronized void cutPowerAt(long nth) {
    cutAfter = changes + nth;
  }

  /** Changes (everything but reads) so far. */
  public synchronized long changes() {
    return changes;
  }

  /** Writes beyond so many bytes in all files fail with ENOSPC. */
  public synchronized void capacity(long bytes) {
    capacityBytes = bytes;
  }

  /** Handles of files that are open. */
  public synchronized int handles() {
    return handles;
  }

  /** No file can be opened while so many are open. */
  public synchronized void maxHandles(int most) {
    maxHandles = most;
  }

  private void takeHandle(String name) throws IOException {
    if (handles >= maxHandles) {
      throw new NoFileHandleException(name, new IOException("Too many open files (simulated)"));
    }
  }

  /** Runs before each force with the file's name, on the forcing thread, to make it slow. */
  public synchronized void beforeForce(Consumer<String> hook) {
    beforeForce = hook;
  }

  /** Forces so far of files whose name matches. */
  public synchronized int forces(String namePattern) {
    return sum(forces, namePattern);
  }

  /** Files so far that were created with a name that matches. */
  public synchronized int creations(String namePattern) {
    return sum(creations, namePattern);
  }

  private static int sum(Map<String, Integer> counts, String namePattern) {
    Pattern pattern = Pattern.compile(namePattern);
    return counts.entrySet().stream()
        .filter(entry -> pattern.matcher(entry.getKey()).matches())
        .mapToInt(Map.Entry::getValue)
        .sum();
  }

  /** The current bytes of a file. */
  public synchronized byte[] contents(String name) throws IOException {
    return find(name).currentBytes();
  }

  /** Replaces a file's bytes, in the cache and on the disk alike, creating it if missing. */
  public synchronized void replace(String name, byte[] bytes) throws IOException {
    SimulatedFolder folder = folderOf(name);
    SimulatedInode inode = folder.current.computeIfAbsent(plain(name), key -> new SimulatedInode());
    folder.forced.put(plain(name), inode);
    inode.replace(bytes);
  }

  /** Flips one bit, in the cache and on the disk. */
  public synchronized void flip(String name, long fileOffset, int bit) throws IOException {
    find(name).flip((int) fileOffset, bit);
  }

  /** A copy without open files, failures or counts. */
  public synchronized SimulatedDisk copy(long seed) {
    SimulatedDisk copy = new SimulatedDisk(seed);
    Map<SimulatedInode, SimulatedInode> inodes = new HashMap<>();
    folders.forEach((name, folder) -> copy.folders.put(name, folder.copy(inodes)));
    return copy;
  }

  /** Cuts the power: what was not forced is lost in part. Open files are dead. */
  public synchronized void crash() {
    for (SimulatedFolder folder : folders.values()) {
      folder.crash(random);
    }
    revive();
  }

  /** Ends the process: nothing is lost yet, but open files are dead. */
  public synchronized void kill() {
    revive();
  }

  private void revive() {
    generation++;
    handles = 0;
    maxHandles = Integer.MAX_VALUE;
    cutAfter = Long.MAX_VALUE;
    failAt.clear();
  }

  @Override
  public synchronized DiskFile create(String name) throws IOException {
    takeHandle(name);
    before(Operation.CREATE, name);
    SimulatedFolder folder = folderOf(name);
    if (folder.current.containsKey(plain(name))) {
      throw new FileAlreadyExistsException(name);
    }
    SimulatedInode inode = new SimulatedInode();
    folder.change(names -> names.put(plain(name), inode));
    creations.merge(name, 1, Integer::sum);
    return new SimulatedFile(name, inode);
  }

  @Override
  public synchronized DiskFile open(String name) throws IOException {
    takeHandle(name);
    return new SimulatedFile(name, find(name));
  }

  @Override
  public synchronized boolean exists(String name) throws IOException {
    SimulatedFolder folder = folders.get(parent(name));
    return folder != null && folder.current.containsKey(plain(name));
  }

  @Override
  public synchronized List<String> list(String folder) {
    SimulatedFolder found = folders.get(folder);
    return found == null ? new ArrayList<>() : new ArrayList<>(found.current.keySet());
  }

  @Override
  public synchronized void createFolder(String folder) {
    folders.computeIfAbsent(folder, name -> new SimulatedFolder());
  }

  @Override
  public synchronized void rename(String from, String to) throws IOException {
    before(Operation.RENAME, from);
    SimulatedInode inode = find(from);
    SimulatedFolder source = folderOf(from);
    SimulatedFolder target = folderOf(to);
    if (source == target) {
      source.change(
          names -> {
            names.remove(plain(from));
            names.put(plain(to), inode);
          });
    } else {
      target.change(names -> names.put(plain(to), inode));
      source.change(names -> names.remove(plain(from)));
    }
  }

  @Override
  public synchronized DiskFile rename(DiskFile file, String to) throws IOException {
    rename(file.name(), to);
    SimulatedFile renamed = new SimulatedFile(to, ((SimulatedFile) file).inode);
    file.close();
    return renamed;
  }

  @Override
  public synchronized void delete(String name) throws IOException {
    before(Operation.DELETE, name);
    SimulatedFolder folder = folders.get(parent(name));
    if (folder != null && folder.current.containsKey(plain(name))) {
      folder.change(names -> names.remove(plain(name)));
    }
  }

  @Override
  public synchronized void forceDirectory(String folder) throws IOException {
    before(Operation.FORCE_DIRECTORY, folder);
    SimulatedFolder found = folders.get(folder);
    if (found == null) {
      throw new NoSuchFileException(folder);
    }
    found.force();
  }

  @Override
  public synchronized long usableBytes() {
    return Math.max(0, capacityBytes - usedBytes());
  }

  @Override
  public synchronized long totalBytes() {
    return capacityBytes;
  }

  /** Bytes of all files. */
  public synchronized long usedBytes() {
    long used = 0;
    for (SimulatedFolder folder : folders.values()) {
      for (SimulatedInode inode : folder.current.values()) {
        used += inode.size();
      }
    }
    return used;
  }

  private void before(Operation operation, String name) throws IOException {
    if (operation != Operation.READ && ++changes >= cutAfter) {
      throw new PowerCut("at change " + changes + ", " + operation + " of " + name);
    }
    int number = done.merge(operation, 1, Integer::sum);
    if (failAt.getOrDefault(operation, 0) == number) {
      throw new IOException("Input/output error (injected): " + operation + " of " + name);
    }
  }

  private SimulatedFolder folderOf(String name) throws IOException {
    SimulatedFolder folder = folders.get(parent(name));
    if (folder == null) {
      throw new NoSuchFileException(name);
    }
    return folder;
  }

  private SimulatedInode find(String name) throws IOException {
    SimulatedInode inode = folderOf(name).current.get(plain(name));
    if (inode == null) {
      throw new NoSuchFileException(name);
    }
    return inode;
  }

  private static String parent(String name) {
    int slash = name.lastIndexOf('/');
    return slash < 0 ? "" : name.substring(0, slash);
  }

  private static String plain(String name) {
    return name.substring(name.lastIndexOf('/') + 1);
  }

  private final class SimulatedFile implements DiskFile {
    private final String name;
    private final SimulatedInode inode;
    private final int opened = generation;
    private boolean closed;

    SimulatedFile(String name, SimulatedInode inode) {
      this.name = name;
      this.inode = inode;
      handles++;
    }

    @Override
    public String name() {
      return name;
    }

    @Override
    public int read(long fileOffset, ByteBuffer into) throws IOException {
      synchronized (SimulatedDisk.this) {
        check();
        before(Operation.READ, name);
        return inode.read(fileOffset, into);
      }
    }

    @Override
    public void write(long fileOffset, ByteBuffer... from) throws IOException {
      synchronized (SimulatedDisk.this) {
        check();
        int length = 0;
        for (ByteBuffer buffer : from) {
          length += buffer.remaining();
        }
        byte[] bytes = new byte[length];
        int at = 0;
        for (ByteBuffer buffer : from) {
          int remaining = buffer.remaining();
          buffer.get(bytes, at, remaining);
          at += remaining;
        }
        try {
          before(Operation.WRITE, name);
        } catch (PowerCut | IOException e) {
          inode.write(fileOffset, bytes, random.nextInt(length + 1));
          throw e;
        }
        long growth = Math.max(0, fileOffset + length - inode.size());
        long room = Math.max(0, capacityBytes - usedBytes());
        if (growth > room) {
          inode.write(fileOffset, bytes, (int) Math.max(0, length - (growth - room)));
          throw new IOException("No space left on device (simulated): " + name);
        }
        inode.write(fileOffset, bytes, length);
      }
    }

    @Override
    public void force() throws IOException {
      Consumer<String> hook;
      synchronized (SimulatedDisk.this) {
        check();
        hook = beforeForce;
      }
      hook.accept(name);
      synchronized (SimulatedDisk.this) {
        check();
        forces.merge(name, 1, Integer::sum);
        try {
          before(Operation.FORCE, name);
        } catch (IOException e) {
          inode.dropDirty();
          throw e;
        }
        inode.force();
      }
    }

    @Override
    public long size() throws IOException {
      synchronized (SimulatedDisk.this) {
        check();
        return inode.size();
      }
    }

    @Override
    public void truncate(long size) throws IOException {
      synchronized (SimulatedDisk.this) {
        check();
        before(Operation.WRITE, name);
        inode.truncate((int) size);
      }
    }

    @Override
    public void close() {
      synchronized (SimulatedDisk.this) {
        if (!closed && opened == generation) {
          handles--;
        }
        closed = true;
      }
    }

    private void check() throws IOException {
      if (closed || opened != generation) {
        throw new IOException("file " + name + " is closed");
      }
    }
  }
}

package io.lightmq.core.storage.snapshot;

import io.lightmq.core.storage.Disk;
import io.lightmq.core.storage.DiskFile;
import io.lightmq.wire.entry.Crc;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.UUID;
import java.util.function.Supplier;

/**
 * Who a data directory is: file {@code store}, written once, before any other. Big-endian.
 *
 * <pre>
 *  0 long magic "LMQSTORE"   12 int 0               32 long 0, 40 long 0, 48 long 0, 56 int 0
 *  8 int  version 1          16 UUID store id       60 int crc32c over bytes 0 to 60
 * </pre>
 *
 * @param storeId in the header of every file of this store
 * @param created whether the directory was new
 */
public record StoreIdentity(UUID storeId, boolean created) {
  /** Version of the layout of the whole directory. */
  public static final int VERSION = 1;

  private static final String NAME = "store";
  private static final int BYTES = 64;
  private static final long MAGIC = 0x4C4D5153544F5245L;

  /**
   * Reads the identity or gives one to an empty directory.
   *
   * @throws IOException if it is damaged, newer than this software, or missing beside other files
   */
  public static StoreIdentity openOrCreate(Disk disk, Supplier<UUID> newId) throws IOException {
    if (disk.exists(NAME)) {
      return new StoreIdentity(read(disk), false);
    }
    for (String folder : List.of("journal", "snapshots", "segments")) {
      List<String> names = disk.list(folder);
      if (!names.isEmpty()) {
        throw new IOException(
            "the data directory has no file \"store\" but %d files in %s/; restore it from a backup"
                .formatted(names.size(), folder));
      }
    }
    UUID id = newId.get();
    String temporary = NAME + ".tmp";
    disk.delete(temporary);
    try (DiskFile file = disk.create(temporary)) {
      ByteBuffer bytes = ByteBuffer.allocate(BYTES);
      bytes.putLong(MAGIC).putInt(VERSION).putInt(0);
      bytes.putLong(id.getMostSignificantBits()).putLong(id.getLeastSignificantBits());
      bytes.putInt(BYTES - 4, Crc.of(bytes, 0, BYTES - 4)).clear();
      file.write(0, bytes);
      file.force();
    }
    disk.rename(temporary, NAME);
    disk.forceDirectory("");
    return new StoreIdentity(id, true);
  }

  private static UUID read(Disk disk) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(BYTES);
    long size;
    try (DiskFile file = disk.open(NAME)) {
      size = file.size();
      file.read(0, bytes);
    }
    if (size < 12 || bytes.getLong(0) != MAGIC) {
      throw new IOException(
          "file \"store\" with %d bytes does not name a LightMQ store; is this its data directory?"
              .formatted(size));
    }
    int version = bytes.getInt(8);
    if (version > VERSION) {
      throw new IOException(
          "the store has version %d, this software reads up to %d; start a newer one"
              .formatted(version, VERSION));
    }
    int stored = bytes.getInt(BYTES - 4);
    int computed = Crc.of(bytes, 0, BYTES - 4);
    if (size != BYTES || stored != computed || version < 1) {
      throw new IOException(
          "file \"store\" is damaged: %d bytes, version %d, crc %08x; expected %d, %d, %08x; restore it from a backup"
              .formatted(size, version, stored, BYTES, VERSION, computed));
    }
    return new UUID(bytes.getLong(16), bytes.getLong(24));
  }
}
